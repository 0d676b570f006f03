/**
 * The ports that `run` listens on: each is really listened on for a moment, all at once, so that every busy one is named. A
 * Fairgate that already runs here is no mistake; its control address tells it apart from another program.
 */
import { createServer } from "node:net";
import { EVERY_ADDRESS } from "../../config/cluster-check.ts";
import { formatHostPort, type HostPort } from "../../config/kinds.ts";
import type { Settings } from "../../config/schema.ts";
import { notedAddress } from "../operate/control-files.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const ANSWER_MAX_MS = 1_000;

/** Why an address cannot be listened on, after its name. */
export const ADDRESS_WORDS: Readonly<Record<string, string>> = {
  EADDRINUSE: "is taken by another program",
  EADDRNOTAVAIL: "is no address of this machine",
  EACCES: "may not be used without special rights",
};

/** Every address that `run` listens on, with the flag that chooses it. */
export function listenersOf({ listen, control, cluster }: Settings): { flag: string; at: HostPort }[] {
  return [
    { flag: "--listen", at: listen },
    { flag: "--control-listen", at: control.listen },
    ...(cluster ? [{ flag: "--cluster-listen", at: cluster.listen }] : []),
  ];
}

/** A verdict for each address; port 0 is always free. */
export async function checkPorts(settings: Settings): Promise<DoctorVerdict[]> {
  const tried = await Promise.all(
    listenersOf(settings).map(async (one) => ({ ...one, code: await tryToListen(one.at) })),
  );
  const isOurs = tried.some(({ code }) => code === "EADDRINUSE") && (await isFairgateHere(settings));
  return tried
    .filter(({ at }) => at.port !== 0)
    .map(({ flag, at, code }) => {
      const port = about("port", shown(at));
      if (code === null) return port.ok("It is free.");
      if (isOurs && code === "EADDRINUSE")
        return port.caution(
          "A Fairgate runs there already, and a second one would not start.",
          "Send it SIGHUP to have it read the settings again, or stop it first.",
        );
      return port.problem(
        `It ${ADDRESS_WORDS[code] ?? `cannot be listened on (${code})`}.`,
        `Choose another address with ${flag}, or in the settings file.`,
      );
    });
}

function shown({ host, port }: HostPort): string {
  return host === "" ? `port ${port}` : formatHostPort({ host, port });
}

/** Null when it can be listened on, else the code of the error. */
function tryToListen({ host, port }: HostPort): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    server.listen({ port, ...(host === "" ? {} : { host }) }, () => server.close(() => resolve(null)));
  });
}

/** True when one answers at the control address, or where the one on the data directory has noted it to be. */
async function isFairgateHere({ control, data }: Settings): Promise<boolean> {
  const { host, port } = control.listen;
  const at = formatHostPort({ host: EVERY_ADDRESS.has(host) ? "127.0.0.1" : host, port });
  return (await isFairgate(at)) || (data !== null && (await isFairgate(notedAddress(data))));
}

async function isFairgate(at: string | null): Promise<boolean> {
  if (at === null) return false;
  try {
    const answer = await fetch(`http://${at}/healthz`, { signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    return "isAlive" in ((await answer.json()) as object);
  } catch {
    return false;
  }
}
