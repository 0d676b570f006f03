/** Why Fairgate could not start, in one sentence: what failed, for which address or file, and what to do. */
import { formatHostPort } from "../config/kinds.ts";
import type { Settings } from "../config/schema.ts";
import { ADDRESS_WORDS, checkPorts, listenersOf } from "./doctor/port-checks.ts";

/** What is wrong with the data directory, or a file in it. */
const FILE_WORDS: Readonly<Record<string, string>> = {
  EACCES: "may not be used by the user that Fairgate runs as",
  EPERM: "belongs to another user than Fairgate runs as",
  EROFS: "is on a file system that cannot be written to",
  EEXIST: "is a file, not a directory",
  ENOTDIR: "is below a file, which is not a directory",
};

/** What `serve` failed with, in a sentence; where it was an address, one for each that cannot be had. */
export async function startFailures(cause: unknown, settings: Settings): Promise<string[]> {
  const isAddress = ADDRESS_WORDS[(cause as NodeJS.ErrnoException).code ?? ""] !== undefined;
  const ports = isAddress ? await checkPorts(settings) : [];
  const busy = ports.filter(({ level }) => level !== "ok");
  if (busy.length <= 1) return [startFailure(cause, settings)];
  return busy.map(({ where, is, todo }) => `Fairgate could not start: ${where}: ${is} ${todo}`);
}

/** The sentence for whatever `serve` failed with. */
export function startFailure(cause: unknown, settings: Settings): string {
  const { code = "", address, port, path, message } = cause as NodeJS.ErrnoException & Partial<Address>;
  const wrong = FILE_WORDS[code];
  if (wrong !== undefined && settings.data !== null && path?.startsWith(settings.data))
    return `Fairgate could not start: ${path} ${wrong}; start it as the user who owns the data directory, or name another one with --data.`;
  const words = ADDRESS_WORDS[code];
  if (words === undefined || port === undefined) return `Fairgate could not start: ${message}`;
  const onPort = listenersOf(settings).filter(({ at }) => at.port === port);
  const { flag, at } = onPort.find(({ at }) => at.host === address) ?? onPort[0] ?? listenersOf(settings)[0]!;
  return `Fairgate could not start: ${formatHostPort(at)} ${words}; choose another address with ${flag}, or in the settings file.`;
}

interface Address {
  readonly address: string;
  readonly port: number;
}
