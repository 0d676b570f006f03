/**
 * One origin: several addresses that serve the same site, their connections, and what becomes of requests to them.
 *
 * Which address gets a request is decided in `choice.ts`, by what is known of each (`address-health.ts`). An address that
 * cannot be connected to is tried in the background until it can (`probe.ts`). Each change is one line in the log.
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
import type { ConnectionClaim, ConnectionWaiter, OriginAddress, WaitingLine } from "./address.ts";
import { AddressHealth, type HealthChange, type Trouble } from "./address-health.ts";
import { createAddressPool } from "./address-pool.ts";
import { Choice, hashOf, type Seeker } from "./choice.ts";
import { isOriginsFault, repeatsAfter } from "./diagnosis.ts";
import { startChecks } from "./health-check.ts";
import { createConnector, hostnameOf } from "./pool.ts";
import { startProbe } from "./probe.ts";
import { RepeatBudget } from "./repeat-budget.ts";

/** The share of the connections that only visitors on the site get. */
const RESERVED_SHARE = 1 / 8;

/** A client may have this many connections for each that is free. */
const SHARE_OF_FREE = 2;
/** No browser uses more at a time, and nobody with fewer has to give one up. */
const NEEDED_MAX = 16;

export interface AddressState {
  readonly address: string;
  /** True while requests are sent to the address. */
  readonly isUp: boolean;
  /** Why it is not up. */
  readonly trouble: Trouble | null;
  readonly inFlight: number;
  /** Connections that failed in a row. */
  readonly failures: number;
}

export interface Origin {
  readonly addresses: readonly OriginAddress[];
  /** Counts a request that is sent for the first time. */
  count(): void;
  /** The address to use next, leaving out those tried; null when none is left. */
  pick(seeker: Seeker): OriginAddress | null;
  /** Takes a connection to the address until it is released. False when there is none for this claim. */
  take(address: OriginAddress, claim: ConnectionClaim): boolean;
  /** What became of the claim has to be told before. */
  release(address: OriginAddress, claim: ConnectionClaim): void;
  /** Takes the next connection that is free, then calls the waiter. Null when too many wait already. */
  wait(address: OriginAddress, waiter: ConnectionWaiter): WaitingLine | null;
  giveUp(address: OriginAddress, waiter: ConnectionWaiter): void;
  /** The claim begins to connect. */
  begin(address: OriginAddress, claim: ConnectionClaim): void;
  /** It has its connection: the address is up. */
  connected(address: OriginAddress, claim: ConnectionClaim): void;
  /** A check or a probe has connected. */
  reached(address: OriginAddress): void;
  /** An answer began. */
  answered(address: OriginAddress, claim: ConnectionClaim, status: number): void;
  /** No connection could be made, or no whole answer came. Counts where the error is the origin's. */
  failed(address: OriginAddress, claim: ConnectionClaim, error: Error): void;
  /** Where a request may be sent again after this error; null when it may not. Spends one repeat of the budget. */
  repeat(address: OriginAddress, seeker: Seeker, error: Error): "elsewhere" | "here" | null;
  inFlight(): number;
  health(): AddressState[];
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
  const { clock, timers } = world;
  const reserved = Math.floor(connectionsMax * RESERVED_SHARE);
  const failureStatuses: ReadonlySet<number> = new Set(settings.failureStatuses);
  const addresses = settings.addresses.map((name) => createAddress(name, settings, world));
  const choice = new Choice(addresses, settings.sticky === "visitor");
  const budget = new RepeatBudget(connectionsMax);
  let onIdle: (() => void) | null = null;
  let closing: Promise<void> | null = null;
  const origin: Origin = {
    addresses,
    count: () => budget.earn(),
    pick: (seeker) => choice.pick(seeker, clock.now()),
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
      address.health.leave(claim);
      address[claim.use]--;
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
      if (line.size >= connectionsMax) {
        address.health.leave(waiter);
        return null;
      }
      line.add(waiter);
      return name;
    },
    giveUp(address, waiter) {
      address.health.leave(waiter);
      for (const line of Object.values(address.waiting)) line.delete(waiter);
      tellIdle();
    },
    begin: ({ health }, claim) => health.begin(claim, clock.now()),
    connected(address, claim) {
      if (address.health.connected(claim, clock.now())) tellUp(address);
    },
    reached(address) {
      if (address.health.reached(clock.now())) tellUp(address);
    },
    answered(address, claim, status) {
      const kind = status < 500 ? "good" : failureStatuses.has(status) ? "failure" : "error";
      const turn = address.health.answered(claim, clock.now(), kind);
      if (turn !== null) tellTurn(address, turn, `status ${status}`);
    },
    failed(address, claim, error) {
      if (!isOriginsFault(error)) return;
      if (claim.phase === "connecting") return unreachable(address, error);
      const turn = address.health.failed(claim, clock.now());
      if (turn !== null) tellTurn(address, turn, error.message);
    },
    repeat(address, seeker, error) {
      if (!seeker.isRepeatable) return null;
      const now = clock.now();
      const where = choice.hasOther(seeker, address, now) ? "elsewhere" : "here";
      return seeker.repeats < repeatsAfter(error)[where] && budget.spend(now) ? where : null;
    },
    inFlight: () => addresses.reduce((sum, address) => sum + address.load(), 0),
    health: () => addresses.map(stateOf),
    close: () => (closing ??= finishAll()),
  };
  const freeFor = ({ requests, tunnels }: OriginAddress, { isOnSite }: ConnectionClaim) =>
    connectionsMax - (isOnSite ? 0 : reserved) - requests - tunnels;
  const goes = (address: OriginAddress, waiter: ConnectionWaiter) => {
    if (!origin.take(address, waiter)) return false;
    // Not from inside undici's own finishing of the request before.
    process.nextTick(call, waiter);
    return true;
  };
  const unreachable = (address: OriginAddress, error: Error) => {
    if (!address.health.unreachable(clock.now())) return;
    const fields = { code: "ORIGIN_DOWN", address: address.name, error: error.message };
    log.add({ level: "warn", about: address.name, fields, message: "origin address cannot be reached" });
    if (closing !== null) return;
    address.stopProbe = startProbe(address, { clock, timers, onReached: () => origin.reached(address) });
  };
  const tellUp = (address: OriginAddress) => {
    address.stopProbe?.();
    address.stopProbe = null;
    const fields = { code: "ORIGIN_UP", address: address.name };
    log.add({ level: "info", about: address.name, fields, message: "origin address is back" });
  };
  const tellTurn = (address: OriginAddress, turn: HealthChange, error: string) => {
    const { name } = address;
    if (turn === "out") {
      const fields = { code: "ORIGIN_FAILING", address: name, error };
      log.add({ level: "warn", about: name, fields, message: "origin address fails requests" });
    } else {
      const fields = { code: "ORIGIN_ANSWERS", address: name };
      log.add({ level: "info", about: name, fields, message: "origin address answers again" });
    }
  };
  const tellIdle = () => {
    if (onIdle !== null && origin.inFlight() === 0) onIdle();
  };
  const finishAll = async () => {
    stopChecks();
    for (const { stopProbe } of addresses) stopProbe?.();
    if (origin.inFlight() > 0)
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    await Promise.all(addresses.map((address) => address.pool.close()));
  };
  const stopChecks = startChecks(origin, settings, world);
  return origin;
}

function createAddress(name: string, settings: OriginSettings, world: World): OriginAddress {
  const url = new URL(name);
  const clients = new Map<string, Set<ConnectionClaim>>();
  const connect = createConnector(url, settings.connectTimeout, settings.http2 !== "off");
  const address: OriginAddress = {
    url,
    hostname: hostnameOf(url),
    name,
    hash: hashOf(url.origin),
    pool: createAddressPool(url, settings, world),
    connect,
    health: new AddressHealth(settings.addresses.length > 1),
    credit: 0,
    requests: 0,
    tunnels: 0,
    clients,
    greediest: (now, belowPace) => greediest(clients, now, belowPace),
    waiting: { onSite: new Set(), outside: new Set(), uploads: new Set(), overShare: new Set() },
    load: () => loadOf(address),
    stopProbe: null,
  };
  return address;
}

function lineOf({ isComing, isOnSite }: ConnectionWaiter): Exclude<WaitingLine, "overShare"> {
  if (isComing) return "uploads";
  return isOnSite ? "onSite" : "outside";
}

function loadOf({ requests, tunnels, waiting }: OriginAddress): number {
  const { onSite, outside, uploads, overShare } = waiting;
  return requests + tunnels + onSite.size + outside.size + uploads.size + overShare.size;
}

function letGo(clients: Map<string, Set<ConnectionClaim>>, claim: ConnectionClaim): void {
  if (claim.client === null) return;
  const held = clients.get(claim.client)!;
  held.delete(claim);
  if (held.size === 0) clients.delete(claim.client);
}

/** Of the client with the most connections, the one that carries least. */
function greediest(
  clients: ReadonlyMap<string, ReadonlySet<ConnectionClaim>>,
  now: number,
  belowPace: number,
): ConnectionClaim | null {
  const greedy = [...clients.values()].filter(({ size }) => size > NEEDED_MAX);
  for (const held of greedy.sort((a, b) => b.size - a.size)) {
    let least: ConnectionClaim | null = null;
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

function call(waiter: ConnectionWaiter): void {
  waiter.go();
}

function stateOf(address: OriginAddress): AddressState {
  const { trouble, connectsFailed } = address.health;
  return {
    address: address.name,
    isUp: trouble === null,
    trouble,
    inFlight: address.load(),
    failures: connectsFailed,
  };
}
