/**
 * A run over time: the room is sampled every second, and half as often each time there are too many samples to draw. Sums and
 * peaks use every sample; only what is drawn is thinned out.
 *
 * Admissions are counted minute by minute, from the first minute on.
 */
import type { Counts, DoorReason } from "../../core/engine.ts";

const FIRST_STEP_MS = 1_000;
/** Odd, so that the last sample is kept when every other one is dropped. */
const LOOKS_MAX = 481;
const MINUTE_MS = 60_000;
/** A site with a smaller share of free slots is full: a few are always free between two runs of the door. */
const FREE_SHARE = 0.01;

/** The room at one moment. */
export interface RoomMoment {
  /** Since the start of the run. */
  readonly atMs: number;
  readonly waiting: number;
  readonly onSite: number;
  /** Admitted and not yet entered. */
  readonly turns: number;
  /** The capacity; null: no limit. */
  readonly slots: number | null;
  /** So far. */
  readonly arrived: number;
  readonly admitted: number;
}

export class Timeline {
  readonly #looks: RoomMoment[] = [];
  #stepMs = FIRST_STEP_MS;
  #lastMs = 0;
  #usedMs = 0;
  #fullMs = 0;
  #peakUsed = 0;
  readonly #reasonMs = new Map<DoorReason, number>();
  readonly #admittedByMinute: number[] = [];
  #longest = { waiting: 0, atMs: 0 };

  get looks(): readonly RoomMoment[] {
    return this.#looks;
  }

  /** When to sample next. */
  get nextMs(): number {
    return this.#looks.length === 0 ? 0 : this.#lastMs + this.#stepMs;
  }

  /** `reason`: why the door admits no more at the moment. */
  add(look: RoomMoment, reason: DoorReason): void {
    const spentMs = look.atMs - this.#lastMs;
    const used = look.onSite + look.turns;
    this.#lastMs = look.atMs;
    this.#usedMs += used * spentMs;
    this.#peakUsed = Math.max(this.#peakUsed, used);
    if (isFull(look)) this.#fullMs += spentMs;
    if (look.waiting > 0) this.#reasonMs.set(reason, (this.#reasonMs.get(reason) ?? 0) + spentMs);
    this.noteLine(look.waiting, look.atMs);
    this.#looks.push(look);
    if (this.#looks.length >= LOOKS_MAX) this.#thin();
  }

  /** The line's length, whenever it is known. */
  noteLine(waiting: number, atMs: number): void {
    if (waiting > this.#longest.waiting) this.#longest = { waiting, atMs };
  }

  noteAdmitted(count: number, atMs: number): void {
    const minute = Math.floor(atMs / MINUTE_MS);
    while (this.#admittedByMinute.length <= minute) this.#admittedByMinute.push(0);
    this.#admittedByMinute[minute]! += count;
  }

  get longest(): { readonly waiting: number; readonly atMs: number } {
    return this.#longest;
  }

  get admittedByMinute(): readonly number[] {
    return this.#admittedByMinute;
  }

  /** Slots in use, including unused turns. */
  get used(): { readonly peak: number; readonly mean: number; readonly fullShare: number } {
    const mean = this.#lastMs === 0 ? this.#peakUsed : this.#usedMs / this.#lastMs;
    return { peak: this.#peakUsed, mean, fullShare: this.#lastMs === 0 ? 0 : this.#fullMs / this.#lastMs };
  }

  /** For how long the door gave each reason while people waited. */
  get reasonMs(): ReadonlyMap<DoorReason, number> {
    return this.#reasonMs;
  }

  #thin(): void {
    this.#stepMs *= 2;
    const kept = this.#looks.filter((_, index) => index % 2 === 0);
    this.#looks.splice(0, this.#looks.length, ...kept);
  }
}

/** One sample, from an engine's counts. */
export function lookAt(
  { waiting, onSite, admitted: turns, limits }: Counts,
  others: { atMs: number; arrived: number; admitted: number; sharedSlots: number | null },
): RoomMoment {
  const { atMs, arrived, admitted, sharedSlots } = others;
  const slots = least(limits.totalActiveUsers, sharedSlots);
  return { atMs, waiting, onSite, turns, slots, arrived, admitted };
}

function isFull({ onSite, turns, slots }: RoomMoment): boolean {
  return slots !== null && onSite + turns >= slots - Math.floor(slots * FREE_SHARE);
}

function least(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
