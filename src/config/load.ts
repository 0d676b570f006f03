/**
 * From a file, flags and the environment to settings that are checked and complete, or to every problem there is.
 *
 *   file ─▶ YAML ─▶ flags laid over ─▶ schema ─▶ checks between settings ─▶ secrets and files ─▶ Settings
 *
 * Nothing here listens, connects or reads the disk by itself; reading files is handed in.
 */
import { type CheckContext, checkValues, type Environment, type LoadResult } from "./check.ts";
import type { ReadFile } from "./check-files.ts";
import type { SettingsText } from "./file-sources.ts";
import { applyFlags, FLAGS, type Flags } from "./flags.ts";
import { settingsOutline } from "./outline.ts";
import { type Problem, type Source, sortProblems } from "./problem.ts";
import { readSettingsFile } from "./settings-file.ts";

export type { Environment, LoadResult, ReadFile, SettingsText };

/** Looks at custom waiting pages and at catalogues: each is another folder's to know. */
export type OtherChecks = Pick<CheckContext, "checkPage" | "checkCatalogue">;
const NO_CHECKS: OtherChecks = { checkPage: () => null, checkCatalogue: () => [] };

/** Settings from a file, or from flags alone when there is none. */
export function loadSettings(
  source: SettingsText | null,
  flags: Flags,
  environment: Environment,
  readFile: ReadFile,
  others: Partial<OtherChecks> = {},
): LoadResult {
  const needs = { ...NO_CHECKS, ...others, needsSecret: !flags.isDemo, needsOrigin: true };
  if (!source) return fromFlags(flags, { ...needs, environment, readFile, settingsFile: null });
  const file = readSettingsFile(source, settingsOutline());
  if (!file.value) return { ok: false, problems: sortProblems(file.problems) };
  const { value, sources, problems } = applyFlags(file.value, flags, file.sources);
  const early = [...file.problems, ...problems];
  return checkValues(value, {
    ...needs,
    sources,
    early,
    environment,
    readFile,
    settingsFile: source.file,
  });
}

/** Settings from a value made by a program, such as the options of `createGateway`. */
export function settingsFrom(
  input: unknown,
  context: Pick<CheckContext, "environment" | "readFile"> & Partial<CheckContext>,
): LoadResult {
  const source: Source = { kind: "object", name: "settings", spot: null };
  const defaults = { ...NO_CHECKS, settingsFile: null, needsSecret: true, needsOrigin: true };
  return checkValues(input, { ...defaults, ...context, sources: { find: () => source }, early: [] });
}

function fromFlags(flags: Flags, context: Omit<CheckContext, "sources" | "early">): LoadResult {
  const source: Source = { kind: "flag", name: "command line", spot: null };
  if (FLAGS.every(({ name }) => flags[name] === undefined)) {
    const message = "there is no settings file, and no flags that say what to do";
    const example = "--origin http://127.0.0.1:3000 --total-active-users 200";
    const hint = `Write fairgate.yaml (fairgate.example.yaml shows every setting), or give flags such as ${example}.`;
    return { ok: false, problems: [{ code: "empty", path: "", message, hint, source }] };
  }
  const { value, sources } = applyFlags({}, flags, { find: () => source });
  const result = checkValues(value, { ...context, sources, early: [] });
  return result.ok ? result : { ok: false, problems: result.problems.map(inFlagWords) };
}

const FLAG_HINTS: Readonly<Record<string, string>> = {
  "no-origin": "Add --origin with the site's address, such as --origin http://127.0.0.1:3000.",
  "no-limit": "Add --total-active-users 200, --new-users-per-minute 100, or both.",
};

/** Where there is no file, what to do is a flag. */
function inFlagWords(problem: Problem): Problem {
  return { ...problem, hint: FLAG_HINTS[problem.code] ?? problem.hint };
}
