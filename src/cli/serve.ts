/** Everything that runs: Fairgate, its listener and the control address. `run` and `demo` both stand on this. */

import { type Fairgate, openFairgate } from "../assembly/open-fairgate.ts";
import { describeCluster } from "../config/cluster-settings.ts";
import { formatHostPort } from "../config/kinds.ts";
import { describeRedis } from "../config/redis-settings.ts";
import type { Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { type Listener, type ListenSettings, listen } from "../gateway/listener/listen.ts";
import { createOffice, type OfficeOptions } from "../office/office.ts";
import { listenOffice } from "../office/server.ts";
import { fileLimit } from "../sockets/file-limit.ts";
import { watchHandles } from "../sockets/handle-watch.ts";
import { type SocketLimits, socketCautions, socketLimits } from "../sockets/socket-limits.ts";
import { type ControlToken, noteAddress, tokenFor } from "./operate/control-files.ts";

export interface Running extends Pick<Fairgate, "engine" | "broken"> {
  readonly address: Listener["address"];
  readonly controlAddress: Listener["address"];
  readonly controlToken: ControlToken;
  readonly desk: Fairgate["desk"];
  /** Puts new settings in force. Fails, changing nothing, when they cannot be. */
  reload(settings: Settings): Promise<void>;
  /** Opens the file of the access log again, after it was moved away. */
  reopenAccessLog(): void;
  /** Stops taking requests, finishes those under way, then lets go of everything. */
  close(): Promise<void>;
}

export async function serve(
  settings: Settings,
  machine: World,
  { isPageOpen = false }: Pick<OfficeOptions, "isPageOpen"> = {},
): Promise<Running> {
  // Parts are closed in the opposite order of opening.
  const opened = new AsyncDisposableStack();
  try {
    const fairgate = await openFairgate(settings, machine);
    opened.defer(() => fairgate.close());
    const { engine, world, proxied, accessLog, desk, relief } = fairgate;
    const limitsOf = (settings: Settings) => socketLimits(settings, fileLimit());
    const sockets = limitsOf(settings);
    const { listen: at } = settings.control;
    const controlToken = tokenFor(settings);
    const { token } = controlToken;
    const office = await listenOffice(
      createOffice({ desk, token, host: at.host, isPageOpen, world }),
      at,
      sockets.control,
    );
    opened.defer(() => office.close());
    noteAddress(settings.data, office.address);
    await fairgate.joined;
    const listener = await openListener({ ...settings, connections: sockets.visitors }, fairgate);
    opened.defer(() => listener.close());
    relief.comesFrom((error) => listener.ranOut(error));
    opened.defer(watchHandles(relief, world));
    proxied.gateway.traffic.connections = listener.connections;
    tellOfSockets(sockets, world);
    return {
      engine,
      desk,
      controlToken,
      broken: fairgate.broken,
      address: listener.address,
      controlAddress: office.address,
      reload: async (next) => {
        warnOfRestart(settings, next, world);
        await fairgate.reload(next, () => listener.reload({ ...next, connections: limitsOf(next).visitors }));
      },
      reopenAccessLog: () => accessLog.reopen(),
      close: async () => {
        fairgate.drain();
        await opened.disposeAsync();
      },
    };
  } catch (cause) {
    await opened.disposeAsync();
    throw cause;
  }
}

function openListener(settings: ListenSettings, { proxied, accessLog, world }: Fairgate): Promise<Listener> {
  const { handle, handleContinue, upgrade } = proxied;
  const isTrusted = (address: string) => proxied.gateway.trust.isTrusted(address);
  return listen({ settings, handle, handleContinue, upgrade, isTrusted, accessLog: accessLog.log, world });
}

/** How many may be connected, in one line; and what to do where that is few. */
function tellOfSockets(limits: SocketLimits, { log }: World): void {
  const { fileLimit, reserve, visitors } = limits;
  const fields = {
    files: Number.isFinite(fileLimit) ? fileLimit : "unlimited",
    connectionsMax: visitors.max,
    connectionsPerAddressMax: visitors.perAddressMax,
    reserve,
  };
  log.info(fields, "how many connections visitors may have, by the limit on open files");
  for (const caution of socketCautions(limits)) log.warn({ code: "FEW_FILES" }, caution);
}

/** Addresses, the control token and whether there is TLS are taken once, at the start. */
function warnOfRestart(before: Settings, next: Settings, world: World): void {
  const from = fixedAtStart(before);
  const to = fixedAtStart(next);
  if (JSON.stringify(from) !== JSON.stringify(to)) {
    world.log.warn(
      { from, to },
      "a changed address, data directory, Redis or cluster, a shop's provider or webhook, or TLS switched on or off, takes effect at the next start",
    );
  }
  if (before.control.token !== next.control.token)
    world.log.warn({}, "a changed control token takes effect at the next start");
}

function fixedAtStart({ listen, control, tls, data, redis, cluster, shops }: Settings): object {
  const line = redis ? describeRedis(redis) : cluster ? describeCluster(cluster) : data;
  return {
    listen: formatHostPort(listen),
    control: formatHostPort(control.listen),
    hasTls: tls !== null,
    line,
    shops: Object.fromEntries(
      Object.entries(shops).map(([name, { payment, orders }]) => [name, { payment, orders }]),
    ),
  };
}
