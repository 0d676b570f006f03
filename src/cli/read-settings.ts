/** The settings a command was given: file, flags and environment, read and checked. */
import { existsSync, readFileSync } from "node:fs";
import { OTHER_CHECKS } from "../assembly/other-checks.ts";
import type { Flags } from "../config/flags.ts";
import { type LoadResult, loadSettings } from "../config/load.ts";
import type { Problem } from "../config/problem.ts";

export const DEFAULT_FILE = "fairgate.yaml";

/** For commands that also take the file without a flag. */
export const TWO_FILES: Problem = {
  code: "flag",
  path: "",
  message: "there are two settings files, one with --config and one without",
  hint: "Name one of them.",
  source: { kind: "flag", name: "--config", spot: null },
};

export type SettingsFlags = Flags & { readonly config?: string };

/** Reads and checks everything there is. Never throws for what a user wrote. */
export function readSettings(flags: SettingsFlags): LoadResult {
  const file = flags.config ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : null);
  const readFile = (name: string) => readFileSync(name, "utf8");
  if (file === null) return loadSettings(null, flags, process.env, readFile, OTHER_CHECKS);
  let text: string;
  try {
    text = readFile(file);
  } catch (cause) {
    const message = `the settings file ${file} cannot be read: ${(cause as Error).message}`;
    const source = { kind: "file", name: file, spot: null } as const;
    return { ok: false, problems: [{ code: "unreadable", path: "", message, hint: "", source }] };
  }
  return loadSettings({ text, file }, flags, process.env, readFile, OTHER_CHECKS);
}
