/**
 * The number ahead that a visitor is shown is true. It is compared with a book of the line made from answers and turns alone,
 * which says how many with a smaller key certainly wait and how many may wait. What changed within the last `KNOWN_MS` (a join, a
 * turn, a departure, an imminent lapse) may or may not be known where the visitor asked, so `ahead` must lie between the two.
 *
 * The number shown never rises, so people who come back to their places, after a lapse or a missed turn, need not be counted
 * again for those behind them.
 *
 * Judged from `begin` on while there is no fault, for visitors who joined a while ago and are never away. No number (null) is
 * never wrong. Counting a long line takes time, so only some answers are judged.
 */
import type { AnsweredNotice, Check, Notice } from "../notice.ts";
import { Troubles } from "./troubles.ts";

/** A tick of the board (a second), and the time its news takes. */
const KNOWN_MS = 1_500;
/** Deadlines are kept by clocks that differ, and in steps. */
const LAPSE_UNSURE_MS = 2_500;
const JUDGE_EVERY_MS = 100;

interface Entry {
  /** Changes after a missed turn. */
  sequence: number;
  readonly joinedAt: number;
  /** When it lapses, by the last answer. */
  until: number;
  /** When its holder got a turn, left, or was admitted; otherwise null. */
  endedAt: number | null;
  /** May have left the line for a while and come back. */
  isUnsure: boolean;
  isSteady: boolean;
}

export class Ahead implements Check {
  readonly name = "ahead";
  readonly #lapseAfterMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #bySequence = new Map<number, Entry>();
  readonly #turned = new Map<number, number>();
  readonly #troubles = new Troubles();
  #beganAt = Number.POSITIVE_INFINITY;
  #judgedAt = Number.NEGATIVE_INFINITY;

  constructor({ lapseAfterMs }: { lapseAfterMs: number }) {
    this.#lapseAfterMs = lapseAfterMs;
  }

  /** No faults from now on. Visitors already in the line may have any history. */
  begin(at: number): void {
    this.#beganAt = at;
    for (const entry of this.#entries.values()) entry.isUnsure = true;
  }

  see(notice: Notice): string | null {
    this.#troubles.see(notice);
    if (notice.kind === "answered") return this.#answer(notice);
    if (notice.kind === "turns") for (const sequence of notice.sequences) this.#turn(sequence, notice.at);
    const entry = "id" in notice ? this.#entries.get(notice.id) : undefined;
    if (!entry) return null;
    if (notice.kind === "leaving") entry.endedAt ??= notice.at;
    else if (notice.kind === "told") entry.isSteady = notice.isSteady;
    else if (notice.kind === "away") [entry.isSteady, entry.isUnsure] = [false, true];
    return null;
  }

  #answer(notice: AnsweredNotice): string | null {
    const { id, at, answer } = notice;
    const known = this.#entries.get(id);
    if (answer.kind !== "waiting") {
      if (known && answer.kind === "entered") known.endedAt ??= at;
      return null;
    }
    const entry = known ?? this.#enlist(notice, answer.ticket.sequence);
    // Told to wait again: what ended it may have been undone, or not be known there.
    if (entry.endedAt !== null || entry.until < at) entry.isUnsure = true;
    this.#renumber(entry, answer.ticket.sequence);
    entry.until = at + answer.nextCheckInMs + this.#lapseAfterMs;
    return this.#judge(notice, entry, answer.ahead);
  }

  #enlist({ id, askedAt, at }: AnsweredNotice, sequence: number): Entry {
    const endedAt = this.#turned.get(sequence) ?? null;
    const entry = { sequence, joinedAt: askedAt, until: at, endedAt, isUnsure: false, isSteady: false };
    this.#entries.set(id, entry);
    this.#bySequence.set(sequence, entry);
    return entry;
  }

  #renumber(entry: Entry, sequence: number): void {
    if (entry.sequence === sequence) return;
    this.#bySequence.delete(entry.sequence);
    entry.sequence = sequence;
    entry.isUnsure = true;
    this.#bySequence.set(sequence, entry);
  }

  #turn(sequence: number, at: number): void {
    if (!this.#turned.has(sequence)) this.#turned.set(sequence, at);
    const entry = this.#bySequence.get(sequence);
    if (entry) entry.endedAt ??= at;
  }

  #judge({ at, visitor, id }: AnsweredNotice, entry: Entry, ahead: number | null): string | null {
    if (ahead === null || !this.#isJudged(entry, at)) return null;
    this.#judgedAt = at;
    const { least: sure, most } = this.#bounds(entry.sequence, at);
    // A number that was too low in times of trouble stays.
    const least = entry.isUnsure ? 0 : sure;
    if (least <= ahead && ahead <= most) return null;
    const between = least === most ? `${least} are` : `from ${least} to ${most} are`;
    return `visitor ${visitor} (${id}) was shown ${ahead} ahead, and ${between} in the line before them`;
  }

  #isJudged({ joinedAt, isSteady, endedAt }: Entry, at: number): boolean {
    return (
      at >= this.#beganAt &&
      at - this.#judgedAt >= JUDGE_EVERY_MS &&
      at - joinedAt >= KNOWN_MS &&
      isSteady &&
      endedAt === null &&
      !this.#troubles.isAt(at) &&
      !this.#troubles.isAt(joinedAt)
    );
  }

  #bounds(before: number, at: number): { least: number; most: number } {
    let [least, most] = [0, 0];
    for (const entry of this.#entries.values()) {
      if (entry.sequence >= before) continue;
      if (isPerhapsWaiting(entry, at)) most++;
      if (isSurelyWaiting(entry, at)) least++;
    }
    return { least, most };
  }
}

function isSurelyWaiting({ joinedAt, until, endedAt, isUnsure }: Entry, at: number): boolean {
  return !isUnsure && endedAt === null && joinedAt <= at - KNOWN_MS && until - LAPSE_UNSURE_MS > at;
}

function isPerhapsWaiting({ until, endedAt, isUnsure }: Entry, at: number): boolean {
  if (until + LAPSE_UNSURE_MS < at) return false;
  return isUnsure || endedAt === null || endedAt > at - KNOWN_MS;
}
