/**
 * A visitor who forges: gets a real ticket, then shows copies with a better place, another's id or an earlier arrival, and passes
 * that no node gave. All of them must be refused; the checks are told of any that is accepted. In the end the real place is given
 * up.
 */
import type { Pass } from "../../core/pass.ts";
import type { Ticket } from "../../core/ticket.ts";
import { between, type Dice, type Range, visitorIdOf } from "./dice.ts";
import type { SimRequest } from "./gateway.ts";
import type { Traits } from "./traits.ts";
import type { Guest, VisitorPhase, VisitorWorld } from "./visitor.ts";
import type { Reply } from "./visitor-link.ts";

const PAUSE_MS: Range = { from: 50, to: 2_000 };

export class Forger implements Guest {
  readonly number: number;
  readonly traits: Traits;
  readonly isWanting = false;
  readonly enteredAt = null;
  phase: VisitorPhase = "coming";
  station = 0;
  cameAt = 0;
  readonly #world: VisitorWorld;
  readonly #dice: Dice;

  constructor(number: number, { traits, dice, world }: { traits: Traits; dice: Dice; world: VisitorWorld }) {
    this.number = number;
    this.traits = traits;
    this.#dice = dice;
    this.#world = world;
  }

  arrive(): void {
    this.phase = "joining";
    this.cameAt = this.#world.time;
    this.station = this.traits.station ?? this.#world.anyStation(this.#dice, null);
    const id = visitorIdOf(this.#dice, this.number * 1_000);
    this.#ask({ kind: "join", id, dice: this.#dice() }, (reply) => {
      if (reply.kind === "waiting") this.#forge(reply.ticket);
      else if (reply.kind === "entered") this.#give(reply.pass);
      this.phase = "gone";
    });
  }

  hearTurn(): void {}

  #forge(ticket: Ticket): void {
    for (const request of forgeries(ticket, this.#dice)) {
      this.#world.after(between(this.#dice, PAUSE_MS), () => {
        this.station = this.#world.anyStation(this.#dice, null);
        this.#ask(request, (reply) => this.#watch(reply));
      });
    }
    this.#world.after(PAUSE_MS.to, () => this.#give(ticket));
  }

  #watch(reply: Reply): void {
    if (reply.kind === "not good" || reply.kind === "no answer" || reply.kind === "not there") return;
    this.#world.notice({ kind: "taken", at: this.#world.time, visitor: this.number, reply: reply.kind });
  }

  #give(place: Ticket | Pass): void {
    this.#ask({ kind: "leave", place }, () => {});
  }

  #ask(request: SimRequest, reply: (reply: Reply) => void): void {
    const { number: visitor, station } = this;
    this.#world.ask({ visitor, dice: this.#dice, station, request, reply });
  }
}

function forgeries(ticket: Ticket, dice: Dice): SimRequest[] {
  const { id, room, lane, joinedAt } = ticket;
  const times = { joinedAt, admittedAt: joinedAt, createdAt: joinedAt, expiresAt: joinedAt * 2 };
  const pass: Pass = { id, room, lane, ...times, node: 0 };
  return [
    { kind: "checkIn", ticket: { ...ticket, sequence: ticket.sequence - 1_000 }, dice: dice() },
    { kind: "checkIn", ticket: { ...ticket, joinedAt: joinedAt - 60_000 }, dice: dice() },
    { kind: "enter", ticket: { ...ticket, id: visitorIdOf(dice, 0xffffffff) }, dice: dice() },
    { kind: "enter", ticket: { ...ticket, lane: lane + 1 }, dice: dice() },
    { kind: "renew", pass },
    { kind: "leave", place: pass },
  ];
}
