/**
 * What is left of each product, as everyone in one room and lane sees it, kept up to date without asking the ledger for every
 * reader: it is asked a few times a second at most, and only for rooms and lanes that somebody reads.
 *
 *   touched (a command was carried out) ─▶ looked at within QUICK_MS
 *   nothing was ─────────────────────────▶ looked at every SLOW_MS, since holds end by themselves
 */
import type { World } from "../../core/world.ts";
import type { ShopDesk } from "./shop-desk.ts";
import type { ProductFeed, ProductsShown, ProductView } from "./visitor-shop.ts";

export const QUICK_MS = 250;
export const SLOW_MS = 1_000;
/** A feed that nobody has read for as long is forgotten. */
const IDLE_MS = 60_000;

export interface ProductFeedParts {
  readonly desk: Pick<ShopDesk, "products">;
  readonly catalogueVersion: () => number;
  readonly world: World;
  /** Told of what failed while nobody waited for it. */
  readonly onFailure: (cause: unknown) => void;
}

export class ProductFeeds {
  readonly #parts: ProductFeedParts;
  readonly #feeds = new Map<string, LaneFeed>();
  readonly #stop: () => void;

  constructor(parts: ProductFeedParts) {
    this.#parts = parts;
    this.#stop = parts.world.timers.every(QUICK_MS, () => this.#look());
  }

  /** The same object for the same room and lane, while it is used. */
  feed(room: string, lane: string): ProductFeed {
    const key = `${room} ${lane}`;
    let feed = this.#feeds.get(key);
    if (!feed) {
      feed = new LaneFeed(this.#parts, room, lane);
      this.#feeds.set(key, feed);
    }
    return feed;
  }

  /** Something may have changed. */
  touch(): void {
    for (const feed of this.#feeds.values()) feed.isTouched = true;
  }

  close(): void {
    this.#stop();
  }

  #look(): void {
    const now = this.#parts.world.clock.now();
    for (const [key, feed] of this.#feeds) {
      if (feed.isIdle(now)) this.#feeds.delete(key);
      else feed.lookIfDue(now);
    }
  }
}

class LaneFeed implements ProductFeed {
  readonly #parts: ProductFeedParts;
  readonly #room: string;
  readonly #lane: string;
  readonly #listeners = new Set<() => void>();
  latest: ProductsShown | null = null;
  isTouched = false;
  #lookedAt = Number.NEGATIVE_INFINITY;
  #readAt: number;
  #underWay: Promise<ProductsShown> | null = null;

  constructor(parts: ProductFeedParts, room: string, lane: string) {
    this.#parts = parts;
    this.#room = room;
    this.#lane = lane;
    this.#readAt = parts.world.clock.now();
  }

  read(): Promise<ProductsShown> {
    const now = this.#parts.world.clock.now();
    this.#readAt = now;
    const isFresh = !this.isTouched && now - this.#lookedAt < SLOW_MS;
    return isFresh && this.latest !== null ? Promise.resolve(this.latest) : this.#look(now);
  }

  watch(onNews: () => void): () => void {
    this.#listeners.add(onNews);
    return () => this.#listeners.delete(onNews);
  }

  isIdle(now: number): boolean {
    return this.#listeners.size === 0 && now - this.#readAt >= IDLE_MS;
  }

  lookIfDue(now: number): void {
    if (this.#listeners.size === 0 || this.#underWay !== null) return;
    if (this.isTouched || now - this.#lookedAt >= SLOW_MS) this.#look(now).catch(this.#parts.onFailure);
  }

  /** Asks the ledger, once for all who want to know now. */
  #look(now: number): Promise<ProductsShown> {
    this.#underWay ??= this.#ask(now).finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  async #ask(now: number): Promise<ProductsShown> {
    this.isTouched = false;
    this.#lookedAt = now;
    const { desk, catalogueVersion: versionOf } = this.#parts;
    const { products } = await desk.products(this.#room, this.#lane, now);
    const before = this.latest;
    const catalogueVersion = versionOf();
    if (before?.catalogueVersion === catalogueVersion && isSame(before.products, products)) return before;
    // From the clock, so that it rises from one start to the next.
    const version = Math.max((before?.version ?? 0) + 1, Math.floor(now));
    this.latest = { version, catalogueVersion, products };
    for (const listener of this.#listeners) listener();
    return this.latest;
  }
}

function isSame(before: readonly ProductView[], after: readonly ProductView[]): boolean {
  if (before.length !== after.length) return false;
  return after.every((product, at) => {
    const one = before[at]!;
    return one.id === product.id && one.state === product.state && one.available === product.available;
  });
}
