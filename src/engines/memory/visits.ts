/**
 * Who is on the site. One visit per id, whatever is presented how often; a visit ends when its pass has run out (and
 * a little later, since presence is reported in batches), by leaving, or from outside. Ended ids are remembered until
 * their last pass would have run out by itself, so that gateways can refuse it.
 */
import { Deadlines } from "../../core/deadlines.ts";
import type { Presence } from "../../core/engine.ts";
import { PRESENCE_GRACE_MS } from "../../core/pass.ts";

export interface Visit {
  readonly id: string;
  /** The place it came from, or -1 for one taken in from a pass alone. */
  readonly sequence: number;
  readonly lane: number;
  readonly joinedAt: number;
  readonly admittedAt: number;
  expiresAt: number;
}

export class Visits {
  #byId = new Map<string, Visit>();
  #due = new Deadlines<Visit>();
  #ended = new Map<string, number>();
  #endedDue = new Deadlines<string>();

  get size(): number {
    return this.#byId.size;
  }

  get(id: string): Visit | undefined {
    return this.#byId.get(id);
  }

  add(visit: Visit): void {
    this.#byId.set(visit.id, visit);
    this.#due.add(visit.expiresAt + PRESENCE_GRACE_MS, visit);
  }

  /** A visitor was seen. Unknown ones with a good pass are taken in; ended ones stay ended. */
  touch(presence: Presence, now: number): void {
    const visit = this.#byId.get(presence.id);
    if (visit) visit.expiresAt = Math.max(visit.expiresAt, presence.expiresAt);
    else if (presence.expiresAt > now && !this.#ended.has(presence.id))
      this.add({ ...presence, sequence: -1 });
  }

  /** Ends a visit and remembers its id as ended. The instant returned is when its last pass runs out. */
  end(visit: Visit): number {
    this.#byId.delete(visit.id);
    const until = visit.expiresAt + PRESENCE_GRACE_MS;
    this.#ended.set(visit.id, until);
    this.#endedDue.add(until, visit.id);
    return until;
  }

  /** Takes out visits whose pass has run out, telling each. */
  expire(now: number, onExpired: (visit: Visit) => void): void {
    for (let visit = this.#due.takeDue(now); visit; visit = this.#due.takeDue(now)) {
      if (this.#byId.get(visit.id) !== visit) continue;
      if (visit.expiresAt + PRESENCE_GRACE_MS > now) {
        this.#due.add(visit.expiresAt + PRESENCE_GRACE_MS, visit);
        continue;
      }
      this.#byId.delete(visit.id);
      onExpired(visit);
    }
    for (let id = this.#endedDue.takeDue(now); id; id = this.#endedDue.takeDue(now)) this.#ended.delete(id);
  }

  /** Ended ids whose pass has not run out yet. */
  ended(): Iterable<[id: string, until: number]> {
    return this.#ended;
  }
}
