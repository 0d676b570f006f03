/**
 * The threshold decides about requests without a valid pass. A ticket is shown to the engine; an expired pass may belong to a
 * visit that goes on; a newcomer joins. With a pass they go through, with a place they wait. A request that belongs to no visit
 * goes through only while there is room.
 *
 *   ticket ─▶ engine.enter ─▶ passOn | wait
 *   expired pass ─▶ engine.resume ─▶ passOn | as a newcomer
 *   nothing ─▶ engine.join ─▶ passOn | wait | turnAway
 *   engine away ────────────▶ passOn (fail open) | engineAway (fail closed)
 */
import type { Engine, Eventually, TicketAnswer } from "../core/engine.ts";
import { isFirstPass, isRenewalDue, type Pass, renewPass } from "../core/pass.ts";
import { EVERYBODY } from "../core/rules.ts";
import type { Ticket } from "../core/ticket.ts";
import type { Decision } from "./access-log/line.ts";
import { NONE_ADDED } from "./answer-headers.ts";
import { type AskEngine, type Away, after, ENGINE_AWAY } from "./ask-engine.ts";
import { type Asking, readAsking } from "./asking.ts";
import type { Call } from "./call.ts";
import { codeInUrl, linkWithoutCode } from "./lanes/carried-code.ts";
import {
  type Arrival,
  type Arriving,
  type HeldBack,
  type Newcomers,
  type TurnedAway,
  withVisit,
} from "./newcomers.ts";
import type { RoomFront } from "./room-front.ts";
import type { HeldPass, HeldTicket } from "./tokens/held-tokens.ts";
import type { Stranger, Through, VisitorTokens } from "./tokens/visitor-tokens.ts";
import type { Traffic } from "./traffic.ts";
import type { UnprovenPlaces } from "./unproven-places.ts";
import type { PassOn, Told, Verdict } from "./verdict.ts";

/** The answer to a visitor who shows a token that was given to another browser. */
const STRANGE: TurnedAway = { kind: "turnedAway", reason: "wrongBrowser", until: null };
/** The same for a request that belongs to no visit. */
const MUST_WAIT: TurnedAway = { kind: "turnedAway", reason: "mustWait", until: null };

interface ThresholdParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly tokens: VisitorTokens;
  readonly traffic: Traffic;
  readonly unproven: UnprovenPlaces;
  readonly newcomers: Newcomers;
  readonly passOn: (
    call: Call,
    held: HeldPass | null,
    given: readonly string[],
    decision: PassOn["decision"],
  ) => Eventually<Verdict>;
}

export class Threshold {
  readonly #parts: ThresholdParts;
  /** Tickets that are being given up for another place, by id: each is good for one. */
  readonly #changing = new Set<string>();

  constructor(parts: ThresholdParts) {
    this.#parts = parts;
  }

  /** The decision on a request with a ticket, with someone else's token, or without a valid token. */
  come(call: Call, held: HeldTicket | Stranger | null): Eventually<Verdict> {
    const { front, facts, carrier } = call;
    const asking = readAsking(facts, carrier, front.settings.jsonResponseEnabled);
    if (held?.kind === "stranger") return this.#turnAway(call, asking, STRANGE);
    if (!facts.isUpgrade) {
      if (asking.isPreflight && front.cors.isForToken(facts))
        return { kind: "preflight", ...told(call, asking, "none") };
      if (this.#isStray(call, held, asking)) return this.#visitStray(call, asking);
    }
    const arriving = { ...call, hasPlace: false, canWait: asking.canWait && !facts.isUpgrade };
    const arrival =
      held !== null
        ? this.#useTicket(arriving, held, hasCode(call, asking))
        : after(
            this.resume(arriving, asking.isUnsafe),
            (visit) => visit ?? this.#parts.newcomers.join(arriving),
          );
    return after(arrival, (outcome) => this.#verdict(call, asking, outcome, held?.ticket.sequence ?? -1));
  }

  /**
   * The visit of a visitor whose pass ran out. A visit that was renewed meanwhile goes on. A visit that is over begins again for
   * a form, so that its input is not lost, and for a visitor who was slow to come back the first time. Null: neither.
   */
  resume(call: Call, isForm: boolean): Eventually<Through | Away | null> {
    const { front, facts } = call;
    const { engine, ask, tokens } = this.#parts;
    const former = tokens.former(call);
    if (!former) return null;
    const { pass, badge } = former;
    const isInTime = facts.now < pass.expiresAt + front.settings.formGrace;
    const isWorthIt = isForm || isFirstPass(pass, front.rules.sessionDurationMs);
    return after(
      ask.ask(() => engine.resume(pass, isInTime && isWorthIt)),
      (entered) => {
        if (entered === ENGINE_AWAY || entered === null) return entered;
        return tokens.givePass(call, this.#seen(front, entered.pass, facts.now), badge);
      },
    );
  }

  /** `sequence`: of the place in their ticket; below 0 for none. */
  #verdict(call: Call, asking: Asking, arrival: Arrival, sequence: number): Eventually<Verdict> {
    if (arrival === ENGINE_AWAY) return this.#engineAway(call, asking, sequence);
    switch (arrival.kind) {
      case "through":
        return hasCode(call, asking)
          ? redirectWithoutCode(call, arrival.headers)
          : this.#parts.passOn(call, arrival.held, arrival.headers, "entered");
      case "placed": {
        const { waiting, headers, isAnew } = arrival;
        if (hasCode(call, asking)) return redirectWithoutCode(call, headers);
        const { ticket } = waiting;
        this.#countWait(asking);
        const unproven = isPage(asking) ? this.#unprovenId(call, ticket) : null;
        const waits = { ...told(call, asking, "waiting", headers, ticket.sequence), visitor: ticket.id };
        return { kind: "wait", ...waits, waiting, isAnew, unproven };
      }
      case "gone":
        return arrival;
      case "turnedAway":
      case "heldBack":
        return this.#turnAway(call, asking, arrival);
    }
  }

  /** `hasCode`: they bring a code, which may move them from everybody's lane into another. */
  #useTicket(arriving: Arriving, held: HeldTicket, hasCode: boolean): Eventually<Arrival> {
    if (hasCode && held.ticket.lane === EVERYBODY && !this.#changing.has(held.ticket.id))
      return this.#change(arriving, held);
    const { engine, ask, tokens, newcomers } = this.#parts;
    return after(
      ask.ask(() => engine.enter(held.ticket)),
      (answer) => {
        if (answer === ENGINE_AWAY) return answer;
        switch (answer.kind) {
          case "entered":
            return tokens.givePass(arriving, answer.pass, withVisit(held.badge));
          case "waiting":
            return tokens.givePlace(arriving, answer, held.badge, false);
          case "admitted":
            // Entering never answers so.
            return ENGINE_AWAY;
          case "expired":
          case "refused":
            // The holder of a spent or expired ticket is a newcomer.
            tokens.refuseTicket(answer, arriving);
            return newcomers.join(arriving, isForfeit(answer));
        }
      },
    );
  }

  /** They join anew, and give up their former place once they have the new one. */
  #change(arriving: Arriving, held: HeldTicket): Eventually<Arrival> {
    const { engine, ask, newcomers } = this.#parts;
    const { ticket } = held;
    this.#changing.add(ticket.id);
    return after(
      ask.ask(() => engine.checkIn(ticket)),
      (answer) => {
        if (answer === ENGINE_AWAY || answer.kind !== "waiting") {
          this.#changing.delete(ticket.id);
          // Their turn has come, or the ticket is no longer valid.
          return this.#useTicket(arriving, held, false);
        }
        return after(newcomers.join({ ...arriving, hasPlace: true }), (arrival) => {
          const hasAnother =
            arrival !== ENGINE_AWAY && (arrival.kind === "through" || arrival.kind === "placed");
          // Awaited: until then the ticket must not be exchanged again.
          return after(hasAnother ? ask.ask(() => engine.leave(ticket)) : undefined, () => {
            this.#changing.delete(ticket.id);
            return arrival;
          });
        });
      },
    );
  }

  /** The engine does not answer: fail open or closed, by setting. */
  #engineAway(call: Call, asking: Asking, sequence: number): Eventually<Verdict> {
    if (call.front.settings.engineFailure === "open")
      return this.#parts.passOn(call, null, NONE_ADDED, "failedOpen");
    return { kind: "engineAway", ...told(call, asking, "engineAway", NONE_ADDED, sequence) };
  }

  #turnAway(call: Call, asking: Asking, why: TurnedAway | HeldBack): Verdict {
    const isWaiting = why.kind === "turnedAway" && why.reason === "mustWait";
    if (isPage(asking) && !(isWaiting && asking.isCrawler) && !call.facts.isUpgrade)
      this.#parts.traffic.requests.problems++;
    const headers = this.#tokensFor(call, why);
    return { kind: "turnAway", ...told(call, asking, isWaiting ? "waiting" : "turnedAway", headers), why };
  }

  /** A slip for a visitor who is to come back with it. For one with another visitor's token: a cookie that removes it. */
  #tokensFor(call: Call, why: TurnedAway | HeldBack): readonly string[] {
    const { tokens } = this.#parts;
    if (call.facts.isUpgrade) return NONE_ADDED;
    if (why.kind === "turnedAway") return why.reason === "wrongBrowser" ? tokens.takeAway(call) : NONE_ADDED;
    const slip = why.verdict.kind === "comeBack" ? why.verdict.slip : null;
    return slip === null ? NONE_ADDED : tokens.giveSlip(call, slip);
  }

  #countWait({ answer }: Asking): void {
    const { requests } = this.#parts.traffic;
    if (answer === "json") requests.apiWaits++;
    else if (answer === "formRefused") requests.refusedForms++;
    else if (answer === "page") requests.waitingPages++;
  }

  /** The place of a visitor who has not yet proved that they keep a cookie; otherwise null. */
  #unprovenId({ front, facts, carrier }: Call, ticket: Ticket): string | null {
    if (carrier.programToken !== undefined) return null;
    if (front.cookie.read(carrier.cookie, carrier.isSecure) !== null) return null;
    this.#parts.unproven.add(ticket, this.#parts.tokens.sender(facts));
    return ticket.id;
  }

  /** True for a request that belongs to no visit and whose client has not proved that it keeps a cookie. */
  #isStray(call: Call, held: HeldTicket | null, asking: Asking): boolean {
    return asking.isPrefetch || (held === null && !asking.canWait && !this.#parts.tokens.isKeeper(call));
  }

  /** Lets a request through that belongs to no visit, while there is room and within the budget of its address. */
  #visitStray(call: Call, asking: Asking): Eventually<Verdict> {
    const { front, facts } = call;
    const { engine, ask, tokens, traffic, passOn } = this.#parts;
    return after(
      ask.ask(() => engine.hasRoom(front.name)),
      (hasRoom) => {
        if (hasRoom === ENGINE_AWAY) return this.#engineAway(call, asking, -1);
        const { address } = tokens.sender(facts);
        const mayPass = hasRoom && front.strays.take(address, asking.isPreflight, facts.now);
        traffic.count("strays", mayPass ? "passed" : "refused");
        return mayPass ? passOn(call, null, NONE_ADDED, "stray") : this.#turnAway(call, asking, MUST_WAIT);
      },
    );
  }

  /** The pass of a visitor on the site, renewed when due; the engine is told. */
  #seen(front: RoomFront, pass: Pass, now: number): Pass {
    const { sessionDurationMs, disableSessionRenewal } = front.rules;
    const renewal = { now, sessionDurationMs, disableSessionRenewal };
    if (!isRenewalDue(pass, renewal)) return pass;
    const renewed = renewPass(pass, renewal);
    const { engine, ask } = this.#parts;
    void ask.ask(() => engine.touch(front.name, [renewed]));
    return renewed;
  }
}

function told(
  call: Call,
  asking: Asking,
  decision: Decision,
  headers: readonly string[] = NONE_ADDED,
  sequence = -1,
): Told {
  return { decision, room: call.front.name, visitor: null, call, asking, headers, sequence };
}

function isPage({ answer }: Asking): boolean {
  return answer === "page" || answer === "formRefused";
}

/** True for a page whose address has a code in it. The visitor is redirected at once, before anyone else sees the code. */
export function hasCode(call: Call, asking?: Asking): boolean {
  const { front, facts, target, carrier } = call;
  if (!front.membership.takesCodes || facts.method !== "GET" || facts.isUpgrade) return false;
  if (codeInUrl(target) === null) return false;
  return (asking ?? readAsking(facts, carrier, front.settings.jsonResponseEnabled)).answer === "page";
}

/** Redirects its visitor to the same address without the code. */
export function redirectWithoutCode({ front, target }: Call, headers: readonly string[]): Verdict {
  const noted = { decision: "redirected", room: front.name, visitor: null } as const;
  return { kind: "redirect", ...noted, to: linkWithoutCode(target), headers };
}

/** True for a place that was forfeited because its turns were not used. */
export function isForfeit(answer: TicketAnswer): boolean {
  return answer.kind === "refused" && answer.reason === "turnsMissed";
}
