/**
 * Strays: requests that belong to no visit. They go through only while the engine would let a newcomer straight through, and
 * then within a budget a minute for each address; all addresses together have as many such budgets as the room has slots. So
 * pretending to be a picture is no way around the limit: as soon as the room is full or somebody waits, pictures without a pass
 * are refused. While there is room, one address adds no more load than a few visitors would, and all addresses together no more
 * than a full room.
 *
 * Preflights cost the site nothing, and every call by an app on another host needs one first, so they count for their address
 * alone: other addresses cannot use up its share.
 */
import { JoinBudget } from "../core/join-budget.ts";
import { addressKey } from "../sockets/whereabouts.ts";

/** The key for all addresses together; no address has this key. */
const ALL = "all";
/** Above this a limit has no effect, and its arithmetic would not be exact. */
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

  /** Counts a request from this address; false when the budget of the address, or of all together, is used up. */
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
