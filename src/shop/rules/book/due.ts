/**
 * What ends when. Deadlines of browsing are instants; those of done and paying are in payment time, which stands still while the
 * payment door is closed. What comes up is looked at by its owner, who knows whether it is really over.
 */
import { Deadlines } from "../../../core/deadlines.ts";
import type { PaymentClock } from "./payment-clock.ts";

export interface Due {
  readonly what: "basket" | "customer" | "sale" | "opening" | "list";
  /** A basket's key, a customer or a product. */
  readonly id: string;
}

export class ShopDeadlines {
  readonly #door: PaymentClock;
  readonly #instants = new Deadlines<Due>();
  readonly #inPayment = new Deadlines<Due>();

  constructor(door: PaymentClock) {
    this.#door = door;
  }

  add(at: number, due: Due): void {
    this.#instants.add(at, due);
  }

  /** `at` is payment time. */
  addInPayment(at: number, due: Due): void {
    this.#inPayment.add(at, due);
  }

  /** The next that is due; undefined when there is none. */
  take(now: number): Due | undefined {
    return this.#instants.takeDue(now) ?? this.#inPayment.takeDue(this.#door.at(now));
  }

  /** Null: nothing is due before something else happens. */
  get soonestAt(): number | null {
    const paying = this.#inPayment.soonestAt;
    return earliest(this.#instants.soonestAt, paying === null ? null : this.#door.instantOf(paying));
  }
}

/** The earliest of some instants; null: there is none. */
export function earliest(...instants: readonly (number | null)[]): number | null {
  let first: number | null = null;
  for (const at of instants) if (at !== null && (first === null || at < first)) first = at;
  return first;
}
