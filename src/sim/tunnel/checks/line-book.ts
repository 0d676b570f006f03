/**
 * How many wait and how many are on the site, as seen from all answers together: what the nodes' own counts are compared with.
 * Some things cannot be known from outside (when exactly a place lapses, what died with a node, what a cut-off part has not
 * heard), so the book gives a minimum and a maximum.
 */
import { PRESENCE_GRACE_MS } from "../../../core/pass.ts";
import type { AnsweredNotice, Check, Notice } from "../notice.ts";
import { Disturbances } from "./disturbances.ts";

/** Deadlines are kept by clocks that differ, and in steps; the news that someone left takes a while. */
const UNSURE_MS = 2_500;

/** The longest time anyone is told to stay away, plus how long they are waited for then. */
const AWAY_MAX_MS = 100_000;

export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** What a process said, and how long it holds. */
interface Word {
  readonly at: number;
  readonly station: number;
  readonly life: number;
  until: number;
}

interface Entry {
  /** null: went straight through, without a number. */
  sequence: number | null;
  waiting: Word | null;
  visit: Word | null;
  leftAt: number | null;
}

/** This check only keeps the book; `quiet.ts` compares. */
export class LineBook implements Check {
  readonly name = "counts";
  readonly #lapseAfterMs: number;
  readonly #entries = new Map<string, Entry>();
  readonly #turns = new Map<number, number>();
  readonly #disturbances = new Disturbances();

  constructor({ lapseAfterMs }: { lapseAfterMs: number }) {
    this.#lapseAfterMs = lapseAfterMs;
  }

  see(notice: Notice): null {
    this.#disturbances.see(notice);
    if (notice.kind === "answered") this.#answer(notice);
    else if (notice.kind === "turns")
      for (const sequence of notice.sequences) this.#turns.set(sequence, notice.at);
    else if (notice.kind === "leaving") this.#entry(notice.id).leftAt ??= notice.at;
    else if (notice.kind === "renewed") {
      const { visit } = this.#entry(notice.id);
      if (visit) visit.until = Math.max(visit.until, notice.expiresAt);
    }
    return null;
  }

  waiting(at: number): Bounds {
    return this.#bounds((entry) => this.#isWaiting(entry, at));
  }

  onSite(at: number): Bounds {
    return this.#bounds((entry) => this.#isOnSite(entry, at));
  }

  #answer({ id, at, station, life, answer, expiresAt }: AnsweredNotice): void {
    const entry = this.#entry(id);
    if (answer.kind === "waiting") {
      const until = at + answer.nextCheckInMs + this.#lapseAfterMs;
      entry.sequence = answer.ticket.sequence;
      entry.waiting = { at, station, life, until };
    } else if (answer.kind === "entered") {
      entry.visit = { at, station, life, until: expiresAt! };
    }
  }

  #entry(id: string): Entry {
    const known = this.#entries.get(id);
    if (known) return known;
    const entry: Entry = { sequence: null, waiting: null, visit: null, leftAt: null };
    this.#entries.set(id, entry);
    return entry;
  }

  #bounds(judge: (entry: Entry) => boolean | null): Bounds {
    let [least, most] = [0, 0];
    for (const entry of this.#entries.values()) {
      const verdict = judge(entry);
      if (verdict !== false) most++;
      if (verdict === true) least++;
    }
    return { least, most };
  }

  /** null: unknown from outside. */
  #isWaiting({ waiting, visit, leftAt, sequence }: Entry, at: number): boolean | null {
    if (waiting === null) return false;
    if (waiting.until + UNSURE_MS < at)
      // A node that takes over a lost owner's places does not know when their holders were told to come.
      return this.#disturbances.isAnySince(waiting.at) && waiting.until + AWAY_MAX_MS > at ? null : false;
    const turnAt = this.#turns.get(sequence!) ?? null;
    if ([visit?.at ?? null, leftAt].some((ended) => this.#isKnown(ended, at))) return false;
    // A visitor told to wait after their turn was reported has missed it, or asked where it was not known yet.
    if (turnAt !== null && turnAt >= waiting.at && this.#isKnown(turnAt, at)) return false;
    if (visit !== null || leftAt !== null || turnAt !== null) return null;
    return waiting.until - UNSURE_MS > at && this.#isSure(waiting) ? true : null;
  }

  #isOnSite({ visit, leftAt }: Entry, at: number): boolean | null {
    if (visit === null || visit.until + PRESENCE_GRACE_MS + UNSURE_MS < at) return false;
    if (leftAt !== null) return this.#isKnown(leftAt, at) ? false : null;
    return visit.until - UNSURE_MS > at && this.#isSure(visit) ? true : null;
  }

  /** True when every node must know by now what happened then. */
  #isKnown(happenedAt: number | null, at: number): boolean {
    if (happenedAt === null) return false;
    return happenedAt + UNSURE_MS < at && !this.#disturbances.isAnySince(happenedAt);
  }

  #isSure(word: Word): boolean {
    return !this.#disturbances.mayBeLost(word) && !this.#disturbances.isAnySince(word.at);
  }
}
