/** The gateway before a site: `fairgate run` as a process of its own with a settings file, and its counts. */
import { setTimeout as pause } from "node:timers/promises";
import { ASK_EVERY_MS } from "../../src/testing/cli/eventually.ts";
import { type Control, ownFolder, type Run, startRun } from "../../src/testing/cli/fairgate.ts";
import { fixturePath } from "../../src/testing/fixtures.ts";

type Written = Readonly<Record<string, unknown>>;

export interface GateOptions {
  /** Addresses of the site. */
  readonly origins: readonly string[];
  /** Other settings of the site in the file. */
  readonly origin?: Written;
  /** Settings of the room, which otherwise has room for 200 and long visits. */
  readonly room?: Written;
  /** Serves https, with HTTP/2 and a self-signed certificate for localhost. Left out: plain http. */
  readonly isSecure?: boolean;
}

/** Starts a gateway; disposing of it ends it and removes its file. */
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

/** Slots in use: by visitors on the site, and reserved for those whose turn has come. */
export async function slotsTaken(control: Control): Promise<number> {
  const { onSite, admitted } = await control.counts();
  return onSite + admitted;
}

/** Counts slots again and again from now on; `most` ends it, and returns the most that were in use. */
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
  // `most` is read when it is needed.
  watching.catch(() => {});
  return {
    most() {
      isOver = true;
      return watching;
    },
  };
}
