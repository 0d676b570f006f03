/** Why Fairgate could not start, in one sentence: what failed, for which address, and what to do. */
import { formatListen } from "../config/kinds.ts";
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
  const { listen } = settings.control;
  const isControl = listen.port === port && (listen.host === address || settings.listen.port !== port);
  const [flag, at] = isControl ? ["--control-listen", listen] : ["--listen", settings.listen];
  return `Fairgate could not start: ${formatListen(at)} ${words}; choose another address with ${flag}, or in the settings file.`;
}

interface Address {
  readonly address: string;
  readonly port: number;
}
