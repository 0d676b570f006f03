/** How many calls to a shop one visitor may make, and one address: each a minute's worth at once, which refills evenly. */
import { JoinBudget } from "../../core/join-budget.ts";

export interface CallLimits {
  readonly callsPerVisitorMax: number;
  readonly callsPerAddressMax: number;
}

export class CallBudget {
  readonly #limits: CallLimits;
  readonly #visitors: JoinBudget;
  readonly #addresses: JoinBudget;

  constructor({ callsPerVisitorMax, callsPerAddressMax }: CallLimits, now: number) {
    this.#limits = { callsPerVisitorMax, callsPerAddressMax };
    this.#visitors = new JoinBudget({ perMinute: callsPerVisitorMax, now });
    this.#addresses = new JoinBudget({ perMinute: callsPerAddressMax, now });
  }

  /** True when it goes on under these limits. */
  isFor({ callsPerVisitorMax, callsPerAddressMax }: CallLimits): boolean {
    const { callsPerVisitorMax: visitors, callsPerAddressMax: addresses } = this.#limits;
    return visitors === callsPerVisitorMax && addresses === callsPerAddressMax;
  }

  /** Counts a call, by the key of its address, if that is known; or gives the milliseconds until there may be one, and counts nothing. */
  take({ visitor, address }: { visitor: string; address: string | null }, now: number): number {
    const waitMs = Math.max(
      this.#visitors.waitMs(visitor, now),
      address === null ? 0 : this.#addresses.waitMs(address, now),
    );
    if (waitMs > 0) return waitMs;
    this.#visitors.take(visitor, now);
    if (address !== null) this.#addresses.take(address, now);
    return 0;
  }
}
