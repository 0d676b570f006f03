/**
 * A verdict as an answer: status, headers and body. A visitor who must wait gets, at the address they asked for, the page, JSON,
 * a plain line, or the page that says that their form was not sent. The same goes for an engine that is away and for a visitor
 * who gets no place. An upgrade gets a status alone.
 */
import type { Waiting } from "../core/engine.ts";
import { isAheadShown } from "../core/room-view.ts";
import type { DoorRules } from "../core/rules.ts";
import type { World } from "../core/world.ts";
import { holdJson } from "./abuse/hold-json.ts";
import { NONE_ADDED, PERSONAL_JSON, PERSONAL_TEXT, PLAIN, PLAIN_UTF8 } from "./answer-headers.ts";
import type { Asking } from "./asking.ts";
import { headerOf } from "./facts.ts";
import { withoutCode } from "./lanes/carried-code.ts";
import { type HeldBack, retrySeconds, type TurnedAway, turnedAwaySeconds } from "./newcomers.ts";
import type { OwnAnswer } from "./own-answer.ts";
import { type ErrorPage, prefersJson, renderProblem } from "./page/problem.ts";
import type { RoomFront } from "./room-front.ts";
import type {
  EngineIsAway,
  Preflight,
  Redirect,
  Shown,
  Told,
  TooManyUnderWay,
  TurnAway,
  Wait,
} from "./verdict.ts";
import { waitingOpening, withFormerPlace } from "./waiting-json.ts";

const TOO_MANY = 429;
const AWAY = 503;
/** Tells a script what the answer is about, whatever its form. */
const STATUS = "Fairgate-Status";
const NO_CONTENT = 204;
const NONCE_BYTES = 16;
/** Search engines come back when they like; sooner than this would be of no use. */
const CRAWLER_RETRY_SECONDS = 120;
const NOT_YET = "Waiting room: it is not your turn yet.\n";
const NOT_YET_PROGRAM =
  'Waiting room: not served without a place in the line. Ask with the headers "Accept: application/json" and "Fairgate-Token: new", and send the Fairgate-Token of each answer with the next request.\n';
const NO_PLACE = "Waiting room: you cannot join just now.\n";
const NOT_REACHED = "Waiting room: the line cannot be reached just now.\n";
const AWAY_RETRY_SECONDS = 10;
const UNDER_WAY_RETRY_SECONDS = 5;
const UNDER_WAY = "Too many requests under way. Try again in a moment.\n";
/** Of those who join at several nodes at once, each is known to all of them by then. */
const AHEAD_KNOWN_AFTER_MS = 3_000;

/** An answer without its length. */
export interface Rendered {
  readonly status: number;
  /** Names and values in turn. */
  readonly headers: readonly string[];
  /** A text is ASCII, or text in UTF-8 that is sent as it is. */
  readonly body: string | Uint8Array;
  /** The connection is closed after it. */
  readonly isLast?: boolean;
}

/** What making an answer needs; the time is that of showing it, which may be later than the request. */
type Renderer = Pick<World, "clock" | "random">;

/** The answer to show. */
export function render(verdict: Exclude<Shown, OwnAnswer>, world: Renderer): Rendered {
  switch (verdict.kind) {
    case "wait":
      return wait(verdict, world);
    case "turnAway":
      return turnAway(verdict, world.clock.now());
    case "engineAway":
      return engineAway(verdict, world);
    case "preflight":
      return preflight(verdict);
    case "redirect":
      return redirect(verdict);
    case "refuse":
      return { status: verdict.status, headers: PLAIN, body: `${verdict.reason}\n` };
    case "tooMany":
      return tooMany(verdict);
  }
}

/** The same for an upgrade, whose sender reads a status and no body. */
export function renderUpgrade(verdict: Shown, now: number): Rendered {
  switch (verdict.kind) {
    case "wait":
      return bare(TOO_MANY, Math.ceil(verdict.waiting.nextCheckInMs / 1_000));
    case "turnAway": {
      const { why } = verdict;
      if (why.kind === "heldBack") return bare(TOO_MANY, retrySeconds(why.verdict));
      return why.reason === "mustWait" ? bare(TOO_MANY, turnedAwaySeconds(why, now)) : bare(403);
    }
    case "engineAway":
      return bare(AWAY, AWAY_RETRY_SECONDS);
    case "refuse":
      return { status: verdict.status, headers: PLAIN, body: `${verdict.reason}\n` };
    case "tooMany":
      return {
        status: TOO_MANY,
        headers: [
          "Content-Type",
          "text/plain; charset=utf-8",
          "Retry-After",
          String(UNDER_WAY_RETRY_SECONDS),
        ],
        body: UNDER_WAY,
      };
    default:
      return bare(404);
  }
}

function bare(status: number, retryAfterSeconds: number | null = null): Rendered {
  const headers = retryAfterSeconds === null ? NONE_ADDED : ["Retry-After", String(retryAfterSeconds)];
  return { status, headers, body: "" };
}

/** Tells a visitor in the line to wait. */
function wait(verdict: Wait, world: Renderer): Rendered {
  const { waiting, asking } = verdict;
  const retryAfter = ["Retry-After", String(Math.ceil(waiting.nextCheckInMs / 1_000)), STATUS, "waiting"];
  const headers = [...verdict.headers, ...retryAfter];
  switch (asking.answer) {
    case "json":
      return readable(verdict, TOO_MANY, [...PERSONAL_JSON, ...headers], waitingJson(verdict));
    case "plain":
      return readable(verdict, TOO_MANY, [...PERSONAL_TEXT, ...retryAfter], plainLine(asking));
    case "formRefused":
      return page(verdict, { status: TOO_MANY, notice: "formNotSent", headers, waiting }, world);
    case "page": {
      const { queueingStatusCode: status } = verdict.call.front.settings;
      const notice = verdict.isAnew ? "placeLost" : "none";
      return page(verdict, { status, notice, headers, waiting }, world);
    }
  }
}

/** Tells a visitor that the line cannot be reached just now; whatever place they have is kept. */
function engineAway(verdict: EngineIsAway, world: Renderer): Rendered {
  const { answer: kind } = verdict.asking;
  const headers = [...verdict.headers, "Retry-After", String(AWAY_RETRY_SECONDS), STATUS, "engineAway"];
  if (kind === "json")
    return readable(verdict, AWAY, [...PERSONAL_JSON, ...headers], '{"status":"engineAway"}');
  if (kind === "plain") return readable(verdict, AWAY, [...PERSONAL_TEXT, ...headers], NOT_REACHED);
  return page(verdict, { status: AWAY, notice: "engineAway", headers, waiting: null }, world);
}

/** Tells someone that they get no place, or not yet. */
function turnAway(verdict: TurnAway, now: number): Rendered {
  const { asking, call, why } = verdict;
  const { answer: kind } = asking;
  const isWaiting = why.kind === "turnedAway" && why.reason === "mustWait";
  const problem = problemOf(verdict, now);
  const seconds = why.kind === "heldBack" ? retrySeconds(why.verdict) : turnedAwaySeconds(why, now);
  const status = [STATUS, why.kind === "heldBack" ? "comeBack" : "refused"];
  const retryAfter = seconds === null ? status : ["Retry-After", String(seconds), ...status];
  if (isWaiting && asking.isPreflight && call.front.cors.allows(call.facts)) return preflight(verdict);
  if (isWaiting && asking.isCrawler) {
    const headers = [...PERSONAL_TEXT, "Retry-After", String(CRAWLER_RETRY_SECONDS), ...status];
    return readable(verdict, AWAY, headers, NOT_YET);
  }
  if (kind === "plain") {
    const line = isWaiting ? plainLine(asking) : NO_PLACE;
    return readable(verdict, plainStatus(problem), [...PERSONAL_TEXT, ...retryAfter], line);
  }
  const headers = [...retryAfter, ...verdict.headers];
  if (kind === "json") {
    const code = why.kind === "heldBack" ? TOO_MANY : problem.status;
    return readable(verdict, code, [...PERSONAL_JSON, ...headers], awayJson(call.front, why));
  }
  const { headers: own, body } = renderProblem("text/html", headerOf(call.facts, "accept-language"), problem);
  const code = kind === "formRefused" ? plainStatus(problem) : problem.status;
  return readable(verdict, code, [...own, ...headers], body);
}

/** Lets a page of an origin that is named make its call, which then gets its own answer. */
function preflight({ call: { front, facts } }: Preflight | TurnAway): Rendered {
  return { status: NO_CONTENT, headers: front.cors.sitePreflight(facts), body: "" };
}

function redirect({ to, headers }: Redirect): Rendered {
  return { status: 303, headers: [...headers, "Location", to, "Cache-Control", "no-store"], body: "" };
}

/**
 * Over HTTP/1 the connection is closed with it, which ends a pipeline of requests without end.
 */
function tooMany({ accept, language, headers: given }: TooManyUnderWay): Rendered {
  const retry = ["Retry-After", String(UNDER_WAY_RETRY_SECONDS), ...given];
  const isLast = true;
  if (!prefersJson(accept) && !accept?.includes("text/html"))
    return { status: TOO_MANY, headers: [...PLAIN_UTF8, ...retry], body: UNDER_WAY, isLast };
  const retryAfterSeconds = UNDER_WAY_RETRY_SECONDS;
  const { headers, body } = renderProblem(accept, language, {
    ...{ status: TOO_MANY, id: "", kind: "tooManyRequests", retryAfterSeconds },
  });
  return { status: TOO_MANY, headers: [...headers, ...retry], body, isLast };
}

function waitingJson({ call: { front }, waiting, isAnew }: Wait): string {
  const own = `/.fairgate/${front.name}`;
  const json = front.waitingJson(waiting, waitingOpening(waiting.ticket));
  const whole = `${json.slice(0, -1)},"room":"${front.name}","checkIn":"${own}/check-in","enter":"${own}/enter"}`;
  return isAnew ? withFormerPlace(whole) : whole;
}

interface PageWords {
  readonly status: number;
  readonly notice: "none" | "engineAway" | "formNotSent" | "placeLost";
  readonly headers: readonly string[];
  readonly waiting: Waiting | null;
}

function page(told: Wait | EngineIsAway, words: PageWords, { clock, random }: Renderer): Rendered {
  const { front, facts } = told.call;
  const { page: own, board } = front;
  const now = clock.now();
  const { waiting, notice } = words;
  const nextCheckInMs = waiting?.nextCheckInMs ?? AWAY_RETRY_SECONDS * 1_000;
  // Without JavaScript the page comes again by itself, as seldom as a check-in; the live script cancels this.
  const refreshMs = isAheadAwaited(waiting, front.rules, now) ? AHEAD_KNOWN_AFTER_MS : nextCheckInMs;
  const refresh = ["Refresh", String(Math.ceil(Math.min(refreshMs, nextCheckInMs) / 1_000))];
  // What the page's own script and style are allowed by.
  const nonce = btoa(String.fromCharCode(...random.bytes(NONCE_BYTES)));
  const body = own.render({
    room: front.name,
    language: own.chooseLanguage(headerOf(facts, "accept-language")),
    state: board.state,
    ahead: waiting?.ahead ?? null,
    waiting: board.waiting === null ? null : Math.max(board.waiting, (waiting?.ahead ?? -1) + 1),
    waitMs: waiting?.waitMs ?? null,
    aheadAtJoin: waiting?.ticket.aheadAtJoin ?? null,
    sequence: told.sequence,
    lane: waiting?.ticket.lane ?? 0,
    show: front.rules.show,
    opensAt: board.nextEventAt,
    draw: board.draw ?? null,
    stock: board.stock,
    isDrawn: (waiting?.ticket.draw ?? 0) > 0,
    missedTurns: waiting?.ticket.missedTurns ?? 0,
    missedAt: waiting?.ticket.missedAt ?? 0,
    missedTurnsMax: front.rules.missedTurnsMax,
    nextCheckInMs,
    now,
    message: board.message,
    notice,
    unproven: told.kind === "wait" ? told.unproven : null,
    nonce,
  });
  // A form is its sender's to send again; asking for the page anew would throw it away.
  const again = notice === "formNotSent" ? NONE_ADDED : refresh;
  const headers = [...own.headers(nonce), "Cache-Control", "no-store", ...again, ...words.headers];
  return readable(told, words.status, headers, body);
}

/** An answer that pages of the origins that are named may read. */
function readable(
  { call: { front, facts } }: Told,
  status: number,
  headers: readonly string[],
  body: string | Uint8Array,
): Rendered {
  return { status, headers: front.cors.isOn ? [...headers, ...front.cors.headersFor(facts)] : headers, body };
}

/** The page that says why. */
function problemOf({ call, why }: TurnAway, now: number): ErrorPage {
  if (why.kind === "heldBack") return heldProblem(call.front, why.verdict, now);
  const { reason, until } = why;
  const at = until === null ? {} : { at: until, now };
  const anew = { link: { href: withoutCode(call.target) } };
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
