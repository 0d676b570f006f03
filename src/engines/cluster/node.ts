/**
 * One node of a cluster of equal peers: all its rules, and no I/O. Messages and the time go in, messages come out; visitors'
 * calls are answered at once, or later through a callback. The engine around it brings the clock, the timers and the sockets; the
 * simulator brings its own.
 *
 *   SWIM ──who is alive──▶ membership ──view──▶ tree ──▶ QPID: who is root ──▶ door duty: counting rounds
 *                                        └────▶ replication: everyone's places, everywhere
 *
 * Each part keeps its own state and its own outbox; here they are connected.
 */
import type { Board } from "../../core/board.ts";
import type { DrawRecord } from "../../core/draw.ts";
import {
  type Admission,
  ANYBODY,
  type Counts,
  type Entered,
  type JoinAnswer,
  type Load,
  type Presence,
  type Remark,
  type TicketAnswer,
} from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import { boardOf, countsOf, stateOf } from "../../core/room-view.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { CountingBody } from "./door/counter.ts";
import { DoorDuty } from "./door/door-duty.ts";
import { Lending } from "./door/lending.ts";
import { borrow, lend } from "./door/loans.ts";
import { Qpid } from "./door/qpid.ts";
import { Notes } from "./log/notes.ts";
import { OrderClock } from "./log/order-clock.ts";
import { Replication } from "./log/replication.ts";
import { ClockWatch, clockText } from "./membership/clock-watch.ts";
import { Membership } from "./membership/membership.ts";
import { Swim, type SwimBody } from "./membership/swim.ts";
import { treeOf } from "./membership/tree.ts";
import { committed, idOf, type Member, type View, viewNumber } from "./membership/view.ts";
import { NodeRooms } from "./node-rooms.ts";
import type { NodeSettings } from "./node-settings.ts";
import { type NodeStatus, statusOf } from "./node-status.ts";
import { SELF } from "./visitors/place.ts";
import { Requests } from "./visitors/requests.ts";
import { welcomeTo } from "./visitors/room-answers.ts";
import type { RoomBooks, RoomEvents } from "./visitors/room-books.ts";
import { Routes } from "./visitors/routes.ts";
import { type IdentifiedNewcomer, VisitorCalls } from "./visitors/visitor-calls.ts";
import { isMessageBody } from "./wire/body-shapes.ts";
import { Mailbag, type MessageSender } from "./wire/mailbag.ts";
import { isMessage, type Message, type MessageBody } from "./wire/message.ts";

export { DEFAULT_NODE_SETTINGS, type NodeSettings } from "./node-settings.ts";
export type { IdentifiedNewcomer } from "./visitors/visitor-calls.ts";

const SWEEP_MS = 100;
const QPID_RESEND_MS = 150;

/** A node that was not ticked for longer than this was asleep. */
const NAP_MAX_MS = 10_000;

export type NodeEvent =
  | { readonly kind: "turns"; readonly room: string; readonly sequences: readonly number[] }
  | { readonly kind: "revoked"; readonly room: string; readonly id: string; readonly until: number }
  | { readonly kind: "draw"; readonly room: string }
  | { readonly kind: "kept"; readonly name: string }
  | { readonly kind: "remark"; readonly room: string; readonly remark: Remark };

const UNKNOWN_ROOM = { kind: "refused", reason: "unknownRoom" } as const;

/** The parts that a test can replace, for instance by ones that break a rule on purpose. */
export const NODE_PARTS = { DoorDuty, Replication };

export class ClusterNode {
  readonly #settings: NodeSettings;
  readonly #rooms: NodeRooms;
  readonly #membership: Membership;
  readonly #swim: Swim;
  readonly #clock: OrderClock;
  readonly #clocks: ClockWatch;
  readonly #replication: Replication;
  readonly #qpid = new Qpid({ resendMs: QPID_RESEND_MS });
  readonly #duty: DoorDuty;
  readonly #requests: Requests;
  readonly #lending: Lending;
  readonly #notes: Notes;
  readonly #routes: Routes;
  readonly #visitors: VisitorCalls;
  readonly #mail: Mailbag;
  readonly #timed: readonly { nextAt(): number }[];
  #view: View | null = null;
  #events: NodeEvent[] = [];
  #sweepAt: number;
  #now: number;
  #boardVersion = 0;

  constructor(settings: NodeSettings, dice: () => number, now: number, parts = NODE_PARTS) {
    this.#settings = settings;
    this.#now = now;
    this.#sweepAt = now;
    const { skewMaxMs, swim, replicateMs, intervalMs, oneByOneMax } = settings;
    this.#membership = new Membership(settings, now);
    const self = this.#membership.selfId;
    this.#rooms = new NodeRooms({
      self: { index: SELF, owner: self },
      eventsOf: (room) => this.#eventsOf(room),
      spreadMs: settings.spreadMs,
      now: () => this.#now,
    });
    const rooms = this.#rooms.books;
    this.#swim = new Swim(self, swim, dice);
    this.#clock = new OrderClock({ node: 0, skewMaxMs });
    this.#clocks = new ClockWatch(skewMaxMs);
    const replication = new parts.Replication(self, rooms, replicateMs);
    this.#replication = replication;
    const onComplete = () => {
      this.#commit();
      replication.everyoneSettled();
      for (const room of rooms.keys()) this.#lending.refresh(room);
    };
    const weigh = () => this.#weigh();
    const door = { intervalMs, oneByOneMax, dice, weigh, onComplete };
    this.#duty = new parts.DoorDuty({ rooms, replication, qpid: this.#qpid, ...door });
    this.#notes = new Notes(self);
    this.#lending = new Lending({
      isRoundOpen: () => this.#duty.counter.isOpen,
      round: () => (this.#view?.lost.length === 0 ? this.#duty.counter.round : null),
      peers: () => this.#peers().map(idOf),
      lend: (room) => lend(rooms.get(room), this.#now),
      take: (room, loan) => borrow(rooms.get(room), loan, this.#now),
    });
    this.#routes = new Routes({ self, rooms, replication });
    this.#requests = new Requests({
      routeOf: (op) => this.#routes.of(op),
      perform: (op, at, answer) => this.#visitors.perform(op, at, answer),
    });
    this.#visitors = new VisitorCalls({
      ...{ rooms, replication, routes: this.#routes, requests: this.#requests },
      ...{ lending: this.#lending, clock: this.#clock },
      nodeNumber: () => this.#membership.nodeNumber ?? 0,
      now: () => this.#now,
    });
    this.#timed = [
      ...[this.#membership, this.#swim, this.#replication, this.#qpid, this.#requests, this.#visitors],
      ...[this.#lending, this.#notes, this.#duty],
    ];
    this.#mail = new Mailbag({ swim: this.#swim, sender: () => this.#sender() });
    this.#followView(now);
  }

  configure(room: string, rules: RoomRules, now: number): void {
    const isNew = this.#rooms.configure(room, rules, now);
    if (isNew && this.#view && this.#view.members.length > 1) this.#replication.openRoom(now);
  }

  has(room: string): boolean {
    return this.#rooms.books.has(room);
  }

  join(room: string, visitor: IdentifiedNewcomer, now: number, answer: (answer: JoinAnswer) => void): void {
    const books = this.#rooms.books.get(room);
    if (!books) return answer(UNKNOWN_ROOM);
    this.#now = now;
    this.#visitors.join(books, visitor, now, answer);
  }

  checkIn(ticket: Ticket, dice: number, now: number): TicketAnswer {
    const books = this.#rooms.books.get(ticket.room);
    return books ? this.#visitors.checkIn(books, ticket, { dice, now }) : UNKNOWN_ROOM;
  }

  enter(ticket: Ticket, dice: number, now: number, answer: (answer: TicketAnswer) => void): void {
    const books = this.#rooms.books.get(ticket.room);
    if (!books) return answer(UNKNOWN_ROOM);
    this.#now = now;
    this.#visitors.enter(books, ticket, { dice, now }, answer);
  }

  hasRoom(room: string, now: number): boolean {
    const books = this.#rooms.books.get(room);
    return books !== undefined && welcomeTo(books, ANYBODY, now) === "through";
  }

  resume(pass: Pass, mayBegin: boolean, now: number, answer: (answer: Entered | null) => void): void {
    const books = this.#rooms.books.get(pass.room);
    if (!books) return answer(null);
    this.#now = now;
    this.#visitors.resume(books, pass, mayBegin, now, answer);
  }

  touch(room: string, presences: readonly Presence[], now: number): void {
    const books = this.#rooms.books.get(room);
    if (books) this.#visitors.touch(books, presences, now);
  }

  /** Calls `done` once two nodes have it in their log, or when there is no other node. */
  leave(place: Ticket | Pass, now: number, done: () => void): void {
    const books = this.#rooms.books.get(place.room);
    if (!books) return done();
    this.#now = now;
    this.#visitors.leave(books, place, now, done);
  }

  revoke(room: string, id: string, now: number, answer: (isEnded: boolean) => void): void {
    const books = this.#rooms.books.get(room);
    if (!books?.visits.has(id)) return answer(false);
    this.#now = now;
    this.#visitors.revoke(books, id, now, () => answer(true));
  }

  report(room: string, load: Load, now: number): void {
    this.#rooms.books.get(room)?.door.report(load, now);
    for (const { address } of this.#peers()) this.#mail.post(address, { kind: "load", room, load });
  }

  /** Runs the door now if this node is responsible for it, and returns what its last run decided. */
  admit(room: string, now: number): Admission {
    this.#now = now;
    this.#rooms.sweep(now);
    this.#duty.turnNow(now);
    return this.#duty.lastAdmission(this.#books(room).name) ?? { admitted: 0, reason: "line empty" };
  }

  /** What the last run of the room's door decided, if it ran here. */
  lastAdmission(room: string): Admission | null {
    return this.#duty.lastAdmission(room);
  }

  counts(room: string, now: number): Counts {
    return countsOf(this.#books(room).figures(now));
  }

  board(room: string, now: number): Board {
    // By the clock, so that boards of different nodes follow each other.
    this.#boardVersion = Math.max(this.#boardVersion + 1, Math.floor(now));
    return boardOf(this.#books(room).figures(now), this.#boardVersion);
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

  /** `isCounted` adds the counts of every owner, which looks at every place. */
  status(isCounted = false): NodeStatus {
    return statusOf({
      membership: this.#membership,
      qpid: this.#qpid,
      swim: this.#swim,
      replication: this.#replication,
      rooms: this.#rooms.books,
      clocks: this.#clocks,
      root: this.#duty.counter.root,
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

  /** Keeps a note on all nodes; the last writer wins. */
  keep(name: string, value: unknown, now: number): void {
    this.#notes.keep(name, value, this.#clock.time(now));
    this.#hearNotes();
  }

  kept(): ReadonlyMap<string, unknown> {
    return new Map([...this.#notes.all.values()].map(({ name, value }) => [name, value]));
  }

  /** Takes an operator's word that a lost member is dead. */
  forget(name: string, now: number): boolean {
    const isForgotten = this.#membership.forget(name, now);
    this.#followView(now);
    return isForgotten;
  }

  /** Hands everything over and leaves; `isGone` becomes true when that is done. */
  leaveCluster(now: number): void {
    this.#replication.whenCopied(() => this.#membership.leave(this.#now), now);
  }

  get isGone(): boolean {
    return this.#membership.isGone;
  }

  receive(from: string, message: unknown, now: number): void {
    this.#now = now;
    if (!isMessage(message)) return;
    const id = idOf(message);
    const self = this.#membership.selfId;
    // It was meant for a former process at this address.
    if (id === self || (message.to !== null && message.to !== self)) return;
    this.#clock.hear(message.clock, now);
    this.#clocks.hear(id, message.clock, now);
    this.#membership.heard(from, now);
    this.#mail.heard(id, from);
    this.#swim.heard(id);
    if (message.view !== null) this.#membership.compare({ address: from }, message.view, now);
    for (const body of message.bodies) if (isMessageBody(body)) this.#take({ from, id, message }, body, now);
    this.#followView(now);
  }

  /** The machine at that address refused the connection: nothing listens there. */
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
    this.#visitors.tick(now);
    this.#lending.tick(now);
    this.#notes.tick(now);
    if (now >= this.#sweepAt) this.#sweep(now);
    this.#duty.tick(now);
    this.#replication.tick(now);
    this.#qpid.tick(now);
  }

  nextAt(): number {
    let at = this.#sweepAt;
    for (const part of this.#timed) at = Math.min(at, part.nextAt());
    return at;
  }

  takeOutbox(): { to: string; message: Message }[] {
    this.#weigh();
    this.#replication.flush(this.#now);
    for (const { to, body } of this.#membership.takeOutbox()) this.#mail.post(to, body);
    const byId = [this.#visitors, this.#swim, this.#replication, this.#requests, this.#lending, this.#notes];
    for (const part of byId) for (const { to, body } of part.takeOutbox()) this.#mail.postTo(to, body);
    for (const part of [this.#qpid, this.#duty.counter])
      for (const { to, body } of part.takeOutbox()) this.#mail.postToNumber(to, body);
    return this.#mail.take();
  }

  #sender(): MessageSender {
    const { name, life } = this.#settings;
    const view = this.#view ? viewNumber(this.#view) : null;
    return { name, life, clock: this.#clock.time(this.#now), view };
  }

  #take(sender: { from: string; id: string; message: Message }, body: MessageBody, now: number): void {
    const { from, id, message } = sender;
    switch (body.kind) {
      case "ping":
      case "pingReq":
      case "ack":
        return this.#swim.receive(id, body as SwimBody, now);
      case "joinMe": {
        const why = this.#whyNot(sender, body, now);
        if (why !== null) return this.#mail.post(from, { kind: "notYet", why });
        this.#membership.receive(from, body, now);
        return this.#followView(now);
      }
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
        return this.#hearSeen(body, now);
      case "touch":
        return this.#hearTouched(body, now);
      case "load":
        return this.#rooms.books.get(body.room)?.door.report(body.load, now);
    }
    // The rest is about one tree, and means nothing to a node with another one.
    if (message.view !== viewNumber(this.#view!)) return;
    if (body.kind === "heads") return this.#replication.receive(id, body, now);
    if (body.kind === "edge") {
      this.#weigh();
      this.#qpid.receive(member.number, body, now);
    } else this.#duty.receive(member.number, body as CountingBody, now);
  }

  /** Why a node may not join. Judged by its own message, not by one that another node forwards. */
  #whyNot(
    { id, message }: { id: string; message: Message },
    { member }: Extract<MessageBody, { kind: "joinMe" }>,
    now: number,
  ): string | null {
    const wrongMs = idOf(member) === id ? this.#clocks.wrongIn(message.clock, now) : null;
    if (wrongMs === null) return null;
    return `the clock here is ${clockText(wrongMs)} that of ${this.#settings.name}, and cluster.maxClockSkew is ${this.#settings.skewMaxMs / 1_000} s: synchronise both with the same time server`;
  }

  #relay({ to, letter: message }: Extract<MessageBody, { kind: "relay" }>, now: number): void {
    if (!isMessage(message)) return;
    if (to !== this.#membership.selfId) return this.#mail.passOn(to, message);
    // The writer's address is not the one the message came from.
    const writer = this.#mail.addressOf(idOf(message));
    if (writer) this.receive(writer, message, now);
  }

  #hearVerdicts(now: number): void {
    for (const { peer, is } of this.#swim.takeVerdicts()) {
      if (is === "dead") this.#membership.died(peer, now);
      else if (is === "alive") this.#membership.lives(peer);
    }
  }

  #followView(now: number): void {
    const view = this.#membership.takeView();
    if (!view) return;
    this.#view = view;
    this.#routes.start(view);
    this.#mail.start(view);
    const number = this.#membership.nodeNumber!;
    this.#clock.node = number;
    const tree = treeOf(view.members.map((member) => member.number));
    const neighbours = tree.neighboursOf(number);
    const towards = number === tree.root ? null : tree.towards(number, tree.root);
    const members = view.members.map(idOf);
    this.#swim.watch(members, now);
    this.#clocks.keep(members);
    this.#qpid.start({ version: viewNumber(view), neighbours, towards }, now);
    this.#replication.start(view, now);
    this.#duty.start(view, { number, neighbours }, now);
    this.#rooms.start(view, number);
    this.#requests.reroute(now);
    this.#lending.start(viewNumber(view));
    this.#notes.start(this.#peers().map(idOf), now);
  }

  #commit(): void {
    if (this.#view && this.#view.bases.length > 1) {
      this.#view = committed(this.#view);
      this.#membership.commit(this.#view);
    }
  }

  #sweep(now: number): void {
    this.#sweepAt = now + SWEEP_MS;
    this.#rooms.sweep(now);
    if (this.#isFenced()) this.#rooms.letGoOfSpares();
  }

  /** A machine that slept this long may have been taken for dead, and its slots given to others. */
  #wakeUp(now: number): void {
    const { reclaimAfterMs } = this.#settings;
    if (reclaimAfterMs === null || now - this.#now < Math.max(reclaimAfterMs, NAP_MAX_MS)) return;
    this.#rooms.letGoOfSpares();
  }

  /** True in a part without the majority that has been apart so long that the others may have reclaimed its slots. */
  #isFenced(): boolean {
    const { reclaimAfterMs } = this.#settings;
    if (!this.#view || this.#view.isMajority || reclaimAfterMs === null || reclaimAfterMs === 0) return false;
    return this.#membership.lostForMs(this.#now) >= reclaimAfterMs;
  }

  #hearNotes(): void {
    for (const name of this.#notes.takeChanged()) this.#events.push({ kind: "kept", name });
  }

  #hearSeen({ room, list }: Extract<MessageBody, { kind: "seen" }>, now: number): void {
    const books = this.#rooms.books.get(room);
    if (books && Array.isArray(list)) this.#visitors.hearSeen(books, list, now);
  }

  #hearTouched({ room, list }: Extract<MessageBody, { kind: "touch" }>, now: number): void {
    const books = this.#rooms.books.get(room);
    if (books) this.#visitors.hearTouched(books, list, now);
  }

  /** Tells QPID this node's weight: the smallest key that waits here. */
  #weigh(): void {
    if (!this.#view) return;
    this.#qpid.setWeight(this.#rooms.first());
    this.#qpid.tick(this.#now);
  }

  #eventsOf(room: string): RoomEvents {
    return {
      onTurns: (sequences) => this.#events.push({ kind: "turns", room, sequences }),
      onRevoked: (id, until) => this.#events.push({ kind: "revoked", room, id, until }),
      onDraw: () => this.#events.push({ kind: "draw", room }),
      onRemark: (remark) => this.#events.push({ kind: "remark", room, remark }),
      onWritten: (entry) => this.#replication.write(room, entry),
    };
  }

  #peers(): Member[] {
    const self = this.#membership.selfId;
    return this.#view?.members.filter((member) => idOf(member) !== self) ?? [];
  }

  #books(room: string): RoomBooks {
    const books = this.#rooms.books.get(room);
    if (!books) throw new Error(`room "${room}" is not configured`);
    return books;
  }
}
