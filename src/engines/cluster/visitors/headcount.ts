/**
 * What the places of a room count for: the lines, who is on the site, and how many of each kind there are, of all nodes and
 * of this one. Whoever changes a place takes it out before and puts it back after.
 *
 * Invariants: a place's number is in one line exactly when the claim that counts is WAITING, and in the node's own line when
 * it is this node's as well; counts follow from the claims that count.
 */
import { NodeLines } from "./node-lines.ts";
import { ADMITTED, LAPSED, ON_SITE, type Place, SELF, WAITING } from "./place.ts";

export class Headcount {
  /** Everyone who waits, and those of them who are this node's. */
  readonly lines = new NodeLines();
  readonly own = new NodeLines();
  readonly visits = new Map<string, Place>();
  readonly #laneOf: (lane: number) => number;
  #turns = 0;
  #looseTurns = 0;
  #onSite = 0;
  #lapsed = 0;
  #ownTurns = 0;
  #ownVisits = 0;

  /** `laneOf`: where those wait who were told that lane. */
  constructor(laneOf: (lane: number) => number) {
    this.#laneOf = laneOf;
  }

  /** Those that are firm. */
  get turns(): number {
    return this.#turns;
  }

  get looseTurns(): number {
    return this.#looseTurns;
  }

  get onSite(): number {
    return this.#onSite;
  }

  get lapsed(): number {
    return this.#lapsed;
  }

  /** Firm turns of this node's, which take its slots. */
  get ownTurns(): number {
    return this.#ownTurns;
  }

  /** Visits whose slot is this node's. */
  get ownVisits(): number {
    return this.#ownVisits;
  }

  /** Adds what a place counts for. */
  put(place: Place): void {
    const { sequence, claim } = place;
    const isOwn = claim.origin === SELF;
    switch (claim.state) {
      case WAITING: {
        const lane = this.#laneOf(place.lane);
        this.lines.add(lane, sequence);
        if (isOwn) this.own.add(lane, sequence);
        return;
      }
      case LAPSED:
        this.#lapsed++;
        return;
      case ADMITTED:
        if (claim.firmUntil === 0) {
          this.#looseTurns++;
          return;
        }
        this.#turns++;
        if (isOwn) this.#ownTurns++;
        return;
      case ON_SITE:
        this.#onSite++;
        if (place.id !== "") this.#find(place);
        if (isOwn && !claim.isBorrowed) this.#ownVisits++;
    }
  }

  /** Someone on the site has that id. */
  name(place: Place, id: string): void {
    place.id = id;
    if (place.claim.state === ON_SITE) this.#find(place);
  }

  /** A visit that is known by its ticket comes before the same one known by its pass alone, at every node. */
  #find(place: Place): void {
    const known = this.visits.get(place.id);
    if (!known || known.key < 0 || place.key >= 0) this.visits.set(place.id, place);
  }

  /** Takes away what it counted for. */
  take(place: Place): void {
    const { sequence, claim } = place;
    const isOwn = claim.origin === SELF;
    switch (claim.state) {
      case WAITING: {
        const lane = this.#laneOf(place.lane);
        this.lines.remove(lane, sequence);
        if (isOwn) this.own.remove(lane, sequence);
        return;
      }
      case LAPSED:
        this.#lapsed--;
        return;
      case ADMITTED:
        if (claim.firmUntil === 0) {
          this.#looseTurns--;
          return;
        }
        this.#turns--;
        if (isOwn) this.#ownTurns--;
        return;
      case ON_SITE:
        this.#onSite--;
        if (this.visits.get(place.id) === place) this.visits.delete(place.id);
        if (isOwn && !claim.isBorrowed) this.#ownVisits--;
    }
  }

  /** Lanes are others now. */
  rearrange(laneOf: (sequence: number) => number): void {
    this.lines.rearrange(laneOf);
    this.own.rearrange(laneOf);
  }
}
