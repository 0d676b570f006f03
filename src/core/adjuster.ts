/**
 * What a room does without an operator as the load of its origin changes: standby starts and stops the line, the adaptive
 * loop moves the limits. Both look at the load about once a second, and every change is a remark for the operator.
 *
 * Synchronous and told the time. What must survive a restart, or move to another gateway, fits into a small memo.
 */
import { Adaptive, type AdaptiveMemo } from "./adaptive.ts";
import type { Limits, Load, Remark } from "./engine.ts";
import { LoadMeter } from "./load.ts";
import type { DoorRules } from "./rules.ts";
import { Standby, type StandbyMemo } from "./standby.ts";

/** Time from one look at the load to the next. */
const WEIGH_MS = 1_000;
const REMARKS_MAX = 50;

export interface AdjusterMemo {
  readonly standby: StandbyMemo;
  readonly adaptive: AdaptiveMemo;
  readonly remarks: readonly Remark[];
}

/** The room as it is when the load is weighed. */
export interface Weighed {
  readonly waiting: number;
  readonly onSite: number;
  /** Smoothed share of turns that nobody uses. */
  readonly noShows: number;
}

export class Adjuster {
  readonly #load = new LoadMeter();
  readonly #standby = new Standby();
  readonly #adaptive = new Adaptive();
  #weighedAt = Number.NEGATIVE_INFINITY;
  #remarks: readonly Remark[] = [];

  /** False while the room stands by without a line. */
  isActive({ standby }: DoorRules): boolean {
    return standby === null || this.#standby.isActive;
  }

  /** Of the limits that are set, 0 to 1. */
  share({ adaptive }: DoorRules): number {
    return adaptive === null ? 1 : this.#adaptive.share;
  }

  limits(set: Limits): Limits {
    return this.#adaptive.limits(set);
  }

  get remarks(): readonly Remark[] {
    return this.#remarks;
  }

  hear(load: Load, now: number): void {
    this.#load.hear(load, now);
  }

  /** True when the load must be looked at now: standby or adaptive is on, and the last look was long enough ago. */
  isDue({ standby, adaptive }: DoorRules, now: number): boolean {
    return now - this.#weighedAt >= WEIGH_MS && (standby !== null || adaptive !== null);
  }

  /** Looks at the load: starts or stops the line and moves the limits. Returns the new remarks. */
  weigh(rules: DoorRules, room: Weighed, now: number): readonly Remark[] {
    if (!this.isDue(rules, now)) return [];
    this.#weighedAt = now;
    const { standby, adaptive, totalActiveUsers, newUsersPerMinute } = rules;
    const { waiting, onSite, noShows } = room;
    const seen = this.#load.seen(now);
    const said: (Remark | null)[] = [];
    if (standby) said.push(this.#standby.turn(standby, { ...seen, activeUsers: onSite, waiting }, now));
    if (adaptive) {
      const set = { totalActiveUsers, newUsersPerMinute };
      said.push(this.#adaptive.turn(adaptive, set, { ...seen, onSite, noShows }, now));
    }
    const remarks = said.filter((remark) => remark !== null);
    if (remarks.length > 0) this.#remarks = [...this.#remarks, ...remarks].slice(-REMARKS_MAX);
    return remarks;
  }

  memo(): AdjusterMemo {
    return { standby: this.#standby.memo(), adaptive: this.#adaptive.memo(), remarks: this.#remarks };
  }

  restore({ standby, adaptive, remarks }: AdjusterMemo): void {
    this.#standby.restore(standby);
    this.#adaptive.restore(adaptive);
    this.#remarks = [...remarks];
  }
}
