/**
 * The threshold: what becomes of a visitor without a pass. A ticket is shown to the engine, a pass that has run out may
 * still stand for a visit that goes on, a newcomer joins; the answer is either a pass, and they go through, or a place, and
 * they wait. What an engine that is away means for them is for the caller to say.
 */
import type { Engine, Eventually, TicketAnswer, Waiting } from "../core/engine.ts";
import { isFirstPass, isRenewalDue, type Pass, renewPass } from "../core/pass.ts";
import { type Ticket, tellAhead } from "../core/ticket.ts";
import { type AskEngine, type Away, after, ENGINE_AWAY } from "./ask-engine.ts";
import type { Call } from "./call.ts";
import { isSafe } from "./decide.ts";
import {
  type Arriving,
  type Gone,
  type HeldBack,
  type Newcomers,
  type TurnedAway,
  withVisit,
} from "./newcomers.ts";
import type { RoomFront } from "./room-front.ts";
import type { HeldPass, HeldTicket } from "./tokens/held-tokens.ts";
import type { Badge } from "./tokens/token.ts";
import type { FormerVisit, VisitorTokens } from "./tokens/visitor-tokens.ts";

/** What becomes of someone without a pass. */
export type ThresholdOutcome = Through | Placed | TurnedAway | HeldBack | Gone | Away;

/** They go through. `headers`, here and below: a flat list that hands out the token. */
export interface Through {
  readonly kind: "through";
  readonly held: HeldPass;
  readonly headers: readonly string[];
}

/** They have a place in the line. */
export interface Placed {
  readonly kind: "placed";
  readonly waiting: Waiting;
  readonly held: HeldTicket;
  readonly headers: readonly string[];
  /** They get this place because the former one was forfeited, which they should be told. */
  readonly isAnew: boolean;
}

export class Threshold {
  readonly #engine: Engine;
  readonly #ask: AskEngine;
  readonly #tokens: VisitorTokens;
  readonly #newcomers: Newcomers;
  /** Tickets that are being given up for another place, by id: each is good for one. */
  readonly #changing = new Set<string>();

  constructor(parts: { engine: Engine; ask: AskEngine; tokens: VisitorTokens; newcomers: Newcomers }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#tokens = parts.tokens;
    this.#newcomers = parts.newcomers;
  }

  /** Someone with a ticket, with a pass that has run out, or with nothing. */
  come(arriving: Arriving, held: HeldTicket | null): Eventually<ThresholdOutcome> {
    if (!held) return this.#return(arriving);
    return after(
      this.#ask.ask(() => this.#engine.enter(held.ticket)),
      (answer) => {
        if (answer === ENGINE_AWAY) return answer;
        switch (answer.kind) {
          case "entered":
            return this.through(arriving, answer.pass, withVisit(held.badge));
          case "waiting":
            return this.place(arriving, answer, held.badge, false);
          case "admitted":
            // Entering never answers so.
            return ENGINE_AWAY;
          case "expired":
          case "refused":
            // What is spent or run out makes its holder a newcomer.
            this.#tokens.refuseTicket(answer, arriving.front, arriving.facts.now);
            return this.join(arriving, isForfeit(answer));
        }
      },
    );
  }

  /**
   * Someone who waits in everybody's lane brings what may get them into another: they join anew, and give up the place
   * they had once they have the other. Whatever comes in between, they keep the place they have.
   */
  change(arriving: Arriving, held: HeldTicket): Eventually<ThresholdOutcome> {
    const { ticket } = held;
    if (this.#changing.has(ticket.id)) return this.come(arriving, held);
    this.#changing.add(ticket.id);
    return after(
      this.#ask.ask(() => this.#engine.checkIn(ticket)),
      (answer) => {
        if (answer !== ENGINE_AWAY && answer.kind === "waiting") return this.#exchange(arriving, ticket);
        this.#changing.delete(ticket.id);
        // Their turn has come, or the ticket is good for nothing.
        return this.come(arriving, held);
      },
    );
  }

  /** A newcomer. `isAnew`: their former place was forfeited. */
  join(arriving: Arriving, isAnew: boolean): Eventually<ThresholdOutcome> {
    return after(this.#newcomers.join(arriving), (welcome) => {
      if (welcome === ENGINE_AWAY) return welcome;
      if (welcome.kind === "welcome") return this.through(arriving, welcome.entered.pass, welcome.badge);
      if (welcome.kind === "place") return this.place(arriving, welcome.waiting, welcome.badge, isAnew);
      return welcome;
    });
  }

  /**
   * The visit of someone whose pass ran out. One that was renewed meanwhile goes on. One that is over begins again for a form, so
   * that what was typed is not lost, and for someone who only took their time to come back the first time. Null: neither.
   */
  resume(call: Call, isForm: boolean): Eventually<FormerVisit | Away | null> {
    const { front, facts, carrier } = call;
    const { now } = facts;
    const former = this.#tokens.former(front, carrier, now, this.#newcomers.senderFor(call));
    if (!former) return null;
    const { pass, badge } = former;
    const isInTime = now < pass.expiresAt + front.settings.formGrace;
    const isWorthIt = isForm || isFirstPass(pass, front.rules.sessionDurationMs);
    return after(
      this.#ask.ask(() => this.#engine.resume(pass, isInTime && isWorthIt)),
      (entered) => {
        if (entered === ENGINE_AWAY || entered === null) return entered;
        return { pass: this.#seen(front, entered.pass, now), badge };
      },
    );
  }

  /** Hands out a pass. */
  through({ front, carrier }: Call, pass: Pass, badge: Badge): Through {
    const { headers, held } = this.#tokens.givePass(front, pass, badge, carrier);
    held.isReported = true;
    return { kind: "through", held, headers };
  }

  /** Hands out a place. */
  place({ front, carrier }: Call, waiting: Waiting, badge: Badge, isAnew: boolean): Placed {
    const ticket = tellAhead(waiting.ticket, waiting.ahead);
    const { headers, held } = this.#tokens.giveTicket(front, ticket, badge, carrier);
    return { kind: "placed", waiting: { ...waiting, ticket }, held, headers, isAnew };
  }

  /** Someone whose pass ran out, or a newcomer. */
  #return(arriving: Arriving): Eventually<ThresholdOutcome> {
    return after(this.resume(arriving, !isSafe(arriving.facts.method)), (visit) => {
      if (visit === ENGINE_AWAY) return visit;
      if (visit === null) return this.join(arriving, false);
      return this.through(arriving, visit.pass, visit.badge);
    });
  }

  /** The pass of someone who is here, renewed if it is time, which the engine hears. */
  #seen(front: RoomFront, pass: Pass, now: number): Pass {
    const { sessionDurationMs, disableSessionRenewal } = front.rules;
    const renewal = { now, sessionDurationMs, disableSessionRenewal };
    if (!isRenewalDue(pass, renewal)) return pass;
    const renewed = renewPass(pass, renewal);
    void this.#ask.ask(() => this.#engine.touch(front.name, [renewed]));
    return renewed;
  }

  /** Gets another place and gives this one up, which is waited for: until then the ticket is not looked at again. */
  #exchange(arriving: Arriving, ticket: Ticket): Eventually<ThresholdOutcome> {
    return after(this.join({ ...arriving, hasPlace: true }, false), (arrival) => {
      const hasAnother = arrival !== ENGINE_AWAY && (arrival.kind === "through" || arrival.kind === "placed");
      const left = hasAnother ? this.#ask.ask(() => this.#engine.leave(ticket)) : undefined;
      return after(left as Eventually<unknown>, () => {
        this.#changing.delete(ticket.id);
        return arrival;
      });
    });
  }
}

/** True for a place that is gone because its turns were not used. */
export function isForfeit(answer: TicketAnswer): boolean {
  return answer.kind === "refused" && answer.reason === "turnsMissed";
}
