/**
 * Requests that belong to no visit, and how many of them go through. While somebody waits, or a newcomer found the room
 * full a moment ago, none do. Otherwise each address has a small budget a minute. So the limit cannot be walked around by
 * pretending to be a picture: as soon as the room is full, pictures without a pass are refused; and while it is not, one
 * address adds no more to the site than a few visitors would.
 */
import { JoinBudget } from "../core/join-budget.ts";
import { addressKey } from "../sockets/whereabouts.ts";

/** For so long after a newcomer found no room there is none. Boards are as old as that at most. */
const FULL_FOR_MS = 1_000;

export class Strays {
  readonly perMinute: number;
  readonly #budget: JoinBudget | null;
  #fullUntil = Number.NEGATIVE_INFINITY;

  constructor(perMinute: number, now: number) {
    this.perMinute = perMinute;
    this.#budget = perMinute === 0 ? null : new JoinBudget({ perMinute, now });
  }

  /** A newcomer was not let through. */
  foundFull(now: number): void {
    this.#fullUntil = now + FULL_FOR_MS;
  }

  /** Counts a request from this address, if it may go through. `isOpen`: nobody waits, as far as the board knows. */
  mayPass(address: string, isOpen: boolean, now: number): boolean {
    if (this.#budget === null || !isOpen || now < this.#fullUntil) return false;
    const key = addressKey(address);
    if (this.#budget.waitMs(key, now) > 0) return false;
    this.#budget.take(key, now);
    return true;
  }
}
