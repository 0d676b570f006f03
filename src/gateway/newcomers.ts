/**
 * The way in for a visitor without a place: how often they were here, whether they may join now, which lane they belong in, and
 * then the engine. A newcomer who is stopped on the way is told why.
 *
 *   guard: budgets, second contact, work ─▶ visits used up? ─▶ lane, by what they bring ─▶ engine.join
 *
 * `join` is the only exit. What the guard took is kept when a place or a visit is handed out; otherwise all of it is given back.
 * A place or visit whose visitor has gone meanwhile is given up.
 */
import {
  ANYBODY,
  type Engine,
  type Eventually,
  type JoinAnswer,
  type Newcomer,
  type RefusalReason,
} from "../core/engine.ts";
import { EVERYBODY } from "../core/rules.ts";
import { phaseAt } from "../core/schedule.ts";
import type { Clock } from "../core/world.ts";
import type { ComeBack, JoinVerdict, TooMany, WrongWork } from "./abuse/abuse-guard.ts";
import type { PastVisits } from "./abuse/slip.ts";
import { WORK_HEADER } from "./abuse/work.ts";
import { type AskEngine, type Away, after, ENGINE_AWAY } from "./ask-engine.ts";
import type { Call } from "./call.ts";
import { headerOf } from "./facts.ts";
import { codeInUrl } from "./lanes/carried-code.ts";
import type { Belonging, LaneFacts, LaneRefusal } from "./lanes/membership.ts";
import { countedAs, type Trust } from "./proxy/trust.ts";
import type { RoomFront } from "./room-front.ts";
import { type Badge, NO_BADGE } from "./tokens/token.ts";
import type { Placed, Through, VisitorTokens } from "./tokens/visitor-tokens.ts";
import type { Traffic } from "./traffic.ts";

const WORK = WORK_HEADER.toLowerCase();
const REJECTED_RETRY_SECONDS = 30;
const MUST_WAIT_RETRY_SECONDS = 5;

/** A visitor without a place, and what their request carries. */
export interface Arriving extends Call {
  /** False when they could not keep a place: then they go straight through or are refused. */
  readonly canWait: boolean;
  /** They hold a place, and give it up for the new one. */
  readonly hasPlace: boolean;
}

/** The decision on a visitor without a pass. */
export type Arrival = Through | Placed | TurnedAway | HeldBack | Gone | Away;

/** They hung up before there was an answer. */
export interface Gone {
  readonly kind: "gone";
}

/** `visitsUsed`: they were here as often as the room allows. `codeBad`: the code they brought is not good. */
export interface TurnedAway {
  readonly kind: "turnedAway";
  readonly reason: RefusalReason | "visitsUsed" | "codeBad" | "wrongBrowser";
  /** When it is worth trying again; null when that is not known. */
  readonly until: number | null;
}

/** Not yet: they should come back, or do something first. */
export interface HeldBack {
  readonly kind: "heldBack";
  readonly verdict: ComeBack | TooMany | WrongWork;
}

interface NewcomersParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly tokens: VisitorTokens;
  readonly traffic: Traffic;
  readonly trust: () => Trust;
  /** How many of one address may be on the site before they have come back with their cookie. */
  readonly newcomersMax: () => number | null;
  readonly clock: Clock;
}

export class Newcomers {
  readonly #parts: NewcomersParts;

  constructor(parts: NewcomersParts) {
    this.#parts = parts;
  }

  /** Lets someone join, if they may. `isAnew`: their former place was forfeited. */
  join(arriving: Arriving, isAnew = false): Eventually<Arrival> {
    const { tokens, traffic, trust, clock } = this.#parts;
    const client = trust().client(arriving.facts);
    const address = countedAs(client);
    const verdict = this.#mayJoin(arriving, tokens.past(arriving), client.address, address);
    if (verdict.kind !== "ok") {
      traffic.count("joinsHeld", verdict.reason);
      return { kind: "heldBack", verdict };
    }
    const badge = this.#badge(arriving, verdict.past);
    const known = { badge, isAnew, isProven: verdict.isProven, address };
    const arrival =
      "kind" in badge
        ? badge
        : after(this.#newcomer(arriving), (newcomer) =>
            "kind" in newcomer ? newcomer : this.#join(arriving, newcomer, { ...known, badge }),
          );
    return after(arrival, (outcome) => {
      const isGiven = outcome !== ENGINE_AWAY && (outcome.kind === "through" || outcome.kind === "placed");
      if (!isGiven) verdict.giveBack(clock.now());
      return outcome;
    });
  }

  /** What the engine is told about them; or that their code is bad. */
  #newcomer(arriving: Arriving): Eventually<Newcomer | TurnedAway> {
    const { front, canWait } = arriving;
    if (!front.membership.hasLanes) return canWait ? ANYBODY : PASSING;
    return after(
      this.#parts.ask.ask(() => front.membership.laneOf(this.#facts(arriving))),
      (found) => {
        // Keys that cannot be fetched do not count as an engine that is away: that may fail open.
        const { lane, invite, refusal } = found === ENGINE_AWAY ? NOT_FOUND_OUT : found;
        if (refusal && this.#isCodeRefused(arriving, refusal)) return CODE_BAD;
        // A code is used up only for a place that is kept.
        return canWait ? { lane, invite, canWait } : invite ? PASSING : { ...PASSING, lane };
      },
    );
  }

  #join(
    arriving: Arriving,
    newcomer: Newcomer,
    { badge, isAnew, isProven, address }: KnownNewcomer,
  ): Eventually<Arrival> {
    const { front, facts } = arriving;
    const { engine, ask, tokens, traffic, newcomersMax } = this.#parts;
    const visitMs = firstVisitMs(front);
    const isFirst = !isProven && visitMs < front.rules.sessionDurationMs;
    return after(
      ask.ask(
        () => engine.join(front.name, isFirst ? { ...newcomer, visitMs } : newcomer),
        (late) => this.#giveUp(late),
      ),
      (answer) => {
        if (answer === ENGINE_AWAY) return answer;
        if (answer.kind === "refused") return this.#refused(arriving, answer.reason);
        if (facts.isGone()) {
          this.#giveUp(answer);
          return GONE;
        }
        traffic.requests.joins++;
        if (answer.kind === "waiting") return tokens.givePlace(arriving, answer, badge, isAnew);
        const { id, expiresAt: until } = answer.pass;
        if (isFirst && address !== null && newcomersMax() !== null)
          front.firstVisits.add({ id, address, until });
        return tokens.givePass(arriving, answer.pass, withVisit(badge));
      },
    );
  }

  #refused(arriving: Arriving, reason: RefusalReason): TurnedAway {
    // A refused picture does not count as a visitor who was turned away.
    if (reason !== "mustWait") this.#parts.traffic.count("turnedAway", reason);
    return { kind: "turnedAway", reason, until: openingFor(reason, arriving) };
  }

  /** Gives up a place or a visit whose visitor is gone. */
  #giveUp(answer: JoinAnswer): void {
    if (answer.kind === "refused") return;
    const { ask, engine } = this.#parts;
    void ask.ask(() => engine.leave(answer.kind === "entered" ? answer.pass : answer.ticket, true));
  }

  /** The record of their visits from here on, or that they were here too often. */
  #badge({ front, facts }: Arriving, last: PastVisits): Badge | TurnedAway {
    const { now } = facts;
    const { visitsMax, visitsWindow } = front.settings;
    const binding = front.binding.isOn ? front.binding.of(this.#parts.tokens.sender(facts)) : 0;
    if (visitsMax === null) return binding === 0 ? NO_BADGE : { ...NO_BADGE, binding };
    const isOver = last.since + visitsWindow <= now;
    const visits = isOver ? 0 : last.visits;
    const since = isOver ? now : last.since;
    if (visits < visitsMax) return { binding, visits, since };
    this.#parts.traffic.count("turnedAway", "visitsUsed");
    return { kind: "turnedAway", reason: "visitsUsed", until: since + visitsWindow };
  }

  #mayJoin(arriving: Arriving, past: PastVisits, address: string, countedAs: string | null): JoinVerdict {
    const { front, facts, hasPlace } = arriving;
    const { now } = facts;
    const max = this.#parts.newcomersMax();
    const mustProve = max !== null && countedAs !== null && front.firstVisits.count(countedAs, now) >= max;
    return front.guard.mayJoin({
      ...{ past, hasPlace, mustProve, address },
      slip: this.#parts.tokens.slip(arriving),
      solution: headerOf(facts, WORK) ?? null,
      now,
    });
  }

  /**
   * A bad code in a link is reported once; the same address without it then joins as everybody. A program that sends the code as
   * a header gets no second address, so it joins.
   */
  #isCodeRefused({ target }: Arriving, refusal: LaneRefusal): boolean {
    this.#parts.traffic.count("lanesRefused", refusal);
    return refusal.startsWith("code") && codeInUrl(target) !== null;
  }

  #facts({ facts, target, carrier }: Arriving): LaneFacts {
    const trust = this.#parts.trust();
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

/** What is known about a newcomer who may join. */
interface KnownNewcomer {
  readonly badge: Badge;
  readonly isAnew: boolean;
  /** They have proved that they keep a token. */
  readonly isProven: boolean;
  /** The key that they are counted under; null when many visitors share one address. */
  readonly address: string | null;
}

/** How long a visitor who goes straight through stays on the site without coming back. */
export function firstVisitMs({ settings, rules }: RoomFront): number {
  return Math.min(settings.newcomerDuration, rules.sessionDurationMs);
}

/** A visitor in the default lane who cannot wait. */
const PASSING: Newcomer = { lane: EVERYBODY, invite: null, canWait: false };
/** The lane of a visitor whose JWT could not be checked, because its keys could not be fetched in time. */
const NOT_FOUND_OUT: Belonging = { lane: EVERYBODY, invite: null, refusal: null, why: "no answer in time" };
const GONE: Gone = { kind: "gone" };
const CODE_BAD: TurnedAway = { kind: "turnedAway", reason: "codeBad", until: null };

/** The badge of a visitor whose visit begins. */
export function withVisit(badge: Badge): Badge {
  return badge.since === 0 ? badge : { ...badge, visits: badge.visits + 1 };
}

/** When a closed room opens again. Not read from the board, which may be a second old when an event begins. */
function openingFor(reason: RefusalReason, { front, facts }: Arriving): number | null {
  return reason === "closed" ? phaseAt(front.roomRules, facts.now).opensAt : null;
}

/** How long a visitor who is held back should stay away. */
export function retrySeconds(verdict: HeldBack["verdict"]): number {
  if (verdict.kind === "tooMany") return verdict.retryAfterSeconds;
  return verdict.kind === "comeBack" ? Math.max(1, Math.ceil(verdict.waitMs / 1_000)) : 1;
}

/** How long a visitor who was turned away should stay away; null when that is not known. */
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
