/**
 * What a room does by itself as the load of its origin goes: standby starts and stops the line, the adaptive loop moves
 * the limits. About once a second both look at the load, and every change is a remark for the operator.
 *
 * Synchronous and told the time. What must go on after a restart, or at another gateway, fits into a small memo.
 */
import { Adaptive, type AdaptiveMemo } from "./adaptive.ts";
import type { Limits, Load, Remark } from "./engine.ts";
import { LoadMeter } from "./load.ts";
import type { DoorRules } from "./rules.ts";
import { Standby, type StandbyMemo } from "./standby.ts";

/** So often the load is weighed. */
export const WEIGH_MS = 1_000;
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

  /** True when it is time to weigh, and there is anything to decide by it. */
  isDue({ standby, adaptive }: DoorRules, now: number): boolean {
    return now - this.#weighedAt >= WEIGH_MS && (standby !== null || adaptive !== null);
  }

  /** Weighs the load: does the line start or stop, do the limits move. Gives what there is to say. */
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
