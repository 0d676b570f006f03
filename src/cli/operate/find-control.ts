/**
 * Where a running Fairgate is operated, and with which token. Each is looked for by itself:
 *
 *   address   --control, --data │ FAIRGATE_CONTROL       │ control.listen             │ the data directory │ 127.0.0.1:8081
 *   token     --token-file, --data │ FAIRGATE_CONTROL_TOKEN │ control.token, .tokenFile │ the data directory
 *
 * The data directory is the settings' `data`, or `fairgate-data` here. A `fairgate-data` that nobody named may be anybody's: the
 * address in it is asked only with the token in it. Of the settings file nothing else is looked at, so that a command works
 * on a machine that lacks the secret, and while somebody is editing the file.
 */
import { statSync } from "node:fs";
import { formatHostPort } from "../../config/kinds.ts";
import { safeText } from "../../config/problem.ts";
import { isOpenToOthers } from "../../durable/private-file.ts";
import { keptToken, notedAddress, readTokenFile } from "./control-files.ts";
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
      fromData(named) ??
      fromVariable(environment[TOKEN_VARIABLE]?.trim()),
  };
  const isKnown = early.at !== null && early.token !== null;
  const settings = isKnown ? null : await settingsOf(flags);
  const said = early.token ?? settings?.token ?? fromData(settings?.data ?? null);
  const token = said ?? fromData(DEFAULT_DATA);
  if (token === null || token.token === "") throw noToken(named ?? settings?.data ?? null);
  return { ...token, at: addressOf(flags, { at: early.at, settings, isDefaultData: said === null }) };
}

/** Where to ask what needs no token. Throws `NotDone` for what is no address. */
export async function findAddress(flags: ControlFlags, environment = process.env): Promise<string> {
  const at = earlyAddress(flags, environment);
  const settings = at === null ? await settingsOf(flags) : null;
  return addressOf(flags, { at, settings, isDefaultData: true });
}

function earlyAddress({ control, data }: ControlFlags, environment: Environment): string | null {
  return control ?? (data ? addressIn(data) : null) ?? (environment[ADDRESS_VARIABLE]?.trim() || null);
}

interface FoundAddress {
  readonly at: string | null;
  readonly settings: SaidOfControl | null;
  /** Whether the data directory that is there without being named may tell. */
  readonly isDefaultData: boolean;
}

function addressOf({ control }: ControlFlags, { at, settings, isDefaultData }: FoundAddress): string {
  const data = settings?.data ?? (isDefaultData ? DEFAULT_DATA : null);
  const found = at ?? settings?.at ?? (data && addressIn(data)) ?? DEFAULT_ADDRESS;
  return reachable(found, control === undefined ? "the control address" : "--control");
}

async function settingsOf({ config }: ControlFlags): Promise<SaidOfControl | null> {
  return (await import("./control-settings.ts")).controlSettings(config);
}

function fromVariable(token: string | undefined): FoundToken | null {
  return token ? { token, tokenFrom: TOKEN_VARIABLE, caution: null } : null;
}

function fromFile(file: string | null): FoundToken | null {
  if (file === null) return null;
  return reading(file, () =>
    foundIn(file, { token: readTokenFile(file), isOpen: isOpenToOthers(statSync(file)) }),
  );
}

/** The token that `run` keeps in a data directory; null when none is there. */
function fromData(data: string | null): FoundToken | null {
  if (data === null) return null;
  const kept = reading(data, () => keptToken(data));
  return kept && foundIn(kept.file, kept);
}

function addressIn(data: string): string | null {
  return reading(data, () => notedAddress(data));
}

function foundIn(file: string, { token, isOpen }: { token: string; isOpen: boolean }): FoundToken {
  const tokenFrom = safeText(file, SHOWN_CHARACTERS_MAX);
  const caution = isOpen
    ? `Others on this machine can read ${tokenFrom}, which holds the control token: chmod 600 it.`
    : null;
  return { token, tokenFrom, caution };
}

/** What is read from a file or directory; what is wrong with it is a sentence. */
function reading<T>(from: string, read: () => T): T {
  try {
    return read();
  } catch (cause) {
    const shown = safeText(from, SHOWN_CHARACTERS_MAX);
    const { code, message } = cause as NodeJS.ErrnoException;
    if (code === "EACCES")
      throw new NotDone(
        `${shown} may not be read by this user: run the command as the user that runs Fairgate.`,
        2,
      );
    if (code === "ENOENT") throw new NotDone(`There is no file ${shown}.`, 2);
    throw new NotDone(
      `The control address and its token cannot be read: ${safeText(message, SHOWN_CHARACTERS_MAX)}.`,
      2,
    );
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
  const match = /^(\[[0-9a-f:.]+\]|[\p{L}\p{N}._-]*):(\d{1,5})$/iu.exec(written.trim());
  const host = (match?.[1] ?? "").replace(/^\[|\]$/g, "");
  const port = Number(match?.[2]);
  if (!match || port < 1 || port > 65_535) {
    const shown = safeText(written, SHOWN_CHARACTERS_MAX);
    throw new NotDone(`${from} is "${shown}"; it should be an address such as 127.0.0.1:8081.`, 2);
  }
  return formatHostPort({ host: EVERY_ADDRESS.has(host) ? "127.0.0.1" : host, port });
}
