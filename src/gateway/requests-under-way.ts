/**
 * How many requests each visitor and each address has under way to the origin, upgraded connections included. Nobody
 * may have more than the limits say: a request over them is refused, so that one visitor, or one machine without a pass,
 * cannot take all the connections to the origin.
 *
 * A request counts from when it is handed on until its answer has been read whole. One that its sender gives up before
 * that counts a second longer. Without this, someone who asks and gives up in turn, as with HTTP/2's rapid reset, would
 * never have more than one under way and still make the origin begin thousands.
 */
import type { LimitSettings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { whereabouts } from "../sockets/whereabouts.ts";
import type { Client } from "./proxy/trust.ts";

/** How long a request that was given up still counts. */
export const GIVEN_UP_COUNTS_MS = 1_000;
/** Entries that have run out are removed at most this often. */
const LOOK_EVERY_MS = 100;
const KEYS_REMEMBERED_MAX = 10_000;

/** Whose limit was reached. */
export type Limited = "visitor" | "address";

/** The visitor and the address that a request is counted against; null: against none. */
export interface Counted {
  readonly visitor: string | null;
  readonly address: string | null;
}

type Limits = Pick<LimitSettings, "requestsPerVisitorMax" | "requestsPerAddressMax">;

export class RequestsUnderWay {
  readonly #world: World;
  readonly #visitors = new Map<string, number>();
  readonly #addresses = new Map<string, number>();
  readonly #keys = new Map<string, string>();
  /** Given up, the oldest first. */
  #givenUp: { readonly counted: Counted; readonly until: number }[] = [];

  constructor(world: World) {
    this.#world = world;
  }

  /** Counts a request; or says whose limit it would exceed, and counts nothing. */
  take(visitor: string | null, client: Client, limits: Limits): Counted | Limited {
    const address = this.#keyOf(client);
    if (visitor !== null && isFull(this.#visitors, visitor, limits.requestsPerVisitorMax)) return "visitor";
    if (address !== null && isFull(this.#addresses, address, limits.requestsPerAddressMax)) return "address";
    if (visitor !== null) add(this.#visitors, visitor);
    if (address !== null) add(this.#addresses, address);
    return { visitor, address };
  }

  /** The request is over. */
  release(counted: Counted): void {
    if (counted.visitor !== null) remove(this.#visitors, counted.visitor);
    if (counted.address !== null) remove(this.#addresses, counted.address);
  }

  /** The request is over because its sender gave it up. */
  giveUp(counted: Counted): void {
    if (counted.visitor === null && counted.address === null) return;
    const until = this.#world.clock.now() + GIVEN_UP_COUNTS_MS;
    if (this.#givenUp.push({ counted, until }) === 1) this.#wait(GIVEN_UP_COUNTS_MS);
  }

  #wait(ms: number): void {
    this.#world.timers.after(ms, () => {
      const now = this.#world.clock.now();
      const living = this.#givenUp.findIndex(({ until }) => until > now);
      const over = this.#givenUp.splice(0, living < 0 ? this.#givenUp.length : living);
      for (const { counted } of over) this.release(counted);
      if (living >= 0) this.#wait(Math.max(LOOK_EVERY_MS, this.#givenUp[0]!.until - now));
    });
  }

  /** Null for a trusted proxy that does not name the visitor: many may be behind it. */
  #keyOf({ address, peer, isPeerTrusted }: Client): string | null {
    if (isPeerTrusted && address === peer) return null;
    const known = this.#keys.get(address);
    if (known !== undefined) return known;
    if (this.#keys.size >= KEYS_REMEMBERED_MAX) this.#keys.clear();
    const { address: key } = whereabouts(address);
    this.#keys.set(address, key);
    return key;
  }
}

function isFull(counts: ReadonlyMap<string, number>, key: string, max: number | null): boolean {
  return max !== null && (counts.get(key) ?? 0) >= max;
}

function add(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

function remove(counts: Map<string, number>, key: string): void {
  const count = counts.get(key)! - 1;
  if (count > 0) counts.set(key, count);
  else counts.delete(key);
}
