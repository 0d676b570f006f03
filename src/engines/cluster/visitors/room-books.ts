/**
 * The books of one room at one node: every place of every owner, as their entries tell it, and what follows from
 * that: the lines and who is on the site (headcount.ts), the totals (node-tallies.ts), what is due when (room-dues.ts). A place
 * that is over is remembered as that alone (over-places.ts).
 * Entries are the only way in, the node's own included (`write`), so that a place looks the same wherever it is
 * looked at.
 *
 * Slots. `held` are the slots this node has in hand; those not used by its own turns and visits are `spare`. Over all
 * nodes they never add up to more than the capacity: they are handed out and taken back by counting rounds, and
 * nothing else makes any. So a node that is cut off goes on with what it has, and no more.
 */
import { BaseBooks, type Elsewhere } from "../../../core/base-books.ts";
import type { TurnBy } from "../../../core/doorkeeper.ts";
import type { Moves } from "../../../core/draw-ledger.ts";
import type { Remark } from "../../../core/engine.ts";
import { longestCheckIn } from "../../../core/pacing.ts";
import { type DoorRules, EVERYBODY, type EventRules, type RoomRules } from "../../../core/rules.ts";
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
  isFirm,
  isOwnVisit,
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

/** Who writes an entry: the index of their log here, and their name everywhere. */
export interface LogOwner {
  readonly index: number;
  readonly owner: string;
}

export interface RoomEvents {
  readonly onTurns: (keys: readonly number[]) => void;
  readonly onRevoked: (id: string, until: number) => void;
  /** Places have changed hands by lot. */
  readonly onDraw: () => void;
  readonly onRemark: (remark: Remark) => void;
  /** An entry of the node's own; gives its number in the log. */
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
  /** Everyone who waits, and those of them who are this node's. */
  readonly lines = this.#headcount.lines;
  readonly own = this.#headcount.own;
  readonly visits = this.#headcount.visits;
  readonly lingering = new LingeringSlots();
  /** Ended visits whose pass has not run out. */
  readonly ended = new Map<string, number>();
  readonly invites = new Map<string, number>();
  /** Of those that are over, the ones that missed too many turns. */
  readonly forfeited = new Set<number>();
  /** Numbers of places that missed turns. */
  readonly setBacks = new SetBacks();
  readonly recentTurns = new RecentTurns();
  readonly tallies = new NodeTallies();
  held = 0;
  /** How long it takes until all nodes know what one wrote down. */
  spreadMs = 0;
  crowd: Hand = new ShareOfDoor(this);
  /** How many joined lately; falls with every counting round. */
  arrivals = 0;
  /** What became of turns, for the root. */
  readonly turnNews = new TurnNews();
  /** Admitted since the speed of the door was last looked at. */
  admittedSince = 0;
  /** Places whose claim lost, to be let go of, and places that others took over while this node has them. */
  readonly lostKeys: number[] = [];
  readonly heldKeys: number[] = [];
  /** Visits of this node's that others, who knew of no visit or of another one with that id, said are over. */
  readonly endedKeys: number[] = [];
  /** Visits of this node's by their pass alone that are known by their ticket as well. */
  readonly twinKeys: number[] = [];
  #at = 0;
  readonly #dues = new RoomDues(this.places, this.over, (key) => this.#setBackUntil(key));
  #turnsHeard: number[] = [];
  #capacity = Number.POSITIVE_INFINITY;
  /** When it was last asked which rules hold. */
  #askedAt = 0;
  #perMinute = Number.POSITIVE_INFINITY;

  constructor(parts: { name: string; rules: RoomRules; events: RoomEvents; self: LogOwner; now: number }) {
    const flow = new RoomFlow();
    super(parts.name, parts.rules, parts.now, flow);
    this.flow = flow;
    this.events = parts.events;
    this.self = parts.self;
  }

  /** Those that are firm. */
  get turns(): number {
    return this.#headcount.turns;
  }

  get looseTurns(): number {
    return this.#headcount.looseTurns;
  }

  get onSite(): number {
    return this.#headcount.onSite + this.lingering.size;
  }

  get lapsed(): number {
    return this.#headcount.lapsed;
  }

  /** Firm turns of this node's. */
  get ownTurns(): number {
    return this.#headcount.ownTurns;
  }

  /** Visits whose slot is this node's, and slots that it holds for some that were ended. */
  get ownVisits(): number {
    return this.#headcount.ownVisits + this.lingering.size;
  }

  /** Slots of this node's in use. */
  get used(): number {
    return this.ownTurns + this.ownVisits;
  }

  /** Slots in hand and not in use; below zero when more came with passes than there were slots for. */
  get spare(): number {
    return this.held - this.used;
  }

  /** Nobody is beside this node: all slots and the rate are its own, and nobody else is to hear of its turns. */
  takeWhole(door: WholeDoor, now: number): void {
    this.crowd = door;
    this.flow.isRoot = true;
    this.flow.enter(this.turnNews.take().entered, now);
  }

  /** Others are there, with slots of their own. What was all this node's is what it uses, until a round hands out more. */
  takeShare(): void {
    this.flow.isRoot = false;
    if (this.crowd instanceof ShareOfDoor) return;
    this.crowd = new ShareOfDoor(this);
    this.held = this.used;
    this.flow.leave = 0;
  }

  /** Nobody else goes straight through, or gets a turn, by what this node has in hand. */
  letGoOfSpares(): void {
    this.held = Math.min(this.held, this.used);
    this.flow.leave = 0;
  }

  override change(rules: RoomRules, now: number): void {
    super.change(rules, now);
    this.#noteCapacity();
    this.#noteRate();
  }

  /** Firm turns were given under the rate before; the next round knows how many of them may be used now. */
  #noteRate(): void {
    const perMinute = this.door.rate ?? Number.POSITIVE_INFINITY;
    if (perMinute < this.#perMinute) this.flow.entries = 0;
    this.#perMinute = perMinute;
  }

  /** Slots to spare were handed out under the capacity before; the next round knows how many there are now. */
  #noteCapacity(): void {
    const capacity = this.door.capacity ?? Number.POSITIVE_INFINITY;
    if (capacity < this.#capacity) this.held = Math.min(this.held, this.used);
    this.#capacity = capacity;
  }

  /** True where there is a number of slots. */
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

  /** Those who gathered get the places that were drawn. */
  draw(event: EventRules, now: number): boolean {
    for (const entry of this.draws.entriesToDraw(event, now, this.ticketTtlMaxMs)) this.write(entry);
    return true;
  }

  /** How much of a turn's claim window is over, 0 to 1. */
  turnAge({ claim }: Place, now: number): number {
    return this.door.turnAge(claim.until, now);
  }

  /** Something happened to a place of this node's. */
  write(entry: Entry): void {
    this.apply(entry, this.self, this.events.onWritten(entry));
  }

  /** False when an entry must wait, and with it all later ones of its log. */
  isReadyFor(entry: Entry): boolean {
    if (entry[0] !== OP.pool && entry[0] !== OP.drawn) return true;
    const event = this.door.rules.events.find(({ name, isShuffled }) => isShuffled && name === entry[2]);
    if (!event) return true;
    this.draws.expect(event);
    return this.draws.isReadyFor(entry);
  }

  /** Takes in an entry of its owner's that it is ready for; `at`: its number in their log. */
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

  /** Entries that make the same of another's books as a log did of these: what its owner has now. */
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

  /** That a place is over, with the pass of its visit while that is still good. */
  goneEntryOf({ key, lane, until, id }: OverPlace): GoneEntry {
    const passUntil = this.ended.get(id);
    const how = this.forfeited.has(key) ? HOW.forfeitedBefore : HOW.asBefore;
    return passUntil === undefined
      ? [OP.gone, key, lane, how, until, ""]
      : [OP.gone, key, lane, how, passUntil, id];
  }

  /** The place with that number in the line. */
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

  /** A new deadline for someone of this node's who waits. */
  await(place: Place, until: number): void {
    place.claim.until = until;
    this.#dues.addWait(place, until);
  }

  /** Someone taken over, who was told elsewhere when to come: they have as long as anyone may be told to stay away. */
  awaitAnew(place: Place, now: number): void {
    const { pollBudgetPerSecond, ticketTtlMs, lapseAfterMs } = this.rulesAt(now);
    const awayMs = longestCheckIn({ waiting: this.lines.size, pollBudgetPerSecond, ticketTtlMs });
    this.await(place, now + awayMs + lapseAfterMs);
  }

  /** Everything that an owner ever said is unsaid, but for what is over; it is about to be told anew. */
  forgetOwner(origin: number): void {
    for (const place of [...this.places.values()])
      if (claimOf(place, origin)) this.#yield(place.key, { index: origin, owner: "" });
    this.tallies.forgetTotals(origin);
  }

  /** A firm turn of this node's lasts until then. */
  lengthenTurn(place: Place, { claimBy, firmUntil }: TurnBy): void {
    place.claim.until = claimBy;
    place.claim.firmUntil = firmUntil;
    this.#dues.addTurn(place.key, claimBy);
    this.#dues.addFirm(place.key, firmUntil);
  }

  /** This node's firm turns whose time to be firm is up. */
  firmDue(now: number): Iterable<Place> {
    return this.#dues.firmOver(now);
  }

  /** This node's places in that state whose time is up. */
  due(state: TimedState, now: number): Iterable<Place> {
    return this.#dues.over(state, now);
  }

  /** Forgets what no good ticket, pass or code can be about. */
  forget(now: number): void {
    this.lingering.sweep(now, this.rulesAt(now).lingerMs);
    for (const key of this.#dues.forgotten(now)) this.#forgetKey(key);
    for (const id of this.#dues.endedForgotten(now)) if (this.ended.get(id)! <= now) this.ended.delete(id);
    for (const id of this.#dues.invitesForgotten(now)) this.invites.delete(id);
    this.draws.forget(now);
    this.resumes.forget(now);
    this.recentTurns.forget(now);
  }

  /** Tells listeners of the turns that came in since this was last asked. */
  tellTurns(): void {
    if (this.#turnsHeard.length === 0) return;
    const keys = this.#turnsHeard;
    this.#turnsHeard = [];
    this.events.onTurns(keys);
  }

  /** An entry about a place from before a draw, as one about the place it has become. */
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
    // Who comes back has gathered before, if at all; events may have been changed since then.
    const event = how === HOW.new || how === HOW.takenBack ? this.#gathering(key) : undefined;
    if (event) this.draws.gather(event, key, id);
  }

  /** True when whoever gets this key gathers for a draw. */
  isGathering(key: number): boolean {
    const event = this.#gathering(key);
    return event !== undefined && !this.draws.isClosed(event);
  }

  /** The draw that is due takes nobody in any more. */
  closePool(now: number): void {
    const { event } = this.door.phase(now);
    if (event?.isShuffled) this.draws.close(event);
  }

  /** The event for which someone with this key has gathered. */
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

  /** How long missed turns are remembered of a place that nobody tells of. */
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

  /** By a pass alone and with a key of its own: it was over, and began again. */
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
    if (how !== HOW.expired && place && isOwnVisit(place) && this.door.rules.lingerMs > 0)
      this.lingering.add();
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
    // Where another has taken it over since, there is no claim left; what it made void stays so.
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

  /** What an owner said of a place is no longer so, but for this node itself, which knows better. */
  #void(place: Place, owner: string, head: number): void {
    // Taken for lost, and here all the same: the others must hear how it really is.
    if (owner === this.self.owner) return void this.heldKeys.push(place.key);
    addVoid(place, { owner, head });
    const claim = claimBy(place, owner);
    if (claim && claim.at < head) dropClaim(place, claim.origin);
  }

  /** Places change hands, once; whoever reads of it has drawn from there on, too. */
  #drawn(entry: DrawnEntry, { index }: LogOwner): void {
    const moves = this.draws.draw(entry, index);
    if (!moves) return;
    this.#move(moves);
    if (index !== SELF) this.write(entry);
    this.events.onDraw();
  }

  /** What was at each key of `from` is then at the same index of `to`. */
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

  /** What an owner says of a place, and what comes of that: nothing when it is over. */
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
    // Read later than what another made of it.
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

  /** A visit of this node's that is known by its pass alone is let go of when it is known by its ticket. */
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

  protected override rearrange(): void {
    this.#headcount.rearrange((sequence) => this.laneOf(this.placeAt(sequence)!.lane));
  }
}

/** What an owner says of a place. */
interface Said {
  readonly state: PlaceState;
  readonly until: number;
  readonly admittedAt?: number;
  readonly firmUntil?: number;
}

function backEntryOf({ key, sequence, behind, missedTurns, missedAt }: Place): BackEntry {
  return [OP.back, key, sequence, behind, missedTurns, missedAt];
}
