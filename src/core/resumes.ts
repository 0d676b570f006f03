/**
 * Who began a visit again that was over, or tried to: what bounds those who come back without waiting (`Engine.resume`).
 *
 *   - A visitor takes a free slot in this way at most once in `formGrace`, and asks for one at most once a second. Between
 *     these tries the last answer, no, is given again, and no slot is looked for: a loop of forms finds one that is freed no
 *     more often than the door turns.
 *   - Each counts in `newUsersPerMinute` as one who enters. The rate does not keep them out, but newcomers pay for them:
 *     nobody enters from the line, or straight through, in a minute that already holds as many of both as may enter. Over any
 *     longer time as many come in as may.
 *   - Each needs a pass that ran out within `formGrace`. So in a minute they are no more than visitors whose time was up in
 *     that minute or in `formGrace` before it, each once: no more than there would be if nobody's time had been up.
 *   - Each takes a free slot, so the capacity holds as for a newcomer.
 *
 * A visit that is renewed while its slot is still held takes nobody's and is none of this. Nothing here outlives the process
 * (in Redis it does): after a restart a visitor may come back once more.
 */
import { Deadlines } from "./deadlines.ts";
import type { Crowd, Doorkeeper } from "./doorkeeper.ts";

/** A visitor who found no slot is not looked for one again within this time. */
const RETRY_MS = 1_000;

export class Resumes {
  /** By visitor: when the next try counts. */
  readonly #nextAt = new Map<string, number>();
  readonly #due = new Deadlines<string>();

  mayTry(id: string, now: number): boolean {
    return now >= (this.#nextAt.get(id) ?? now);
  }

  /** Takes a slot for a visit that was over, if there is one, and an entry from those to come. */
  begin(
    id: string,
    { door, crowd }: { readonly door: Doorkeeper; readonly crowd: Crowd },
    now: number,
  ): boolean {
    if (!this.mayTry(id, now)) return false;
    const hasBegun = door.mayResume(crowd, now);
    if (hasBegun) door.resumed(now);
    this.note(id, hasBegun, { now, formGraceMs: door.inForce(now).formGraceMs });
    return hasBegun;
  }

  /** Began again at `now`, or found no slot. */
  note(id: string, hasBegun: boolean, { now, formGraceMs }: { now: number; formGraceMs: number }): void {
    const nextAt = nextTryAt(hasBegun, { now, formGraceMs });
    this.#nextAt.set(id, nextAt);
    this.#due.add(nextAt, id);
  }

  /** Forgets whom it need not know any more. */
  forget(now: number): void {
    for (let id = this.#due.takeDue(now); id !== undefined; id = this.#due.takeDue(now))
      if (this.#nextAt.get(id)! <= now) this.#nextAt.delete(id);
  }
}

/** When the next try counts of someone whose visit began again at `now`, or found no slot. */
export function nextTryAt(
  hasBegun: boolean,
  { now, formGraceMs }: { readonly now: number; readonly formGraceMs: number },
): number {
  return now + Math.max(RETRY_MS, hasBegun ? formGraceMs : 0);
}
