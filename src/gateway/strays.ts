/**
 * Requests that belong to no visit, and how many of them go through: none unless a newcomer would go straight through, which
 * the engine knows, and then a small budget a minute for each address, and for all together as many such budgets as the room
 * has slots. So the limit cannot be walked around by pretending to be a picture: as soon as the room is full or somebody waits,
 * pictures without a pass are refused; while there is room, one address adds no more to the site than a few visitors would,
 * and any number of addresses no more than a full room.
 *
 * Preflights do nothing at a site, and every call of an app on another host needs one first, so they count for their address
 * alone: others cannot use theirs up.
 */
import { JoinBudget } from "../core/join-budget.ts";
import { addressKey } from "../sockets/whereabouts.ts";

/** The key of all addresses together, which no address has. */
const ALL = "all";
/** More is no limit, and its arithmetic would not be exact. */
const TOTAL_PER_MINUTE_MAX = 1e9;

export class Strays {
  readonly #budget: JoinBudget | null;
  readonly #total: JoinBudget | null;

  /** `slots`: null where there is no such limit. */
  constructor(perMinute: number, slots: number | null, now: number) {
    this.#budget = perMinute === 0 ? null : new JoinBudget({ perMinute, now });
    const total = slots === null ? Number.POSITIVE_INFINITY : perMinute * Math.max(1, slots);
    const isBounded = perMinute > 0 && total <= TOTAL_PER_MINUTE_MAX;
    this.#total = isBounded ? new JoinBudget({ perMinute: total, now }) : null;
  }

  /** Counts a request from this address; false when it, or all of them, have had their share. */
  take(address: string, isPreflight: boolean, now: number): boolean {
    if (this.#budget === null) return false;
    const key = addressKey(address);
    const total = isPreflight ? null : this.#total;
    if (this.#budget.waitMs(key, now) > 0 || (total && total.waitMs(ALL, now) > 0)) return false;
    this.#budget.take(key, now);
    total?.take(ALL, now);
    return true;
  }
}
