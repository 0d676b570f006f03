/**
 * All baskets, by visitor. A visitor whose basket has departed gets another when the waiting list offers them something; the old
 * one is then kept under a name of its own, for what the payment provider may still say about it. Records are numbered as
 * baskets begin, so that new ones stand together on the disk.
 */

import type { BasketPhase } from "../commands.ts";
import type { Addition } from "../limits.ts";
import type { ChangedRecords } from "./changed-records.ts";
import { type HeldLine, HOLD_SHAPE, type Hold } from "./holds.ts";
import { NUMBER_DIGITS } from "./movements.ts";
import { type RecordShape, readStored } from "./stored-records.ts";

export const BASKET_PREFIX = "basket/";

/**
 *   open ──▶ authorised ──▶ succeeded ──▶ refunded        the order was cancelled by the provider
 *    │  │        │    └───▶ failed
 *    │  │        └───────▶ refunding ──▶ refunded         paid, but the goods were gone
 *    │  └──▶ voided                                       authorised, but nothing is to be captured
 *    └─────▶ failed ──▶ succeeded                         providers may try the same attempt again
 */
export type AttemptState =
  | "open"
  | "authorised"
  | "succeeded"
  | "failed"
  | "voided"
  | "refunding"
  | "refunded";

export interface PayAttempt {
  readonly id: string;
  state: AttemptState;
}

export interface Basket {
  /** Of its record. */
  readonly number: number;
  /** The visitor's id; a basket that was replaced has another. */
  key: string;
  readonly visitor: string;
  customer: string;
  readonly room: string;
  readonly lane: string;
  readonly admittedAt: number;
  /** The end of browsing (cs5). */
  readonly windowEndsAt: number;
  phase: BasketPhase;
  /** Of the phase: an instant while browsing, payment time in done and paying; of a departed basket, when it is forgotten. */
  endsAt: number;
  /** The id of its next line. */
  nextLine: number;
  /** Of a departed basket: what it had. */
  holds: Hold[];
  readonly attempts: PayAttempt[];
  /** Its owner has left; only the provider's word is waited for. */
  isLeaving: boolean;
  order: string | null;
  released: string[];
  /** What was added within the window of `burst`. */
  additions: readonly Addition[];
}

export class Baskets {
  readonly #changes: ChangedRecords;
  readonly #byKey = new Map<string, Basket>();
  readonly #byAttempt = new Map<string, Basket>();
  #nextNumber = 1;

  constructor(changes: ChangedRecords) {
    this.#changes = changes;
  }

  get size(): number {
    return this.#byKey.size;
  }

  get(key: string): Basket | undefined {
    return this.#byKey.get(key);
  }

  all(): IterableIterator<Basket> {
    return this.#byKey.values();
  }

  /** The basket that a payment attempt is for. */
  ofAttempt(attempt: string): Basket | undefined {
    return this.#byAttempt.get(attempt);
  }

  /** The number of the next basket. */
  get nextNumber(): number {
    return this.#nextNumber;
  }

  add(basket: Basket): void {
    this.#index(basket);
    this.save(basket);
  }

  addAttempt(basket: Basket, id: string): void {
    basket.attempts.push({ id, state: "open" });
    this.#byAttempt.set(id, basket);
    this.save(basket);
  }

  /** It has changed. */
  save(basket: Basket): void {
    this.#changes.put(recordKey(basket), () => JSON.stringify(basket));
  }

  forget(basket: Basket): void {
    this.#byKey.delete(basket.key);
    for (const { id } of basket.attempts) this.#byAttempt.delete(id);
    this.#changes.remove(recordKey(basket));
  }

  /** Makes room for another basket of the same visitor. */
  archive(basket: Basket): void {
    this.#byKey.delete(basket.key);
    let number = 1;
    while (this.#byKey.has(`${basket.visitor}/${number}`)) number++;
    basket.key = `${basket.visitor}/${number}`;
    this.add(basket);
  }

  restore(key: string, text: string): Basket {
    const basket = basketOfText(key, text);
    this.#index(basket);
    for (const { id } of basket.attempts) this.#byAttempt.set(id, basket);
    return basket;
  }

  #index(basket: Basket): void {
    this.#byKey.set(basket.key, basket);
    this.#nextNumber = Math.max(this.#nextNumber, basket.number + 1);
  }
}

function recordKey({ number }: Basket): string {
  return BASKET_PREFIX + String(number).padStart(NUMBER_DIGITS, "0");
}

/** The roots of what a basket holds. */
export function linesIn({ holds }: Pick<Basket, "holds">): HeldLine[] {
  return holds.map(({ line }) => line);
}

/** Where the units of a basket are; null: it holds none any more. */
export function unitPlaceOf({ phase }: Pick<Basket, "phase">): "reserved" | "pending" | null {
  if (phase === "departed") return null;
  return phase === "browsing" ? "reserved" : "pending";
}

/** A basket as it is stored. */
export function basketOfText(key: string, text: string): Basket {
  const basket = readStored<Basket>(key, text, BASKET_SHAPE);
  // Each text from JSON is one of its own; most baskets need only one.
  if (basket.key === basket.visitor) basket.key = basket.visitor;
  if (basket.customer === basket.visitor) basket.customer = basket.visitor;
  return basket;
}

const BASKET_SHAPE: RecordShape = {
  fields: {
    number: "count",
    key: "text",
    visitor: "text",
    customer: "text",
    room: "text",
    lane: "text",
    admittedAt: "count",
    windowEndsAt: "count",
    phase: "text",
    endsAt: "integer",
    nextLine: "count",
    holds: { listOf: HOLD_SHAPE },
    attempts: { listOf: { fields: { id: "text", state: "text" } } },
    isLeaving: "flag",
    order: { orNull: "text" },
    released: { listOf: "text" },
    additions: { listOf: { fields: { at: "count", items: "count" } } },
  },
};
