/**
 * The threshold: what becomes of a visitor without a pass. A ticket is shown to the engine, a newcomer joins; the
 * answer is either a pass, and they go through, or a place, and they wait. What an engine that is away means for them
 * is for the caller to say.
 */
import type { Engine, Entered, Waiting } from "../core/engine.ts";
import { type Ticket, tellAhead } from "../core/ticket.ts";
import { type AskEngine, ENGINE_AWAY } from "./ask-engine.ts";
import type { HeldPass, HeldTicket } from "./held-tokens.ts";
import { type Arriving, type HeldBack, type Newcomers, type TurnedAway, withVisit } from "./newcomers.ts";
import type { Badge } from "./token.ts";
import type { VisitorTokens } from "./visitor-tokens.ts";

/** What becomes of one request: exactly one of these is called. */
export interface Outcome {
  /** Headers, here and below: a flat list that hands out the token. */
  through(held: HeldPass, headers: readonly string[]): void;
  wait(waiting: Waiting, headers: readonly string[]): void;
  /** They get no place. */
  turnAway(why: TurnedAway | HeldBack): void;
  away(): void;
  /** False when a new place would be lost on its sender. */
  keepsPlace(): boolean;
}

export class Threshold {
  readonly #engine: Engine;
  readonly #ask: AskEngine;
  readonly #tokens: VisitorTokens;
  readonly #newcomers: Newcomers;

  constructor(parts: { engine: Engine; ask: AskEngine; tokens: VisitorTokens; newcomers: Newcomers }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#tokens = parts.tokens;
    this.#newcomers = parts.newcomers;
  }

  /** Someone with a ticket, or with nothing. */
  come(arriving: Arriving, held: HeldTicket | null, outcome: Outcome): void {
    if (!held) return this.#join(arriving, outcome);
    this.#ask.ask(
      () => this.#engine.enter(held.ticket),
      (answer) => {
        if (answer === ENGINE_AWAY) return outcome.away();
        switch (answer.kind) {
          case "entered":
            return this.#letThrough(arriving, answer, withVisit(held.badge), outcome);
          case "waiting":
            return this.#letWait(arriving, answer, held.badge, outcome);
          case "admitted":
            // Entering never answers so.
            return outcome.away();
          case "expired":
          case "refused":
            // What is spent or run out makes its holder a newcomer.
            this.#tokens.refuseTicket(answer, arriving.front, arriving.now);
            return this.#join(arriving, outcome);
        }
      },
    );
  }

  /**
   * Someone who waits in everybody's lane brings what may get them into another: they join anew, and give up the place
   * they had once they have the other.
   */
  change(arriving: Arriving, held: HeldTicket | null, outcome: Outcome): void {
    const giveUp = () => held && this.#leave(held.ticket);
    this.#join(arriving, {
      ...outcome,
      through: (pass, headers) => {
        giveUp();
        outcome.through(pass, headers);
      },
      wait: (waiting, headers) => {
        giveUp();
        outcome.wait(waiting, headers);
      },
    });
  }

  #join(arriving: Arriving, outcome: Outcome): void {
    this.#newcomers.join(arriving, (welcome) => {
      if (welcome === ENGINE_AWAY) return outcome.away();
      switch (welcome.kind) {
        case "through":
          return this.#letThrough(arriving, welcome.entered, welcome.badge, outcome);
        case "place":
          if (outcome.keepsPlace()) return this.#letWait(arriving, welcome.waiting, welcome.badge, outcome);
          this.#newcomers.giveBack(arriving, welcome.verdict);
          return this.#letGo(welcome.waiting, outcome);
        case "turnedAway":
        case "heldBack":
          return outcome.turnAway(welcome);
      }
    });
  }

  #letThrough({ front, carrier }: Arriving, { pass }: Entered, badge: Badge, outcome: Outcome): void {
    const { headers, held } = this.#tokens.givePass(front, pass, badge, carrier);
    held.isReported = true;
    outcome.through(held, headers);
  }

  #letWait({ front, carrier }: Arriving, waiting: Waiting, badge: Badge, outcome: Outcome): void {
    const ticket = tellAhead(waiting.ticket, waiting.ahead);
    outcome.wait({ ...waiting, ticket }, this.#tokens.giveTicket(front, ticket, badge, carrier).headers);
  }

  /** Gives a place back that its sender cannot keep. */
  #letGo(waiting: Waiting, outcome: Outcome): void {
    this.#leave(waiting.ticket);
    outcome.wait(waiting, []);
  }

  #leave(ticket: Ticket): void {
    this.#ask.ask(
      () => this.#engine.leave(ticket),
      () => {},
    );
  }
}
