/**
 * How many places may be requested under one key, an address or a network: a token bucket per key, which holds a minute's
 * worth and refills evenly. An office that arrives at once gets in at once; after that a key gets `perMinute` a minute. So no
 * minute, wherever it starts, has more than twice `perMinute` joins of one key. Keys do not affect each other.
 *
 * A bucket is stored as the instant at which it will be full again (virtual scheduling, ITU-T I.371), in units of which a
 * millisecond has `perMinute` and a join costs 60,000: whole numbers, so no rounding error adds up. The total given back is
 * stored too, since a join given back after another may have less left to give.
 *
 * Memory is bounded by two generations: when the young one is full or a minute old it becomes the old one, and keys still in
 * use move over. A bucket that is not touched for a minute is full, so forgetting it changes nothing. Only a flood of keys
 * fills a generation sooner; the keys touched longest ago are then forgotten, and start full again.
 */
const MINUTE_MS = 60_000;
const JOIN_UNITS = 60_000;
/** The most keys that are remembered. */
export const KEYS_MAX = 100_000;

/** A counted join, for `giveBack`. */
export interface TakenJoin {
  readonly key: string;
  /** The bucket after it, in the budget's own units. */
  readonly bucket: Bucket;
}

interface Bucket {
  /** When it is full again. */
  readonly fullAt: number;
  /** Total of what was given back to it. */
  readonly givenBack: number;
}

const FULL: Bucket = { fullAt: 0, givenBack: 0 };

export class JoinBudget {
  readonly perMinute: number;
  readonly #generationKeysMax: number;
  readonly #since: number;
  #turnedAt: number;
  #young = new Map<string, Bucket>();
  #old = new Map<string, Bucket>();

  constructor(budget: { perMinute: number; now: number; keysMax?: number }) {
    this.perMinute = budget.perMinute;
    this.#generationKeysMax = Math.ceil((budget.keysMax ?? KEYS_MAX) / 2);
    this.#since = Math.floor(budget.now);
    this.#turnedAt = budget.now;
  }

  /** How many keys are remembered. */
  get size(): number {
    return this.#young.size + this.#old.size;
  }

  /** Milliseconds until one more join is allowed under this key; 0 when it is now. */
  waitMs(key: string, now: number): number {
    const units = this.#units(now);
    const missing = Math.max(this.#bucket(key, now).fullAt, units) + JOIN_UNITS - units - this.#capacity;
    return Math.max(0, Math.ceil(missing / this.perMinute));
  }

  /** Counts a join, after asking `waitMs`. */
  take(key: string, now: number): TakenJoin {
    const { fullAt, givenBack } = this.#bucket(key, now);
    const bucket = { fullAt: Math.max(fullAt, this.#units(now)) + JOIN_UNITS, givenBack };
    this.#keep(key, bucket, now);
    return { key, bucket };
  }

  /** Takes back a join that failed, except for what has refilled since: that must not count twice. */
  giveBack({ key, bucket: then }: TakenJoin, now: number): void {
    const { fullAt, givenBack } = this.#bucket(key, now);
    const givenSince = givenBack - then.givenBack;
    // The bucket was forgotten and made anew.
    if (givenSince < 0 || fullAt === 0) return;
    // Without the joins that were given back since, the bucket would have been full that much sooner.
    const missing = Math.min(JOIN_UNITS, then.fullAt - givenSince - this.#units(now));
    if (missing > 0) this.#keep(key, { fullAt: fullAt - missing, givenBack: givenBack + missing }, now);
  }

  get #capacity(): number {
    return JOIN_UNITS * this.perMinute;
  }

  /** Time in units. It starts with the budget: counted from 1970 it would exceed the safe integers. */
  #units(now: number): number {
    return (Math.floor(now) - this.#since) * this.perMinute;
  }

  /** Reading a bucket keeps it in memory: a client that keeps asking must not be forgotten. */
  #bucket(key: string, now: number): Bucket {
    const known = this.#young.get(key);
    if (known !== undefined) return known;
    const aged = this.#old.get(key);
    if (aged === undefined) return FULL;
    this.#old.delete(key);
    this.#keep(key, aged, now);
    return aged;
  }

  #keep(key: string, bucket: Bucket, now: number): void {
    const isFull = this.#young.size >= this.#generationKeysMax && !this.#young.has(key);
    if (isFull || now - this.#turnedAt >= MINUTE_MS) {
      this.#old = this.#young;
      this.#young = new Map();
      this.#turnedAt = now;
    }
    this.#young.set(key, bucket);
  }
}
