/**
 * Requests that belong to no visit, and how many of them go through: none unless a newcomer would go straight through, which
 * the engine knows, and then a small budget a minute for each address. So the limit cannot be walked around by pretending
 * to be a picture: as soon as the room is full or somebody waits, pictures without a pass are refused; and while there is
 * room, one address adds no more to the site than a few visitors would.
 */
import { JoinBudget } from "../core/join-budget.ts";
import { addressKey } from "../sockets/whereabouts.ts";

export class Strays {
  readonly #budget: JoinBudget | null;

  constructor(perMinute: number, now: number) {
    this.#budget = perMinute === 0 ? null : new JoinBudget({ perMinute, now });
  }

  /** Counts a request from this address; false when it has had its share. */
  take(address: string, now: number): boolean {
    if (this.#budget === null) return false;
    const key = addressKey(address);
    if (this.#budget.waitMs(key, now) > 0) return false;
    this.#budget.take(key, now);
    return true;
  }
}
