/**
 * What `run` keeps in the data directory for the commands that operate it: the control token, made at the first start, and
 * the address where the control address really listens. Both are for their owner alone.
 *
 *   DIR/control-token     the token, mode 0600
 *   DIR/control-address   host:port of the latest start
 *
 * The token of the settings or the environment goes before the kept one. Without a directory a token is made that lasts as
 * long as the process.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { formatHostPort, type HostPort } from "../../config/kinds.ts";
import type { Settings } from "../../config/schema.ts";
import { keepPrivate, readPrivate, replacePrivate } from "../../durable/private-file.ts";

export const TOKEN_FILE = "control-token";
const ADDRESS_FILE = "control-address";
const TOKEN_BYTES = 32;
const TOKEN_CHARACTERS_MIN = 32;

export interface ControlToken {
  readonly token: string;
  /** `settings`: the operator set it. `file`: it is kept in `file`. `process`: nobody has it but this process. */
  readonly from: "settings" | "file" | "process";
  readonly file: string | null;
  /** What is wrong with how it was kept, in a sentence. */
  readonly caution: string | null;
}

/** The token for the control address, made and kept when none is set. Throws when a kept one cannot be used. */
export function tokenFor({ control, data }: Settings): ControlToken {
  if (control.token !== null) return { token: control.token, from: "settings", file: null, caution: null };
  if (data === null) return { token: newToken(), from: "process", file: null, caution: null };
  const file = join(data, TOKEN_FILE);
  const { text, isOpen } = keepPrivate(file, newToken);
  const caution = isOpen
    ? `${file} could be read by others until now; delete it and start again to have a new token made`
    : null;
  return { token: checked(text, file), from: "file", file, caution };
}

/** The token that is kept in a data directory; null when none is. Throws when it is none. */
export function keptToken(data: string): { token: string; file: string; isOpen: boolean } | null {
  const file = join(data, TOKEN_FILE);
  const kept = readPrivate(file);
  return kept && { token: checked(kept.text, file), file, isOpen: kept.isOpen };
}

/** Notes where the control address listens, for commands on this machine. */
export function noteAddress(data: string | null, address: HostPort): void {
  if (data !== null) replacePrivate(join(data, ADDRESS_FILE), formatHostPort(address));
}

/** The address that was noted in a data directory; null when none was. Throws when the note cannot be read. */
export function notedAddress(data: string): string | null {
  return readPrivate(join(data, ADDRESS_FILE))?.text ?? null;
}

/** The token in a file that an operator names, which may be a link. Throws when there is none in it. */
export function readTokenFile(file: string): string {
  return checked(readFileSync(file, "utf8").trim(), file);
}

function checked(token: string, file: string): string {
  if (token.length >= TOKEN_CHARACTERS_MIN && /^[\x21-\x7e]+$/.test(token)) return token;
  throw new Error(`${file} holds no token; put back what it held, or delete it to have a new one made`);
}

function newToken(): string {
  return randomBytes(TOKEN_BYTES).toString("base64url");
}
