/**
 * Where a running Fairgate is operated, and with which token. Each is looked for by itself:
 *
 *   address   --control, --data │ FAIRGATE_CONTROL       │ control.listen             │ the data directory │ 127.0.0.1:8081
 *   token     --token-file, --data │ FAIRGATE_CONTROL_TOKEN │ control.token, .tokenFile │ the data directory
 *
 * The data directory is the settings' `data`, or `fairgate-data` here. Of the settings file nothing else is looked at, so that a
 * command works on a machine that lacks the secret, and while somebody is editing the file.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { formatHostPort } from "../../config/kinds.ts";
import { safeText } from "../../config/problem.ts";
import { isOpenToOthers, notedAddress, readTokenFile, TOKEN_FILE } from "./control-files.ts";
import type { FoundToken, SaidOfControl } from "./control-settings.ts";
import { NotDone } from "./not-done.ts";

const ADDRESS_VARIABLE = "FAIRGATE_CONTROL";
const TOKEN_VARIABLE = "FAIRGATE_CONTROL_TOKEN";
const DEFAULT_ADDRESS = "127.0.0.1:8081";
const DEFAULT_DATA = "fairgate-data";
const SHOWN_CHARACTERS_MAX = 200;
const EVERY_ADDRESS = new Set(["", "0.0.0.0", "::"]);

export interface ControlFlags {
  readonly config?: string;
  /** Where the running process listens for operators. */
  readonly control?: string;
  readonly tokenFile?: string;
  readonly data?: string;
  readonly json?: boolean;
}

export interface ControlPlace extends FoundToken {
  /** `127.0.0.1:8081` */
  readonly at: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Where to ask. Throws `NotDone` when that, or the token, is nowhere. */
export async function findControl(
  flags: ControlFlags,
  environment: Environment = process.env,
): Promise<ControlPlace> {
  const named = flags.data ?? null;
  const early = {
    at: earlyAddress(flags, environment),
    token:
      fromFile(flags.tokenFile ?? null) ??
      (named && fromFile(tokenIn(named))) ??
      fromVariable(environment[TOKEN_VARIABLE]?.trim()),
  };
  const isKnown = early.at !== null && early.token !== null;
  const settings = isKnown ? null : await settingsOf(flags);
  const data = dataOf(settings);
  const token = early.token ?? settings?.token ?? (data === null ? null : fromFile(tokenIn(data)));
  if (token === null || token === "") throw noToken(named ?? data);
  return { ...token, at: addressOf(flags, early.at, settings) };
}

/** Where to ask what needs no token. Throws `NotDone` for what is no address. */
export async function findAddress(flags: ControlFlags, environment = process.env): Promise<string> {
  const early = earlyAddress(flags, environment);
  return addressOf(flags, early, early === null ? await settingsOf(flags) : null);
}

function earlyAddress({ control, data }: ControlFlags, environment: Environment): string | null {
  return control ?? (data ? notedAddress(data) : null) ?? (environment[ADDRESS_VARIABLE]?.trim() || null);
}

function addressOf({ control }: ControlFlags, early: string | null, settings: SaidOfControl | null): string {
  const data = dataOf(settings);
  const at = early ?? settings?.at ?? (data && notedAddress(data)) ?? DEFAULT_ADDRESS;
  return reachable(at, control === undefined ? "the control address" : "--control");
}

async function settingsOf({ config }: ControlFlags): Promise<SaidOfControl | null> {
  return (await import("./control-settings.ts")).controlSettings(config);
}

function dataOf(settings: SaidOfControl | null): string | null {
  return settings?.data ?? (existsSync(join(DEFAULT_DATA, TOKEN_FILE)) ? DEFAULT_DATA : null);
}

function tokenIn(data: string): string | null {
  const file = join(data, TOKEN_FILE);
  return existsSync(file) ? file : null;
}

function fromVariable(token: string | undefined): FoundToken | null {
  return token ? { token, tokenFrom: TOKEN_VARIABLE, caution: null } : null;
}

function fromFile(file: string | null): FoundToken | null {
  if (file === null) return null;
  const shown = safeText(file, SHOWN_CHARACTERS_MAX);
  try {
    const caution = isOpenToOthers(file)
      ? `Others on this machine can read ${shown}, which holds the control token: chmod 600 it.`
      : null;
    return { token: readTokenFile(file), tokenFrom: shown, caution };
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "EACCES")
      throw new NotDone(
        `${shown} may not be read by this user: run the command as the user that runs Fairgate.`,
        2,
      );
    if (code === "ENOENT") throw new NotDone(`There is no file ${shown}.`, 2);
    throw new NotDone(`The control token cannot be read: ${safeText(message, SHOWN_CHARACTERS_MAX)}.`, 2);
  }
}

function noToken(data: string | null): NotDone {
  const kept =
    data === null
      ? "name Fairgate's data directory with --data"
      : `${safeText(data, SHOWN_CHARACTERS_MAX)} holds none`;
  const words = `There is no token for the control address: ${kept}, or set ${TOKEN_VARIABLE} to what the running Fairgate has.`;
  return new NotDone(words, 2);
}

/** The address as it can be asked from here. */
function reachable(written: string, from: string): string {
  const match = /^(\[[0-9a-f:.]+\]|[^\s:/@]*):(\d{1,5})$/i.exec(written.trim());
  const host = (match?.[1] ?? "").replace(/^\[|\]$/g, "");
  const port = Number(match?.[2]);
  if (!match || port < 1 || port > 65_535) {
    const shown = safeText(written, SHOWN_CHARACTERS_MAX);
    throw new NotDone(`${from} is "${shown}"; it should be an address such as 127.0.0.1:8081.`, 2);
  }
  return formatHostPort({ host: EVERY_ADDRESS.has(host) ? "127.0.0.1" : host, port });
}
