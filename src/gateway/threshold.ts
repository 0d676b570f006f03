/**
 * The threshold: what becomes of a visitor without a pass. A ticket is shown to the engine, a newcomer joins; the
 * answer is either a pass, and they go through, or a place, and they wait. What an engine that is away means for them
 * is for the caller to say.
 */
import type { Engine, JoinAnswer, TicketAnswer, Waiting } from "../core/engine.ts";
import { tellAhead } from "../core/ticket.ts";
import { type AskEngine, ENGINE_AWAY } from "./ask-engine.ts";
import type { Carrier } from "./carrier.ts";
import type { HeldPass, HeldTicket } from "./held-tokens.ts";
import type { RoomFront } from "./room-front.ts";
import type { Traffic } from "./traffic.ts";
import type { VisitorTokens } from "./visitor-tokens.ts";

/** What becomes of one request: exactly one of these is called. */
export interface Outcome {
  /** Headers, here and below: a flat list that hands out the token. */
  through(held: HeldPass, headers: readonly string[]): void;
  wait(waiting: Waiting, headers: readonly string[]): void;
  away(): void;
  /** False when a new place would be lost on its sender. */
  keepsPlace(): boolean;
}

export class Threshold {
  readonly #engine: Engine;
  readonly #ask: AskEngine;
  readonly #tokens: VisitorTokens;
  readonly #traffic: Traffic;

  constructor(parts: { engine: Engine; ask: AskEngine; tokens: VisitorTokens; traffic: Traffic }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#tokens = parts.tokens;
    this.#traffic = parts.traffic;
  }

  /** Someone with a ticket, or with nothing. */
  come(front: RoomFront, held: HeldTicket | null, carrier: Carrier, now: number, outcome: Outcome): void {
    if (!held) return this.#join(front, carrier, outcome);
    this.#ask.ask(
      () => this.#engine.enter(held.ticket),
      (answer) => {
        if (answer === ENGINE_AWAY) return outcome.away();
        if (answer.kind === "expired" || answer.kind === "refused") {
          // What is spent or run out makes its holder a newcomer.
          this.#tokens.refuseTicket(answer, front, now);
          return this.#join(front, carrier, outcome);
        }
        this.#settle(front, answer, carrier, outcome, false);
      },
    );
  }

  #join(front: RoomFront, carrier: Carrier, outcome: Outcome): void {
    this.#traffic.requests.joins++;
    this.#ask.ask(
      () => this.#engine.join(front.name),
      (answer) => {
        if (answer === ENGINE_AWAY) outcome.away();
        else this.#settle(front, answer, carrier, outcome, true);
      },
    );
  }

  #settle(
    front: RoomFront,
    answer: JoinAnswer | TicketAnswer,
    carrier: Carrier,
    outcome: Outcome,
    isNew: boolean,
  ): void {
    if (answer.kind === "entered") {
      const { headers, held } = this.#tokens.givePass(front, answer.pass, carrier);
      held.isReported = true;
      return outcome.through(held, headers);
    }
    // Entering never answers "admitted", and a room that is served here is known to the engine.
    if (answer.kind !== "waiting") return outcome.away();
    if (isNew && !outcome.keepsPlace()) {
      this.#ask.ask(
        () => this.#engine.leave(answer.ticket),
        () => {},
      );
      return outcome.wait(answer, []);
    }
    const ticket = tellAhead(answer.ticket, answer.ahead);
    outcome.wait({ ...answer, ticket }, this.#tokens.giveTicket(front, ticket, carrier).headers);
  }
}
