/** Why Fairgate could not start, in one sentence: what failed, for which address, and what to do. */
import { formatHostPort, type HostPort } from "../config/kinds.ts";
import type { Settings } from "../config/schema.ts";

const ADDRESS_WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken by another program",
  EADDRNOTAVAIL: "is no address of this machine",
  EACCES: "may not be used without special rights",
};

/** The sentence for whatever `serve` failed with. */
export function startFailure(cause: unknown, settings: Settings): string {
  const { code = "", address, port, message } = cause as NodeJS.ErrnoException & Partial<Address>;
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
