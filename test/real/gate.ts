/** The gateway before a site: `fairgate run` as a process of its own with a settings file, and what it counts. */
import { setTimeout as pause } from "node:timers/promises";
import { ASK_EVERY_MS } from "../../src/testing/cli/eventually.ts";
import { type Control, ownFolder, type Run, startRun } from "../../src/testing/cli/fairgate.ts";
import { fixturePath } from "../../src/testing/fixtures.ts";

type Written = Readonly<Record<string, unknown>>;

export interface GateOptions {
  /** Addresses of the site. */
  readonly origins: readonly string[];
  /** What the file says of the site besides. */
  readonly origin?: Written;
  /** What it says of the room, which is for 200 and long visits otherwise. */
  readonly room?: Written;
  /** By https, with HTTP/2 and a certificate for localhost that nobody has signed. Left out: plain http. */
  readonly isSecure?: boolean;
}

/** Starts a gateway; it is gone when it is disposed of, with its file. */
export async function openGate({ origins, origin, room, isSecure = false }: GateOptions): Promise<Run> {
  await using parts = new AsyncDisposableStack();
  const settings = {
    ...(isSecure && { tls: { certificateFile: fixture("cert"), keyFile: fixture("key") } }),
    origin: { addresses: origins, ...origin },
    rooms: { main: { totalActiveUsers: 200, sessionDuration: "30m", ...room } },
  };
  // JSON is YAML as well.
  const folder = parts.use(ownFolder({ "fairgate.yaml": JSON.stringify(settings) }));
  const run = parts.use(await startRun(["--config", "fairgate.yaml"], { cwd: folder.path }));
  const whole = parts.move();
  const address = isSecure ? run.address.replace("http://127.0.0.1", "https://localhost") : run.address;
  return { ...run, address, [Symbol.asyncDispose]: () => whole.disposeAsync() };
}

const fixture = (kind: "cert" | "key") => fixturePath(`localhost.${kind}.pem`);

/** Slots that are taken: by those on the site, and kept for those whose turn has come. */
export async function slotsTaken(control: Control): Promise<number> {
  const { onSite, admitted } = await control.counts();
  return onSite + admitted;
}

/** Counts slots again and again from now on; `most` ends it, and tells how many were taken at once. */
export function watchSlots(control: Control): { most(): Promise<number> } {
  let isOver = false;
  const watch = async () => {
    let most = 0;
    for (let isLast = false; !isLast; await pause(ASK_EVERY_MS)) {
      isLast = isOver;
      most = Math.max(most, await slotsTaken(control));
    }
    return most;
  };
  const watching = watch();
  // It is looked at when it is asked for.
  watching.catch(() => {});
  return {
    most() {
      isOver = true;
      return watching;
    },
  };
}
