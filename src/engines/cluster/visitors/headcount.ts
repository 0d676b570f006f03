/**
 * What the places of a room count for: the lines, who is on the site, and how many there are of each kind, on all nodes and on
 * this one. To change a place, take it out and put it back.
 *
 * Invariants: a place's number is in exactly one line when its claim in force is WAITING, and also in the node's own line when
 * that claim is this node's; all counts follow from the claims in force.
 */
import { VisitSample } from "../../../core/visit-sample.ts";
import { NodeLines } from "./node-lines.ts";
import { ADMITTED, LAPSED, ON_SITE, type Place, SELF, WAITING } from "./place.ts";

export class Headcount {
  /** Everyone who waits, and those whose places are this node's. */
  readonly lines = new NodeLines();
  readonly own = new NodeLines();
  readonly visits = new Map<string, Place>();
  /** Enough of the visits to tell how long they last. */
  readonly sample = new VisitSample<Place>(() => this.visits.values());
  /** On all nodes: firm turns, loose turns, visits and lapsed places. */
  turns = 0;
  looseTurns = 0;
  onSite = 0;
  lapsed = 0;
  /** This node's firm turns, which use its slots. */
  ownTurns = 0;
  /** Visits that use this node's slots. */
  ownVisits = 0;
  readonly #laneOf: (lane: number) => number;

  /** `laneOf`: the lane in which visitors of a ticket's lane wait now. */
  constructor(laneOf: (lane: number) => number) {
    this.#laneOf = laneOf;
  }

  put(place: Place): void {
    this.#count(place, 1);
    if (place.claim.state !== WAITING) return;
    const lane = this.#laneOf(place.lane);
    this.lines.add(lane, place.sequence);
    if (place.claim.origin === SELF) this.own.add(lane, place.sequence);
  }

  take(place: Place): void {
    this.#count(place, -1);
    if (place.claim.state !== WAITING) return;
    const lane = this.#laneOf(place.lane);
    this.lines.remove(lane, place.sequence);
    if (place.claim.origin === SELF) this.own.remove(lane, place.sequence);
  }

  /** A visitor on the site has that id. */
  name(place: Place, id: string): void {
    place.id = id;
    if (place.claim.state === ON_SITE) this.#find(place);
  }

  /** The lanes have changed. */
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
      else if (by === -1 && this.visits.get(place.id) === place) {
        this.visits.delete(place.id);
        this.sample.delete(place.id);
      }
    }
  }

  /** A visit known by its ticket replaces the same one known by its pass alone, on every node. */
  #find(place: Place): void {
    const known = this.visits.get(place.id);
    if (known && known.key >= 0 && place.key < 0) return;
    this.visits.set(place.id, place);
    this.sample.add(place);
  }
}
