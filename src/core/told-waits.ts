/**
 * Whether the waits that were told came true. Every few seconds the waits of some places all over the line are noted, and when
 * such a place has its turn they are compared with what happened. Two things follow:
 *
 *  - the accuracy of the past hour, for the operator;
 *  - a correction: where fewer than four in five came true the ranges get wider, where more did, narrower. Short and
 *    long waits are corrected apart, since different things make them wrong.
 *
 * What was told before the rules changed is forgotten: nobody could have known.
 */
import type { WaitRange } from "./board.ts";

/** A place whose wait was noted, to be compared when it is admitted. */
export interface NotedPlace {
  readonly lane: number;
  readonly sequence: number;
  readonly wait: WaitRange;
}

/** How good the waits told were; null: nothing to compare yet. */
export interface WaitAccuracy {
  /** How many told waits were compared. */
  readonly compared: number;
  /** Share that came true within the range told; four in five is right. */
  readonly inside: number;
  /** Share whose middle was within 30 percent of what happened, of waits over two minutes. */
  readonly close: number | null;
}

/** How the correction is kept over a restart. */
export interface ToldMemo {
  readonly widths: readonly number[];
  readonly counts: readonly number[];
}

const MINUTE_MS = 60_000;
const NOTE_EVERY_MS = 5_000;
const NOTED_MAX = 4_000;
/** Waits up to each of these many minutes are corrected together. */
const CLASSES_MINUTES = [2, 5, 10, 20, 40, Number.POSITIVE_INFINITY];
const INSIDE_SHARE = 0.8;
/** How fast the width follows: at first by much, later slowly, since errors of neighbours are alike. */
const FOLLOW = 3;
const FOLLOW_AFTER = 40;
const FOLLOW_LEAST = 0.01;
const WIDTH_LEAST = 0.25;
const WIDTH_MOST = 3;
/** No count comes near. */
const COUNT_MAX = 1e9;
const HOUR_PARTS = 12;
const PART_MS = 5 * MINUTE_MS;
const CLOSE = 0.3;
const CLOSE_FROM_MS = 2 * MINUTE_MS;

interface Noted extends NotedPlace {
  readonly at: number;
}

interface Part {
  readonly index: number;
  compared: number;
  inside: number;
  long: number;
  close: number;
}

export class ToldWaits {
  #noted: Noted[] = [];
  #notedAt = Number.NEGATIVE_INFINITY;
  #widths = CLASSES_MINUTES.map(() => 1);
  /** How many were compared for each. */
  #counts = CLASSES_MINUTES.map(() => 0);
  #parts: Part[] = [];

  /** How much wider than forecast a range of this middle is told. */
  width(middleMs: number): number {
    return this.#widths[classOf(middleMs)]!;
  }

  /** True when it is time to note places again. */
  isDue(now: number): boolean {
    return now - this.#notedAt >= NOTE_EVERY_MS && this.#noted.length < NOTED_MAX;
  }

  note(places: Iterable<NotedPlace>, now: number): void {
    this.#notedAt = now;
    for (const place of places) if (this.#noted.length < NOTED_MAX) this.#noted.push({ ...place, at: now });
  }

  /** Compares those that have passed. `highest` is the highest sequence of a lane that had its turn. */
  compare(highest: (lane: number) => number, now: number): void {
    const left: Noted[] = [];
    for (const noted of this.#noted) {
      if (highest(noted.lane) < noted.sequence) left.push(noted);
      else this.#happened(noted, now);
    }
    this.#noted = left;
  }

  forget(): void {
    this.#noted = [];
  }

  accuracy(now: number): WaitAccuracy | null {
    const oldest = Math.floor(now / PART_MS) - HOUR_PARTS;
    const total = { compared: 0, inside: 0, long: 0, close: 0 };
    for (const part of this.#parts) {
      if (part.index <= oldest) continue;
      total.compared += part.compared;
      total.inside += part.inside;
      total.long += part.long;
      total.close += part.close;
    }
    if (total.compared === 0) return null;
    return {
      compared: total.compared,
      inside: total.inside / total.compared,
      close: total.long === 0 ? null : total.close / total.long,
    };
  }

  memo(): ToldMemo {
    return { widths: this.#widths, counts: this.#counts };
  }

  /** Takes over the correction, and how much it rests on: without that it would begin to swing again. A bad memo is left aside. */
  restore({ widths, counts }: ToldMemo): void {
    if (!isMemo(widths, WIDTH_LEAST, WIDTH_MOST) || !isMemo(counts, 0, COUNT_MAX)) return;
    this.#widths = [...widths];
    this.#counts = [...counts];
  }

  #happened({ wait, at }: Noted, now: number): void {
    const waitedMs = now - at;
    const isInside = wait.low <= waitedMs && waitedMs <= wait.high;
    const part = this.#part(now);
    part.compared++;
    if (isInside) part.inside++;
    if (waitedMs > CLOSE_FROM_MS) {
      part.long++;
      if (Math.abs(wait.middle - waitedMs) <= CLOSE * waitedMs) part.close++;
    }
    const index = classOf(wait.middle);
    const follow = Math.max(FOLLOW_LEAST, FOLLOW / (this.#counts[index]!++ + FOLLOW_AFTER));
    const by = follow * (isInside ? INSIDE_SHARE - 1 : INSIDE_SHARE);
    this.#widths[index] = Math.min(WIDTH_MOST, Math.max(WIDTH_LEAST, this.#widths[index]! * Math.exp(by)));
  }

  #part(now: number): Part {
    const index = Math.floor(now / PART_MS);
    const last = this.#parts.at(-1);
    if (last?.index === index) return last;
    const part = { index, compared: 0, inside: 0, long: 0, close: 0 };
    this.#parts.push(part);
    if (this.#parts.length > HOUR_PARTS + 1) this.#parts.shift();
    return part;
  }
}

/** A number for each class, within bounds. */
function isMemo(values: readonly number[] | undefined, least: number, most: number): boolean {
  return (
    values?.length === CLASSES_MINUTES.length && values.every((value) => value >= least && value <= most)
  );
}

function classOf(middleMs: number): number {
  return CLASSES_MINUTES.findIndex((minutes) => middleMs <= minutes * MINUTE_MS);
}
