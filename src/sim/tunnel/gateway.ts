/**
 * A very small gateway in front of each node. It tells real tickets and passes from forged ones by a list of all that were ever
 * issued, where a real gateway checks a signature; forged ones never reach a node. It also renews passes, except for visits that
 * its node has ended, reports presence in batches, and tells the checks what its node answered.
 */
import { ANYBODY, type JoinAnswer, type TicketAnswer } from "../../core/engine.ts";
import { type Pass, renewPass } from "../../core/pass.ts";
import { originOf, type Ticket, tellAhead } from "../../core/ticket.ts";
import type { EventLoop } from "./event-loop.ts";
import type { AnsweredNotice, Notice } from "./notice.ts";
import type { Station } from "./station.ts";

const PRESENCE_EVERY_MS = 1_000;

export type SimRequest =
  | { readonly kind: "join"; readonly id: string; readonly dice: number }
  | { readonly kind: "checkIn" | "enter"; readonly ticket: Ticket; readonly dice: number }
  | { readonly kind: "leave"; readonly place: Ticket | Pass }
  | { readonly kind: "renew"; readonly pass: Pass };

export type GatewayReply =
  | JoinAnswer
  | TicketAnswer
  | { readonly kind: "renewed"; readonly pass: Pass }
  | { readonly kind: "left" }
  /** Forged, or a pass that has expired or whose visit has ended. */
  | { readonly kind: "not good" };

export interface SimCall {
  readonly visitor: number;
  readonly station: Station;
  readonly request: SimRequest;
  reply(reply: GatewayReply): void;
}

export interface SimGatewayOptions {
  readonly loop: EventLoop;
  readonly room: string;
  readonly sessionMs: number;
  notice(notice: Notice): void;
}

export class SimGateway {
  /** Forged tickets and passes that were refused. */
  refused = 0;
  /** Passes of ended visits that were refused. */
  ended = 0;
  readonly #options: SimGatewayOptions;
  readonly #tickets = new Map<string, Ticket>();
  readonly #passes = new Map<string, Pass>();
  /** By station: passes renewed there and not yet reported. */
  readonly #presences = new Map<number, Pass[]>();
  /** "station/life/id" of visits that a node has ended. */
  readonly #ended = new Set<string>();

  constructor(options: SimGatewayOptions) {
    this.#options = options;
  }

  /** A node tells its gateway that a visit is over. */
  end(station: Station, id: string): void {
    this.#ended.add(`${station.index}/${station.life}/${id}`);
  }

  take(asking: SimCall): void {
    const { request } = asking;
    if (!this.#isReal(request)) {
      this.refused++;
      return asking.reply({ kind: "not good" });
    }
    if (request.kind === "leave") this.#leave(asking, request.place);
    else if (request.kind === "renew") this.#renew(asking, request.pass);
    else this.#ask(asking, request);
  }

  #isReal(request: SimRequest): boolean {
    if (request.kind === "join") return true;
    if (request.kind === "renew") return this.#isRealPass(request.pass);
    if (request.kind !== "leave") return this.#isRealTicket(request.ticket);
    return "admittedAt" in request.place
      ? this.#isRealPass(request.place)
      : this.#isRealTicket(request.place);
  }

  #isRealTicket(ticket: Ticket): boolean {
    const issued = this.#tickets.get(ticket.id);
    return (
      issued !== undefined &&
      originOf(issued) === originOf(ticket) &&
      issued.lane === ticket.lane &&
      issued.joinedAt === ticket.joinedAt
    );
  }

  #isRealPass(pass: Pass): boolean {
    return this.#passes.get(pass.id)?.admittedAt === pass.admittedAt;
  }

  #ask({ visitor, station, reply }: SimCall, request: Extract<SimRequest, { dice: number }>): void {
    const { life } = station;
    const askedAt = this.#options.loop.time;
    const isJoin = request.kind === "join";
    const id = isJoin ? request.id : request.ticket.id;
    const aheadShown = isJoin ? null : request.ticket.aheadShown;
    const missedTurns = isJoin ? 0 : request.ticket.missedTurns;
    const who = { visitor, station: station.index, life, askedAt, id };
    const about = { ...who, request: request.kind, aheadShown, missedTurns };
    let isAnswered = false;
    const answer = (decided: JoinAnswer | TicketAnswer) => {
      const given = signed(decided);
      if (isAnswered) throw new Error(`the ${request.kind} of ${id} was answered twice`);
      isAnswered = true;
      // The process is gone, so its answer reaches nobody.
      if (!station.isUp || station.life !== life) return;
      this.#note(about, given, station);
      reply(given);
    };
    station.call((node, now) => {
      if (request.kind === "join")
        node.join(this.#options.room, { id, newcomer: ANYBODY, dice: request.dice }, now, answer);
      else if (request.kind === "enter") node.enter(request.ticket, request.dice, now, answer);
      else answer(node.checkIn(request.ticket, request.dice, now));
    });
  }

  #note(
    about: Omit<AnsweredNotice, "kind" | "at" | "answer" | "expiresAt">,
    answer: JoinAnswer | TicketAnswer,
    station: Station,
  ): void {
    const at = this.#options.loop.time;
    if (answer.kind === "waiting" || answer.kind === "admitted") this.#tickets.set(about.id, answer.ticket);
    if (answer.kind === "entered") {
      this.#passes.set(about.id, answer.pass);
      this.#report(station, answer.pass);
    }
    const expiresAt = answer.kind === "entered" ? at + answer.pass.expiresAt - station.now : null;
    this.#options.notice({ kind: "answered", at, ...about, answer, expiresAt });
  }

  #leave({ station, reply }: SimCall, place: Ticket | Pass): void {
    const { index, life } = station;
    const { loop, notice } = this.#options;
    notice({ kind: "leaving", at: loop.time, id: place.id });
    const done = () => {
      if (!station.isUp || station.life !== life) return;
      notice({ kind: "left", at: loop.time, id: place.id, station: index, life });
      reply({ kind: "left" });
    };
    station.call((node, now) => node.leave(place, now, done));
  }

  #renew({ station, reply }: SimCall, pass: Pass): void {
    const { loop, sessionMs, notice } = this.#options;
    const { now } = station;
    const isEnded = this.#ended.has(`${station.index}/${station.life}/${pass.id}`);
    if (isEnded) this.ended++;
    if (pass.expiresAt <= now || isEnded) return reply({ kind: "not good" });
    const renewed = renewPass(pass, { now, sessionDurationMs: sessionMs, disableSessionRenewal: false });
    notice({ kind: "renewed", at: loop.time, id: pass.id, expiresAt: loop.time + sessionMs });
    this.#report(station, renewed);
    reply({ kind: "renewed", pass: renewed });
  }

  #report(station: Station, pass: Pass): void {
    const waiting = this.#presences.get(station.index);
    if (waiting) {
      waiting.push(pass);
      return;
    }
    this.#presences.set(station.index, [pass]);
    const { loop } = this.#options;
    loop.after(PRESENCE_EVERY_MS - (loop.time % PRESENCE_EVERY_MS), () => {
      const presences = this.#presences.get(station.index)!;
      this.#presences.delete(station.index);
      station.call((node, now) => node.touch(this.#options.room, presences, now));
    });
  }
}

/** The answer with a ticket that contains the number ahead that is shown now. */
function signed(answer: JoinAnswer | TicketAnswer): JoinAnswer | TicketAnswer {
  if (answer.kind !== "waiting") return answer;
  return { ...answer, ticket: tellAhead(answer.ticket, answer.ahead) };
}
