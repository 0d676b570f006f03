/**
 * Everything that runs: engine, gateway, its listener and the control address, started together and stopped in order.
 * `run` and `demo` both stand on this.
 */
import { describeCluster } from "../config/cluster-settings.ts";
import { formatListen } from "../config/kinds.ts";
import { describeRedis } from "../config/redis-settings.ts";
import type { Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import { type Listener, listen } from "../gateway/listen.ts";
import { ProxiedGateway } from "../gateway/proxied-gateway.ts";
import { createOffice } from "../office/office.ts";
import { listenOffice } from "../office/server.ts";
import { openEngine } from "../open-engine.ts";
import { createDesk } from "./desk.ts";

export interface Running {
  readonly engine: Engine;
  /** Settles when what is kept can no longer be written, and a new start is the only way on. */
  readonly broken: Promise<Error>;
  readonly address: Listener["address"];
  readonly controlAddress: Listener["address"];
  /** Puts new settings in force. Fails, changing nothing, when they cannot be. */
  reload(settings: Settings): Promise<void>;
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
    const { engine, data, world, cluster } = keep(await openEngine(settings, machine));
    const inForce = await data.withChanges(settings);
    const proxied = keep(await ProxiedGateway.open({ settings: inForce, engine, world }));
    const ring = await data.ring();
    if (ring) proxied.gateway.restoreKeyring(ring);
    const state = { isDraining: false, file: settings };
    const following = followOthers(async () => {
      const ring = await data.ring();
      if (ring) proxied.gateway.restoreKeyring(ring);
      await proxied.configure(await data.withChanges(state.file));
    }, world);
    keep({ close: data.onChange(following) });
    const desk = createDesk({
      engine,
      proxied,
      data,
      cluster,
      fileRoom: (name) => state.file.rooms[name]!,
      isDraining: () => state.isDraining,
    });
    const { listen: at, token } = settings.control;
    const office = keep(await listenOffice(createOffice({ desk, token, host: at.host, world }), at));
    await cluster?.joined;
    const listener = keep(await openListener(settings, proxied, world));
    return {
      engine,
      broken: data.broken,
      address: listener.address,
      controlAddress: office.address,
      reload: async (next) => {
        warnOfRestart(settings, next, world);
        // First what may still fail: a certificate that cannot be used must leave everything as it was.
        await listener.reload(next);
        await proxied.configure(next);
        state.file = next;
        cluster?.note(next);
        await data.forgetChanges();
      },
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

function openListener(settings: Settings, proxied: ProxiedGateway, world: World): Promise<Listener> {
  const { handle, handleContinue, upgrade } = proxied;
  return listen({ settings, handle, handleContinue, upgrade, world });
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
