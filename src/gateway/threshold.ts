/**
 * The threshold: what becomes of a visitor without a pass. A ticket is shown to the engine, a pass that has run out may
 * still stand for a visit that goes on, a newcomer joins; the answer is either a pass, and they go through, or a place, and
 * they wait. What an engine that is away means for them is for the caller to say.
 */
import type { Engine, Entered, TicketAnswer, Waiting } from "../core/engine.ts";
import { isFirstPass, isRenewalDue, type Pass, renewPass } from "../core/pass.ts";
import { type Ticket, tellAhead } from "../core/ticket.ts";
import { type AskEngine, type Away, ENGINE_AWAY } from "./ask-engine.ts";
import { isSafe } from "./decide.ts";
import type { HeldPass, HeldTicket } from "./held-tokens.ts";
import { type Arriving, type HeldBack, type Newcomers, type TurnedAway, withVisit } from "./newcomers.ts";
import type { RoomFront } from "./room-front.ts";
import type { Badge } from "./token.ts";
import type { FormerVisit, VisitorTokens } from "./visitor-tokens.ts";

/** What becomes of one request: exactly one of these is called. */
export interface Outcome {
  /** Headers, here and below: a flat list that hands out the token. */
  through(held: HeldPass, headers: readonly string[]): void;
  /** `isAnew`: they get this place because the former one was forfeited, which they should be told. */
  wait(waiting: Waiting, headers: readonly string[], isAnew: boolean): void;
  /** They get no place. */
  turnAway(why: TurnedAway | HeldBack): void;
  away(): void;
  /** They hung up; there is nobody to answer. */
  gone?(): void;
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
  come(arriving: Arriving, held: HeldTicket | null, outcome: Outcome): void {
    if (!held) return this.#return(arriving, outcome);
    this.#ask.ask(
      () => this.#engine.enter(held.ticket),
      (answer) => {
        if (answer === ENGINE_AWAY) return outcome.away();
        switch (answer.kind) {
          case "entered":
            return this.#letThrough(arriving, answer, withVisit(held.badge), outcome);
          case "waiting":
            return this.#letWait(arriving, { waiting: answer, badge: held.badge, isAnew: false }, outcome);
          case "admitted":
            // Entering never answers so.
            return outcome.away();
          case "expired":
          case "refused":
            // What is spent or run out makes its holder a newcomer.
            this.#tokens.refuseTicket(answer, arriving.front, arriving.now);
            return this.#join(arriving, outcome, isForfeit(answer));
        }
      },
    );
  }

  /**
   * Someone who waits in everybody's lane brings what may get them into another: they join anew, and give up the place
   * they had once they have the other. Whatever comes in between, they keep the place they have.
   */
  change(arriving: Arriving, held: HeldTicket, outcome: Outcome): void {
    const { ticket } = held;
    if (this.#changing.has(ticket.id)) return this.come(arriving, held, outcome);
    this.#changing.add(ticket.id);
    const isOver = () => this.#changing.delete(ticket.id);
    this.#ask.ask(
      () => this.#engine.checkIn(ticket),
      (answer) => {
        if (answer !== ENGINE_AWAY && answer.kind === "waiting")
          return this.#exchange({ ...arriving, hasPlace: true }, ticket, isOver, outcome);
        isOver();
        // Their turn has come, or the ticket is good for nothing.
        this.come(arriving, held, outcome);
      },
    );
  }

  /** Someone whose pass ran out, or a newcomer. */
  #return(arriving: Arriving, outcome: Outcome): void {
    const isForm = !isSafe(arriving.request.method ?? "GET");
    this.resume(arriving, isForm, (visit) => {
      if (visit === ENGINE_AWAY) return outcome.away();
      if (visit === null) return this.#join(arriving, outcome);
      this.#letThrough(arriving, { kind: "entered", pass: visit.pass }, visit.badge, outcome);
    });
  }

  /**
   * The visit of someone whose pass ran out. One that was renewed meanwhile goes on. One that is over begins again for a form, so
   * that what was typed is not lost, and for someone who only took their time to come back the first time. Null: neither.
   */
  resume(
    { front, request, carrier, now }: Pick<Arriving, "front" | "request" | "carrier" | "now">,
    isForm: boolean,
    use: (visit: FormerVisit | Away | null) => void,
  ): void {
    const former = this.#tokens.former(front, carrier, now, this.#newcomers.senderFor(front, request));
    if (!former) return use(null);
    const { pass, badge } = former;
    const isInTime = now < pass.expiresAt + front.settings.formGrace;
    const isWorthIt = isForm || isFirstPass(pass, front.rules.sessionDurationMs);
    this.#ask.ask(
      () => this.#engine.resume(pass, isInTime && isWorthIt),
      (entered) => {
        if (entered === ENGINE_AWAY || entered === null) return use(entered);
        use({ pass: this.#seen(front, entered.pass, now), badge });
      },
    );
  }

  /** The pass of someone who is here, renewed if it is time, which the engine hears. */
  #seen(front: RoomFront, pass: Pass, now: number): Pass {
    const { sessionDurationMs, disableSessionRenewal } = front.rules;
    const renewal = { now, sessionDurationMs, disableSessionRenewal };
    if (!isRenewalDue(pass, renewal)) return pass;
    const renewed = renewPass(pass, renewal);
    this.#ask.ask(
      () => this.#engine.touch(front.name, [renewed]),
      () => {},
    );
    return renewed;
  }

  /** Gets another place and gives this one up, which is waited for: until then the ticket is not looked at again. */
  #exchange(arriving: Arriving, ticket: Ticket, isOver: () => void, outcome: Outcome): void {
    const after = (tell: () => void) =>
      this.#ask.ask(
        () => this.#engine.leave(ticket),
        () => {
          isOver();
          tell();
        },
      );
    this.#join(arriving, {
      through: (pass, headers) => after(() => outcome.through(pass, headers)),
      wait: (waiting, headers, isAnew) => after(() => outcome.wait(waiting, headers, isAnew)),
      turnAway: (why) => {
        isOver();
        outcome.turnAway(why);
      },
      away: () => {
        isOver();
        outcome.away();
      },
      gone: isOver,
    });
  }

  #join(arriving: Arriving, outcome: Outcome, isAnew = false): void {
    this.#newcomers.join(arriving, (welcome) => {
      if (welcome === ENGINE_AWAY) return outcome.away();
      switch (welcome.kind) {
        case "through":
          return this.#letThrough(arriving, welcome.entered, welcome.badge, outcome);
        case "place":
          return this.#letWait(arriving, { ...welcome, isAnew }, outcome);
        case "gone":
          return outcome.gone?.();
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

  #letWait({ front, carrier }: Arriving, { waiting, badge, isAnew }: Placed, outcome: Outcome): void {
    const ticket = tellAhead(waiting.ticket, waiting.ahead);
    const { headers } = this.#tokens.giveTicket(front, ticket, badge, carrier);
    outcome.wait({ ...waiting, ticket }, headers, isAnew);
  }
}

interface Placed {
  readonly waiting: Waiting;
  readonly badge: Badge;
  readonly isAnew: boolean;
}

/** True for a place that is gone because its turns were not used. */
export function isForfeit(answer: TicketAnswer): boolean {
  return answer.kind === "refused" && answer.reason === "turnsMissed";
}
