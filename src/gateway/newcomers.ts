/**
 * The way in for someone without a place: how often they were here, whether they may join now, which lane they belong in,
 * and then the engine. Whoever is stopped on the way is told why.
 *
 *   guard: budgets, second contact, work ─▶ visits used up? ─▶ lane, by what they bring ─▶ engine.join
 *
 * There is one way out (`join`). What the guard took is kept for a place or a visit that is handed out; in every other
 * case it is given back whole. A place or a visit that nobody is left to receive is given up.
 */
import {
  ANYBODY,
  type Engine,
  type Entered,
  type Eventually,
  type JoinAnswer,
  type Newcomer,
  type RefusalReason,
  type Waiting,
} from "../core/engine.ts";
import { EVERYBODY } from "../core/rules.ts";
import { phaseAt } from "../core/schedule.ts";
import type { Clock } from "../core/world.ts";
import type { ComeBack, JoinVerdict, TooMany, WrongWork } from "./abuse/abuse-guard.ts";
import type { Sender } from "./abuse/binding.ts";
import type { PastVisits } from "./abuse/slip.ts";
import { WORK_HEADER } from "./abuse/work.ts";
import { type AskEngine, type Away, after, ENGINE_AWAY } from "./ask-engine.ts";
import type { Call } from "./call.ts";
import { type Facts, headerOf } from "./facts.ts";
import { codeInUrl } from "./lanes/carried-code.ts";
import type { Belonging, LaneFacts } from "./lanes/membership.ts";
import { countedAs, type Trust } from "./proxy/trust.ts";
import type { RoomFront } from "./room-front.ts";
import { type Badge, NO_BADGE } from "./tokens/token.ts";
import type { VisitorTokens } from "./tokens/visitor-tokens.ts";
import type { Traffic } from "./traffic.ts";

const WORK = WORK_HEADER.toLowerCase();
const REJECTED_RETRY_SECONDS = 30;
const MUST_WAIT_RETRY_SECONDS = 5;

/** Someone without a place, and what they came with. */
export interface Arriving extends Call {
  /** False when they could not keep a place: then they go straight through or not at all. */
  readonly canWait: boolean;
  /** They hold a place, which they give up for the new one. */
  readonly hasPlace: boolean;
}

export type Welcome = GoneThrough | GivenPlace | TurnedAway | HeldBack | Gone | Away;

export interface GoneThrough {
  readonly kind: "welcome";
  readonly entered: Entered;
  readonly badge: Badge;
}

export interface GivenPlace {
  readonly kind: "place";
  readonly waiting: Waiting;
  readonly badge: Badge;
}

/** They hung up before there was an answer. */
export interface Gone {
  readonly kind: "gone";
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
  readonly #newcomersMax: () => number | null;
  readonly #clock: Clock;

  constructor(parts: {
    engine: Engine;
    ask: AskEngine;
    tokens: VisitorTokens;
    traffic: Traffic;
    trust: () => Trust;
    /** How many of one address may be on the site before they have come back with their cookie. */
    newcomersMax: () => number | null;
    clock: Clock;
  }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#tokens = parts.tokens;
    this.#traffic = parts.traffic;
    this.#trust = parts.trust;
    this.#newcomersMax = parts.newcomersMax;
    this.#clock = parts.clock;
  }

  /** Lets someone join, if they may. */
  join(arriving: Arriving): Eventually<Welcome> {
    const { front, carrier, facts } = arriving;
    const past = this.#tokens.past(front, carrier, facts.now);
    const client = this.#trust().client(facts);
    const address = countedAs(client);
    const verdict = this.#mayJoin(arriving, past, client.address, address);
    if (verdict.kind !== "ok") {
      this.#traffic.count("joinsHeld", verdict.reason);
      return { kind: "heldBack", verdict };
    }
    const known = { past: verdict.past, isProven: verdict.isProven, address };
    return after(this.#comeIn(arriving, known), (welcome) => {
      if (!isGiven(welcome)) verdict.giveBack(this.#clock.now());
      return welcome;
    });
  }

  /** Who sent a request, for what is bound to them. */
  sender(facts: Facts): Sender {
    return { userAgent: headerOf(facts, "user-agent"), address: this.#trust().client(facts).address };
  }

  /** The same, where tokens are bound to whom they were given; null where they are not. */
  senderFor({ front, facts }: Pick<Call, "front" | "facts">): Sender | null {
    return front.binding.isOn ? this.sender(facts) : null;
  }

  /** Someone whom the guard lets join. */
  #comeIn(arriving: Arriving, known: KnownNewcomer): Eventually<Welcome> {
    const { front, canWait } = arriving;
    const badge = this.#badge(arriving, known.past);
    if ("kind" in badge) return badge;
    const join = (newcomer: Newcomer) => this.#join(arriving, newcomer, { badge, known });
    if (!front.membership.hasLanes) return join(canWait ? ANYBODY : PASSING);
    return after(
      this.#ask.ask(() => front.membership.laneOf(this.#facts(arriving))),
      (found) => {
        // Not as an engine that is away, which may mean the way past the line for everybody.
        const belonging = found === ENGINE_AWAY ? NOT_FOUND_OUT : found;
        const refused = this.#refusedCode(arriving, belonging);
        if (refused) return refused;
        const { lane, invite } = belonging;
        // Only a place that is kept is worth a code.
        return join(canWait ? { lane, invite, canWait } : invite ? PASSING : { ...PASSING, lane });
      },
    );
  }

  #join(
    arriving: Arriving,
    newcomer: Newcomer,
    { badge, known }: { badge: Badge; known: KnownNewcomer },
  ): Eventually<Welcome> {
    const { front } = arriving;
    const visitMs = firstVisitMs(front);
    const isFirst = !known.isProven && visitMs < front.rules.sessionDurationMs;
    return after(
      this.#ask.ask(
        () => this.#engine.join(front.name, isFirst ? { ...newcomer, visitMs } : newcomer),
        (late) => this.#giveUp(late),
      ),
      (answer) => {
        if (answer === ENGINE_AWAY) return answer;
        if (answer.kind !== "refused" && arriving.facts.isGone()) {
          this.#giveUp(answer);
          return GONE;
        }
        if (answer.kind === "entered" && isFirst && known.address !== null && this.#newcomersMax() !== null) {
          const { id, expiresAt: until } = answer.pass;
          front.firstVisits.add({ id, address: known.address, until });
        }
        return this.#welcome(arriving, answer, badge);
      },
    );
  }

  #welcome(arriving: Arriving, answer: JoinAnswer, badge: Badge): Welcome {
    if (answer.kind !== "refused") this.#traffic.requests.joins++;
    if (answer.kind === "entered") return { kind: "welcome", entered: answer, badge: withVisit(badge) };
    if (answer.kind === "waiting") return { kind: "place", waiting: answer, badge };
    const { reason } = answer;
    // A picture is not a visitor who was turned away.
    if (reason !== "mustWait") this.#traffic.count("turnedAway", reason);
    return { kind: "turnedAway", reason, until: openingFor(reason, arriving) };
  }

  /** Leaves a place or a visit that nobody got. */
  #giveUp(answer: JoinAnswer): void {
    if (answer.kind === "refused") return;
    void this.#ask.ask(() =>
      this.#engine.leave(answer.kind === "entered" ? answer.pass : answer.ticket, true),
    );
  }

  /** What is noted of them from here on, or that they were here too often. */
  #badge({ front, facts }: Arriving, last: PastVisits): Badge | TurnedAway {
    const { now } = facts;
    const { visitsMax, visitsWindow } = front.settings;
    const binding = front.binding.isOn ? front.binding.of(this.sender(facts)) : 0;
    if (visitsMax === null) return binding === 0 ? NO_BADGE : { ...NO_BADGE, binding };
    const isOver = last.since + visitsWindow <= now;
    const visits = isOver ? 0 : last.visits;
    const since = isOver ? now : last.since;
    if (visits < visitsMax) return { binding, visits, since };
    this.#traffic.count("turnedAway", "visitsUsed");
    return { kind: "turnedAway", reason: "visitsUsed", until: since + visitsWindow };
  }

  #mayJoin(
    { front, facts, carrier, hasPlace }: Arriving,
    past: PastVisits,
    address: string,
    countedAs: string | null,
  ): JoinVerdict {
    const { now } = facts;
    const max = this.#newcomersMax();
    const mustProve = max !== null && countedAs !== null && front.firstVisits.count(countedAs, now) >= max;
    return front.guard.mayJoin({
      ...{ past, hasPlace, mustProve, address },
      slip: this.#tokens.slip(front, carrier),
      solution: headerOf(facts, WORK) ?? null,
      now,
    });
  }

  /**
   * Somebody who means to use a code is told that it is not good, once: the same address without it joins as everybody.
   * A program that sends it as a header gets no second address, so it joins.
   */
  #refusedCode({ target }: Arriving, { refusal }: Belonging): TurnedAway | null {
    if (!refusal) return null;
    this.#traffic.count("lanesRefused", refusal);
    if (!refusal.startsWith("code") || codeInUrl(target) === null) return null;
    return { kind: "turnedAway", reason: "codeBad", until: null };
  }

  #facts({ facts, target, carrier }: Arriving): LaneFacts {
    const trust = this.#trust();
    return {
      url: target,
      cookie: carrier.cookie,
      get client() {
        return trust.client(facts);
      },
      header: (name) => joined(facts.headers[name]),
    };
  }
}

/** What is known of someone who may join. */
interface KnownNewcomer {
  readonly past: PastVisits;
  /** They have shown that they keep a token. */
  readonly isProven: boolean;
  /** Whom they count for; null where many visitors are behind one address. */
  readonly address: string | null;
}

/** How long someone who goes straight through is on the site without coming back. */
export function firstVisitMs({ settings, rules }: RoomFront): number {
  return Math.min(settings.newcomerDuration, rules.sessionDurationMs);
}

/** Someone like any other who cannot wait. */
const PASSING: Newcomer = { lane: EVERYBODY, invite: null, canWait: false };
/** Where someone belongs whose keys could not be fetched in time. */
const NOT_FOUND_OUT: Belonging = { lane: EVERYBODY, invite: null, refusal: null, why: "no answer in time" };
const GONE: Gone = { kind: "gone" };

/** True for what is handed out, and so worth what it took. */
function isGiven(welcome: Welcome): boolean {
  return welcome !== ENGINE_AWAY && (welcome.kind === "welcome" || welcome.kind === "place");
}

/** The badge of someone whose visit begins. */
export function withVisit(badge: Badge): Badge {
  return badge.since === 0 ? badge : { ...badge, visits: badge.visits + 1 };
}

/** When someone the room is closed to may come. Not from the board, which is a second old at the turn of an event. */
function openingFor(reason: RefusalReason, { front, facts }: Arriving): number | null {
  return reason === "closed" ? phaseAt(front.roomRules, facts.now).opensAt : null;
}

/** How long someone who is held back should stay away. */
export function retrySeconds(verdict: HeldBack["verdict"]): number {
  if (verdict.kind === "tooMany") return verdict.retryAfterSeconds;
  return verdict.kind === "comeBack" ? Math.max(1, Math.ceil(verdict.waitMs / 1_000)) : 1;
}

/** How long someone who was turned away should stay away; null when nobody knows. */
export function turnedAwaySeconds({ reason, until }: TurnedAway, now: number): number | null {
  if (until !== null) return secondsUntil(until, now);
  if (reason === "mustWait") return MUST_WAIT_RETRY_SECONDS;
  return reason === "rejected" ? REJECTED_RETRY_SECONDS : null;
}

function secondsUntil(instant: number, now: number): number {
  return Math.max(1, Math.ceil((instant - now) / 1_000));
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(", ") : value;
}
