/**
 * The visits on the site. One visit per id, however often a ticket or pass is shown. A visit ends when its pass has expired
 * (plus a moment, since presence is reported in batches), by leaving, or by an operator or the site. Ended ids are remembered
 * until their last pass would have expired, so that gateways can refuse it.
 */
import { Deadlines } from "../../core/deadlines.ts";
import type { Presence } from "../../core/engine.ts";
import { PRESENCE_GRACE_MS } from "../../core/pass.ts";
import { VisitSample } from "../../core/visit-sample.ts";

export interface Visit {
  readonly id: string;
  /** The place it came from, or -1 for a visit taken in from its pass alone. */
  readonly sequence: number;
  readonly lane: number;
  readonly joinedAt: number;
  readonly admittedAt: number;
  expiresAt: number;
}

export class Visits {
  #byId = new Map<string, Visit>();
  /** A sample, to estimate how long visits last. */
  readonly sample = new VisitSample<Visit>(() => this.#byId.values());
  #due = new Deadlines<Visit>();
  #ended = new Map<string, number>();
  #endedDue = new Deadlines<string>();
  /** Slots of ended visits, held while their connections may still be open. Not stored: a restart frees them. */
  readonly #held = new Map<string, number>();
  readonly #heldDue = new Deadlines<string>();
  /** Ids of visits that began, were prolonged or ended, and of ended ids forgotten, since changes were last taken. */
  readonly #changed = new Set<string>();
  readonly #isKept: boolean;

  /** `isKept`: records changes for `takeChanges`. */
  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  /** Slots in use. */
  get size(): number {
    return this.#byId.size + this.#held.size;
  }

  get(id: string): Visit | undefined {
    return this.#byId.get(id);
  }

  add(visit: Visit): void {
    this.#byId.set(visit.id, visit);
    this.sample.add(visit);
    this.#note(visit.id);
    this.#due.add(visit.expiresAt + PRESENCE_GRACE_MS, visit);
  }

  /** A visitor was seen. Unknown visits with a valid pass are taken in; ended ones stay ended. */
  touch(presence: Presence, now: number): void {
    const visit = this.#byId.get(presence.id);
    if (visit) this.#lengthen(visit, presence.expiresAt);
    else if (presence.expiresAt > now && !this.#ended.has(presence.id))
      this.add({ ...presence, sequence: -1 });
  }

  /** Ends a visit and remembers its id until its last pass has expired. */
  end(visit: Visit, until: number): void {
    this.#byId.delete(visit.id);
    this.sample.delete(visit.id);
    this.#note(visit.id);
    this.#remember(visit.id, until);
  }

  /** The slot of an ended visit stays in use until then, or until its last connection closes. */
  holdSlot(id: string, until: number): void {
    this.#held.set(id, until);
    this.#heldDue.add(until, id);
  }

  freeSlot(id: string): void {
    this.#held.delete(id);
  }

  isEnded(id: string): boolean {
    return this.#ended.has(id);
  }

  /** Removes visits whose pass has expired, calling back for each, and frees slots that were held for long enough. */
  expire(now: number, onExpired: (visit: Visit) => void): void {
    for (let id = this.#heldDue.takeDue(now); id; id = this.#heldDue.takeDue(now))
      if ((this.#held.get(id) ?? now) <= now) this.#held.delete(id);
    for (let visit = this.#due.takeDue(now); visit; visit = this.#due.takeDue(now)) {
      if (this.#byId.get(visit.id) !== visit) continue;
      if (visit.expiresAt + PRESENCE_GRACE_MS > now) {
        this.#due.add(visit.expiresAt + PRESENCE_GRACE_MS, visit);
        continue;
      }
      this.#byId.delete(visit.id);
      this.sample.delete(visit.id);
      this.#note(visit.id);
      onExpired(visit);
    }
    for (let id = this.#endedDue.takeDue(now); id; id = this.#endedDue.takeDue(now)) {
      this.#ended.delete(id);
      this.#note(id);
    }
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /**
   * The state of every id that changed since the last call: a visit, the instant until which an ended id is remembered, or null.
   */
  takeChanges(): Map<string, Visit | number | null> {
    const changes = new Map<string, Visit | number | null>();
    for (const id of this.#changed) changes.set(id, this.#byId.get(id) ?? this.#ended.get(id) ?? null);
    this.#changed.clear();
    return changes;
  }

  /** Restores what `takeChanges` returned. */
  restore(id: string, visit: Visit | number): void {
    if (typeof visit === "number") this.#remember(id, visit);
    else {
      this.#byId.set(id, visit);
      this.sample.add(visit);
      this.#due.add(visit.expiresAt + PRESENCE_GRACE_MS, visit);
    }
  }

  /** Ended ids whose pass has not run out yet. */
  ended(): Iterable<[id: string, until: number]> {
    return this.#ended;
  }

  #lengthen(visit: Visit, expiresAt: number): void {
    if (expiresAt <= visit.expiresAt) return;
    visit.expiresAt = expiresAt;
    this.#note(visit.id);
  }

  #note(id: string): void {
    if (this.#isKept) this.#changed.add(id);
  }

  #remember(id: string, until: number): void {
    this.#ended.set(id, until);
    this.#endedDue.add(until, id);
  }
}
