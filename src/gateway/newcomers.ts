/**
 * The way in for someone without a place: how often they were here, whether they may join now, which lane they belong in,
 * and then the engine. Whoever is stopped on the way is told why.
 *
 *   guard: budgets, second contact, work ─▶ visits used up? ─▶ lane, by what they bring ─▶ engine.join
 */
import type { Engine, Entered, Newcomer, RefusalReason, Waiting } from "../core/engine.ts";
import { phaseAt } from "../core/schedule.ts";
import type { ComeBack, JoinVerdict, MayJoin, TooMany, WrongWork } from "./abuse/abuse-guard.ts";
import type { Sender } from "./abuse/binding.ts";
import type { PastVisits } from "./abuse/slip.ts";
import { WORK_HEADER } from "./abuse/work.ts";
import { type AskEngine, ENGINE_AWAY } from "./ask-engine.ts";
import type { Carrier } from "./carrier.ts";
import { headerOf, type Request } from "./exchange.ts";
import { codeInUrl } from "./lanes/carried-code.ts";
import type { Belonging, Facts } from "./lanes/membership.ts";
import type { Trust } from "./proxy/trust.ts";
import type { RoomFront } from "./room-front.ts";
import { type Badge, NO_BADGE } from "./token.ts";
import type { Traffic } from "./traffic.ts";
import type { VisitorTokens } from "./visitor-tokens.ts";

const WORK = WORK_HEADER.toLowerCase();
const REJECTED_RETRY_SECONDS = 30;

/** Someone without a place, and what they came with. */
export interface Arriving {
  readonly front: RoomFront;
  readonly request: Request;
  readonly carrier: Carrier;
  readonly now: number;
}

export type Welcome = GoneThrough | GivenPlace | TurnedAway | HeldBack | typeof ENGINE_AWAY;

export interface GoneThrough {
  readonly kind: "through";
  readonly entered: Entered;
  readonly badge: Badge;
}

export interface GivenPlace {
  readonly kind: "place";
  readonly waiting: Waiting;
  readonly badge: Badge;
  /** What joining cost them with the guard; see `giveBack`. */
  readonly verdict: MayJoin | null;
}

/** `visitsUsed`: they were here as often as the room allows. `codeBad`: the code they brought is not good. */
export interface TurnedAway {
  readonly kind: "turnedAway";
  readonly reason: RefusalReason | "visitsUsed" | "codeBad" | "wrongBrowser";
  /** From then on it may be otherwise. Null: nobody knows. */
  readonly until: number | null;
}

/** Not yet: they should come back, or do something first. */
export interface HeldBack {
  readonly kind: "heldBack";
  readonly verdict: ComeBack | TooMany | WrongWork;
}

export class Newcomers {
  readonly #engine: Engine;
  readonly #ask: AskEngine;
  readonly #tokens: VisitorTokens;
  readonly #traffic: Traffic;
  readonly #trust: () => Trust;

  constructor(parts: {
    engine: Engine;
    ask: AskEngine;
    tokens: VisitorTokens;
    traffic: Traffic;
    trust: () => Trust;
  }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#tokens = parts.tokens;
    this.#traffic = parts.traffic;
    this.#trust = parts.trust;
  }

  /** Lets someone join, if they may. */
  join(arriving: Arriving, use: (welcome: Welcome) => void): void {
    this.#traffic.requests.joins++;
    const past = this.#tokens.past(arriving.front, arriving.carrier, arriving.now);
    const verdict = this.#mayJoin(arriving, past);
    if (verdict && verdict.kind !== "ok") {
      this.#traffic.count("joinsHeld", verdict.reason);
      return use({ kind: "heldBack", verdict });
    }
    const { front } = arriving;
    const badge = this.#badge(arriving, verdict?.past ?? past);
    if ("kind" in badge) {
      this.giveBack(arriving, verdict);
      return use(badge);
    }
    if (!front.membership.hasLanes) return this.#join(arriving, undefined, badge, verdict, use);
    this.#ask.ask(
      () => front.membership.laneOf(this.#facts(arriving)),
      (belonging) => {
        if (belonging === ENGINE_AWAY) return use(belonging);
        const refused = this.#refusedCode(arriving, belonging);
        if (!refused) return this.#join(arriving, belonging, badge, verdict, use);
        this.giveBack(arriving, verdict);
        use(refused);
      },
    );
  }

  /** Who sent a request, for what is bound to them. */
  sender(request: Request): Sender {
    return { userAgent: headerOf(request, "user-agent"), address: this.#trust().client(request).address };
  }

  /** Uncounts a join of which its sender has nothing. */
  giveBack({ front, now }: Arriving, verdict: MayJoin | null): void {
    if (verdict) front.guard?.giveBack(verdict, now);
  }

  #join(
    arriving: Arriving,
    newcomer: Newcomer | undefined,
    badge: Badge,
    verdict: MayJoin | null,
    use: (welcome: Welcome) => void,
  ): void {
    this.#ask.ask(
      () => this.#engine.join(arriving.front.name, newcomer),
      (answer) => {
        if (answer !== ENGINE_AWAY && answer.kind === "entered")
          return use({ kind: "through", entered: answer, badge: withVisit(badge) });
        if (answer !== ENGINE_AWAY && answer.kind === "waiting")
          return use({ kind: "place", waiting: answer, badge, verdict });
        this.giveBack(arriving, verdict);
        if (answer === ENGINE_AWAY) return use(answer);
        this.#traffic.count("turnedAway", answer.reason);
        use({ kind: "turnedAway", reason: answer.reason, until: openingFor(answer.reason, arriving) });
      },
    );
  }

  /** What is noted of them from here on, or that they were here too often. */
  #badge({ front, request, now }: Arriving, last: PastVisits): Badge | TurnedAway {
    const { visitsMax, visitsWindow } = front.settings;
    const binding = front.binding.isOn ? front.binding.of(this.sender(request)) : 0;
    if (visitsMax === null) return binding === 0 ? NO_BADGE : { ...NO_BADGE, binding };
    const isOver = last.since + visitsWindow <= now;
    const visits = isOver ? 0 : last.visits;
    const since = isOver ? now : last.since;
    if (visits < visitsMax) return { binding, visits, since };
    this.#traffic.count("turnedAway", "visitsUsed");
    return { kind: "turnedAway", reason: "visitsUsed", until: since + visitsWindow };
  }

  #mayJoin({ front, request, carrier, now }: Arriving, past: PastVisits): JoinVerdict | null {
    if (!front.guard) return null;
    return front.guard.mayJoin({
      past,
      address: this.#trust().client(request).address,
      slip: this.#tokens.slip(front, carrier),
      solution: headerOf(request, WORK) ?? null,
      now,
    });
  }

  /**
   * Somebody who means to use a code is told that it is not good, once: the same address without it joins as everybody.
   * A program that sends it as a header gets no second address, so it joins.
   */
  #refusedCode({ request }: Arriving, { refusal }: Belonging): TurnedAway | null {
    if (!refusal) return null;
    this.#traffic.count("lanesRefused", refusal);
    if (!refusal.startsWith("code") || codeInUrl(request.url ?? "") === null) return null;
    return { kind: "turnedAway", reason: "codeBad", until: null };
  }

  #facts({ request, carrier }: Arriving): Facts {
    const trust = this.#trust();
    return {
      url: request.url ?? "/",
      cookie: carrier.cookie,
      get client() {
        return trust.client(request);
      },
      header: (name) => joined(request.headers[name]),
    };
  }
}

/** The badge of someone whose visit begins. */
export function withVisit(badge: Badge): Badge {
  return badge.since === 0 ? badge : { ...badge, visits: badge.visits + 1 };
}

/** When someone the room is closed to may come. Not from the board, which is a second old at the turn of an event. */
function openingFor(reason: RefusalReason, { front, now }: Arriving): number | null {
  return reason === "closed" ? phaseAt(front.roomRules, now).opensAt : null;
}

/** How long someone who is held back should stay away. */
export function retrySeconds(verdict: HeldBack["verdict"]): number {
  if (verdict.kind === "tooMany") return verdict.retryAfterSeconds;
  return verdict.kind === "comeBack" ? Math.max(1, Math.ceil(verdict.waitMs / 1_000)) : 1;
}

/** How long someone who was turned away should stay away; null when nobody knows. */
export function turnedAwaySeconds({ reason, until }: TurnedAway, now: number): number | null {
  if (until !== null) return secondsUntil(until, now);
  return reason === "rejected" ? REJECTED_RETRY_SECONDS : null;
}

function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1_000));
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
