/**
 * Visits behind the payment room's door, and when they end: with the sale, or when it has failed for good, so that the next in that
 * line may pay. Which visit began an attempt is written into the attempt's id, so a callback finds it also after a restart.
 *
 * One visit is for one basket at a time: who lends a pass to others gets nobody past that line.
 *
 * What ends by the clock is looked for here: a basket is asked for when its time to pay is over, and again while the deadline
 * stands still. After a restart such visits end with their session.
 */
import type { World } from "../../core/world.ts";
import type { BasketView } from "../rules/commands.ts";

const LOOK_EVERY_MS = 1_000;
/** A basket whose deadline stands still is asked for this often. */
const STILL_MS = 15_000;
/** More than are paying at once anywhere; beyond that the oldest end with their session. */
const WATCHED_MAX = 100_000;
const RANDOM_BYTES = 16;
/** Of a second line: random bytes, the visitor, and their visit behind that door. */
const ATTEMPT = /^[\w-]+_([0-9a-f]{32})_([0-9a-f]{32})$/;

interface Watched {
  readonly visit: string;
  /** When the basket is asked for. */
  lookAt: number;
}

/** Whose basket is paid in a visit. */
interface Payer {
  readonly visitor: string;
  /** Their calls under way. */
  calls: number;
}

export interface PaymentVisitParts {
  readonly world: World;
  /** As its owner would see it. */
  readonly basket: (visitor: string, now: number) => Promise<BasketView | null>;
  /** Ends a visit in the payment room. */
  readonly end: (visit: string) => void;
  readonly onFailure: (cause: unknown) => void;
}

export class PaymentVisits {
  readonly #parts: PaymentVisitParts;
  /** By the visitor whose basket it is, those that were begun first first. */
  readonly #watched = new Map<string, Watched>();
  /** By visit. */
  readonly #payers = new Map<string, Payer>();
  readonly #stop: () => void;
  #isLooking = false;

  constructor(parts: PaymentVisitParts) {
    this.#parts = parts;
    this.#stop = parts.world.timers.every(LOOK_EVERY_MS, () => void this.#look());
  }

  /** The id of a new attempt. `visit`: null where there is no second line. */
  newAttempt(visitor: string, visit: string | null): string {
    const random = Buffer.from(this.#parts.world.random.bytes(RANDOM_BYTES)).toString("base64url");
    return visit === null ? random : `${random}_${visitor}_${visit}`;
  }

  /** Does `work`, which may begin to pay; null, with nothing done, while somebody else's basket is paid in this visit. */
  async use<T>(visitor: string, visit: string, work: () => Promise<T>): Promise<T | null> {
    const payer = this.#payers.get(visit) ?? { visitor, calls: 0 };
    if (payer.visitor !== visitor) return null;
    this.#payers.set(visit, payer);
    payer.calls++;
    try {
      return await work();
    } finally {
      payer.calls--;
      this.#release(visit);
    }
  }

  /** Somebody pays: `basket` is theirs. */
  began(visitor: string, visit: string, { expiresAt }: BasketView): void {
    this.#watch(visitor, visit, this.#nextLook(expiresAt));
  }

  /** The provider said something about an attempt, so its basket may be over. */
  heard(attempt: string): void {
    const [, visitor, visit] = ATTEMPT.exec(attempt) ?? [];
    if (visitor !== undefined && visit !== undefined) this.#watch(visitor, visit, 0);
  }

  /** Their basket may be over. */
  left(visitor: string): void {
    const watched = this.#watched.get(visitor);
    if (watched) watched.lookAt = 0;
  }

  close(): void {
    this.#stop();
  }

  async #look(): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      const now = this.#parts.world.clock.now();
      const due = [...this.#watched].filter(([, { lookAt }]) => lookAt <= now);
      for (const [visitor, watched] of due) {
        const basket = await this.#parts.basket(visitor, now);
        if (basket === null || basket.phase === "departed") {
          this.#unwatch(visitor);
          this.#parts.end(watched.visit);
        } else watched.lookAt = this.#nextLook(basket.expiresAt);
      }
    } catch (cause) {
      this.#parts.onFailure(cause);
    } finally {
      this.#isLooking = false;
    }
  }

  #watch(visitor: string, visit: string, lookAt: number): void {
    this.#unwatch(visitor);
    if (this.#watched.size >= WATCHED_MAX) this.#unwatch(this.#watched.keys().next().value!);
    this.#watched.set(visitor, { visit, lookAt });
    if (!this.#payers.has(visit)) this.#payers.set(visit, { visitor, calls: 0 });
  }

  #unwatch(visitor: string): void {
    const watched = this.#watched.get(visitor);
    this.#watched.delete(visitor);
    if (watched) this.#release(watched.visit);
  }

  /** Lets others pay in a visit, unless its payer still does. */
  #release(visit: string): void {
    const payer = this.#payers.get(visit);
    if (payer?.calls === 0 && this.#watched.get(payer.visitor)?.visit !== visit) this.#payers.delete(visit);
  }

  #nextLook(expiresAt: number | null): number {
    const now = this.#parts.world.clock.now();
    return expiresAt === null || expiresAt <= now ? now + STILL_MS : expiresAt;
  }
}
