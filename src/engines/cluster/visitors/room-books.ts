/**
 * The books of one room at one node: every place of every owner, as the entries tell it, and what follows: the lines and who is
 * on the site (headcount.ts), the totals (node-tallies.ts) and deadlines (room-dues.ts). A place that is over is remembered as
 * that alone (over-places.ts). Entries are the only way in, also for the node's own changes (`write`), so that a place looks the
 * same on every node.
 *
 * Slots: `held` is the number of slots this node has; those its turns and visits do not use are `spare`. Over all nodes they
 * never exceed the capacity: only counting rounds hand them out and take them back. So a node that is cut off goes on with what
 * it has.
 */
import { BaseBooks, type Elsewhere } from "../../../core/base-books.ts";
import type { TurnBy } from "../../../core/doorkeeper.ts";
import type { Moves } from "../../../core/draw-ledger.ts";
import type { Remark } from "../../../core/engine.ts";
import { longestCheckIn } from "../../../core/pacing.ts";
import { type DoorRules, EVERYBODY, type EventRules, type RoomRules } from "../../../core/rules.ts";
import type { SeenVisit } from "../../../core/stays.ts";
import { type Hand, ShareOfDoor, type WholeDoor } from "../door/hand.ts";
import { RecentTurns } from "../door/recent-turns.ts";
import { RoomFlow } from "../door/room-flow.ts";
import { TurnNews } from "../door/turn-news.ts";
import {
  type AdoptEntry,
  type BackEntry,
  type DrawnEntry,
  type Entry,
  type GoneEntry,
  HOW,
  OP,
  type TurnEntry,
  type VisitEntry,
  type WaitEntry,
} from "../log/entries.ts";
import { timeOfKey } from "../log/order-clock.ts";
import type { BlockLine } from "./block-line.ts";
import { Draws } from "./draws.ts";
import { Headcount } from "./headcount.ts";
import { NodeTallies } from "./node-tallies.ts";
import { type OverPlace, OverPlaces } from "./over-places.ts";
import {
  ADMITTED,
  addClaim,
  addVoid,
  type Claim,
  claimBy,
  claimOf,
  dropClaim,
  hasOwnersSlot,
  isFirm,
  keyOfPass,
  LAPSED,
  ON_SITE,
  type Place,
  type PlaceState,
  SELF,
  settleClaims,
  standingOf,
  voidsOf,
  WAITING,
} from "./place.ts";
import { LingeringSlots, RoomDues, type TimedState } from "./room-dues.ts";
import { SetBacks } from "./set-backs.ts";

/** The writer of an entry: the index of its log here, and its name on every node. */
export interface LogOwner {
  readonly index: number;
  readonly owner: string;
}

export interface RoomEvents {
  readonly onTurns: (keys: readonly number[]) => void;
  readonly onRevoked: (id: string, until: number) => void;
  /** A draw has moved places. */
  readonly onDraw: () => void;
  readonly onRemark: (remark: Remark) => void;
  /** The node wrote an entry; returns its index in the log. */
  readonly onWritten: (entry: Entry) => number;
}

export class RoomBooks extends BaseBooks<BlockLine> {
  readonly events: RoomEvents;
  readonly self: LogOwner;
  readonly flow: RoomFlow;
  readonly draws = new Draws();
  readonly places = new Map<number, Place>();
  /** None of these is in `places`. */
  readonly over = new OverPlaces();
  readonly #headcount = new Headcount((lane) => this.laneOf(lane));
  /** Everyone who waits, and those whose places are this node's. */
  readonly lines = this.#headcount.lines;
  readonly own = this.#headcount.own;
  readonly visits = this.#headcount.visits;
  readonly lingering = new LingeringSlots();
  /** Those of the other nodes, so that all nodes count the same. */
  readonly #lingeringElsewhere = new LingeringSlots();
  /** Ended visits whose pass is still valid. */
  readonly ended = new Map<string, number>();
  readonly invites = new Map<string, number>();
  /** Places that are over because of too many missed turns. */
  readonly forfeited = new Set<number>();
  /** The numbers of places that missed turns. */
  readonly setBacks = new SetBacks();
  readonly recentTurns = new RecentTurns();
  readonly tallies = new NodeTallies();
  held = 0;
  /** How long it takes until every node knows what one wrote. */
  spreadMs = 0;
  crowd: Hand = new ShareOfDoor(this);
  /** Recent arrivals; decays with every counting round. */
  arrivals = 0;
  /** What became of turns, for the root. */
  readonly turnNews = new TurnNews();
  /** Admitted since the speed of the door was last measured. */
  admittedSince = 0;
  /** Places of this node's whose claim lost, and places that others took over by mistake. */
  readonly lostKeys: number[] = [];
  readonly heldKeys: number[] = [];
  /** Visits of this node's that another node has ended without knowing of them. */
  readonly endedKeys: number[] = [];
  /** Visits of this node's known by their pass alone that are now known by their ticket as well. */
  readonly twinKeys: number[] = [];
  #at = 0;
  readonly #dues = new RoomDues(this.places, this.over, (key) => this.#setBackUntil(key));
  #turnsHeard: number[] = [];
  #capacity = Number.POSITIVE_INFINITY;
  #askedAt = 0;
  #perMinute = Number.POSITIVE_INFINITY;

  constructor(parts: { name: string; rules: RoomRules; events: RoomEvents; self: LogOwner; now: number }) {
    const flow = new RoomFlow();
    super(parts.name, parts.rules, parts.now, flow);
    this.flow = flow;
    this.events = parts.events;
    this.self = parts.self;
  }

  get turns(): number {
    return this.#headcount.turns;
  }

  get looseTurns(): number {
    return this.#headcount.looseTurns;
  }

  get onSite(): number {
    return this.#headcount.onSite + this.lingering.size + this.#lingeringElsewhere.size;
  }

  get lapsed(): number {
    return this.#headcount.lapsed;
  }

  get ownTurns(): number {
    return this.#headcount.ownTurns;
  }

  /** Visits that use this node's slots, and slots that linger after a visit. */
  get ownVisits(): number {
    return this.#headcount.ownVisits + this.lingering.size;
  }

  /** This node's slots in use. */
  get used(): number {
    return this.ownTurns + this.ownVisits;
  }

  /** This node's unused slots; negative when more visitors came with passes than it had slots for. */
  get spare(): number {
    return this.held - this.used;
  }

  /** This node is alone: all slots and the whole rate are its own, and no root needs to hear of its turns. */
  takeWhole(door: WholeDoor, now: number): void {
    this.crowd = door;
    this.flow.isRoot = true;
    this.flow.enter(this.turnNews.take().entered, now);
  }

  /** There are other nodes. This one keeps the slots it uses, until a round hands out more. */
  takeShare(): void {
    this.flow.isRoot = false;
    if (this.crowd instanceof ShareOfDoor) return;
    this.crowd = new ShareOfDoor(this);
    this.held = this.used;
    this.flow.leave = 0;
  }

  /** Releases this node's unused slots: no further visitor is admitted from them. */
  letGoOfSpares(): void {
    this.held = Math.min(this.held, this.used);
    this.flow.leave = 0;
  }

  override change(rules: RoomRules, now: number): void {
    super.change(rules, now);
    this.#noteCapacity();
    this.#noteRate();
  }

  /** Firm turns were given under a higher rate; the next round says how many of them may be used. */
  #noteRate(): void {
    const perMinute = this.door.rate ?? Number.POSITIVE_INFINITY;
    if (perMinute < this.#perMinute) this.flow.entries = 0;
    this.#perMinute = perMinute;
  }

  /** Spare slots were handed out under a higher capacity; the next round says how many there are. */
  #noteCapacity(): void {
    const capacity = this.door.capacity ?? Number.POSITIVE_INFINITY;
    if (capacity < this.#capacity) this.held = Math.min(this.held, this.used);
    this.#capacity = capacity;
  }

  get isLimited(): boolean {
    return this.door.capacity !== null || this.door.rules.budget !== null;
  }

  override rulesAt(now: number): DoorRules {
    this.#askedAt = now;
    const rules = super.rulesAt(now);
    this.#noteCapacity();
    this.#noteRate();
    return rules;
  }

  /** Draws: the root writes the pool and the draw. */
  draw(event: EventRules, now: number): boolean {
    for (const entry of this.draws.entriesToDraw(event, now, this.ticketTtlMaxMs)) this.write(entry);
    return true;
  }

  /** The share of a turn's claim window that is over, 0 to 1. */
  turnAge({ claim }: Place, now: number): number {
    return this.door.turnAge(claim.until, now);
  }

  /** Writes an entry about a place of this node's. */
  write(entry: Entry): void {
    this.apply(entry, this.self, this.events.onWritten(entry));
  }

  /** False when an entry, and with it the rest of its log, must wait. */
  isReadyFor(entry: Entry): boolean {
    if (entry[0] !== OP.pool && entry[0] !== OP.drawn) return true;
    const event = this.door.rules.events.find(({ name, isShuffled }) => isShuffled && name === entry[2]);
    if (!event) return true;
    this.draws.expect(event);
    return this.draws.isReadyFor(entry);
  }

  /** Applies an entry; `at` is its index in its owner's log. */
  apply(written: Entry, origin: LogOwner, at: number): void {
    this.#at = at;
    this.#apply(this.#current(written, origin.index), origin);
  }

  #apply(entry: Entry, origin: LogOwner): void {
    switch (entry[0]) {
      case OP.wait:
        return this.#wait(entry, origin);
      case OP.lapse:
        return this.#lapse(entry[1], entry[2], entry[3], entry[4], origin);
      case OP.turn:
        return this.#turn(entry, origin);
      case OP.visit:
        return this.#visit(entry, origin);
      case OP.gone:
        return this.#gone(entry, origin, 0);
      case OP.touch:
        return this.#touch(entry[1], entry[2], origin);
      case OP.invite:
        this.invites.set(entry[1], entry[2]);
        return this.#dues.addInvite(entry[1], entry[2]);
      case OP.yield:
        return this.#yield(entry[1], origin);
      case OP.adopt:
        return this.#adopt(entry, origin);
      case OP.pool:
        return this.draws.addToPool(entry, origin.index);
      case OP.drawn:
        return this.#drawn(entry, origin);
      case OP.loose:
        return this.#loosen(entry[1], origin);
      case OP.back:
        return this.#back(entry);
    }
  }

  /** The present state of an owner's places, as entries. */
  *entriesOf(origin: number): Generator<Entry> {
    yield* this.draws.entries();
    for (const [id, expiresAt] of this.invites) yield [OP.invite, id, expiresAt];
    for (const place of this.places.values()) {
      const claim = claimOf(place, origin);
      if (!claim) continue;
      yield [OP.adopt, claim.epoch, claim.isBorrowed ? 1 : 0, voidsOf(place), standingOf(place, claim)];
      if (place.missedTurns > 0) yield backEntryOf(place);
    }
    for (const place of this.over.of(origin)) yield [OP.adopt, place.epoch, 0, [], this.goneEntryOf(place)];
  }

  /** The entry that a place is over, with its visit's pass while that is valid. */
  goneEntryOf({ key, lane, until, id }: OverPlace): GoneEntry {
    const passUntil = this.ended.get(id);
    const how = this.forfeited.has(key) ? HOW.forfeitedBefore : HOW.asBefore;
    return passUntil === undefined
      ? [OP.gone, key, lane, how, until, ""]
      : [OP.gone, key, lane, how, passUntil, id];
  }

  placeAt(sequence: number): Place | undefined {
    return this.places.get(this.setBacks.keyOf(sequence));
  }

  /** A number right behind that one, and behind all that were put there before. */
  numberBehind(sequence: number): { sequence: number; behind: number } {
    const before = this.placeAt(sequence);
    const behind = before && before.missedTurns > 0 ? before.behind : sequence;
    const isTaken = (number: number) => this.places.has(number) || this.over.has(number);
    return { sequence: this.setBacks.next(behind, isTaken), behind };
  }

  /** Sets the deadline of a waiting visitor of this node's. */
  await(place: Place, until: number): void {
    place.claim.until = until;
    this.#dues.addWait(place, until);
  }

  /** For a place taken over, whose holder was told elsewhere when to come: they get the longest time anyone may stay away. */
  awaitAnew(place: Place, now: number): void {
    const { pollBudgetPerSecond, ticketTtlMs, lapseAfterMs } = this.rulesAt(now);
    const awayMs = longestCheckIn({ waiting: this.lines.size, pollBudgetPerSecond, ticketTtlMs });
    this.await(place, now + awayMs + lapseAfterMs);
  }

  /** Forgets what an owner told, apart from places that are over; it will be told again. */
  forgetOwner(origin: number): void {
    for (const place of [...this.places.values()])
      if (claimOf(place, origin)) this.#yield(place.key, { index: origin, owner: "" });
    this.tallies.forgetTotals(origin);
  }

  /** Prolongs a firm turn of this node's. */
  lengthenTurn(place: Place, { claimBy, firmUntil }: TurnBy): void {
    place.claim.until = claimBy;
    place.claim.firmUntil = firmUntil;
    this.#dues.addTurn(place.key, claimBy);
    this.#dues.addFirm(place.key, firmUntil);
  }

  /** This node's turns that become loose now. */
  firmDue(now: number): Iterable<Place> {
    return this.#dues.firmOver(now);
  }

  /** This node's places in that state whose deadline has passed. */
  due(state: TimedState, now: number): Iterable<Place> {
    return this.#dues.over(state, now);
  }

  /** Forgets what no valid ticket, pass or code can refer to. */
  forget(now: number): void {
    const { lingerMs } = this.rulesAt(now);
    for (const slots of [this.lingering, this.#lingeringElsewhere]) slots.sweep(now, lingerMs);
    for (const key of this.#dues.forgotten(now)) this.#forgetKey(key);
    for (const id of this.#dues.endedForgotten(now)) if (this.ended.get(id)! <= now) this.ended.delete(id);
    for (const id of this.#dues.invitesForgotten(now)) this.invites.delete(id);
    this.draws.forget(now);
    this.resumes.forget(now);
    this.recentTurns.forget(now);
  }

  tellTurns(): void {
    if (this.#turnsHeard.length === 0) return;
    const keys = this.#turnsHeard;
    this.#turnsHeard = [];
    this.events.onTurns(keys);
  }

  /** An entry about a place from before a draw, rewritten for the place it has become. */
  #current(entry: Entry, origin: number): Entry {
    if (!this.draws.hasMoved) return entry;
    const op = entry[0];
    if (op === OP.invite || op === OP.pool || op === OP.drawn) return entry;
    if (op === OP.adopt) {
      const of = this.#current(entry[4], origin) as AdoptEntry[4];
      return [op, entry[1], entry[2], entry[3], of];
    }
    const key = this.draws.currentKey(entry[1], origin);
    return key === entry[1] ? entry : ([op, key, ...entry.slice(2)] as unknown as Entry);
  }

  #wait([, key, lane, how, id]: WaitEntry, origin: LogOwner): void {
    const totals = this.tallies.totalsOf(origin.index);
    if (how === HOW.new) totals.joined++;
    if (how === HOW.returned || how === HOW.takenBack) totals.returned++;
    const place = this.#set(key, lane, origin, { state: WAITING, until: Number.POSITIVE_INFINITY });
    if (!place) return;
    if (how === HOW.toFront) place.hasReturned = true;
    else if (how !== HOW.new && how !== HOW.asBefore) place.wasLate = true;
    if (id === "") return;
    place.id = id;
    // A returning visitor gathered before, if at all; events may have changed since.
    const event = how === HOW.new || how === HOW.takenBack ? this.#gathering(key) : undefined;
    if (event) this.draws.gather(event, key, id);
  }

  /** True when a visitor with this key gathers for a draw. */
  isGathering(key: number): boolean {
    const event = this.#gathering(key);
    return event !== undefined && !this.draws.isClosed(event);
  }

  /** Closes the pool of the draw that is due. */
  closePool(now: number): void {
    const { event } = this.door.phase(now);
    if (event?.isShuffled) this.draws.close(event);
  }

  #gathering(key: number): EventRules | undefined {
    const joinedAt = timeOfKey(key);
    return this.door.rules.events.find(
      ({ isShuffled, prequeueAt, startAt }) => isShuffled && joinedAt >= prequeueAt! && joinedAt < startAt,
    );
  }

  #lapse(key: number, lane: number, how: number, until: number, origin: LogOwner): void {
    const totals = this.tallies.totalsOf(origin.index);
    if (how === HOW.missed) totals.missedTurns++;
    else if (how !== HOW.asBefore) totals.lapsed++;
    const place = this.#set(key, lane, origin, { state: LAPSED, until });
    if (!place) return;
    place.wasLate = true;
    this.#dues.addMemory(key, until);
  }

  #turn([, key, lane, how, claimBy, givenAt, firmUntil]: TurnEntry, origin: LogOwner): void {
    const turn = { until: claimBy, admittedAt: givenAt, firmUntil };
    const place = this.#set(key, lane, origin, { state: ADMITTED, ...turn });
    if (origin.index === SELF) {
      this.#dues.addTurn(key, claimBy);
      if (firmUntil > 0) this.#dues.addFirm(key, firmUntil);
    }
    if (how === HOW.asBefore) return;
    this.draws.scatter();
    const sequence = place?.sequence ?? key;
    this.#noteAdmitted({ lane, key: sequence }, givenAt, origin.index);
    if (lane === EVERYBODY && place?.wasLate === false) this.tallies.remember(key, givenAt);
    this.admittedSince++;
    this.#turnsHeard.push(sequence);
  }

  #loosen(key: number, { index }: LogOwner): void {
    const place = this.places.get(key);
    const claim = place && claimOf(place, index);
    if (claim?.state !== ADMITTED) return;
    this.#headcount.take(place!);
    claim.firmUntil = 0;
    this.#headcount.put(place!);
  }

  #back([, key, sequence, behind, missedTurns, missedAt]: BackEntry): void {
    if (this.over.has(key)) return;
    const setBack = this.setBacks.tell(key, { sequence, behind, missedTurns, missedAt });
    if (!setBack) return;
    this.#dues.addMemory(key, missedAt + this.ticketTtlMaxMs);
    const place = this.places.get(key);
    if (!place) return;
    this.#headcount.take(place);
    Object.assign(place, setBack);
    this.#headcount.put(place);
    place.hasReturned = false;
    place.wasLate = true;
  }

  /** How long missed turns of an unknown place are remembered. */
  #setBackUntil(key: number): number | null {
    const setBack = this.setBacks.get(key);
    return setBack ? setBack.missedAt + this.ticketTtlMaxMs : null;
  }

  #visit([, key, lane, how, id, joinedAt, admittedAt, enteredAt, until]: VisitEntry, origin: LogOwner): void {
    const totals = this.tallies.totalsOf(origin.index);
    const place = this.#set(key, lane, origin, { state: ON_SITE, until, admittedAt });
    if (place) {
      place.joinedAt = joinedAt;
      this.#headcount.name(place, id);
      this.#noteTwin(id);
    }
    if (origin.index === SELF) {
      this.#dues.addVisit(key, until);
      if (this.ended.has(id)) this.endedKeys.push(key);
    }
    if (how === HOW.byPass && key !== keyOfPass(id)) this.#noteResumed(id, enteredAt);
    if (how === HOW.asBefore || how === HOW.byPass) return;
    totals.entered++;
    if (how !== HOW.through) {
      totals.waitedMs += enteredAt - joinedAt;
      return;
    }
    totals.joined++;
    totals.straightThrough++;
    this.#noteAdmitted({ lane, key }, admittedAt, origin.index);
    this.tallies.remember(key, admittedAt);
  }

  /** Known by a pass alone and with a key of its own: the visit was over and began again. */
  #noteResumed(id: string, now: number): void {
    this.resumes.note(id, true, { now, formGraceMs: this.door.rules.formGraceMs });
  }

  #gone([, key, lane, how, until, id]: GoneEntry, origin: LogOwner, epoch: number): void {
    const totals = this.tallies.totalsOf(origin.index);
    if (how === HOW.left) totals.left++;
    if (how === HOW.revoked) totals.revoked++;
    if (how === HOW.expired) totals.expired++;
    if (how === HOW.forfeited) {
      totals.missedTurns++;
      totals.forfeited++;
    }
    if (how === HOW.forfeited || how === HOW.forfeitedBefore) this.forfeited.add(key);
    const forgetAt = id === "" ? until : until + this.door.rules.ticketTtlMs;
    const place = this.places.get(key);
    if (place && isFirm(place) && place.claim.origin === SELF) this.crowd.gaveBack("left", this.#askedAt);
    if (how !== HOW.expired && place && hasOwnersSlot(place) && this.door.rules.lingerMs > 0)
      (place.claim.origin === SELF ? this.lingering : this.#lingeringElsewhere).add();
    if (place) this.#drop(place);
    this.setBacks.forget(key);
    this.over.tell({ key, lane, origin: origin.index, epoch, until: forgetAt, id }, origin.owner);
    this.#dues.addMemory(key, forgetAt);
    if (id === "") return;
    const passUntil = Math.max(until, this.ended.get(id) ?? 0);
    this.ended.set(id, passUntil);
    this.#dues.addEnded(id, passUntil);
    this.events.onRevoked(id, passUntil);
    for (const same of [this.visits.get(id), this.places.get(keyOfPass(id))])
      if (same?.claim.origin === SELF) this.endedKeys.push(same.key);
  }

  #touch(key: number, expiresAt: number, { index }: LogOwner): void {
    const place = this.places.get(key);
    const claim = place && claimOf(place, index);
    if (claim?.state === ON_SITE) claim.until = Math.max(claim.until, expiresAt);
  }

  #yield(key: number, { index }: LogOwner): void {
    const place = this.places.get(key);
    if (!place || !claimOf(place, index)) return;
    this.#headcount.take(place);
    if (!dropClaim(place, index)) {
      this.places.delete(key);
      return;
    }
    settleClaims(place);
    this.#headcount.put(place);
  }

  #adopt([, epoch, isBorrowed, voids, of]: AdoptEntry, origin: LogOwner): void {
    if (of[0] === OP.gone) return this.#gone(of, origin, epoch);
    this.#apply(of, origin);
    const place = this.places.get(of[1]);
    if (!place) return;
    this.#headcount.take(place);
    // If another has taken it over since, no claim is left; the void ones stay void.
    const claim = claimOf(place, origin.index);
    if (claim) {
      claim.epoch = epoch;
      claim.isBorrowed = isBorrowed === 1;
    }
    for (let i = 0; i + 1 < voids.length; i += 2) this.#void(place, String(voids[i]), Number(voids[i + 1]));
    settleClaims(place);
    this.#headcount.put(place);
    this.#noteLoss(place);
  }

  /** Makes an owner's claim void, except on that owner itself, which knows better. */
  #void(place: Place, owner: string, head: number): void {
    // This node was taken for lost: the others must be told how things are.
    if (owner === this.self.owner) return void this.heldKeys.push(place.key);
    addVoid(place, { owner, head });
    const claim = claimBy(place, owner);
    if (claim && claim.at < head) dropClaim(place, claim.origin);
  }

  /** An owner has drawn: so does this node, unless it has. */
  #drawn(entry: DrawnEntry, { index }: LogOwner): void {
    const moves = this.draws.draw(entry, index);
    if (!moves) return;
    this.#move(moves);
    if (index !== SELF) this.write(entry);
    this.waits.forgetPlaces();
    this.events.onDraw();
  }

  /** Moves what is at each key of `from` to the same index of `to`. */
  #move({ from, to }: Moves): void {
    const moved: (Place | undefined)[] = [];
    for (const key of from) {
      const place = this.places.get(key);
      moved.push(place);
      if (place) this.#drop(place);
    }
    moved.forEach((place, index) => {
      if (place) this.#moveTo({ ...place, key: to[index]!, sequence: to[index]! });
    });
    for (const { key, until } of this.over.move(from, to)) this.#dues.addMemory(key, until);
  }

  #moveTo(place: Place): void {
    this.places.set(place.key, place);
    this.#headcount.put(place);
    this.#dues.addMoved(place);
  }

  /** Applies what an owner says of a place; does nothing when it is over. */
  #set(
    key: number,
    lane: number,
    { index: origin, owner }: LogOwner,
    { state, until, admittedAt = 0, firmUntil = 0 }: Said,
  ): Place | null {
    const at = this.#at;
    const told: Claim = {
      ...{ origin, owner, epoch: 0, at, state, until, admittedAt, firmUntil },
      isBorrowed: false,
    };
    let place = this.places.get(key);
    if (!place) {
      if (this.over.has(key)) return null;
      const joinedAt = timeOfKey(Math.max(0, key));
      place = {
        key,
        lane,
        ...(this.setBacks.get(key) ?? { sequence: key, behind: key, missedTurns: 0, missedAt: 0 }),
        hasReturned: false,
        id: "",
        joinedAt,
        lookAt: null,
        wasLate: this.setBacks.get(key) !== undefined,
        claim: told,
        others: null,
        voids: null,
      };
      this.places.set(key, place);
      this.#headcount.put(place);
      return place;
    }
    // Older than what a later owner made void.
    if (place.voids?.some((known) => known.owner === owner && at < known.head)) return place;
    this.#headcount.take(place);
    const claim = claimOf(place, origin);
    if (claim) {
      claim.at = at;
      claim.state = state;
      claim.until = until;
      claim.admittedAt = admittedAt;
      claim.firmUntil = firmUntil;
      if (state !== ON_SITE) claim.isBorrowed = false;
    } else addClaim(place, told);
    settleClaims(place);
    this.#headcount.put(place);
    this.#noteLoss(place);
    return place;
  }

  #forgetKey(key: number): void {
    const place = this.places.get(key);
    if (place) this.#drop(place);
    else this.over.delete(key);
    this.forfeited.delete(key);
    this.setBacks.forget(key);
  }

  /** A visit of this node's known by its pass alone is dropped once it is known by its ticket. */
  #noteTwin(id: string): void {
    const byPass = this.places.get(keyOfPass(id));
    if (byPass?.claim.origin === SELF && this.visits.get(id) !== byPass) this.twinKeys.push(byPass.key);
  }

  #noteLoss(place: Place): void {
    if (place.others?.some(({ origin }) => origin === SELF)) this.lostKeys.push(place.key);
  }

  #drop(place: Place): void {
    this.#headcount.take(place);
    this.places.delete(place.key);
  }

  #noteAdmitted({ lane, key }: Pick<Place, "lane" | "key">, at: number, origin: number): void {
    this.lastTurnAt = Math.max(this.lastTurnAt, at);
    this.tallies.totalsOf(origin).admitted++;
    this.tallies.noteLetIn(this.laneOf(lane), key);
    this.recentTurns.note(this.laneOf(lane), at, key);
  }

  protected override elsewhere(): Elsewhere {
    const { turns, looseTurns, onSite, lapsed, tallies } = this;
    return { admitted: turns, looseTurns, onSite, lapsed, totals: tallies.totals() };
  }

  /** What rooms of a budget leave to each other is known to the root alone. */
  protected override budgetFree(): number {
    return Number.POSITIVE_INFINITY;
  }

  protected override *visitsSeen(): Iterable<SeenVisit> {
    for (const { id, claim } of this.#headcount.sample.values())
      yield { id, admittedAt: claim.admittedAt, expiresAt: claim.until };
  }

  protected override rearrange(): void {
    this.#headcount.rearrange((sequence) => this.laneOf(this.placeAt(sequence)!.lane));
  }
}

interface Said {
  readonly state: PlaceState;
  readonly until: number;
  readonly admittedAt?: number;
  readonly firmUntil?: number;
}

function backEntryOf({ key, sequence, behind, missedTurns, missedAt }: Place): BackEntry {
  return [OP.back, key, sequence, behind, missedTurns, missedAt];
}
