/** Why Fairgate could not start, in one sentence: what failed, for which address or file, and what to do. */
import { formatHostPort, type HostPort } from "../config/kinds.ts";
import type { Settings } from "../config/schema.ts";

const ADDRESS_WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken by another program",
  EADDRNOTAVAIL: "is no address of this machine",
  EACCES: "may not be used without special rights",
};

/** What is wrong with the data directory, or a file in it. */
const FILE_WORDS: Readonly<Record<string, string>> = {
  EACCES: "may not be used by the user that Fairgate runs as",
  EPERM: "belongs to another user than Fairgate runs as",
  EROFS: "is on a file system that cannot be written to",
  EEXIST: "is a file and no directory",
  ENOTDIR: "is below a file that is no directory",
};

/** The sentence for whatever `serve` failed with. */
export function startFailure(cause: unknown, settings: Settings): string {
  const { code = "", address, port, path, message } = cause as NodeJS.ErrnoException & Partial<Address>;
  const wrong = FILE_WORDS[code];
  if (wrong !== undefined && settings.data !== null && path?.startsWith(settings.data))
    return `Fairgate could not start: ${path} ${wrong}; start it as the user who owns the data directory, or name another one with --data.`;
  const words = ADDRESS_WORDS[code];
  if (words === undefined || port === undefined) return `Fairgate could not start: ${message}`;
  const [flag, at] = listenerAt({ address: address ?? "", port }, settings);
  return `Fairgate could not start: ${formatHostPort(at)} ${words}; choose another address with ${flag}, or in the settings file.`;
}

/** Whose address it is. Where ports are the same, the host tells. */
function listenerAt({ address, port }: Address, { listen, control, cluster }: Settings): [string, HostPort] {
  const listeners: [string, HostPort][] = [
    ["--listen", listen],
    ["--control-listen", control.listen],
    ...(cluster ? [["--cluster-listen", cluster.listen] as [string, HostPort]] : []),
  ];
  const onPort = listeners.filter(([, at]) => at.port === port);
  return onPort.find(([, at]) => at.host === address) ?? onPort[0] ?? listeners[0]!;
}

interface Address {
  readonly address: string;
  readonly port: number;
}
