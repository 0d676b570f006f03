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
  /** Of all nodes: firm turns, loose turns, visits, and places that have lapsed. */
  turns = 0;
  looseTurns = 0;
  onSite = 0;
  lapsed = 0;
  /** Firm turns of this node's, which take its slots. */
  ownTurns = 0;
  /** Visits whose slot is this node's. */
  ownVisits = 0;
  readonly #laneOf: (lane: number) => number;

  /** `laneOf`: where those wait who were told that lane. */
  constructor(laneOf: (lane: number) => number) {
    this.#laneOf = laneOf;
  }

  /** Adds what a place counts for. */
  put(place: Place): void {
    this.#count(place, 1);
    if (place.claim.state !== WAITING) return;
    const lane = this.#laneOf(place.lane);
    this.lines.add(lane, place.sequence);
    if (place.claim.origin === SELF) this.own.add(lane, place.sequence);
  }

  /** Takes away what it counted for. */
  take(place: Place): void {
    this.#count(place, -1);
    if (place.claim.state !== WAITING) return;
    const lane = this.#laneOf(place.lane);
    this.lines.remove(lane, place.sequence);
    if (place.claim.origin === SELF) this.own.remove(lane, place.sequence);
  }

  /** Someone on the site has that id. */
  name(place: Place, id: string): void {
    place.id = id;
    if (place.claim.state === ON_SITE) this.#find(place);
  }

  /** Lanes are others now. */
  rearrange(laneOf: (sequence: number) => number): void {
    this.lines.rearrange(laneOf);
    this.own.rearrange(laneOf);
  }

  #count(place: Place, by: 1 | -1): void {
    const { claim } = place;
    const isOwn = claim.origin === SELF;
    if (claim.state === LAPSED) this.lapsed += by;
    else if (claim.state === ADMITTED && claim.firmUntil === 0) this.looseTurns += by;
    else if (claim.state === ADMITTED) {
      this.turns += by;
      if (isOwn) this.ownTurns += by;
    } else if (claim.state === ON_SITE) {
      this.onSite += by;
      if (isOwn && !claim.isBorrowed) this.ownVisits += by;
      if (by === 1 && place.id !== "") this.#find(place);
      else if (by === -1 && this.visits.get(place.id) === place) this.visits.delete(place.id);
    }
  }

  /** A visit that is known by its ticket comes before the same one known by its pass alone, at every node. */
  #find(place: Place): void {
    const known = this.visits.get(place.id);
    if (!known || known.key < 0 || place.key >= 0) this.visits.set(place.id, place);
  }
}
