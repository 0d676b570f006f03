/**
 * One node of a cluster of equal peers: all its rules, and nothing of the world. Letters and the time go in, letters
 * come out; visitors' calls are answered at once, or later by calling back. The engine around it has the clock, the
 * timers and the sockets; the simulator has its own.
 *
 *   SWIM ──who is alive──▶ membership ──view──▶ tree ──▶ QPID: who is root ──▶ door duty: counting rounds
 *                                        └────▶ replication: everyone's places, everywhere
 *
 * Each part keeps its own state and says what it wants sent; here they are put together.
 */
import type { Board } from "../../core/board.ts";
import { freeInBudget } from "../../core/budget.ts";
import type { DrawRecord } from "../../core/draw.ts";
import type {
  Admission,
  Counts,
  JoinAnswer,
  Load,
  Newcomer,
  Presence,
  RefusalReason,
  Remark,
  TicketAnswer,
} from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import { boardOf, countsOf, stateOf } from "../../core/room-view.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { isMessageBody } from "./body-shapes.ts";
import type { CountingBody } from "./counter.ts";
import { DoorDuty } from "./door-duty.ts";
import { INVITE, REVOKED } from "./entries.ts";
import { Lending, type Loan } from "./lending.ts";
import { isLetter, type Letter, type MessageBody } from "./letter.ts";
import { Membership } from "./membership.ts";
import { type NodeStatus, statusOf } from "./node-status.ts";
import { Notes } from "./notes.ts";
import { OrderClock, slotOfKey } from "./order-clock.ts";
import { type Place, WAITING } from "./place.ts";
import { Qpid } from "./qpid.ts";
import { Replication } from "./replication.ts";
import { type Op, type OpAnswer, Requests } from "./requests.ts";
import {
  checkIn,
  endVisit,
  enter,
  join,
  keyOfPass,
  leavePlace,
  noteSeen,
  type Seen,
  touch,
  tryAgainSoon,
  welcomeTo,
} from "./room-answers.ts";
import { RoomBooks, SELF } from "./room-books.ts";
import { observe, sweep } from "./room-duty.ts";
import { figuresOf } from "./room-figures.ts";
import { Swim, type SwimBody, type SwimSettings } from "./swim.ts";
import { homeOf } from "./takeover.ts";
import { treeOf } from "./tree.ts";
import { committed, idOf, type Member, type View, viewNumber } from "./view.ts";

/** So often deadlines are looked at. */
const SWEEP_MS = 100;
const QPID_RESEND_MS = 150;

export interface NodeSettings {
  readonly name: string;
  /** Rises with every start. */
  readonly life: number;
  /** Where peers reach this node. */
  readonly address: string;
  /** Where to ask to be taken in. Empty: a cluster is founded at once. */
  readonly join: readonly string[];
  /** Between counting rounds. */
  readonly intervalMs: number;
  /** When no more than so many are let in, the root does it one by one instead of by counting. */
  readonly oneByOneMax: number;
  /** So often peers are told what happened; `ahead` is exact to within this. */
  readonly replicateMs: number;
  readonly swim: SwimSettings;
  /** How far clocks may differ. */
  readonly skewMaxMs: number;
  /** After which the slots of a lost member are anybody's again. null: never. 0: whoever cannot be reached is dead. */
  readonly reclaimAfterMs: number | null;
  /** Breaks a rule on purpose, for tests of the checks. */
  readonly canary: Canary | null;
}

/** A node that was not looked after for longer than this has slept. */
const NAP_MAX_MS = 10_000;

/** What fits most clusters; a node's name, life and addresses are its own. */
export const DEFAULT_NODE_SETTINGS: Omit<NodeSettings, "name" | "life" | "address"> = {
  join: [],
  intervalMs: 100,
  oneByOneMax: 1,
  replicateMs: 100,
  swim: { periodMs: 500, ackTimeoutMs: 200, indirectProbes: 3, suspicionPeriods: 4 },
  skewMaxMs: 1_000,
  reclaimAfterMs: 600_000,
  canary: null,
};

/** Slots that were given back are kept all the same; a lost owner's places are taken over without the majority; turns take no slot. */
export type Canary = "give-twice" | "adopt-in-minority" | "forget-turns";

export type NodeEvent =
  | { readonly kind: "turns"; readonly room: string; readonly sequences: readonly number[] }
  | { readonly kind: "revoked"; readonly room: string; readonly id: string; readonly until: number }
  | { readonly kind: "draw"; readonly room: string }
  | { readonly kind: "kept"; readonly name: string }
  | { readonly kind: "remark"; readonly room: string; readonly remark: Remark };

/** A newcomer as the engine hands them in. */
export interface Arriving {
  readonly id: string;
  readonly newcomer: Newcomer;
  readonly dice: number;
}

export class ClusterNode {
  readonly #settings: NodeSettings;
  readonly #dice: () => number;
  readonly #rooms = new Map<string, RoomBooks>();
  /** As they were set. */
  readonly #rules = new Map<string, RoomRules>();
  readonly #membership: Membership;
  readonly #swim: Swim;
  readonly #clock: OrderClock;
  readonly #replication: Replication;
  readonly #qpid = new Qpid({ resendMs: QPID_RESEND_MS });
  readonly #duty: DoorDuty;
  readonly #requests: Requests;
  readonly #lending: Lending;
  readonly #notes: Notes;
  readonly #addresses = new Map<string, string>();
  #view: View | null = null;
  #slots = new Map<number, Member>();
  #seen = new Map<string, Map<string, Seen[]>>();
  #touched = new Map<string, Map<string, Presence[]>>();
  #events: NodeEvent[] = [];
  #letters = new Map<string, { address: string; to: string | null; bodies: MessageBody[] }>();
  #sweepAt: number;
  #now: number;
  #boardVersion = 0;

  constructor(settings: NodeSettings, dice: () => number, now: number) {
    this.#settings = settings;
    this.#dice = dice;
    this.#now = now;
    this.#sweepAt = now;
    const { skewMaxMs, swim, replicateMs, intervalMs } = settings;
    this.#membership = new Membership(settings, now);
    const self = this.#membership.selfId;
    this.#swim = new Swim(self, swim, dice);
    this.#clock = new OrderClock({ slot: 0, skewMaxMs });
    this.#replication = new Replication(self, this.#rooms, replicateMs);
    const { qpid, rooms, replication } = {
      qpid: this.#qpid,
      rooms: this.#rooms,
      replication: this.#replication,
    };
    const onComplete = () => {
      this.#commit();
      this.#replication.everyoneSettled();
      for (const room of this.#rooms.keys()) this.#lending.refresh(room);
    };
    const { canary, oneByOneMax } = settings;
    const weigh = () => this.#weigh();
    const door = { intervalMs, oneByOneMax, dice, weigh, onComplete, canary };
    this.#duty = new DoorDuty({ rooms, replication, qpid, ...door });
    this.#notes = new Notes(self);
    this.#lending = new Lending({
      isRoundOpen: () => this.#duty.counter.isOpen,
      round: () => (this.#view?.lost.length === 0 ? this.#duty.counter.round : null),
      peers: () => this.#peers().map(idOf),
      lend: (room) => lend(this.#rooms.get(room), this.#now),
      take: (room, loan) => borrow(this.#rooms.get(room), loan, this.#now),
    });
    this.#requests = new Requests({
      routeOf: (op) => this.#routeOf(op),
      perform: (op, at, answer) => this.#perform(op, at, answer),
    });
    this.#followView(now);
  }

  /** Opens a room or changes its rules. */
  configure(room: string, rules: RoomRules, now: number): void {
    this.#rules.set(room, rules);
    const known = this.#rooms.get(room);
    if (known) return known.change(this.#fit(rules), now);
    const books = new RoomBooks({
      name: room,
      rules: this.#fit(rules),
      self: this.#replication.self,
      now,
      events: {
        onTurns: (sequences) => this.#events.push({ kind: "turns", room, sequences }),
        onRevoked: (id, until) => this.#events.push({ kind: "revoked", room, id, until }),
        onDraw: () => this.#events.push({ kind: "draw", room }),
        onRemark: (remark) => this.#events.push({ kind: "remark", room, remark }),
        onWritten: (entry) => this.#replication.write(room, entry),
      },
    });
    books.budgetFree = () => this.#budgetFree(room);
    this.#rooms.set(room, books);
    this.#standAs(books);
    if (this.#view && this.#view.members.length > 1) this.#replication.openRoom(now);
  }

  has(room: string): boolean {
    return this.#rooms.has(room);
  }

  join(
    room: string,
    { id, newcomer, dice }: Arriving,
    now: number,
    answer: (answer: JoinAnswer) => void,
  ): void {
    const books = this.#rooms.get(room);
    if (!books) return answer({ kind: "refused", reason: "unknownRoom" });
    this.#now = now;
    const key = this.#clock.next(now);
    const node = this.#membership.slot ?? 0;
    const go = (who: Newcomer) => {
      const moment = { dice, now: this.#now };
      const given = join(books, { id, key, node, newcomer: who }, moment);
      // Where there is no limit, nothing is lost with a visit that nobody else knows of.
      if (books.isLimited) this.#tell(given, answer, moment.now);
      else answer(given);
    };
    if (this.#duty.isAlone) return go(newcomer);
    if (newcomer.invite === null) return this.#withRoom(books, newcomer, () => go(newcomer));
    this.#useInvite(books, newcomer, (reason) => {
      if (reason !== null) return answer({ kind: "refused", reason });
      this.#withRoom(books, newcomer, () => go({ ...newcomer, invite: null }));
    });
  }

  checkIn(ticket: Ticket, dice: number, now: number): TicketAnswer {
    const books = this.#rooms.get(ticket.room);
    if (!books) return { kind: "refused", reason: "unknownRoom" };
    const { answer, seen } = checkIn(books, ticket, { dice, now });
    if (seen) this.#noteSeen(books, seen, now);
    if (answer.kind !== "entered") return answer;
    // A visit that may have ended a moment ago is its owner's to speak of: whoever asks comes to enter.
    const place = books.visits.get(ticket.id);
    const isOwn = place?.claim.origin === SELF;
    return isOwn ? answer : { kind: "admitted", ticket, claimBy: answer.pass.expiresAt };
  }

  enter(ticket: Ticket, dice: number, now: number, answer: (answer: TicketAnswer) => void): void {
    const books = this.#rooms.get(ticket.room);
    if (!books) return answer({ kind: "refused", reason: "unknownRoom" });
    // Whoever has no turn as far as is known here need not trouble the owner.
    const known = this.checkIn(ticket, dice, now);
    if (known.kind !== "admitted" && known.kind !== "entered") return answer(known);
    this.#requests.ask({ op: "enter", ticket, dice }, now, (given) =>
      answer(given === null || typeof given === "boolean" ? tryAgainSoon(ticket) : given),
    );
  }

  touch(room: string, presences: readonly Presence[], now: number): void {
    const books = this.#rooms.get(room);
    if (!books) return;
    for (const presence of presences) {
      const place = books.visits.get(presence.id);
      const owner = place ? this.#ownerOf(place) : this.#home(keyOfPass(presence.id));
      if (owner === "self") touch(books, presence, now);
      else if (owner !== null) listIn(this.#touched, owner, room).push(presence);
    }
  }

  leave(place: Ticket | Pass, now: number): void {
    if (!this.#rooms.has(place.room)) return;
    const op: Op =
      "sequence" in place
        ? { op: "leavePlace", ticket: place }
        : { op: "leaveVisit", room: place.room, id: place.id, node: place.node };
    this.#requests.ask(op, now, () => {});
  }

  revoke(room: string, id: string, now: number, answer: (isEnded: boolean) => void): void {
    if (!this.#rooms.get(room)?.visits.has(id)) return answer(false);
    this.#requests.ask({ op: "revoke", room, id }, now, (isEnded) => answer(isEnded === true));
  }

  report(room: string, load: Load, now: number): void {
    this.#rooms.get(room)?.door.report(load, now);
    for (const { address } of this.#peers()) this.#post(address, { kind: "load", room, load });
  }

  /** Turns the doors now if they are this node's to turn, and tells what the last turn of this one came to. */
  admit(room: string, now: number): Admission {
    this.#now = now;
    return this.#duty.turnNow(this.#books(room), now);
  }

  /** What the last turn of a room's door came to, if it was turned here. */
  lastAdmission(room: string): Admission | null {
    return this.#duty.lastAdmission(room);
  }

  counts(room: string, now: number): Counts {
    return countsOf(figuresOf(this.#books(room), now));
  }

  board(room: string, now: number): Board {
    // By the clock, so that boards of different nodes follow each other.
    this.#boardVersion = Math.max(this.#boardVersion + 1, Math.floor(now));
    return boardOf(figuresOf(this.#books(room), now), this.#boardVersion);
  }

  state(room: string, now: number): Board["state"] {
    const books = this.#books(room);
    return stateOf(books.door.phase(now), books.lines.size);
  }

  draw(room: string, event: string, now: number): DrawRecord | null {
    const books = this.#books(room);
    const found = books.door.rules.events.find(({ name }) => name === event);
    return found?.isShuffled ? books.draws.record(found, now) : null;
  }

  ended(room: string): Iterable<[id: string, until: number]> {
    return this.#books(room).ended;
  }

  /** `isCounted`: with what every owner has. */
  status(isCounted = false): NodeStatus {
    return statusOf({
      membership: this.#membership,
      qpid: this.#qpid,
      swim: this.#swim,
      replication: this.#replication,
      rooms: this.#rooms,
      rounds: this.#duty.rounds,
      isCounted,
    });
  }

  takeEvents(): NodeEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  setJoin(addresses: readonly string[]): void {
    this.#membership.setJoin(addresses);
  }

  /** All nodes keep this; the last word counts. */
  keep(name: string, value: unknown, now: number): void {
    this.#notes.keep(name, value, this.#clock.time(now));
    this.#hearNotes();
  }

  kept(): ReadonlyMap<string, unknown> {
    return new Map([...this.#notes.all.values()].map(({ name, value }) => [name, value]));
  }

  /** Proof by an operator that a lost member is dead. */
  forget(name: string, now: number): boolean {
    const isForgotten = this.#membership.forget(name, now);
    this.#followView(now);
    return isForgotten;
  }

  /** Hands everything over and leaves; `isGone` when that is done. */
  leaveCluster(now: number): void {
    this.#replication.whenCopied(() => this.#membership.leave(this.#now), now);
  }

  get isGone(): boolean {
    return this.#membership.isGone;
  }

  receive(from: string, letter: unknown, now: number): void {
    this.#now = now;
    if (!isLetter(letter)) return;
    const id = idOf(letter);
    const self = this.#membership.selfId;
    // A letter to a former life at this address is nobody's any more.
    if (id === self || (letter.to !== null && letter.to !== self)) return;
    this.#clock.hear(letter.clock, now);
    this.#membership.heard(from, now);
    this.#addresses.set(id, from);
    this.#swim.heard(id, now);
    if (letter.view !== null) this.#membership.compare({ address: from }, letter.view, now);
    for (const body of letter.bodies) if (isMessageBody(body)) this.#take({ from, id, letter }, body, now);
    this.#followView(now);
  }

  /** Nothing listens at that address, says the machine there. */
  refused(address: string, now: number): void {
    this.#now = now;
    this.#membership.refused(address, now);
    this.#followView(now);
  }

  tick(now: number): void {
    this.#wakeUp(now);
    this.#now = now;
    this.#membership.tick(now);
    this.#swim.tick(now);
    this.#hearVerdicts(now);
    this.#followView(now);
    this.#requests.tick(now);
    this.#lending.tick(now);
    this.#notes.tick(now);
    if (now >= this.#sweepAt) this.#sweep(now);
    this.#duty.tick(now);
    this.#replication.tick(now);
    this.#qpid.tick(now);
  }

  nextAt(): number {
    return Math.min(
      this.#membership.nextAt(),
      this.#swim.nextAt(),
      this.#replication.nextAt(),
      this.#qpid.nextAt(),
      this.#requests.nextAt(),
      this.#lending.nextAt(),
      this.#notes.nextAt(),
      this.#duty.nextAt(),
      this.#sweepAt,
    );
  }

  takeOutbox(): { to: string; letter: Letter }[] {
    this.#weigh();
    this.#sendNotes();
    this.#replication.flush(this.#now);
    for (const { to, body } of this.#membership.takeOutbox()) this.#post(to, body);
    for (const { to, body } of this.#swim.takeOutbox()) this.#postTo(to, body);
    for (const { to, body } of this.#replication.takeOutbox()) this.#postTo(to, body);
    for (const { to, body } of this.#requests.takeOutbox()) this.#postTo(to, body);
    for (const { to, body } of this.#lending.takeOutbox()) this.#postTo(to, body);
    for (const { to, body } of this.#notes.takeOutbox()) this.#postTo(to, body);
    for (const { to, body } of this.#qpid.takeOutbox()) this.#postToSlot(to, body);
    for (const { to, body } of this.#duty.counter.takeOutbox()) this.#postToSlot(to, body);
    if (this.#letters.size === 0) return [];
    const { name, life } = this.#settings;
    const view = this.#view ? viewNumber(this.#view) : null;
    const clock = this.#clock.time(this.#now);
    const outbox = [...this.#letters.values()].map(({ address, to, bodies }) => ({
      to: address,
      letter: { to, name, life, clock, view, bodies },
    }));
    this.#letters = new Map();
    return outbox;
  }

  #take(sender: { from: string; id: string; letter: Letter }, body: MessageBody, now: number): void {
    const { from, id, letter } = sender;
    switch (body.kind) {
      case "ping":
      case "pingReq":
      case "ack":
        return this.#swim.receive(id, body as SwimBody, now);
      case "joinMe":
      case "notYet":
      case "view":
      case "hello":
      case "knock":
      case "met":
      case "bye":
        this.#membership.receive(from, body, now);
        return this.#followView(now);
      case "relay":
        return this.#relay(body, now);
    }
    const member = this.#view?.members.find((one) => idOf(one) === id);
    if (!member) return;
    switch (body.kind) {
      case "entries":
      case "read":
        return this.#replication.receive(id, body, now);
      case "ask":
      case "reply":
        return this.#requests.receive(id, body, now);
      case "notes":
        this.#notes.receive(body);
        return this.#hearNotes();
      case "lend":
      case "lent":
        return this.#lending.receive(id, body);
      case "seen":
        return this.#hearSeen(body.room, body.list, now);
      case "touch":
        return this.touch(body.room, body.list, now);
      case "load":
        return this.#rooms.get(body.room)?.door.report(body.load, now);
    }
    // The rest is about one tree, and says nothing to whoever has another.
    if (letter.view !== viewNumber(this.#view!)) return;
    if (body.kind === "heads") return this.#replication.receive(id, body, now);
    if (body.kind === "edge") {
      this.#weigh();
      this.#qpid.receive(member.slot, body, now);
    } else this.#duty.receive(member.slot, body as CountingBody, now);
  }

  #relay({ to, letter }: Extract<MessageBody, { kind: "relay" }>, now: number): void {
    if (to === this.#membership.selfId) {
      // The writer is not where the letter came from.
      const writer = isLetter(letter) ? this.#addresses.get(idOf(letter)) : undefined;
      if (writer) this.receive(writer, letter, now);
    } else {
      const member = this.#view?.members.find((one) => idOf(one) === to);
      if (member && isLetter(letter)) this.#post(member.address, { kind: "relay", to, letter });
    }
  }

  #hearVerdicts(now: number): void {
    for (const { peer, is } of this.#swim.takeVerdicts()) {
      if (is === "dead") this.#membership.died(peer, now);
      else if (is === "alive") this.#membership.lives(peer);
    }
  }

  /** Takes up a new view, if there is one. */
  #followView(now: number): void {
    const view = this.#membership.takeView();
    if (!view) return;
    this.#view = view;
    this.#slots = new Map(view.members.map((member) => [member.slot, member]));
    for (const member of view.members) this.#addresses.set(idOf(member), member.address);
    const slot = this.#membership.slot!;
    this.#clock.slot = slot;
    const tree = treeOf(view.members.map((member) => member.slot));
    const neighbours = tree.neighboursOf(slot);
    const towards = slot === tree.root ? null : tree.towards(slot, tree.root);
    this.#swim.watch(view.members.map(idOf), now);
    this.#qpid.start({ version: viewNumber(view), neighbours, towards }, now);
    this.#replication.start(view, now, this.#settings.canary === "adopt-in-minority");
    this.#duty.start(view, neighbours, now);
    for (const books of this.#rooms.values()) this.#standAs(books);
    this.#requests.reroute(now);
    this.#lending.start(viewNumber(view));
    this.#notes.start(this.#peers().map(idOf), now);
  }

  /** Alone or one of several: where a room's slots and its rate come from. */
  #standAs(books: RoomBooks): void {
    const view = this.#view;
    const { isAlone } = this.#duty;
    if (books.isAlone && !isAlone) {
      books.held = books.used;
      books.flow.leave = 0;
    }
    books.isAlone = isAlone;
    books.flow.isRoot = isAlone;
    books.flow.share = view ? view.members.length / (view.members.length + view.lost.length) : 1;
    books.change(this.#fit(this.#rules.get(books.name)!), this.#now);
  }

  /** Turns on top cannot be counted where several give them out. */
  #fit(rules: RoomRules): RoomRules {
    if (this.#view === null || this.#duty.isAlone) return rules;
    const events = rules.events.map((event) => ({ ...event, rules: { ...event.rules, fillNoShows: false } }));
    return { ...rules, fillNoShows: false, events };
  }

  #commit(): void {
    if (this.#view && this.#view.bases.length > 1) {
      this.#view = committed(this.#view);
      this.#membership.commit(this.#view);
    }
  }

  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_MS;
    const isFenced = this.#isFenced();
    for (const books of this.#rooms.values()) {
      if (this.#duty.isAlone) continue;
      sweep(books, now);
      books.tellTurns();
      const { rules, isPrequeue } = books.door.phase(now);
      observe(books, books.lines.size > 0 && !rules.paused && !rules.queueAll && !isPrequeue, now);
      if (isFenced) books.letGoOfSpares();
    }
  }

  /** A machine that slept for so long may have been taken for lost, and its slots been given to others. */
  #wakeUp(now: number): void {
    const { reclaimAfterMs } = this.#settings;
    if (reclaimAfterMs === null || now - this.#now < Math.max(reclaimAfterMs, NAP_MAX_MS)) return;
    if (this.#duty.isAlone) return;
    for (const books of this.#rooms.values()) books.letGoOfSpares();
  }

  /** A part that has been without the majority for so long that the others may have taken its slots back. */
  #isFenced(): boolean {
    const { reclaimAfterMs } = this.#settings;
    if (!this.#view || this.#view.isMajority || reclaimAfterMs === null || reclaimAfterMs === 0) return false;
    return this.#membership.lostForMs(this.#now) >= reclaimAfterMs;
  }

  #hearNotes(): void {
    for (const name of this.#notes.takeChanged()) this.#events.push({ kind: "kept", name });
  }

  #noteSeen(books: RoomBooks, seen: Seen, now: number): void {
    const place = books.places.get(seen[0]);
    const owner = place ? this.#ownerOf(place) : this.#homeOfKey(seen[0]);
    if (owner === "self") noteSeen(books, seen, now);
    else if (owner === null && place) return;
    else if (owner !== null && place?.claim.state === WAITING)
      listIn(this.#seen, owner, books.name).push(seen);
    // Whoever is back in the line must be known to be: this is asked until it is answered.
    else this.#requests.ask({ op: "seen", room: books.name, seen }, now, () => {});
  }

  /** Goes on when there is room, or once it is known that there is none anywhere. */
  #withRoom(books: RoomBooks, newcomer: Newcomer, go: () => void): void {
    const isShort = isShortOfSlots(books, newcomer, this.#now);
    if (!isShort || !this.#lending.ask(books.name, this.#now, go)) go();
  }

  /** A one-time code is used up where it belongs, whichever node it is shown at. */
  #useInvite(books: RoomBooks, newcomer: Newcomer, then: (reason: RefusalReason | null) => void): void {
    const invite = newcomer.invite!;
    const welcome = welcomeTo(books, newcomer, this.#now);
    if (welcome !== "through" && welcome !== "place") return then(welcome);
    if (books.invites.has(invite.id)) return then("inviteUsed");
    this.#requests.ask({ op: "invite", room: books.name, invite }, this.#now, (isNew) => {
      // Nobody answered: then it is used up here, at least.
      const isGood = isNew ?? !books.invites.has(invite.id);
      if (isNew === null && isGood) books.write([INVITE, invite.id, invite.expiresAt]);
      then(isGood ? null : "inviteUsed");
    });
  }

  #hearSeen(room: string, list: readonly Seen[], now: number): void {
    const books = this.#rooms.get(room);
    if (!books || !Array.isArray(list)) return;
    for (const seen of list) {
      const place = books.places.get(seen[0]);
      if (place ? place.claim.origin === SELF : this.#homeOfKey(seen[0]) === "self")
        noteSeen(books, seen, now);
    }
  }

  #sendNotes(): void {
    if (this.#seen.size === 0 && this.#touched.size === 0) return;
    for (const [owner, rooms] of this.#seen)
      for (const [room, list] of rooms) this.#postTo(owner, { kind: "seen", room, list });
    for (const [owner, rooms] of this.#touched)
      for (const [room, list] of rooms) this.#postTo(owner, { kind: "touch", room, list });
    this.#seen = new Map();
    this.#touched = new Map();
  }

  /** Told once another has it written down, where it gives away a slot that could be given twice. */
  #tell<Answer extends JoinAnswer | TicketAnswer>(
    given: Answer,
    answer: (answer: Answer) => void,
    now: number,
  ): void {
    if (given.kind !== "entered") return answer(given);
    this.#replication.whenCopied(() => answer(given), now);
  }

  #routeOf(op: Op): string | "self" | null {
    if (op.op === "invite") return this.#home(keyOfPass(hexOf(op.invite.id)));
    if (op.op === "revoke" || op.op === "leaveVisit") {
      const place = this.#rooms.get(op.room)?.visits.get(op.id);
      if (place) return this.#ownerOf(place);
      // One that began a moment ago is known where it began.
      const giver = op.op === "leaveVisit" ? this.#slots.get(op.node) : undefined;
      if (giver && this.#orSelf(idOf(giver)) !== "self") return idOf(giver);
      // Who has it now is known once all have told what they know.
      return this.#replication.isSettled && this.#replication.isCaughtUp ? "self" : null;
    }
    const books = this.#rooms.get(op.op === "seen" ? op.room : op.ticket.room);
    if (!books) return "self";
    const key = op.op === "seen" ? op.seen[0] : books.draws.current(op.ticket).sequence;
    const place = books.places.get(key);
    return place ? this.#ownerOf(place) : this.#homeOfKey(key);
  }

  #perform(op: Op, now: number, answer: (answer: OpAnswer) => void): void {
    const books = this.#rooms.get(op.op === "enter" || op.op === "leavePlace" ? op.ticket.room : op.room);
    if (!books) return answer(false);
    switch (op.op) {
      case "enter":
        return this.#tell(enter(books, op.ticket, { dice: op.dice, now }), answer, now);
      case "seen":
        noteSeen(books, op.seen, now);
        return answer(true);
      case "leavePlace":
        leavePlace(books, op.ticket, now);
        return answer(true);
      case "leaveVisit":
      case "revoke": {
        const place = books.visits.get(op.id);
        if (place) endVisit(books, place, op.op === "revoke" ? REVOKED : 0, now);
        return answer(place !== undefined);
      }
      case "invite": {
        const isNew = !books.invites.has(op.invite.id);
        if (isNew) books.write([INVITE, op.invite.id, op.invite.expiresAt]);
        return answer(isNew);
      }
    }
  }

  /** Who decides about a place: a member, this node, or nobody while its owner is lost. */
  #ownerOf({ claim }: Place): string | "self" | null {
    if (claim.origin === SELF) return "self";
    return this.#view?.members.some((member) => idOf(member) === claim.owner) ? claim.owner : null;
  }

  /** Who decides about a key of which nothing is known here: whoever gave it out, or whoever it falls to. */
  #homeOfKey(key: number): string | "self" | null {
    const home = this.#homeOfUnknown(key);
    // Whoever has not read the others' logs yet cannot say that nobody knows of it.
    return home === "self" && !this.#replication.isCaughtUp ? null : home;
  }

  #homeOfUnknown(key: number): string | "self" | null {
    const slot = slotOfKey(Math.max(0, key));
    const giver = this.#slots.get(slot);
    if (giver) return this.#orSelf(idOf(giver));
    // Only a part with the majority, in which all agree on it, takes anything from those who may still be there.
    const mayTake = this.#view?.isMajority === true && this.#replication.isSettled;
    const isTheirs = !mayTake && this.#view?.lost.some((member) => member.slot === slot) === true;
    return isTheirs ? null : this.#home(key);
  }

  #home(key: number): string | "self" {
    return this.#view ? this.#orSelf(homeOf(key, this.#view)) : "self";
  }

  #orSelf(id: string): string | "self" {
    return id === this.#membership.selfId ? "self" : id;
  }

  /** The smallest key of this node's who waits is its weight. */
  #weigh(): void {
    if (!this.#view) return;
    let first: number | null = null;
    for (const { own } of this.#rooms.values()) {
      const key = own.first();
      if (key !== null && (first === null || key < first)) first = key;
    }
    this.#qpid.setWeight(first);
    this.#qpid.tick(this.#now);
  }

  /** Slots that the other rooms of its budget leave to a room, where this node is alone. */
  #budgetFree(name: string): number {
    const budget = this.#rooms.get(name)?.door.rules.budget;
    if (!budget) return Number.POSITIVE_INFINITY;
    const names: string[] = [];
    const rooms = [];
    for (const [other, books] of this.#rooms) {
      if (books.door.rules.budget?.name !== budget.name) continue;
      const wanted = other === name ? budget.totalActiveUsers : unbudgeted(books, this.#now);
      names.push(other);
      const { used, lastTurnAt } = books;
      rooms.push({ used, wanted, guaranteed: books.door.rules.budget.guaranteed, lastTurnAt });
    }
    return freeInBudget({ totalActiveUsers: budget.totalActiveUsers, rooms }, names.indexOf(name));
  }

  #peers(): Member[] {
    const self = this.#membership.selfId;
    return this.#view?.members.filter((member) => idOf(member) !== self) ?? [];
  }

  #postToSlot(slot: number, body: MessageBody): void {
    const member = this.#slots.get(slot);
    if (member) this.#postTo(idOf(member), body);
  }

  /** To a member by its id; through another as well while it does not answer directly. */
  #postTo(id: string, body: MessageBody): void {
    const address = this.#addresses.get(id);
    if (!address) return;
    this.#post(address, body, id);
    const way = this.#swim.isDirect(id) ? null : this.#swim.wayTo(id);
    const through = way === null ? undefined : this.#addresses.get(way);
    if (!through || body.kind === "ping" || body.kind === "pingReq" || body.kind === "ack") return;
    const { name, life } = this.#settings;
    const view = this.#view ? viewNumber(this.#view) : null;
    const letter = { to: id, name, life, clock: this.#clock.time(this.#now), view, bodies: [body] };
    this.#post(through, { kind: "relay", to: id, letter });
  }

  /** To whoever is there, or to one life alone. */
  #post(address: string, body: MessageBody, to: string | null = null): void {
    const key = to ?? address;
    const letter = this.#letters.get(key);
    if (letter) letter.bodies.push(body);
    else this.#letters.set(key, { address, to, bodies: [body] });
  }

  #books(room: string): RoomBooks {
    const books = this.#rooms.get(room);
    if (!books) throw new Error(`room "${room}" is not configured`);
    return books;
  }
}

function listIn<T>(lists: Map<string, Map<string, T[]>>, owner: string, room: string): T[] {
  let rooms = lists.get(owner);
  if (!rooms) {
    rooms = new Map();
    lists.set(owner, rooms);
  }
  let list = rooms.get(room);
  if (!list) {
    list = [];
    rooms.set(room, list);
  }
  return list;
}

/** True when a newcomer would get a place only because this node has no slot, or no leave, for them. */
function isShortOfSlots(books: RoomBooks, newcomer: Newcomer, now: number): boolean {
  if (welcomeTo(books, newcomer, now) === "through") return false;
  const { held } = books;
  books.held = books.used + 1;
  const welcome = books.flow.ifThereWereLeave(() => welcomeTo(books, newcomer, now));
  books.held = held;
  return welcome === "through";
}

/** Half of what a room can spare here, for another node. */
function lend(books: RoomBooks | undefined, now: number): Loan {
  if (!books) return { slots: 0, leave: 0 };
  const { newUsersPerMinute, privilegedOnly } = books.rulesAt(now);
  if (books.lines.size > 0 && !privilegedOnly) return { slots: 0, leave: 0 };
  const { isLimited } = books;
  const isPaced = newUsersPerMinute !== null;
  const { spare, flow } = books;
  const room = Math.min(
    isLimited ? spare : Number.POSITIVE_INFINITY,
    isPaced ? flow.leave : Number.POSITIVE_INFINITY,
  );
  const given = Number.isFinite(room) ? Math.ceil(Math.max(0, room) / 2) : 0;
  const loan = { slots: isLimited ? given : 0, leave: isPaced ? given : 0 };
  books.held -= loan.slots;
  flow.leave -= loan.leave;
  return loan;
}

function borrow(books: RoomBooks | undefined, { slots, leave }: Loan, now: number): void {
  if (!books) return;
  books.held += slots;
  if (leave > 0) books.flow.receive(leave, now);
}

/** How many a room would admit now, were it not for the budget. */
function unbudgeted(books: RoomBooks, now: number): number {
  const { crowd } = books;
  const free = {
    ...{ waiting: crowd.waiting, admitted: crowd.admitted, onSite: crowd.onSite },
    budgetFree: Number.POSITIVE_INFINITY,
    waitingIn: (lane: number) => crowd.waitingIn(lane),
    turnAges: (at: number) => crowd.turnAges(at),
  };
  return books.door.open(free, now).admit;
}

/** Some hexadecimal digits for a text, to find its home by. */
function hexOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  return (hash >>> 0).toString(16).padStart(13, "0");
}
