/**
 * What a waiting page or a program may ask for under `/.fairgate/<room>/`:
 *
 *   GET  board      the room's public state, the same bytes for everyone
 *   GET  events     the same as a stream, and word of your own turn
 *   POST join       a place, or straight in; asking again keeps what you have
 *   POST check-in   "I am still here"; early ones get the last answer again
 *   POST enter      use your turn: the ticket becomes a pass
 *   POST leave      give up your place or your visit
 *   GET  receipt    proof of the place a draw gave you
 *   GET  cookies.css  a style that tells a waiting page when its cookie does not come back
 *
 * Requests from other sites are refused, whatever the cookie's SameSite says.
 */
import { receiptOf, receiptText } from "../core/draw-receipt.ts";
import type { Engine, Eventually, TicketAnswer, Waiting } from "../core/engine.ts";
import type { Pass } from "../core/pass.ts";
import { drawnEvent } from "../core/schedule.ts";
import { tellAhead } from "../core/ticket.ts";
import { holdJson } from "./abuse/hold-json.ts";
import { NONE_ADDED, PERSONAL_JSON } from "./answer-headers.ts";
import { type AskEngine, after, ENGINE_AWAY } from "./ask-engine.ts";
import type { Call } from "./call.ts";
import { headerOf } from "./facts.ts";
import {
  type Arrival,
  type Gone,
  type Newcomers,
  retrySeconds,
  turnedAwaySeconds,
  withVisit,
} from "./newcomers.ts";
import type { OwnAnswer } from "./own-answer.ts";
import { cookieStyle } from "./page/cookie-style.ts";
import type { RoomFront } from "./room-front.ts";
import { answerFor, refused, said } from "./said.ts";
import { isFromElsewhere } from "./same-origin.ts";
import type { EventStreams } from "./streams/event-streams.ts";
import type { StreamRefusal } from "./streams/stream-seats.ts";
import type { VisitConnections } from "./streams/visit-connections.ts";
import { isForfeit, type Threshold } from "./threshold.ts";
import type { Held, HeldPass, HeldTicket } from "./tokens/held-tokens.ts";
import { replaceTicket, type VisitorTokens } from "./tokens/visitor-tokens.ts";
import type { Traffic } from "./traffic.ts";
import type { UnprovenPlaces } from "./unproven-places.ts";
import type { OpenStream } from "./verdict.ts";
import { withFormerPlace } from "./waiting-json.ts";

export type Endpoint =
  | "board"
  | "events"
  | "join"
  | "check-in"
  | "enter"
  | "leave"
  | "receipt"
  | "cookies.css";

const METHODS: Readonly<Record<Endpoint, "GET" | "POST">> = {
  board: "GET",
  events: "GET",
  join: "POST",
  "check-in": "POST",
  enter: "POST",
  leave: "POST",
  receipt: "GET",
  "cookies.css": "GET",
};
export const ENDPOINTS = Object.keys(METHODS) as readonly Endpoint[];
const RETRY_SECONDS = 5;
/** A check-in that comes before this share of the time it was told is answered from the last answer. */
const EARLY_SHARE = 0.5;
const STYLE: readonly string[] = [
  ...["Content-Type", "text/css; charset=utf-8", "Cache-Control", "no-store"],
  ...["X-Content-Type-Options", "nosniff"],
];
/** A place in the address of the style, by its id. */
const PLACE_NAMED = /\?place=([0-9a-f]{1,64})$/;
const NO_DRAW = '{"error":"no draw has given you a place"}';
const NOT_HELD = '{"status":"refused","reason":"noTicket"}';
const WRONG_BROWSER = '{"status":"refused","reason":"wrongBrowser"}';
const ENGINE_AWAY_JSON = '{"status":"engineAway"}';
const RETRY: readonly string[] = ["Retry-After", String(RETRY_SECONDS)];

/** Someone with a pass was seen: gives what renews it, if it is time, and the pass as it is then. */
export type Stay = (
  call: Call,
  held: HeldPass,
) => { readonly headers: readonly string[]; readonly pass: Pass };

type Said = OwnAnswer | OpenStream | Gone;

interface EndpointParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly tokens: VisitorTokens;
  readonly newcomers: Newcomers;
  readonly traffic: Traffic;
  readonly stay: Stay;
  readonly threshold: Threshold;
  readonly connections: VisitConnections;
  readonly unproven: UnprovenPlaces;
  readonly streams: EventStreams;
}

export class VisitorEndpoints {
  readonly #parts: EndpointParts;
  readonly #traffic: Traffic;

  constructor(parts: EndpointParts) {
    this.#parts = parts;
    this.#traffic = parts.traffic;
  }

  /** What one of these addresses answers. */
  visit(endpoint: Endpoint, call: Call): Eventually<Said> {
    const { facts, front } = call;
    const { cors } = front;
    if (endpoint === "cookies.css") return this.#cookieStyle(call);
    if (facts.method === "OPTIONS" && cors.allows(facts))
      return said(call, 204, cors.ownPreflight(facts), "");
    if (endpoint === "board" && (facts.method === "GET" || facts.method === "HEAD")) return this.board(front);
    if (facts.method !== METHODS[endpoint])
      return refused(call, 405, `use ${METHODS[endpoint]}`, ["Allow", METHODS[endpoint]]);
    if (!cors.allows(facts) && isFromElsewhere(facts, call.carrier.fetchSite))
      return refused(call, 403, "not from another site");
    front.turn(facts.now);
    const held = this.#parts.tokens.read(call);
    if (held?.kind === "stranger") return said(call, 403, PERSONAL_JSON, WRONG_BROWSER);
    const isPoll = endpoint === "check-in";
    const isTicketShown = isPoll || endpoint === "enter";
    const answered = isTicketShown ? this.#useTicket(endpoint, call, held) : this.#act(endpoint, call, held);
    return after(answered, (answer) => (answer.kind === "answer" ? noted(answer, held, isPoll) : answer));
  }

  /** The board alone: nothing of the request matters but its address. */
  board(front: RoomFront): OwnAnswer {
    this.#traffic.requests.boards++;
    return front.boardAnswer;
  }

  #act(endpoint: Endpoint, call: Call, held: Held | null): Eventually<Said> {
    switch (endpoint) {
      case "events":
        return this.#events(call, held);
      case "join":
        return held
          ? this.#useTicket("check-in", call, held, (spent) => this.#join(call, isForfeit(spent)))
          : this.#resume(call, () => this.#join(call, false));
      case "leave":
        return this.#leave(call, held);
      default:
        return this.#receipt(call, held);
    }
  }

  #events(call: Call, held: Held | null): Said {
    if (held?.kind !== "ticket") return said(call, 403, PERSONAL_JSON, NOT_HELD);
    const { front, facts } = call;
    const { tokens, streams } = this.#parts;
    const given = tokens.refreshTicket(call, held) ?? { held, headers: NONE_ADDED };
    const { address } = tokens.sender(facts);
    const headers = front.cors.isOn ? [...given.headers, ...front.cors.headersFor(facts)] : given.headers;
    const who = { decision: "own", room: front.name, visitor: held.ticket.id } as const;
    return {
      ...{ kind: "stream", ...who, headers },
      open: (begin) => {
        const stream = streams.open({ held: given.held, front, address }, begin);
        if (typeof stream !== "string") return () => streams.closed(stream);
        this.#traffic.count("streamsRefused", stream);
        return noStream({ ...who, headers }, stream);
      },
    };
  }

  /** `isAnew`: their former place was forfeited. */
  #join(call: Call, isAnew: boolean): Eventually<Said> {
    const arriving = { ...call, canWait: true, hasPlace: false };
    return after(this.#parts.newcomers.join(arriving, isAnew), (arrival) => this.#tellArrival(call, arrival));
  }

  #tellArrival(call: Call, arrival: Arrival): Said {
    if (arrival === ENGINE_AWAY) return away(call);
    switch (arrival.kind) {
      case "through":
        return entered(call, arrival.held.pass, arrival.headers);
      case "placed": {
        const body = this.#answerFor(call, arrival.waiting, arrival.held);
        return asciiAnswer(call, arrival.isAnew ? withFormerPlace(body) : body, arrival.headers);
      }
      case "gone":
        return arrival;
      case "turnedAway": {
        const { reason, until } = arrival;
        const seconds = turnedAwaySeconds(arrival, call.facts.now);
        const retry = seconds === null ? [] : ["Retry-After", String(seconds)];
        const body = JSON.stringify({ status: "refused", reason, until });
        return said(call, 403, [...PERSONAL_JSON, ...retry], body);
      }
      case "heldBack": {
        const { verdict } = arrival;
        const retry = ["Retry-After", String(retrySeconds(verdict))];
        const slip = verdict.kind === "comeBack" ? verdict.slip : null;
        const given = slip === null ? [] : this.#parts.tokens.giveSlip(call, slip);
        const status = verdict.kind === "comeBack" ? 202 : verdict.kind === "tooMany" ? 429 : 403;
        return said(call, status, [...PERSONAL_JSON, ...retry, ...given], holdJson(verdict));
      }
    }
  }

  /** Shows a ticket to the engine. `orElse` is for one that is spent or has run out. */
  #useTicket(
    endpoint: "check-in" | "enter",
    call: Call,
    held: Held | null,
    orElse?: (spent: TicketAnswer) => Eventually<Said>,
  ): Eventually<Said> {
    const isEntering = endpoint === "enter";
    this.#traffic.requests[isEntering ? "enters" : "checkIns"]++;
    if (held?.kind === "pass") return this.#tellOnSite(call, held);
    if (!held) {
      const refuse = () => said(call, 403, PERSONAL_JSON, NOT_HELD);
      return isEntering ? refuse() : this.#resume(call, refuse);
    }
    if (!isEntering && held.lastAnswer !== null && call.facts.now < held.nextCheckInAt)
      return asciiAnswer(call, held.lastAnswer);
    const { engine, ask } = this.#parts;
    const reply = ask.ask(() => (isEntering ? engine.enter(held.ticket) : engine.checkIn(held.ticket)));
    // Not by `after`: most calls are these, and most answers are there at once.
    return reply instanceof Promise
      ? reply.then((later) => this.#tell(call, later, held, orElse))
      : this.#tell(call, reply, held, orElse);
  }

  /** The place that a draw gave someone. It needs no signature: the record and the seed are the proof. */
  #receipt(call: Call, held: Held | null): Eventually<Said> {
    const { front, facts } = call;
    const { engine, ask } = this.#parts;
    const place = held?.kind === "pass" ? held.pass : held?.ticket;
    const event = place && drawnEvent(front.roomRules.events, place.joinedAt, facts.now);
    if (!event) return said(call, 404, PERSONAL_JSON, NO_DRAW);
    return after(
      ask.ask(() => engine.draw(front.name, event.name)),
      (record) => {
        if (record === ENGINE_AWAY) return away(call);
        const receipt = record && receiptOf(front.name, record, place.id);
        if (!receipt) return said(call, 404, PERSONAL_JSON, NO_DRAW);
        const name = `attachment; filename="receipt-${front.name}-${event.name}.json"`;
        return said(call, 200, [...PERSONAL_JSON, "Content-Disposition", name], receiptText(receipt));
      },
    );
  }

  /** For the page of a place that its address may name. */
  #cookieStyle(call: Call): OwnAnswer {
    const { front, facts, carrier } = call;
    const isKept = front.cookie.read(carrier.cookie, carrier.isSecure) !== null;
    const place = PLACE_NAMED.exec(facts.url)?.[1];
    const { unproven, tokens } = this.#parts;
    if (place && isKept) unproven.prove(place);
    else if (place) unproven.miss(place, tokens.sender(facts));
    const style = isKept ? "" : cookieStyle(headerOf(facts, "accept-language"));
    return answerFor(front.name, 200, STYLE, style);
  }

  /** "Left" is said only when the engine knows: a visit may last there for a while after its pass has expired. */
  #leave(call: Call, held: Held | null): Eventually<Said> {
    this.#traffic.requests.leaves++;
    const { engine, ask, tokens, connections } = this.#parts;
    const place = held === null ? tokens.former(call)?.pass : held.kind === "pass" ? held.pass : held.ticket;
    if (held?.kind === "ticket") held.lastAnswer = null;
    return after(
      ask.ask(() => (place ? engine.leave(place, connections.isIdle(place.id)) : undefined)),
      (reply) => {
        if (reply === ENGINE_AWAY) return away(call);
        return said(call, 200, [...PERSONAL_JSON, ...tokens.drop(call)], '{"status":"left"}');
      },
    );
  }

  /** Says what became of a ticket, and hands out what goes with it. */
  #tell(
    call: Call,
    reply: TicketAnswer | typeof ENGINE_AWAY,
    held: HeldTicket,
    orElse?: (spent: TicketAnswer) => Eventually<Said>,
  ): Eventually<Said> {
    if (reply === ENGINE_AWAY) return away(call);
    switch (reply.kind) {
      case "waiting":
        return this.#tellWaiting(call, reply, held);
      case "admitted": {
        const claimByMs = Math.max(0, reply.claimBy - call.facts.now);
        return said(call, 200, PERSONAL_JSON, JSON.stringify({ status: "admitted", claimByMs }));
      }
      case "entered": {
        const { headers } = this.#parts.tokens.givePass(call, reply.pass, withVisit(held.badge));
        return entered(call, reply.pass, headers);
      }
      case "expired":
      case "refused": {
        this.#parts.tokens.refuseTicket(reply, call);
        if (orElse) return orElse(reply);
        const { kind: status } = reply;
        const reason = reply.kind === "refused" ? { reason: reply.reason } : {};
        return said(call, 200, PERSONAL_JSON, JSON.stringify({ status, ...reason }));
      }
    }
  }

  /** Someone whose pass ran out and whose visit may go on all the same; `orElse` is for everybody else. */
  #resume(call: Call, orElse: () => Eventually<Said>): Eventually<Said> {
    return after(this.#parts.threshold.resume(call, false), (visit) => {
      if (visit === ENGINE_AWAY) return away(call);
      return visit === null ? orElse() : entered(call, visit.held.pass, visit.headers);
    });
  }

  /** Someone on the site who says so renews their visit, as by a request. */
  #tellOnSite(call: Call, held: HeldPass): OwnAnswer {
    const { headers, pass } = this.#parts.stay(call, held);
    return entered(call, pass, headers);
  }

  #tellWaiting(call: Call, reply: Waiting, held: HeldTicket): OwnAnswer {
    const { ticket, ahead } = reply;
    if (ticket.sequence !== held.ticket.sequence) replaceTicket(held, ticket);
    if (ahead !== null && ahead < held.ticket.aheadShown) held.ticket = tellAhead(held.ticket, ahead);
    const given = this.#parts.tokens.refreshTicket(call, held);
    return asciiAnswer(call, this.#answerFor(call, reply, held), given?.headers);
  }

  /** What a visitor in the line is told, and is told again when they ask too early. */
  #answerFor(call: Call, reply: Waiting, held: HeldTicket): string {
    const body = call.front.waitingJson(reply, held.opening);
    held.lastAnswer = body;
    held.nextCheckInAt = call.facts.now + reply.nextCheckInMs * EARLY_SHARE;
    return body;
  }
}

/** What is said where there is no room for a stream. */
function noStream(
  { room, visitor, headers }: { room: string; visitor: string; headers: readonly string[] },
  full: StreamRefusal,
): OwnAnswer {
  const all = [...PERSONAL_JSON, ...RETRY, ...headers];
  const body = JSON.stringify({ error: STREAM_REFUSALS[full] });
  return { ...answerFor(room, full === "all" ? 503 : 429, all, body), visitor };
}

const STREAM_REFUSALS: Readonly<Record<StreamRefusal, string>> = {
  all: "too many streams; read the board",
  address: "too many streams from your address; read the board",
  ticket: "too many streams for your place; read the board",
};

/** Whose answer it is, and whether it is asked for again and again. */
function noted(answer: OwnAnswer, held: Held | null, isPoll: boolean): OwnAnswer {
  const noting = answer as { visitor: string | null; isPoll: boolean };
  if (held) noting.visitor = held.kind === "pass" ? held.pass.id : held.ticket.id;
  noting.isPoll = isPoll;
  return answer;
}

function entered(call: Call, { expiresAt }: Pass, headers: readonly string[]): OwnAnswer {
  const expiresInMs = Math.max(0, expiresAt - call.facts.now);
  return said(call, 200, [...PERSONAL_JSON, ...headers], JSON.stringify({ status: "entered", expiresInMs }));
}

function away(call: Call): OwnAnswer {
  return said(call, 503, [...PERSONAL_JSON, ...RETRY], ENGINE_AWAY_JSON);
}

/** The busiest answer: a waiting visitor's JSON, known to be ASCII. */
function asciiAnswer(
  { front, facts }: Call,
  body: string,
  headers: readonly string[] = NONE_ADDED,
): OwnAnswer {
  // Written out rather than spread: this is the busiest line of all.
  const all = [
    "Content-Type",
    "application/json; charset=utf-8",
    "Cache-Control",
    "no-store",
    "X-Content-Type-Options",
    "nosniff",
    "Content-Length",
    String(body.length),
  ];
  if (headers.length > 0) all.push(...headers);
  if (front.cors.isOn) all.push(...front.cors.headersFor(facts));
  return {
    kind: "answer",
    decision: "own",
    room: front.name,
    visitor: null,
    status: 200,
    headers: all,
    body,
    isPoll: true,
  };
}
