/**
 * The bounds on visitors who begin an expired visit again without waiting (`Engine.resume`).
 *
 *   - A visitor takes a free slot in this way at most once per `formGrace`, and is looked one for at most once a second. In
 *     between the last answer, no, is repeated, so a loop of form requests gains nothing over the turns of the door.
 *   - Each counts in `newUsersPerMinute` as an entry. The rate does not keep them out, but newcomers pay for them: nobody
 *     enters from the line or straight through in a minute that is already full. Over any longer time the rate holds.
 *   - Each needs a pass that expired within `formGrace`. So in a minute there are no more of them than visits that expired in
 *     that minute or in `formGrace` before it: no more than if those visits had not expired.
 *   - Each takes a free slot, so the capacity holds as for a newcomer.
 *
 * A visit that is renewed while its slot is still held takes no other slot and is not bounded here. This state is lost with the
 * process (not in Redis): after a restart a visitor may come back once more.
 */
import { Deadlines } from "./deadlines.ts";
import type { Crowd, Doorkeeper } from "./doorkeeper.ts";

/** How long a visitor who found no slot has to wait until the next try. */
const RETRY_MS = 1_000;

export class Resumes {
  /** By visitor: when the next try is allowed. */
  readonly #nextAt = new Map<string, number>();
  readonly #due = new Deadlines<string>();

  mayTry(id: string, now: number): boolean {
    return now >= (this.#nextAt.get(id) ?? now);
  }

  /** Takes a slot for an expired visit, if one is free, and counts an entry. */
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

  /** Records a visit that began again at `now`, or found no slot. */
  note(id: string, hasBegun: boolean, { now, formGraceMs }: { now: number; formGraceMs: number }): void {
    const nextAt = nextTryAt(hasBegun, { now, formGraceMs });
    this.#nextAt.set(id, nextAt);
    this.#due.add(nextAt, id);
  }

  /** Forgets visitors whose next try is allowed. */
  forget(now: number): void {
    for (let id = this.#due.takeDue(now); id !== undefined; id = this.#due.takeDue(now))
      if (this.#nextAt.get(id)! <= now) this.#nextAt.delete(id);
  }
}

/** When the next try is allowed after a visit that began again at `now`, or found no slot. */
export function nextTryAt(
  hasBegun: boolean,
  { now, formGraceMs }: { readonly now: number; readonly formGraceMs: number },
): number {
  return now + Math.max(RETRY_MS, hasBegun ? formGraceMs : 0);
}
