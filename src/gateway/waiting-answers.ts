/**
 * What someone gets who must wait, at the address they asked for: the page, JSON, a plain line, or the page with word
 * that their form was not sent. And the same while the engine is away, and for those who get no place.
 */
import type { Waiting } from "../core/engine.ts";
import { isAheadShown } from "../core/room-view.ts";
import type { DoorRules } from "../core/rules.ts";
import type { World } from "../core/world.ts";
import { holdJson } from "./abuse/hold-json.ts";
import { SLIP_LIFE_MS } from "./abuse/slip.ts";
import { entryOf } from "./access-log/entry.ts";
import type { Asking } from "./asking.ts";
import type { Carrier } from "./carrier.ts";
import { headerOf, PERSONAL_JSON, type Request, type Response } from "./exchange.ts";
import { withoutCode } from "./lanes/carried-code.ts";
import {
  type HeldBack,
  type Newcomers,
  retrySeconds,
  type TurnedAway,
  turnedAwaySeconds,
} from "./newcomers.ts";
import { type ErrorPage, renderProblem } from "./page/problem.ts";
import { answerWhole } from "./proxy/answer.ts";
import { type RoomFront, waitingOpening, withFormerPlace } from "./room-front.ts";
import type { Traffic } from "./traffic.ts";
import type { UnprovenPlaces } from "./unproven-places.ts";
import type { VisitorTokens } from "./visitor-tokens.ts";

const TOO_MANY = 429;
const AWAY = 503;
/** Tells a script what the answer is about, whatever its form. */
const STATUS = "Fairgate-Status";
const NO_CONTENT = 204;
/** Search engines come back when they like; sooner than this would be of no use. */
const CRAWLER_RETRY_SECONDS = 120;
const NOT_YET = "Waiting room: it is not your turn yet.\n";
const NOT_YET_PROGRAM =
  'Waiting room: not served without a place in the line. Ask with the headers "Accept: application/json" and "Fairgate-Token: new", and send the Fairgate-Token of each answer with the next request.\n';
const NOTHING: readonly string[] = [];
const NO_PLACE = "Waiting room: you cannot join just now.\n";
const NOT_REACHED = "Waiting room: the line cannot be reached just now.\n";
const AWAY_RETRY_SECONDS = 10;
const NONCE_BYTES = 16;
/** Of those who join at several nodes at once, each is known to all of them by then. */
const AHEAD_KNOWN_AFTER_MS = 3_000;
const PLAIN_TEXT: readonly string[] = [
  "Content-Type",
  "text/plain; charset=utf-8",
  "Cache-Control",
  "no-store",
  "X-Content-Type-Options",
  "nosniff",
];

/** One visitor to be told to wait. */
export interface Told {
  readonly front: RoomFront;
  readonly request: Request;
  readonly response: Response;
  readonly carrier: Carrier;
  readonly asking: Asking;
  /** Flat list: the ticket to hand out. */
  readonly headers: readonly string[];
  /** The sequence of the place they hold; below 0 when they hold none. */
  readonly sequence: number;
  /** They have this place only because the former one was given up: its turns were not used. Left out: no. */
  readonly isAnew?: boolean;
}

export class WaitingAnswers {
  readonly #tokens: VisitorTokens;
  readonly #traffic: Traffic;
  readonly #newcomers: Newcomers;
  readonly #unproven: UnprovenPlaces;
  readonly #world: World;

  constructor(parts: {
    tokens: VisitorTokens;
    traffic: Traffic;
    newcomers: Newcomers;
    unproven: UnprovenPlaces;
    world: World;
  }) {
    this.#tokens = parts.tokens;
    this.#traffic = parts.traffic;
    this.#newcomers = parts.newcomers;
    this.#unproven = parts.unproven;
    this.#world = parts.world;
  }

  /** Tells a visitor in the line to wait. */
  wait(told: Told, waiting: Waiting): void {
    entryOf(told.response)?.decide("waiting", waiting.ticket.id);
    const retryAfter = ["Retry-After", String(Math.ceil(waiting.nextCheckInMs / 1_000)), STATUS, "waiting"];
    const headers = [...told.headers, ...retryAfter];
    switch (told.asking.answer) {
      case "json":
        this.#traffic.requests.apiWaits++;
        return this.#send(told, TOO_MANY, [...PERSONAL_JSON, ...headers], this.#json(told, waiting));
      case "plain":
        return this.#send(told, TOO_MANY, [...PLAIN_TEXT, ...retryAfter], plainLine(told.asking));
      case "formRefused":
        this.#traffic.requests.refusedForms++;
        return this.#page(told, { status: TOO_MANY, notice: "formNotSent", headers, waiting });
      case "page":
        this.#traffic.requests.waitingPages++;
        return this.#page(told, {
          status: told.front.settings.queueingStatusCode,
          notice: told.isAnew ? "placeLost" : "none",
          headers,
          waiting,
        });
    }
  }

  /** Tells a visitor that the line cannot be reached just now; whatever place they have is kept. */
  away(told: Told): void {
    entryOf(told.response)?.decide("engineAway");
    const { answer: kind } = told.asking;
    const headers = [...told.headers, "Retry-After", String(AWAY_RETRY_SECONDS), STATUS, "engineAway"];
    if (kind === "json")
      return this.#send(told, AWAY, [...PERSONAL_JSON, ...headers], '{"status":"engineAway"}');
    if (kind === "plain") return this.#send(told, AWAY, [...PLAIN_TEXT, ...headers], NOT_REACHED);
    this.#page(told, { status: AWAY, notice: "engineAway", headers, waiting: null });
  }

  /** Tells someone that they get no place, or not yet. */
  turnAway(told: Told, why: TurnedAway | HeldBack): void {
    const { asking, front, request } = told;
    const { answer: kind } = asking;
    const isWaiting = why.kind === "turnedAway" && why.reason === "mustWait";
    entryOf(told.response)?.decide(isWaiting ? "waiting" : "turnedAway");
    const now = this.#world.clock.now();
    const problem = problemOf(told, why, now);
    const seconds = why.kind === "heldBack" ? retrySeconds(why.verdict) : turnedAwaySeconds(why, now);
    const status = [STATUS, why.kind === "heldBack" ? "comeBack" : "refused"];
    const retryAfter = seconds === null ? status : ["Retry-After", String(seconds), ...status];
    if (isWaiting && asking.isPreflight && front.cors.allows(request)) return this.preflight(told);
    if (isWaiting && asking.isCrawler)
      return this.#send(told, AWAY, [...PLAIN_TEXT, "Retry-After", String(CRAWLER_RETRY_SECONDS)], NOT_YET);
    if (kind === "plain") {
      const line = isWaiting ? plainLine(asking) : NO_PLACE;
      return this.#send(told, plainStatus(problem), [...PLAIN_TEXT, ...retryAfter], line);
    }
    const headers = [...retryAfter, ...this.#tokensFor(told, why)];
    if (kind === "json") {
      const code = why.kind === "heldBack" ? TOO_MANY : problem.status;
      return this.#send(told, code, [...PERSONAL_JSON, ...headers], awayJson(front, why));
    }
    this.#traffic.requests.problems++;
    const language = headerOf(request, "accept-language");
    const { headers: own, body } = renderProblem("text/html", language, problem);
    const code = kind === "formRefused" ? plainStatus(problem) : problem.status;
    this.#send(told, code, [...own, ...headers], body);
  }

  /** Lets a page of an origin that is named make its call, which then gets its own answer. */
  preflight(told: Told): void {
    this.#send(told, NO_CONTENT, told.front.cors.sitePreflight(told.request), "");
  }

  /** A slip, for those who are to come back with it; nothing, for those whose token is another's. */
  #tokensFor({ front, carrier }: Told, why: TurnedAway | HeldBack): readonly string[] {
    if (why.kind === "turnedAway")
      return why.reason === "wrongBrowser" ? this.#tokens.takeAway(front, carrier) : [];
    const slip = why.verdict.kind === "comeBack" ? why.verdict.slip : null;
    return slip === null ? [] : this.#tokens.giveSlip(front, slip, SLIP_LIFE_MS, carrier);
  }

  #json({ front, isAnew }: Told, waiting: Waiting): string {
    const own = `/.fairgate/${front.name}`;
    const json = front.waitingJson(waiting, waitingOpening(waiting.ticket));
    const whole = `${json.slice(0, -1)},"room":"${front.name}","checkIn":"${own}/check-in","enter":"${own}/enter"}`;
    return isAnew ? withFormerPlace(whole) : whole;
  }

  #page(
    told: Told,
    what: {
      status: number;
      notice: "none" | "engineAway" | "formNotSent" | "placeLost";
      headers: string[];
      waiting: Waiting | null;
    },
  ): void {
    const { front, request } = told;
    const { page, board } = front;
    const nextCheckInMs = what.waiting?.nextCheckInMs ?? AWAY_RETRY_SECONDS * 1_000;
    // Without JavaScript the page comes again by itself, as seldom as a check-in; the live script cancels this.
    const now = this.#world.clock.now();
    const refreshMs = isAheadAwaited(what.waiting, front.rules, now) ? AHEAD_KNOWN_AFTER_MS : nextCheckInMs;
    const refresh = ["Refresh", String(Math.ceil(Math.min(refreshMs, nextCheckInMs) / 1_000))];
    const nonce = Buffer.from(this.#world.random.bytes(NONCE_BYTES)).toString("base64");
    const body = page.render({
      room: front.name,
      language: page.chooseLanguage(request.headers["accept-language"]),
      state: board.state,
      ahead: what.waiting?.ahead ?? null,
      waiting: board.waiting === null ? null : Math.max(board.waiting, (what.waiting?.ahead ?? -1) + 1),
      waitMs: what.waiting?.waitMs ?? null,
      aheadAtJoin: what.waiting?.ticket.aheadAtJoin ?? null,
      sequence: told.sequence,
      lane: what.waiting?.ticket.lane ?? 0,
      show: front.rules.show,
      opensAt: board.nextEventAt,
      draw: board.draw ?? null,
      isDrawn: (what.waiting?.ticket.draw ?? 0) > 0,
      missedTurns: what.waiting?.ticket.missedTurns ?? 0,
      missedAt: what.waiting?.ticket.missedAt ?? 0,
      missedTurnsMax: front.rules.missedTurnsMax,
      nextCheckInMs,
      now,
      message: board.message,
      notice: what.notice,
      unproven: this.#unprovenId(told, what.waiting),
      nonce,
    });
    // A form is its sender's to send again; asking for the page anew would throw it away.
    const again = what.notice === "formNotSent" ? [] : refresh;
    const headers = [...page.headers(nonce), "Cache-Control", "no-store", ...again, ...what.headers];
    this.#send(told, what.status, headers, body);
  }

  /** The place of someone who has not shown that they keep a cookie; null when there is none such. */
  #unprovenId({ front, request, carrier }: Told, waiting: Waiting | null): string | null {
    if (!waiting || carrier.programToken !== undefined) return null;
    if (front.cookie.read(carrier.cookie, carrier.isSecure) !== null) return null;
    this.#unproven.add(waiting.ticket, this.#newcomers.sender(request));
    return waiting.ticket.id;
  }

  /** What is being uploaded by someone who must wait is not wanted: a little of it is read, so that they get the answer. */
  #send({ front, request, response }: Told, status: number, headers: string[], body: Buffer | string): void {
    const { timers } = this.#world;
    const readable = front.cors.isOn && status !== NO_CONTENT ? front.cors.headersFor(request) : NOTHING;
    const whole = readable.length > 0 ? [...headers, ...readable] : headers;
    answerWhole(request, response, { status, headers: whole, body: Buffer.from(body as string), timers });
  }
}

/** The page that says why. */
function problemOf({ front, request }: Told, why: TurnedAway | HeldBack, now: number): ErrorPage {
  if (why.kind === "heldBack") return heldProblem(front, why.verdict, now);
  const { reason, until } = why;
  const at = until === null ? {} : { at: until, now };
  const anew = { link: { href: withoutCode(request.url ?? "/") } };
  switch (reason) {
    case "closed":
      return until === null
        ? { status: 503, id: "", kind: "ended" }
        : { status: 503, id: "", kind: "opensLater", ...at };
    case "rejected":
      return { status: 503, id: "", kind: "rejected" };
    case "notPrivileged":
      return { status: 403, id: "", kind: "notPrivileged" };
    case "inviteUsed":
      return { status: 403, id: "", kind: "inviteUsed", ...anew };
    case "codeBad":
      return { status: 403, id: "", kind: "codeBad", ...anew };
    case "visitsUsed":
      return { status: 403, id: "", kind: "visitsUsed", ...at };
    case "wrongBrowser":
      return { status: 403, id: "", kind: "wrongBrowser", link: { href: "" } };
    case "mustWait":
      return { status: TOO_MANY, id: "", kind: "rejected" };
    case "ticketSpent":
    case "turnsMissed":
    case "unknownRoom":
      // Not said of newcomers to a room that is served here.
      return { status: 503, id: "", kind: "engineAway" };
  }
}

/** They have only just joined, and are to be told how many are ahead as soon as that is certain. */
function isAheadAwaited(waiting: Waiting | null, rules: DoorRules, now: number): boolean {
  if (!waiting || waiting.ahead !== null || !isAheadShown(rules)) return false;
  return now - waiting.ticket.joinedAt < AHEAD_KNOWN_AFTER_MS;
}

function heldProblem(front: RoomFront, verdict: HeldBack["verdict"], now: number): ErrorPage {
  const retryAfterSeconds = retrySeconds(verdict);
  if (verdict.kind === "tooMany")
    return { status: TOO_MANY, id: "", kind: "tooManyJoins", retryAfterSeconds, now };
  const status = front.settings.queueingStatusCode;
  const work = verdict.kind === "comeBack" ? verdict.work : null;
  if (work) return { status, id: "", kind: "proofOfWork", work: { room: front.name, ...work } };
  return { status, id: "", kind: "checking", retryAfterSeconds };
}

function plainLine({ wanted }: Asking): string {
  return wanted === "anything" ? NOT_YET_PROGRAM : NOT_YET;
}

/** What is not the page is never taken for it. */
function plainStatus({ status }: ErrorPage): number {
  return status < 400 ? TOO_MANY : status;
}

function awayJson({ name: room }: RoomFront, why: TurnedAway | HeldBack): string {
  if (why.kind === "heldBack") return holdJson(why.verdict);
  const { reason, until } = why;
  // A script that did not ask for a place is told where to.
  const way = reason === "mustWait" ? { room, join: `/.fairgate/${room}/join` } : {};
  return JSON.stringify({ status: "refused", reason, until, ...way });
}
