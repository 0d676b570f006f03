/**
 * Assembles the product, in the same way for `fairgate run`, the demo, the library and the tests:
 *
 *   settings ─▶ engine ─▶ gateway ◀─ changes made at run time, the ring of keys, what other gateways keep
 *                           └─▶ desk, for the office
 *
 * The gateway starts with stored changes on top of its settings, so a later start never undoes what an operator did.
 * Listening is left to the caller: a program has its own server, `run` has two.
 */
import type { Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import { DurableHost } from "../durable/host.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { checkTemplate } from "../gateway/page/render.ts";
import { ProxiedGateway } from "../gateway/proxied-gateway.ts";
import type { Trust } from "../gateway/proxy/trust.ts";
import type { Desk } from "../office/desk.ts";
import type { ShopDesk } from "../shop/api/shop-desk.ts";
import { fileLimit } from "../sockets/file-limit.ts";
import { Relief } from "../sockets/relief.ts";
import { openData, withKeptSecret } from "./data.ts";
import { createDesk, type InTurn } from "./desk.ts";
import type { OpenEngine } from "./engine-record.ts";
import { openEngine } from "./engines.ts";
import { RoomChanges } from "./kept-changes.ts";
import { type OpenAccessLog, openAccessLog } from "./open-access-log.ts";
import { type Ledgers, type LedgersParts, ShopLedgers } from "./shop-ledgers.ts";
import { ShopRooms } from "./shop-rooms.ts";
import { Shops } from "./shops.ts";

export interface FairgateOptions {
  /** The ledger of a shop, in place of one in the data directory. */
  readonly deskOf?: (name: string) => ShopDesk;
  /** The caller's own engine, which the caller also closes. Nothing is stored then. */
  readonly engine?: Engine;
  /** The most files this process may open. */
  readonly filesMax?: number;
}

export interface Fairgate {
  readonly engine: Engine;
  /** The world with the line's clock. */
  readonly world: World;
  readonly proxied: ProxiedGateway;
  readonly accessLog: OpenAccessLog;
  readonly desk: Desk;
  /** Frees file handles when none are left for connections to an origin. */
  readonly relief: Relief;
  /** Resolves once visitors may be served: a cluster node must have joined first. */
  readonly joined: Promise<void>;
  /** Resolves when data can no longer be written, and only a restart helps. */
  readonly broken: Promise<Error>;
  /**
   * Puts new settings in force and forgets changes made at run time. If it fails, nothing is changed. `alsoReload` runs
   * when everything is built and nothing is in force yet; it may fail too.
   */
  reload(settings: Settings, alsoReload?: () => Promise<void>): Promise<void>;
  /** Reports not ready from now on, and closes event streams. Requests are still served. */
  drain(): void;
  close(): Promise<void>;
}

/** Opens everything except listeners. If a part cannot be opened, it fails and closes the others. */
export async function openFairgate(
  given: Settings,
  machine: World,
  options: FairgateOptions = {},
): Promise<Fairgate> {
  const { filesMax = fileLimit() } = options;
  const opened = new AsyncDisposableStack();
  try {
    const settings = withKeptSecret(given);
    const trust = (): Trust => proxied.gateway.trust;
    const accessLog = await openAccessLog(settings.accessLog, { world: machine, trust });
    opened.defer(() => accessLog.close());
    const { engine, keeps, world, node, openLedgers, close } = await (options.engine
      ? withOwnEngine(options.engine, machine)
      : openEngine(settings, machine));
    opened.defer(close);
    const host = keeps.host ?? (await ownHost(settings, options, world));
    if (host && host !== keeps.host) opened.defer(() => host.close());
    const hearing: LedgersParts = {
      world,
      tell: (name, news) => shops.get(name)?.counter.hear(news),
      learn: (name) => shops.learn(name),
    };
    const ledgers: Ledgers | null = openLedgers?.(hearing) ?? (host && new ShopLedgers({ ...hearing, host }));
    opened.defer(async () => ledgers?.close());
    const shops: Shops = new Shops({
      world,
      deskOf: (name, next) => options.deskOf?.(name) ?? ledgers?.open(name, next) ?? noLedger(name),
      endVisit: (room, visit) => endVisit(engine, { room, visit }, world),
      rooms: () => proxied.gateway.settings.rooms,
    });
    opened.defer(() => shops.close());
    await shops.follow(settings);
    const shopOf = (name: string) => shops.get(name)?.counter;
    const changes = new RoomChanges({ store: keeps.changes, world, checkPage: checkTemplate });
    const relief = new Relief();
    // While what is kept cannot be read, the file's settings; `onChange` tells when there is more to know.
    const amend = async (gateway: Gateway) => (await changes.applyTo(settings, gateway)) ?? settings;
    const { log } = accessLog;
    const proxied: ProxiedGateway = await ProxiedGateway.open({
      ...{ settings, amend, engine, world, fileLimit: filesMax, relief, accessLog: log, shopOf },
    });
    opened.defer(() => proxied.close());
    opened.defer(
      engine.subscribe({
        onRevoked: (room, visit) => {
          const shop = proxied.gateway.settings.rooms[room]?.shop;
          if (shop) shops.get(shop)?.counter.visitEnded(visit);
        },
      }),
    );
    const state = { isDraining: false, file: settings };
    const inTurn = oneAtATime();
    const turnKeys = async () => {
      const ring = await keeps.ring();
      if (ring) proxied.gateway.restoreKeyring(ring);
    };
    await turnKeys();
    const takeOver = async () => {
      await turnKeys();
      const next = await changes.applyTo(state.file, proxied);
      if (next) await proxied.configure(next);
    };
    opened.defer(keeps.onChange(followOthers(() => inTurn(takeOver), world)));
    const desk = createDesk({
      ...{ engine, proxied, keeps, changes, node, inTurn, shops },
      file: () => state.file,
      isDraining: () => state.isDraining,
    });
    const shopRooms = new ShopRooms({
      ...{ shops, gateway: proxied.gateway, world },
      closeRoom: (room) => desk.change(room, { closed: true }),
    });
    opened.defer(() => shopRooms.close());
    await shopRooms.look();
    return {
      ...{ engine, world, proxied, accessLog, desk, relief },
      joined: node?.joined ?? Promise.resolve(),
      broken: keeps.broken,
      reload: (file, alsoReload) =>
        inTurn(async () => {
          const next = withKeptSecret(file);
          await shops.follow(next);
          await putInForce(next, { accessLog, proxied, alsoReload });
          state.file = next;
          node?.note(next);
          await changes.forget().catch((cause: unknown) => {
            const message = "the new settings are in force, but changes made before could not be forgotten";
            world.log.error({ err: cause }, message);
          });
        }),
      drain: () => {
        state.isDraining = true;
        proxied.gateway.closeStreams();
      },
      close: () => opened.disposeAsync(),
    };
  } catch (cause) {
    await opened.disposeAsync();
    throw cause;
  }
}

/** Ends a visit in a room, as when the visitor leaves. Where the engine is away it ends with its session. */
async function endVisit(
  engine: Engine,
  { room, visit }: { room: string; visit: string },
  { log }: World,
): Promise<void> {
  try {
    await engine.revoke(room, visit);
  } catch (cause) {
    log.warn({ err: cause, room }, "a visit to the payment room could not be ended");
  }
}

/** A directory for shops alone, where the engine is the caller's own. Null: it is not needed. */
async function ownHost(
  { shops, data }: Settings,
  { engine, deskOf }: FairgateOptions,
  world: World,
): Promise<DurableHost | null> {
  const isNeeded = engine !== undefined && deskOf === undefined && Object.keys(shops).length > 0;
  return isNeeded && data !== null ? DurableHost.open({ directory: data, world }) : null;
}

function noLedger(name: string): never {
  throw new Error(`the shop ${name} has no data directory`);
}

/** An engine that the caller opened and closes. */
async function withOwnEngine(engine: Engine, world: World): Promise<OpenEngine> {
  return {
    engine,
    keeps: await openData(null, world),
    world,
    node: null,
    openLedgers: null,
    close: async () => {},
  };
}

/** Does first what may still fail: a bad certificate must leave everything as it was. */
async function putInForce(
  next: Settings,
  parts: Pick<Fairgate, "accessLog" | "proxied"> & { alsoReload: (() => Promise<void>) | undefined },
): Promise<void> {
  const { accessLog, proxied, alsoReload } = parts;
  const log = await accessLog.prepare(next.accessLog);
  try {
    const built = proxied.prepare(next);
    await alsoReload?.().catch((cause: unknown) => {
      proxied.discard(built);
      throw cause;
    });
    await proxied.putInForce(built);
  } catch (cause) {
    await log.discard();
    throw cause;
  }
  log.use();
}

function oneAtATime(): InTurn {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const next = last.then(work, work);
    last = next;
    return next;
  };
}

/** Applies what other gateways stored: one run at a time, and another if something was stored meanwhile. */
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
        world.log[level]({ err: cause }, "a change of another gateway could not be applied");
      }
    });
  };
}
