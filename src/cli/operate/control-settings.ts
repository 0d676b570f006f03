/**
 * What a settings file says of the control address. The rest of the file may be wrong. A module of its own, since the schema
 * takes longer to load than a command takes to run: it is loaded only where the file has to be looked at.
 */
import { existsSync, readFileSync } from "node:fs";
import { locateFile, tryRead } from "../../config/check-files.ts";
import { explain } from "../../config/explain.ts";
import { formatHostPort, type HostPort } from "../../config/kinds.ts";
import { settingsOutline } from "../../config/outline.ts";
import { safeText, sortProblems } from "../../config/problem.ts";
import { isRecord, salvage } from "../../config/salvage.ts";
import { settingsSchema } from "../../config/schema.ts";
import { readSettingsFile } from "../../config/settings-file.ts";
import { DEFAULT_FILE } from "../read-settings.ts";
import { NotDone } from "./not-done.ts";

const SHOWN_CHARACTERS_MAX = 400;

export interface FoundToken {
  readonly token: string;
  /** Where it is from, for a message. */
  readonly tokenFrom: string;
  /** What an operator should put right, in a sentence. */
  readonly caution: string | null;
}

export interface SaidOfControl {
  /** Null: the file does not say. */
  readonly at: string | null;
  readonly token: FoundToken | null;
  readonly data: string | null;
}

/** What the file says; null when there is no file. Throws `NotDone` for one that cannot be read. */
export async function controlSettings(config: string | undefined): Promise<SaidOfControl | null> {
  const file = config ?? (existsSync(DEFAULT_FILE) ? DEFAULT_FILE : null);
  if (file === null) return null;
  const { value, problems } = readSettingsFile({ text: textOf(file), file }, settingsOutline());
  if (!value) throw new NotDone(explain(sortProblems(problems)), 2);
  const { control, data } = salvage(settingsSchema, value) ?? {};
  const isSaid = isRecord(value.control) && value.control.listen != null;
  const listen = isSaid ? (control?.listen as HostPort | undefined) : undefined;
  return {
    at: listen?.port ? formatHostPort(listen) : null,
    token: tokenOf(control, file),
    data: data == null ? null : locateFile(data, file),
  };
}

function tokenOf(
  control: { token?: string | null; tokenFile?: string | null } | undefined,
  file: string,
): SaidOfControl["token"] {
  if (control?.token)
    return { token: control.token, tokenFrom: `${shown(file)} (control.token)`, caution: null };
  if (!control?.tokenFile) return null;
  const read = tryRead((name) => readFileSync(name, "utf8"), locateFile(control.tokenFile, file));
  if ("wrong" in read)
    throw new NotDone(`control.tokenFile: ${shown(control.tokenFile)} cannot be read: ${read.wrong}`, 2);
  return { token: read.text.trim(), tokenFrom: shown(control.tokenFile), caution: null };
}

function shown(file: string): string {
  return safeText(file, SHOWN_CHARACTERS_MAX);
}

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    const words = `The settings file ${file} cannot be read: ${(cause as Error).message}`;
    throw new NotDone(safeText(words, SHOWN_CHARACTERS_MAX), 2);
  }
}
