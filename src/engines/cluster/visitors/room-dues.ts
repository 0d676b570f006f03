/**
 * The deadlines in a room's books: which of this node's visitors may have lapsed, whose turn or visit may be over, and what can
 * be forgotten. A deadline that moves is not moved here: it is put back when it comes up too early.
 */
import { Deadlines } from "../../../core/deadlines.ts";
import { PRESENCE_GRACE_MS } from "../../../core/pass.ts";
import type { OverPlaces } from "./over-places.ts";
import { ADMITTED, LAPSED, ON_SITE, type Place, SELF, WAITING } from "./place.ts";

/** Places are remembered longer than their last ticket is valid: clocks differ, and nodes come back. */
const KEPT_LONGER_MS = 3_600_000;

/** The states in which a place of this node's has a deadline. */
export type TimedState = typeof WAITING | typeof ADMITTED | typeof ON_SITE;

export class RoomDues {
  readonly #places: ReadonlyMap<number, Place>;
  readonly #over: Pick<OverPlaces, "get">;
  readonly #setBackUntil: (key: number) => number | null;
  readonly #waits = new Deadlines<number>();
  readonly #turns = new Deadlines<number>();
  readonly #firm = new Deadlines<number>();
  readonly #visits = new Deadlines<number>();
  readonly #memories = new Deadlines<number>();
  readonly #ended = new Deadlines<string>();
  readonly #invites = new Deadlines<string>();

  constructor(
    places: ReadonlyMap<number, Place>,
    over: Pick<OverPlaces, "get">,
    setBackUntil: (key: number) => number | null,
  ) {
    this.#places = places;
    this.#over = over;
    this.#setBackUntil = setBackUntil;
  }

  /** A visitor may lapse then. Only one check is queued, however often they check in. */
  addWait(place: Place, until: number): void {
    if (place.lookAt !== null && place.lookAt <= until) return;
    place.lookAt = until;
    this.#waits.add(until, place.key);
  }

  addTurn(key: number, until: number): void {
    this.#turns.add(until, key);
  }

  /** A turn becomes loose then. */
  addFirm(key: number, until: number): void {
    this.#firm.add(until, key);
  }

  /** `until`: the pass expires. */
  addVisit(key: number, until: number): void {
    this.#visits.add(until + PRESENCE_GRACE_MS, key);
  }

  /** A place has lapsed or is over. */
  addMemory(key: number, until: number): void {
    this.#memories.add(until, key);
  }

  addEnded(id: string, until: number): void {
    this.#ended.add(until, id);
  }

  addInvite(id: string, until: number): void {
    this.#invites.add(until, id);
  }

  /** A place under a new key. */
  addMoved(place: Place): void {
    const { key, claim } = place;
    if (claim.state === LAPSED) this.addMemory(key, claim.until);
    if (claim.origin !== SELF) return;
    place.lookAt = null;
    if (claim.state === WAITING) this.addWait(place, claim.until);
    if (claim.state === ADMITTED) {
      this.addTurn(key, claim.until);
      if (claim.firmUntil > 0) this.addFirm(key, claim.firmUntil);
    }
    if (claim.state === ON_SITE) this.addVisit(key, claim.until);
  }

  /** This node's places in that state whose deadline has passed. */
  *over(state: TimedState, now: number): Generator<Place> {
    const [deadlines, graceMs] =
      state === WAITING
        ? [this.#waits, 0]
        : state === ADMITTED
          ? [this.#turns, 0]
          : [this.#visits, PRESENCE_GRACE_MS];
    for (const key of taken(deadlines, now)) {
      const place = this.#places.get(key);
      if (place && state === WAITING) place.lookAt = null;
      if (place?.claim.state !== state || place.claim.origin !== SELF) continue;
      const at = place.claim.until + graceMs;
      if (at <= now) yield place;
      else if (state === ON_SITE) deadlines.add(at, key);
      else if (state === WAITING) this.addWait(place, at);
    }
  }

  /** This node's turns that become loose. */
  *firmOver(now: number): Generator<Place> {
    for (const key of taken(this.#firm, now)) {
      const place = this.#places.get(key);
      if (place?.claim.state !== ADMITTED || place.claim.origin !== SELF) continue;
      const { firmUntil } = place.claim;
      if (firmUntil > 0 && firmUntil <= now) yield place;
    }
  }

  /** Keys that no ticket can refer to any more. */
  *forgotten(now: number): Generator<number> {
    for (const key of taken(this.#memories, now)) {
      const until = this.#rememberedUntil(key);
      if (until === null) continue;
      const at = until + KEPT_LONGER_MS;
      if (at > now) this.#memories.add(at, key);
      else yield key;
    }
  }

  /** When the last ticket of a place that lapsed or is over expires; null for others. */
  #rememberedUntil(key: number): number | null {
    const claim = this.#places.get(key)?.claim;
    if (claim) return claim.state === LAPSED ? claim.until : null;
    return this.#over.get(key)?.until ?? this.#setBackUntil(key);
  }

  /** Ids of ended visits whose pass has expired. */
  endedForgotten(now: number): Iterable<string> {
    return taken(this.#ended, now);
  }

  /** Codes that have expired. */
  invitesForgotten(now: number): Iterable<string> {
    return taken(this.#invites, now);
  }
}

function* taken<T>(deadlines: Deadlines<T>, now: number): Generator<T> {
  for (let due = deadlines.takeDue(now); due !== undefined; due = deadlines.takeDue(now)) yield due;
}

/**
 * Slots whose visit was left or revoked, held while its connections may still be open at some gateway. Gateways hear of the end
 * when its owner does, or earlier, so the time counts from the next sweep.
 */
export class LingeringSlots {
  readonly #due = new Deadlines<true>();
  #fresh = 0;

  get size(): number {
    return this.#fresh + this.#due.size;
  }

  add(): void {
    this.#fresh++;
  }

  /** Frees those that were held long enough. */
  sweep(now: number, lingerMs: number): void {
    for (; this.#fresh > 0; this.#fresh--) this.#due.add(now + lingerMs, true);
    while (this.#due.takeDue(now));
  }
}
