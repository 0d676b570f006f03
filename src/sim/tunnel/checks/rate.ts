/**
 * In no minute are more admitted than `newUsersPerMinute`, wherever the minute begins, and they come evenly: in ten
 * seconds no more than ten seconds' worth and what a flow may save up. Counted are the first word of each place's turn and
 * everyone who goes straight through, as seen from outside; a second turn of the same place is not.
 *
 * Word of a decision comes a while after it, and not always the same while, so a minute of words may hold the decisions
 * of a little more than one. Cuts excuse nothing: each part keeps to its share. Stated exceptions: whenever a process
 * ends it may have been the root, and what it let in since it last announced anything is forgotten, at the most what a
 * flow saves up; and when everybody who knew has died, the minute begins anew.
 */
import type { Check, Notice } from "../notice.ts";

const MINUTE_MS = 60_000;
const SHORT_MS = 10_000;
/** Word may come so much later of one decision than of another. */
const LATE_MS = 2_000;
/** The most that a flow saves up and lets in at once (`core/flow.ts`). */
const SAVED_MS = 2_000;

export class Rate implements Check {
  readonly name = "rate";
  readonly #perMinute: number | null;
  readonly #turned = new Set<number>();
  readonly #admittedAt: number[] = [];
  readonly #windows = [
    { forMs: MINUTE_MS, first: 0 },
    { forMs: SHORT_MS, first: 0 },
  ];
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
    if (notice.kind === "turns") return this.#admit(this.#fresh(notice.sequences), notice.at);
    const isThrough =
      notice.kind === "answered" && notice.request === "join" && notice.answer.kind === "entered";
    return isThrough ? this.#admit(1, notice.at) : null;
  }

  /** How many of these had no turn before. */
  #fresh(sequences: readonly number[]): number {
    const before = this.#turned.size;
    for (const sequence of sequences) this.#turned.add(sequence);
    return this.#turned.size - before;
  }

  #admit(count: number, at: number): string | null {
    for (let i = 0; i < count; i++) this.#admittedAt.push(at);
    for (const window of this.#windows) {
      const complaint = this.#judge(window, at);
      if (complaint !== null) return complaint;
    }
    return null;
  }

  #judge(window: { readonly forMs: number; first: number }, at: number): string | null {
    const { forMs } = window;
    while (window.first < this.#admittedAt.length && this.#admittedAt[window.first]! <= at - forMs)
      window.first++;
    const admitted = this.#admittedAt.length - window.first;
    const allowed = this.#allowed(forMs, at);
    return admitted > allowed
      ? `${admitted} were admitted within ${forMs / 1_000} s, and ${allowed} are the most that may be (newUsersPerMinute is ${this.#perMinute})`
      : null;
  }

  #allowed(forMs: number, at: number): number {
    const isSince = (then: number) => then > at - MINUTE_MS - LATE_MS;
    this.#endedAt = this.#endedAt.filter(isSince);
    const ended = this.#endedAt.filter((then) => then > at - forMs - LATE_MS).length;
    const anew = isSince(this.#forgotAt) ? this.#worth(forMs) : 0;
    // A whole minute has its own limit, whatever was saved up.
    const saved = forMs < MINUTE_MS ? this.#worth(SAVED_MS) + 1 : 0;
    return this.#worth(forMs) + saved + this.#worth(LATE_MS) + ended * this.#worth(SAVED_MS) + anew;
  }

  /** So many come in that time. */
  #worth(ms: number): number {
    return Math.ceil((this.#perMinute! * ms) / MINUTE_MS);
  }
}
