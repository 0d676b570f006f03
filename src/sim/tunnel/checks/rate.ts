/**
 * In no minute do more enter than `newUsersPerMinute`, wherever the minute begins. And turns come evenly: in ten seconds no more
 * than ten seconds' worth, plus what a flow may save up, plus unused turns that are given again. Counts the first time that each
 * visitor is told that they are in, and the first report of each turn.
 *
 * Reports come some time after the decision, with varying delay, so a minute of reports may hold the decisions of slightly more
 * than a minute. Cuts excuse nothing: each part keeps to its share. Stated exceptions: a process that ends may have been the
 * root, and then what it admitted since its last announcement is forgotten, at most what a flow saves up; and when every node
 * that knew has died, the minute starts again.
 */
import type { AnsweredNotice, Check, Notice } from "../notice.ts";

const MINUTE_MS = 60_000;
const SHORT_MS = 10_000;
/** An unused turn is given again within this time. */
const UNUSED_MS = 30_000;
/** The most by which reports of two decisions may differ in delay. */
const LATE_MS = 2_000;
/** The most that a flow saves up and admits at once (`core/flow.ts`). */
const SAVED_MS = 2_000;

/** Counts events within some time up to the last one. */
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
  /** Turns, including ways straight through; and all entries. */
  readonly #turns = new Window(SHORT_MS);
  readonly #entries = new Window(MINUTE_MS);
  /** Turns reported, and used, lately. */
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
    // A turn that becomes loose is given again, and so is that of a visitor who leaves.
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

  #worth(ms: number): number {
    return Math.ceil((this.#perMinute! * ms) / MINUTE_MS);
  }
}
