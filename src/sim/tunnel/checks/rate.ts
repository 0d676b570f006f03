/**
 * In no minute do more enter than `newUsersPerMinute`, wherever the minute begins. And turns come evenly: in ten seconds no more
 * than ten seconds' worth, what a flow may save up, and those that are given again because others went unused. Counted
 * are the first time that each is told that they are in, and the first word of each turn, as seen from outside.
 *
 * Word of a decision comes a while after it, and not always the same while, so a minute of words may hold the decisions
 * of a little more than one. Cuts excuse nothing: each part keeps to its share. Stated exceptions: whenever a process
 * ends it may have been the root, and what it let in since it last announced anything is forgotten, at the most what a
 * flow saves up; and when everybody who knew has died, the minute begins anew.
 */
import type { AnsweredNotice, Check, Notice } from "../notice.ts";

const MINUTE_MS = 60_000;
const SHORT_MS = 10_000;
/** A turn that was not used is given again within this time. */
const UNUSED_MS = 30_000;
/** Word may come so much later of one decision than of another. */
const LATE_MS = 2_000;
/** The most that a flow saves up and lets in at once (`core/flow.ts`). */
const SAVED_MS = 2_000;

/** Instants, of which those within some time up to the last are counted. */
class Window {
  readonly forMs: number;
  readonly #at: number[] = [];
  #first = 0;

  constructor(forMs: number) {
    this.forMs = forMs;
  }

  add(count: number, at: number): void {
    for (let i = 0; i < count; i++) this.#at.push(at);
  }

  upTo(at: number): number {
    while (this.#first < this.#at.length && this.#at[this.#first]! <= at - this.forMs) this.#first++;
    return this.#at.length - this.#first;
  }
}

export class Rate implements Check {
  readonly name = "rate";
  readonly #perMinute: number | null;
  readonly #turned = new Set<number>();
  readonly #entered = new Set<string>();
  /** Turns and those who go straight through; all who enter. */
  readonly #turns = new Window(SHORT_MS);
  readonly #entries = new Window(MINUTE_MS);
  /** Turns told of, and used, lately. */
  readonly #told = new Window(UNUSED_MS);
  readonly #used = new Window(UNUSED_MS);
  #endedAt: number[] = [];
  #forgotAt = Number.NEGATIVE_INFINITY;

  /** null: there is no limit. */
  constructor({ newUsersPerMinute }: { newUsersPerMinute: number | null }) {
    this.#perMinute = newUsersPerMinute;
  }

  see(notice: Notice): string | null {
    if (this.#perMinute === null) return null;
    if (notice.kind === "stopped") {
      this.#endedAt.push(notice.at);
      if (notice.isLast) this.#forgotAt = notice.at;
    }
    if (notice.kind === "turns") return this.#tell(this.#fresh(notice.sequences), notice.at);
    return notice.kind === "answered" && notice.answer.kind === "entered" ? this.#enter(notice) : null;
  }

  /** How many of these had no turn before. */
  #fresh(sequences: readonly number[]): number {
    const before = this.#turned.size;
    for (const sequence of sequences) this.#turned.add(sequence);
    return this.#turned.size - before;
  }

  /** Going straight through is a turn as well. */
  #enter({ id, at, request }: AnsweredNotice): string | null {
    if (this.#entered.has(id)) return null;
    this.#entered.add(id);
    if (request !== "join") this.#used.add(1, at);
    this.#entries.add(1, at);
    const count = this.#entries.upTo(at);
    const allowed = this.#allowed(MINUTE_MS, at);
    if (count > allowed) return this.#words("entered", { count, allowed, forMs: MINUTE_MS });
    return request === "join" ? this.#turn(1, at) : null;
  }

  #tell(fresh: number, at: number): string | null {
    const complaint = this.#turn(fresh, at);
    this.#told.add(fresh, at);
    return complaint;
  }

  #turn(fresh: number, at: number): string | null {
    this.#turns.add(fresh, at);
    const count = this.#turns.upTo(at);
    // A turn that goes loose is given again, and so are those of whoever leaves.
    const unused = Math.max(0, this.#told.upTo(at) - this.#used.upTo(at));
    const allowed = this.#allowed(SHORT_MS, at) + this.#worth(SAVED_MS) + 1 + unused;
    return count > allowed ? this.#words("got a turn", { count, allowed, forMs: SHORT_MS }) : null;
  }

  #words(what: string, { count, allowed, forMs }: { count: number; allowed: number; forMs: number }): string {
    return `${count} ${what} within ${forMs / 1_000} s, and ${allowed} are the most that may be (newUsersPerMinute is ${this.#perMinute})`;
  }

  #allowed(forMs: number, at: number): number {
    const isSince = (then: number) => then > at - MINUTE_MS - LATE_MS;
    this.#endedAt = this.#endedAt.filter(isSince);
    const ended = this.#endedAt.filter((then) => then > at - forMs - LATE_MS).length;
    const anew = isSince(this.#forgotAt) ? this.#worth(forMs) : 0;
    return this.#worth(forMs) + this.#worth(LATE_MS) + ended * this.#worth(SAVED_MS) + anew;
  }

  /** So many come in that time. */
  #worth(ms: number): number {
    return Math.ceil((this.#perMinute! * ms) / MINUTE_MS);
  }
}
