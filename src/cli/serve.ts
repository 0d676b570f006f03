/**
 * Everything that runs: engine, gateway, its listener and the control address, started together and stopped in order.
 * `run` and `demo` both stand on this.
 */

import { RoomChanges } from "../assembly/kept-changes.ts";
import { openAccessLog } from "../assembly/open-access-log.ts";
import { openEngine } from "../assembly/open-engine.ts";
import { describeCluster } from "../config/cluster-settings.ts";
import { formatListen } from "../config/kinds.ts";
import { describeRedis } from "../config/redis-settings.ts";
import type { Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import type { AccessLog } from "../gateway/access-log/access-log.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { type Listener, type ListenSettings, listen } from "../gateway/listener/listen.ts";
import { checkTemplate } from "../gateway/page/render.ts";
import { ProxiedGateway } from "../gateway/proxied-gateway.ts";
import type { Trust } from "../gateway/proxy/trust.ts";
import { createOffice } from "../office/office.ts";
import { listenOffice } from "../office/server.ts";
import { fileLimit } from "../sockets/file-limit.ts";
import { watchHandles } from "../sockets/handle-watch.ts";
import { Relief } from "../sockets/relief.ts";
import { type SocketLimits, socketCautions, socketLimits } from "../sockets/socket-limits.ts";
import { createDesk, type InTurn } from "./desk.ts";

export interface Running {
  readonly engine: Engine;
  /** Settles when what is kept can no longer be written, and a new start is the only way on. */
  readonly broken: Promise<Error>;
  readonly address: Listener["address"];
  readonly controlAddress: Listener["address"];
  /** Puts new settings in force. Fails, changing nothing, when they cannot be. */
  reload(settings: Settings): Promise<void>;
  /** Opens the file of the access log again, after it was moved away. */
  reopenAccessLog(): void;
  /** Stops taking requests, finishes those under way, then lets go of everything. */
  close(): Promise<void>;
}

export async function serve(settings: Settings, machine: World): Promise<Running> {
  const opened: Closable[] = [];
  const keep = <T extends Closable>(part: T): T => {
    opened.unshift(part);
    return part;
  };
  const closeAll = async () => {
    for (const part of opened) await part.close();
  };
  try {
    const trust = (): Trust => proxied.gateway.trust;
    const accessLog = keep(await openAccessLog(settings.accessLog, { world: machine, trust }));
    const { engine, data, world, cluster } = keep(await openEngine(settings, machine));
    const changes = new RoomChanges({ store: data.changes, world, checkPage: checkTemplate });
    const limitsOf = (settings: Settings) => socketLimits(settings, fileLimit());
    const sockets = limitsOf(settings);
    const relief = new Relief();
    // While what is kept cannot be read, the file's settings; `onChange` tells when there is more to know.
    const amend = async (gateway: Gateway) => (await changes.applyTo(settings, gateway)) ?? settings;
    const proxied: ProxiedGateway = keep(
      await ProxiedGateway.open({
        ...{ settings, amend, engine, world, fileLimit: fileLimit(), relief },
        accessLog: accessLog.log,
      }),
    );
    const turnKeys = async () => {
      const ring = await data.ring();
      if (ring) proxied.gateway.restoreKeyring(ring);
    };
    await turnKeys();
    const state = { isDraining: false, file: settings };
    const inTurn = oneAtATime();
    const following = followOthers(
      () =>
        inTurn(async () => {
          await turnKeys();
          const next = await changes.applyTo(state.file, proxied);
          if (next) await proxied.configure(next);
        }),
      world,
    );
    keep({ close: data.onChange(following) });
    const desk = createDesk({
      engine,
      proxied,
      data,
      changes,
      cluster,
      inTurn,
      file: () => state.file,
      isDraining: () => state.isDraining,
    });
    const { listen: at, token } = settings.control;
    const office = keep(
      await listenOffice(createOffice({ desk, token, host: at.host, world }), at, sockets.control),
    );
    await cluster?.joined;
    const { log } = accessLog;
    const listener = keep(
      await openListener({ ...settings, connections: sockets.visitors }, proxied, log, world),
    );
    relief.comesFrom((error) => listener.ranOut(error));
    keep({ close: watchHandles(relief, world) });
    proxied.gateway.traffic.connections = listener.connections;
    tellOfSockets(sockets, world);
    return {
      engine,
      broken: data.broken,
      address: listener.address,
      controlAddress: office.address,
      reload: (next) =>
        inTurn(async () => {
          warnOfRestart(settings, next, world);
          // First what may still fail: a certificate that cannot be used must leave everything as it was.
          const log = await accessLog.prepare(next.accessLog);
          try {
            const built = proxied.prepare(next);
            await listener
              .reload({ ...next, connections: limitsOf(next).visitors })
              .catch((cause: unknown) => {
                proxied.discard(built);
                throw cause;
              });
            await proxied.putInForce(built);
          } catch (cause) {
            await log.discard();
            throw cause;
          }
          log.use();
          state.file = next;
          cluster?.note(next);
          await changes.forget().catch((cause: unknown) => {
            const message = "the new settings are in force, but changes made before could not be forgotten";
            world.log.error({ err: cause }, message);
          });
        }),
      reopenAccessLog: () => accessLog.reopen(),
      close: async () => {
        state.isDraining = true;
        proxied.gateway.closeStreams();
        await closeAll();
      },
    };
  } catch (cause) {
    await closeAll();
    throw cause;
  }
}

function oneAtATime(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next;
    return next;
  };
}

/** Takes over what other gateways kept: once at a time, and once more when something was kept meanwhile. */
function followOthers(takeOver: () => Promise<void>, world: World): () => void {
  let last: Promise<void> = Promise.resolve();
  let isWaiting = false;
  return () => {
    if (isWaiting) return;
    isWaiting = true;
    last = last.then(async () => {
      isWaiting = false;
      try {
        await takeOver();
      } catch (cause) {
        // While Redis is away that is known, and it is tried again when it is back.
        const level = (cause as Error).name === "RedisProblem" ? "debug" : "error";
        world.log[level]({ err: cause }, "what another gateway changed could not be taken over");
      }
    });
  };
}

/** Parts are closed in the opposite order of opening. */
interface Closable {
  close(): Promise<void> | void;
}

function openListener(
  settings: ListenSettings,
  proxied: ProxiedGateway,
  accessLog: AccessLog,
  world: World,
): Promise<Listener> {
  const { handle, handleContinue, upgrade } = proxied;
  const isTrusted = (address: string) => proxied.gateway.trust.isTrusted(address);
  return listen({ settings, handle, handleContinue, upgrade, isTrusted, accessLog, world });
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
      "a changed address, data directory, Redis or cluster, or TLS switched on or off, takes effect at the next start",
    );
  }
  if (before.control.token !== next.control.token)
    world.log.warn({}, "a changed control token takes effect at the next start");
}

function fixedAtStart({ listen, control, tls, data, redis, cluster }: Settings): object {
  const line = redis ? describeRedis(redis) : cluster ? describeCluster(cluster) : data;
  return { listen: formatListen(listen), control: formatListen(control.listen), hasTls: tls !== null, line };
}
