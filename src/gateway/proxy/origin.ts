/**
 * One origin: several addresses that serve the same site, and the choice among them.
 *
 * A request goes to the address with the fewest requests under way; equals take turns. An address that cannot be
 * connected to is down: it is left alone for a second, then one request may try it, and each failed try doubles the
 * time up to half a minute. The first connection that succeeds brings it back. When every address is down the one that
 * failed longest ago is tried, since a guess is better than no answer.
 *
 *        connect failed              try due, one request
 *   up ────────────────▶ down ──────────────────────────▶ on trial ──▶ up     (connected)
 *    ▲                    ▲                                  │
 *    └── check passed ────┴──────── connect failed ──────────┘
 *
 * A failing health check takes an address down too, and only a passing one brings it back from that.
 *
 * Requests and upgraded connections together never have more connections to an address than `connectionsMax`. What comes
 * on top waits for a free one, in the order it came, in lines that may each be as long as there are connections. Visitors
 * on the site go first, then requests that no pass was needed for. Uploads that are still coming go last: nobody knows how
 * long their visitors will hold a connection.
 *
 * One client may have twice as many connections as are free (dynamic thresholds, Choudhury and Hahne 1998). A client alone
 * gets two thirds of them all, two together four fifths. What a client wants beyond its share waits behind everything else.
 * And when all are taken, the client with the most gives up the one that carries least (`greediest`): WebSockets and event
 * streams that say nothing are kept for as long as nobody needs their connection.
 *
 * The last connections are for visitors on the site alone (trunk reservation, Kelly 1991): anybody can ask for what lies
 * outside every room, from thousands of addresses at once, and those who waited for their turn must not wait behind them.
 */
import type { OriginSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import { PacedLog } from "../paced-log.ts";
import { type AddressPool, createAddressPool } from "./address-pool.ts";
import { startChecks } from "./health-check.ts";
import { hostnameOf } from "./pool.ts";

/** The share of the connections that only visitors on the site get. */
const RESERVED_SHARE = 1 / 8;

/** A client may have this many connections for each that is free. */
const SHARE_OF_FREE = 2;
/** No browser uses more at a time, and nobody with fewer has to give one up. */
const NEEDED_MAX = 16;

export const BACK_OFF_MIN_MS = 1_000;
export const BACK_OFF_MAX_MS = 30_000;

/** One place where the origin listens. Its counts are kept by `Origin`. */
export interface Address {
  readonly url: URL;
  readonly hostname: string;
  /** As the operator wrote it; in logs and health answers. */
  readonly name: string;
  readonly pool: AddressPool;
  /** Requests and upgraded connections that have a connection, or are about to make one. */
  requests: number;
  tunnels: number;
  /** Which of these each client has. */
  readonly clients: Map<string, Set<Claim>>;
  /** The connection to give up first that has carried less than `belowPace` bytes a second; null when there is none. */
  greediest(now: number, belowPace: number): Claim | null;
  /** Those that wait for one, the first in front. */
  readonly waiting: Readonly<Record<Line, Set<Waiter>>>;
  /** Connects failed in a row. */
  failures: number;
  failedAt: number;
  retryAt: number;
  isOnTrial: boolean;
  isFailingChecks: boolean;
}

export interface AddressHealth {
  readonly address: string;
  readonly isUp: boolean;
  readonly inFlight: number;
  readonly failures: number;
}

/** What uses an address: a request through its pool, or an upgraded connection of its own. */
export type Use = "requests" | "tunnels";

/** What waits for a connection. */
export type Line = "onSite" | "outside" | "uploads" | "overShare";

/** What wants a connection. */
export interface Claim {
  readonly use: Use;
  /** True for visitors who have a pass for what they ask. */
  readonly isOnSite: boolean;
  /** Whose share it counts in; null where many visitors are behind one address. */
  readonly client: string | null;
  /** Bytes a second that its connection has carried so far; Infinity while that is not known. */
  carriedPace(now: number): number;
  /** Gives the connection up. It is free when this returns. */
  cut(): void;
}

/** Something that waits for a connection; called once, when it has one. */
export interface Waiter extends Claim {
  /** True when some of the request has yet to come from the visitor. */
  readonly isComing: boolean;
  go(): void;
}

export interface Origin {
  readonly addresses: readonly Address[];
  /** The address to use next, leaving out those tried; null when none is left. */
  pick(tried: readonly Address[]): Address | null;
  /** Takes a connection to the address until it is released. False when there is none for this claim. */
  take(address: Address, claim: Claim): boolean;
  release(address: Address, claim: Claim): void;
  /** Takes the next connection that is free, then calls the waiter. Null when too many wait already. */
  wait(address: Address, waiter: Waiter): Line | null;
  giveUp(address: Address, waiter: Waiter): void;
  /** A connection was made: the address is up. */
  connected(address: Address): void;
  /** A connection could not be made. */
  failed(address: Address, error: Error): void;
  inFlight(): number;
  health(): AddressHealth[];
  /** Resolves when everything under way has finished and every connection is closed. */
  close(): Promise<void>;
}

/** An origin whose addresses are all taken to be up. */
export function createOrigin(
  settings: OriginSettings,
  world: World,
  log: PacedLog = new PacedLog(world),
): Origin {
  const { connectionsMax } = settings;
  const reserved = Math.floor(connectionsMax * RESERVED_SHARE);
  const addresses = settings.addresses.map((name) => createAddress(name, settings, world));
  let turn = 0;
  let onIdle: (() => void) | null = null;
  let closing: Promise<void> | null = null;
  const origin: Origin = {
    addresses,
    pick(tried) {
      const now = world.clock.now();
      const address = leastLoaded(addresses, { tried, now, turn }) ?? longestFailed(addresses, tried);
      if (address === null) return null;
      turn = (addresses.indexOf(address) + 1) % addresses.length;
      if (address.failures > 0 && now >= address.retryAt) address.isOnTrial = true;
      return address;
    },
    take(address, claim) {
      const { use, client } = claim;
      const free = freeFor(address, claim);
      if (free <= 0) return false;
      if (client !== null) {
        const held = address.clients.get(client);
        if (held === undefined) address.clients.set(client, new Set([claim]));
        else if (held.size >= SHARE_OF_FREE * free) return false;
        else held.add(claim);
      }
      address[use]++;
      return true;
    },
    release(address, claim) {
      address[claim.use]--;
      address.isOnTrial = false;
      letGo(address.clients, claim);
      const { onSite, outside, uploads, overShare } = address.waiting;
      for (const line of [onSite, outside, uploads]) {
        for (const waiter of line) {
          if (freeFor(address, waiter) <= 0) break;
          line.delete(waiter);
          // One that is over its share lets those behind it pass.
          if (!goes(address, waiter)) overShare.add(waiter);
        }
      }
      for (const waiter of overShare) {
        if (address.requests + address.tunnels >= connectionsMax) break;
        if (goes(address, waiter)) overShare.delete(waiter);
      }
      tellIdle();
    },
    wait(address, waiter) {
      const name = freeFor(address, waiter) > 0 ? "overShare" : lineOf(waiter);
      const line = address.waiting[name];
      if (line.size >= connectionsMax) return null;
      line.add(waiter);
      return name;
    },
    giveUp(address, waiter) {
      for (const line of Object.values(address.waiting)) line.delete(waiter);
      tellIdle();
    },
    connected(address) {
      if (address.failures === 0) return;
      address.failures = 0;
      const fields = { code: "ORIGIN_UP", address: address.name };
      log.add({ level: "info", about: address.name, fields, message: "origin address is back" });
    },
    failed(address, error) {
      noteFailure(address, world.clock.now());
      if (address.failures > 1) return;
      const fields = { code: "ORIGIN_DOWN", address: address.name, error: error.message };
      log.add({ level: "warn", about: address.name, fields, message: "origin address cannot be reached" });
    },
    inFlight: () => addresses.reduce((sum, address) => sum + loadOf(address), 0),
    health: () => addresses.map(healthOf),
    close: () => (closing ??= finishAll()),
  };
  const freeFor = ({ requests, tunnels }: Address, { isOnSite }: Claim) =>
    connectionsMax - (isOnSite ? 0 : reserved) - requests - tunnels;
  const goes = (address: Address, waiter: Waiter) => {
    if (!origin.take(address, waiter)) return false;
    // Not from inside undici's own finishing of the request before.
    process.nextTick(call, waiter);
    return true;
  };
  const tellIdle = () => {
    if (onIdle !== null && origin.inFlight() === 0) onIdle();
  };
  const finishAll = async () => {
    stopChecks();
    if (origin.inFlight() > 0)
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    await Promise.all(addresses.map((address) => address.pool.close()));
  };
  const stopChecks = startChecks(origin, settings, world);
  return origin;
}

function createAddress(name: string, settings: OriginSettings, world: World): Address {
  const url = new URL(name);
  const clients = new Map<string, Set<Claim>>();
  return {
    url,
    hostname: hostnameOf(url),
    name,
    pool: createAddressPool(url, settings, world),
    requests: 0,
    tunnels: 0,
    clients,
    greediest: (now, belowPace) => greediest(clients, now, belowPace),
    waiting: { onSite: new Set(), outside: new Set(), uploads: new Set(), overShare: new Set() },
    failures: 0,
    failedAt: 0,
    retryAt: 0,
    isOnTrial: false,
    isFailingChecks: false,
  };
}

function leastLoaded(
  addresses: readonly Address[],
  { tried, now, turn }: { tried: readonly Address[]; now: number; turn: number },
): Address | null {
  let best: Address | null = null;
  for (let i = 0; i < addresses.length; i++) {
    const address = addresses[(turn + i) % addresses.length]!;
    if (tried.includes(address) || !isAvailable(address, now)) continue;
    if (best === null || loadOf(address) < loadOf(best)) best = address;
  }
  return best;
}

function longestFailed(addresses: readonly Address[], tried: readonly Address[]): Address | null {
  let oldest: Address | null = null;
  for (const address of addresses)
    if (!tried.includes(address) && (oldest === null || address.failedAt < oldest.failedAt)) oldest = address;
  return oldest;
}

function isAvailable(address: Address, now: number): boolean {
  if (address.isFailingChecks) return false;
  return address.failures === 0 || (now >= address.retryAt && !address.isOnTrial);
}

/** Requests that were under way together fail together; only the first of them, and later trials, count. */
function noteFailure(address: Address, now: number): void {
  if (address.failures === 0 || address.isOnTrial) {
    address.failures++;
    const doublings = Math.min(address.failures - 1, 16);
    address.retryAt = now + Math.min(BACK_OFF_MIN_MS * 2 ** doublings, BACK_OFF_MAX_MS);
  }
  address.failedAt = now;
  address.isOnTrial = false;
}

function lineOf({ isComing, isOnSite }: Waiter): Exclude<Line, "overShare"> {
  if (isComing) return "uploads";
  return isOnSite ? "onSite" : "outside";
}

function loadOf({ requests, tunnels, waiting }: Address): number {
  const { onSite, outside, uploads, overShare } = waiting;
  return requests + tunnels + onSite.size + outside.size + uploads.size + overShare.size;
}

function letGo(clients: Map<string, Set<Claim>>, claim: Claim): void {
  if (claim.client === null) return;
  const held = clients.get(claim.client)!;
  held.delete(claim);
  if (held.size === 0) clients.delete(claim.client);
}

/** Of whoever has the most connections, the one that carries least. */
function greediest(
  clients: ReadonlyMap<string, ReadonlySet<Claim>>,
  now: number,
  belowPace: number,
): Claim | null {
  const greedy = [...clients.values()].filter(({ size }) => size > NEEDED_MAX);
  for (const held of greedy.sort((a, b) => b.size - a.size)) {
    let least: Claim | null = null;
    let pace = belowPace;
    for (const claim of held) {
      const own = claim.carriedPace(now);
      if (own >= pace) continue;
      least = claim;
      pace = own;
    }
    if (least !== null) return least;
  }
  return null;
}

function call(waiter: Waiter): void {
  waiter.go();
}

function healthOf(address: Address): AddressHealth {
  return {
    address: address.name,
    isUp: address.failures === 0 && !address.isFailingChecks,
    inFlight: loadOf(address),
    failures: address.failures,
  };
}
