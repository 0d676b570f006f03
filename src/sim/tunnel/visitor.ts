/**
 * One visitor, from arrival to leaving. Which node they ask, and what they do without an answer, is what a browser with the
 * waiting page would do: ask again with the same ticket, at another node if this one is down.
 *
 *   coming ─▶ joining ─▶ waiting ─▶ entering ─▶ on site ─▶ gone
 *                │          │          │
 *                └──────────┴──────────┴── gave up, refused ──▶ gone
 *
 * A visitor does one thing at a time: a new request or pause replaces the one before, and an answer to an older request is
 * ignored. A join whose answer was lost is repeated as a new visitor, as far as the cluster can know.
 */
import type { Pass } from "../../core/pass.ts";
import type { Ticket } from "../../core/ticket.ts";
import { between, type Dice, type Range, visitorIdOf } from "./dice.ts";
import type { SimRequest } from "./gateway.ts";
import type { Notice } from "./notice.ts";
import { isSteady, isWanting, type Traits } from "./traits.ts";
import type { Reply, VisitorQuestion } from "./visitor-link.ts";

export type VisitorPhase = "coming" | "joining" | "waiting" | "entering" | "on site" | "gone";

const RETRY_MS: Range = { from: 200, to: 1_000 };
/** A node that does not know the room yet is asked again after this. */
const NOT_READY_MS = 500;
/** A visitor who does not use their turn looks again after this. */
const IDLE_MS = 2_000;
/** Between two renewals of a pass, as a share of the session. */
const RENEW_SHARE = 0.25;
/** Used tickets and passes are shown again within this time after a visit. */
const REPLAY_WITHIN_MS = 20_000;
/** How often a visitor without an answer repeats that they leave. */
const LEAVES_MAX = 5;
const JOINS_MAX = 1_000;

export interface VisitorWorld {
  readonly time: number;
  readonly sessionMs: number;
  readonly lapseAfterMs: number;
  after(delayMs: number, work: () => void): void;
  ask(question: VisitorQuestion): void;
  /** Index of a station that takes visitors, other than `but` if possible. */
  anyStation(dice: Dice, but: number | null): number;
  notice(notice: Notice): void;
  /** The visitor has that place, and waits at this station. */
  waitsAt(visitor: Guest, sequence: number): void;
}

/** Any visitor. */
export interface Guest {
  readonly number: number;
  readonly traits: Traits;
  readonly phase: VisitorPhase;
  readonly station: number;
  readonly cameAt: number;
  readonly enteredAt: number | null;
  /** True for visitors who must still be admitted. */
  readonly isWanting: boolean;
  arrive(): void;
  /** The visitor's node has reported their turn. */
  hearTurn(): void;
}

export class SimVisitor implements Guest {
  readonly number: number;
  readonly traits: Traits;
  phase: VisitorPhase = "coming";
  station = 0;
  cameAt = 0;
  enteredAt: number | null = null;
  readonly #world: VisitorWorld;
  readonly #dice: Dice;
  #joins = 0;
  #id = "";
  #ticket: Ticket | null = null;
  #pass: Pass | null = null;
  #step = 0;
  /** How long the cluster is certain to wait for them. */
  #expectedUntil = Number.POSITIVE_INFINITY;

  constructor(number: number, { traits, dice, world }: { traits: Traits; dice: Dice; world: VisitorWorld }) {
    this.number = number;
    this.traits = traits;
    this.#dice = dice;
    this.#world = world;
  }

  get isWanting(): boolean {
    return isWanting(this.traits) && this.phase !== "on site" && this.phase !== "gone";
  }

  arrive(): void {
    const { traits } = this;
    const any = this.#world.anyStation(this.#dice, null);
    this.station = traits.station ?? any;
    this.cameAt = this.#world.time;
    if (traits.patienceMs !== null) this.#world.after(traits.patienceMs, () => this.#giveUp());
    if (traits.away) this.#world.after(traits.away.afterMs, () => this.#vanish());
    this.#join();
  }

  hearTurn(): void {
    if (this.phase === "waiting") this.#later(0, () => this.#checkIn());
  }

  #join(): void {
    this.phase = "joining";
    if (this.#joins >= JOINS_MAX) throw new Error(`visitor ${this.number} joined ${JOINS_MAX} times`);
    this.#id = visitorIdOf(this.#dice, this.number * JOINS_MAX + this.#joins);
    this.#joins++;
    this.#ask({ kind: "join", id: this.#id, dice: this.#dice() });
  }

  #checkIn(): void {
    if (this.traits.isMoving) this.station = this.#world.anyStation(this.#dice, this.station);
    this.#show("checkIn");
  }

  #show(kind: "checkIn" | "enter"): void {
    const ticket = this.#ticket!;
    if (this.#world.time > this.#expectedUntil)
      this.#world.notice({ kind: "away", at: this.#world.time, id: ticket.id });
    this.#ask({ kind, ticket, dice: this.#dice() });
    for (let i = 0; i < this.traits.replays; i++) this.#replay(kind, ticket);
  }

  #replay(kind: "checkIn" | "enter", ticket: Ticket): void {
    const station = this.#world.anyStation(this.#dice, this.station);
    const request = { kind, ticket, dice: this.#dice() };
    this.#world.ask({ visitor: this.number, dice: this.#dice, station, request, reply: () => {} });
  }

  #ask(request: SimRequest): void {
    const step = ++this.#step;
    const { number: visitor, station } = this;
    const reply = (given: Reply) => {
      if (step === this.#step) this.#hear(given);
    };
    this.#world.ask({ visitor, dice: this.#dice, station, request, reply });
  }

  #later(delayMs: number, work: () => void): void {
    const step = ++this.#step;
    this.#world.after(delayMs, () => {
      if (step === this.#step) work();
    });
  }

  #hear(reply: Reply): void {
    if (reply.kind === "waiting") this.#wait(reply.ticket, reply.nextCheckInMs);
    else if (reply.kind === "admitted") this.#takeTurn(reply.ticket);
    else if (reply.kind === "entered") this.#stay(reply.pass);
    else if (reply.kind === "no answer" || reply.kind === "not there") this.#tryAgain(reply.kind);
    else if (reply.kind === "refused" && reply.reason === "unknownRoom")
      this.#later(NOT_READY_MS, () => this.#tryAgain("not there"));
    else this.#go();
  }

  #wait(ticket: Ticket, nextCheckInMs: number): void {
    const isFirst = this.#ticket === null;
    this.#ticket = ticket;
    this.phase = "waiting";
    this.#expectedUntil = this.#world.time + nextCheckInMs + 0.5 * this.#world.lapseAfterMs;
    if (isFirst) this.#tell();
    this.#world.waitsAt(this, ticket.sequence);
    this.#later(nextCheckInMs, () => this.#checkIn());
  }

  #takeTurn(ticket: Ticket): void {
    this.#ticket = ticket;
    this.phase = "entering";
    const { reactionMs, isIdling } = this.traits;
    if (isIdling) return this.#later(IDLE_MS, () => this.#checkIn());
    if (reactionMs === null) return this.#go();
    this.#later(reactionMs, () => this.#show("enter"));
  }

  #stay(pass: Pass): void {
    if (this.#ticket === null) this.#tell();
    this.#pass = pass;
    this.phase = "on site";
    this.enteredAt = this.#world.time;
    this.#remain(this.#world.time + this.traits.stayMs);
  }

  #remain(untilAt: number): void {
    const leftMs = untilAt - this.#world.time;
    const renewMs = RENEW_SHARE * this.#world.sessionMs;
    if (!this.traits.isRenewing || leftMs <= renewMs) return this.#later(leftMs, () => this.#leaveSite());
    this.#later(renewMs, () => {
      this.#renew();
      this.#remain(untilAt);
    });
  }

  /** Asks for a renewed pass; without one in time the old one expires. */
  #renew(): void {
    const { number: visitor, station } = this;
    const request: SimRequest = { kind: "renew", pass: this.#pass! };
    const reply = (given: Reply) => {
      if (given.kind === "renewed") this.#pass = given.pass;
      else if (given.kind === "not there") this.station = this.#world.anyStation(this.#dice, station);
      else if (given.kind === "not good") this.#go();
    };
    this.#world.ask({ visitor, dice: this.#dice, station, request, reply });
  }

  #leaveSite(): void {
    const { isMoving, isPolite, replays } = this.traits;
    if (isMoving) this.station = this.#world.anyStation(this.#dice, this.station);
    if (isPolite) this.#leave(this.#pass!, LEAVES_MAX);
    for (let i = 0; i < replays; i++) this.#replayLater();
    this.#go();
  }

  /** The ticket of a visit that is over must be useless, and so must the pass of a visitor who left. */
  #replayLater(): void {
    const ticket = this.#ticket;
    if (ticket) this.#world.after(this.#dice() * REPLAY_WITHIN_MS, () => this.#replay("enter", ticket));
    if (!this.traits.isPolite) return;
    this.#world.after(this.#dice() * REPLAY_WITHIN_MS, () => {
      const station = this.#world.anyStation(this.#dice, this.station);
      const request: SimRequest = { kind: "renew", pass: this.#pass! };
      this.#world.ask({ visitor: this.number, dice: this.#dice, station, request, reply: () => {} });
    });
  }

  #giveUp(): void {
    if (this.phase !== "joining" && this.phase !== "waiting" && this.phase !== "entering") return;
    if (this.traits.isPolite && this.#ticket) this.#leave(this.#ticket, LEAVES_MAX);
    this.#go();
  }

  /** Leaves, repeating it at other nodes until it is answered. */
  #leave(place: Ticket | Pass, tries: number): void {
    const { number: visitor, station } = this;
    const request: SimRequest = { kind: "leave", place };
    const reply = ({ kind }: Reply) => {
      if ((kind !== "no answer" && kind !== "not there") || tries === 1) return;
      this.station = this.#world.anyStation(this.#dice, station);
      this.#world.after(between(this.#dice, RETRY_MS), () => this.#leave(place, tries - 1));
    };
    this.#world.ask({ visitor, dice: this.#dice, station, request, reply });
  }

  #vanish(): void {
    if (this.phase !== "waiting" || !this.#ticket) return;
    this.#world.notice({ kind: "away", at: this.#world.time, id: this.#ticket.id });
    this.station = this.#world.anyStation(this.#dice, null);
    this.#later(this.traits.away!.forMs, () => this.#checkIn());
  }

  #tryAgain(reason: "no answer" | "not there"): void {
    if (this.phase === "on site") return;
    const other = this.#world.anyStation(this.#dice, this.station);
    const isElsewhere = this.#dice() < 0.5 || reason === "not there";
    this.#later(between(this.#dice, RETRY_MS), () => {
      if (isElsewhere) this.station = other;
      if (this.#ticket === null) this.#join();
      else this.#show(this.phase === "entering" ? "enter" : "checkIn");
    });
  }

  #go(): void {
    this.#step++;
    this.phase = "gone";
  }

  #tell(): void {
    const { traits } = this;
    const id = this.#id;
    this.#world.notice({ kind: "told", at: this.#world.time, id, isSteady: isSteady(traits) });
  }
}
