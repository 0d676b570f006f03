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
import type { Engine, TicketAnswer, Waiting } from "../core/engine.ts";
import type { Pass } from "../core/pass.ts";
import { drawnEvent } from "../core/schedule.ts";
import { tellAhead } from "../core/ticket.ts";
import type { Timers } from "../core/world.ts";
import type { Sender } from "./abuse/binding.ts";
import { holdJson } from "./abuse/hold-json.ts";
import { SLIP_LIFE_MS } from "./abuse/slip.ts";
import { entryOf } from "./access-log/entry.ts";
import { type AskEngine, type Away, ENGINE_AWAY } from "./ask-engine.ts";
import type { Carrier } from "./carrier.ts";
import type { EventStreams, StreamRefusal } from "./event-streams.ts";
import { headerOf, isGone, PERSONAL_JSON, type Request, type Response, send, sendWhole } from "./exchange.ts";
import type { Held, HeldPass, HeldTicket } from "./held-tokens.ts";
import { type GivenPlace, type Newcomers, retrySeconds, turnedAwaySeconds, withVisit } from "./newcomers.ts";
import { cookieStyle } from "./page/cookie-style.ts";
import { discardRest, hasBody } from "./proxy/answer.ts";
import { type RoomFront, withFormerPlace } from "./room-front.ts";
import { isFromElsewhere } from "./same-origin.ts";
import { isForfeit, type Threshold } from "./threshold.ts";
import type { Badge } from "./token.ts";
import type { Traffic } from "./traffic.ts";
import type { UnprovenPlaces } from "./unproven-places.ts";
import type { VisitConnections } from "./visit-connections.ts";
import { replaceTicket, type VisitorTokens } from "./visitor-tokens.ts";

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
const NOTHING: readonly string[] = [];
const STREAM_REFUSALS: Readonly<Record<StreamRefusal, string>> = {
  all: "too many streams; read the board",
  address: "too many streams from your address; read the board",
  ticket: "too many streams for your place; read the board",
};
const STYLE: readonly string[] = [
  ...["Content-Type", "text/css; charset=utf-8", "Cache-Control", "no-store"],
  ...["X-Content-Type-Options", "nosniff"],
];
/** A place in the address of the style, by its id. */
const PLACE_NAMED = /\?place=([0-9a-f]{1,64})$/;
const NO_DRAW = '{"error":"no draw has given you a place"}';
const NOT_HELD = '{"status":"refused","reason":"noTicket"}';

/** Takes up a ticket that is spent or has run out. */
type OrElse = (spent: TicketAnswer) => void;

/** Someone with a pass was seen: gives what renews it, if it is time, and the pass as it is then. */
export type Stay = (
  front: RoomFront,
  held: HeldPass,
  carrier: Carrier,
  now: number,
) => { readonly headers: readonly string[]; readonly pass: Pass };

/** One visitor's call. */
export interface Call {
  readonly front: RoomFront;
  readonly request: Request;
  readonly response: Response;
  readonly carrier: Carrier;
  readonly now: number;
}

export class VisitorEndpoints {
  readonly #engine: Engine;
  readonly #ask: AskEngine;
  readonly #tokens: VisitorTokens;
  readonly #newcomers: Newcomers;
  readonly #streams: EventStreams;
  readonly #traffic: Traffic;
  readonly #timers: Timers;
  readonly #stay: Stay;
  readonly #threshold: Threshold;
  readonly #connections: VisitConnections;
  readonly #unproven: UnprovenPlaces;

  constructor(parts: {
    engine: Engine;
    ask: AskEngine;
    tokens: VisitorTokens;
    newcomers: Newcomers;
    streams: EventStreams;
    traffic: Traffic;
    timers: Timers;
    stay: Stay;
    threshold: Threshold;
    connections: VisitConnections;
    unproven: UnprovenPlaces;
  }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#tokens = parts.tokens;
    this.#newcomers = parts.newcomers;
    this.#streams = parts.streams;
    this.#traffic = parts.traffic;
    this.#timers = parts.timers;
    this.#stay = parts.stay;
    this.#threshold = parts.threshold;
    this.#connections = parts.connections;
    this.#unproven = parts.unproven;
  }

  serve(endpoint: Endpoint, call: Call): void {
    const entry = entryOf(call.response);
    entry?.own(call.front.name, endpoint === "board" || endpoint === "check-in");
    const method = METHODS[endpoint];
    const { cors } = call.front;
    const isAllowed = cors.allows(call.request);
    if (endpoint === "cookies.css") return this.#cookieStyle(call);
    if (isAllowed && call.request.method === "OPTIONS")
      return send(call.response, 204, cors.ownPreflight(call.request), "");
    if (cors.isOn) addHeaders(call.response, cors.headersFor(call.request));
    const asked = call.request.method === "HEAD" && endpoint === "board" ? "GET" : call.request.method;
    if (asked !== method) return answer(call, 405, { error: `use ${method}` }, ["Allow", method]);
    if (endpoint === "board") return this.sendBoard(call.front, call.response);
    if (!isAllowed && isFromElsewhere(call.request, call.carrier.fetchSite))
      return answer(call, 403, { error: "not from another site" });
    call.front.turn(call.now);
    // Nothing here takes a body; one that comes all the same is read for a while and then cut off.
    if (hasBody(call.request)) discardRest(call.request, call.response, this.#timers);
    const { binding } = call.front;
    const sender = binding.isOn ? this.#newcomers.sender(call.request) : null;
    const held = this.#tokens.read(call.front, call.carrier, call.now, sender);
    if (held?.kind === "stranger") return answer(call, 403, { status: "refused", reason: "wrongBrowser" });
    if (entry && held) entry.visitor = held.kind === "pass" ? held.pass.id : held.ticket.id;
    switch (endpoint) {
      case "events":
        return this.#events(call, held);
      case "join":
        return this.#join(call, held);
      case "check-in":
        return this.#checkIn(call, held);
      case "enter":
        return this.#enter(call, held);
      case "leave":
        return this.#leave(call, held, sender);
      case "receipt":
        return this.#receipt(call, held);
    }
  }

  /** The board alone: nothing of the request matters but its address. */
  sendBoard(front: RoomFront, response: Response): void {
    this.#traffic.requests.boards++;
    sendWhole(response, 200, front.boardHeaders, front.boardBody, "latin1");
  }

  #events(call: Call, held: Held | null): void {
    if (held?.kind !== "ticket") return answer(call, 403, { status: "refused", reason: "noTicket" });
    const { front, carrier, request, response, now } = call;
    const given = this.#tokens.refreshTicket(front, held, carrier, now) ?? { held, headers: NOTHING };
    const { address } = this.#newcomers.sender(request);
    const full = this.#streams.open({ ...given, board: front.board, request, response, address });
    if (full === null) return;
    this.#traffic.count("streamsRefused", full);
    const retry = ["Retry-After", String(RETRY_SECONDS)];
    const error = STREAM_REFUSALS[full];
    answer(call, full === "all" ? 503 : 429, { error }, [...retry, ...given.headers]);
  }

  #join(call: Call, held: Held | null): void {
    if (held?.kind === "pass") return this.#tellOnSite(call, held);
    if (held) return this.#checkIn(call, held, (spent) => this.#joinAnew(call, isForfeit(spent)));
    this.#return(call, () => this.#joinAnew(call, false));
  }

  /** `isAnew`: their former place was forfeited. */
  #joinAnew(call: Call, isAnew: boolean): void {
    const { front, carrier, now } = call;
    const arriving = { ...call, canWait: true, hasPlace: false, isGone: () => isGone(call.response) };
    this.#newcomers.join(arriving, (welcome) => {
      if (welcome === ENGINE_AWAY) return this.#away(call);
      switch (welcome.kind) {
        case "through":
          return this.#tellEntered(call, welcome.entered.pass, welcome.badge);
        case "place":
          return this.#tellPlace(call, welcome, isAnew);
        case "gone":
          return;
        case "turnedAway": {
          const { reason, until } = welcome;
          const seconds = turnedAwaySeconds(welcome, now);
          const retry = seconds === null ? [] : ["Retry-After", String(seconds)];
          return answer(call, 403, { status: "refused", reason, until }, retry);
        }
        case "heldBack": {
          const { verdict } = welcome;
          const retry = ["Retry-After", String(retrySeconds(verdict))];
          const slip = verdict.kind === "comeBack" ? verdict.slip : null;
          const given = slip === null ? [] : this.#tokens.giveSlip(front, slip, SLIP_LIFE_MS, carrier);
          const status = verdict.kind === "comeBack" ? 202 : verdict.kind === "tooMany" ? 429 : 403;
          return send(call.response, status, [...PERSONAL_JSON, ...retry, ...given], holdJson(verdict));
        }
      }
    });
  }

  /** `orElse` is for a ticket that is spent or has run out. */
  #checkIn(call: Call, held: Held | null, orElse?: OrElse): void {
    this.#traffic.requests.checkIns++;
    if (held?.kind === "pass") return this.#tellOnSite(call, held);
    if (!held) return this.#return(call, () => send(call.response, 403, PERSONAL_JSON, NOT_HELD));
    if (held.lastAnswer !== null && call.now < held.nextCheckInAt) {
      return sendAscii(call.response, held.lastAnswer);
    }
    this.#ask.ask(
      () => this.#engine.checkIn(held.ticket),
      (reply) => this.#tell(call, reply, held, orElse),
    );
  }

  #enter(call: Call, held: Held | null): void {
    this.#traffic.requests.enters++;
    if (held?.kind === "pass") return this.#tellOnSite(call, held);
    if (!held) return send(call.response, 403, PERSONAL_JSON, NOT_HELD);
    this.#ask.ask(
      () => this.#engine.enter(held.ticket),
      (reply) => this.#tell(call, reply, held),
    );
  }

  /** Where the lot put someone who gathered for an event, signed by nobody: the record and the seed are the proof. */
  #receipt(call: Call, held: Held | null): void {
    const { front, now } = call;
    const place = held?.kind === "pass" ? held.pass : held?.ticket;
    const event = place && drawnEvent(front.roomRules.events, place.joinedAt, now);
    if (!event) return send(call.response, 404, PERSONAL_JSON, NO_DRAW);
    this.#ask.ask(
      () => this.#engine.draw(front.name, event.name),
      (record) => {
        if (record === ENGINE_AWAY) return this.#away(call);
        const receipt = record && receiptOf(front.name, record, place.id);
        if (!receipt) return send(call.response, 404, PERSONAL_JSON, NO_DRAW);
        const name = `attachment; filename="receipt-${front.name}-${event.name}.json"`;
        send(call.response, 200, [...PERSONAL_JSON, "Content-Disposition", name], receiptText(receipt));
      },
    );
  }

  /** For the page of a place that its address may name. */
  #cookieStyle({ front, carrier, request, response }: Call): void {
    const isKept = front.cookie.read(carrier.cookie, carrier.isSecure) !== null;
    const place = PLACE_NAMED.exec(request.url ?? "")?.[1];
    if (place && isKept) this.#unproven.prove(place);
    else if (place) this.#unproven.miss(place, this.#newcomers.sender(request));
    send(response, 200, STYLE, isKept ? "" : cookieStyle(headerOf(request, "accept-language")));
  }

  /** "Left" is said only when the engine knows: a visit may last there for a while after its pass has expired. */
  #leave(call: Call, held: Held | null, sender: Sender | null): void {
    this.#traffic.requests.leaves++;
    const { front, carrier, now } = call;
    const place = held
      ? held.kind === "pass"
        ? held.pass
        : held.ticket
      : this.#tokens.former(front, carrier, now, sender)?.pass;
    if (held?.kind === "ticket") held.lastAnswer = null;
    this.#ask.ask(
      () => (place ? this.#engine.leave(place, this.#connections.isIdle(place.id)) : undefined),
      (reply) => {
        if (reply === ENGINE_AWAY) return this.#away(call);
        answer(call, 200, { status: "left" }, this.#tokens.drop(call.front, call.carrier));
      },
    );
  }

  /** Says what became of a ticket, and hands out what goes with it. */
  #tell(call: Call, reply: TicketAnswer | Away, held: HeldTicket, orElse?: OrElse): void {
    if (reply === ENGINE_AWAY) return this.#away(call);
    switch (reply.kind) {
      case "waiting":
        return this.#tellWaiting(call, reply, held);
      case "admitted":
        return answer(call, 200, { status: "admitted", claimByMs: Math.max(0, reply.claimBy - call.now) });
      case "entered":
        return this.#tellEntered(call, reply.pass, withVisit(held.badge));
      case "expired":
      case "refused":
        this.#tokens.refuseTicket(reply, call.front, call.now);
        if (orElse) return orElse(reply);
        return answer(call, 200, {
          status: reply.kind,
          ...(reply.kind === "refused" && { reason: reply.reason }),
        });
    }
  }

  /** Someone whose pass ran out and whose visit may go on all the same; `orElse` is for everybody else. */
  #return(call: Call, orElse: () => void): void {
    this.#threshold.resume(call, false, (visit) => {
      if (visit === ENGINE_AWAY) return this.#away(call);
      if (visit === null) return orElse();
      this.#tellEntered(call, visit.pass, visit.badge);
    });
  }

  /** Whoever is on the site and says so renews their visit, as by a request. */
  #tellOnSite(call: Call, held: HeldPass): void {
    const { front, carrier, now } = call;
    const { headers, pass } = this.#stay(front, held, carrier, now);
    answer(call, 200, entered(pass.expiresAt - now), headers);
  }

  #tellEntered(call: Call, pass: Pass, badge: Badge): void {
    const { headers } = this.#tokens.givePass(call.front, pass, badge, call.carrier);
    answer(call, 200, entered(pass.expiresAt - call.now), headers);
  }

  #tellPlace(call: Call, { waiting, badge }: GivenPlace, isAnew: boolean): void {
    const { front, carrier } = call;
    const ticket = tellAhead(waiting.ticket, waiting.ahead);
    const { held, headers } = this.#tokens.giveTicket(front, ticket, badge, carrier);
    const body = this.#answerFor(call, waiting, held);
    sendAscii(call.response, isAnew ? withFormerPlace(body) : body, headers);
  }

  #tellWaiting(call: Call, reply: Waiting, held: HeldTicket): void {
    const { ticket, ahead } = reply;
    if (ticket.sequence !== held.ticket.sequence) replaceTicket(held, ticket);
    if (ahead !== null && ahead < held.ticket.aheadShown) held.ticket = tellAhead(held.ticket, ahead);
    const given = this.#tokens.refreshTicket(call.front, held, call.carrier, call.now);
    sendAscii(call.response, this.#answerFor(call, reply, held), given?.headers ?? NOTHING);
  }

  /** What a visitor in the line is told, and is told again when they ask too early. */
  #answerFor(call: Call, reply: Waiting, held: HeldTicket): string {
    const body = call.front.waitingJson(reply, held.opening);
    held.lastAnswer = body;
    held.nextCheckInAt = call.now + reply.nextCheckInMs * EARLY_SHARE;
    return body;
  }

  #away(call: Call): void {
    answer(call, 503, { status: "engineAway" }, ["Retry-After", String(RETRY_SECONDS)]);
  }
}

/** For every answer to this call. */
function addHeaders(response: Response, headers: readonly string[]): void {
  for (let i = 0; i < headers.length; i += 2) response.setHeader(headers[i]!, headers[i + 1]!);
}

function entered(leftMs: number): { status: "entered"; expiresInMs: number } {
  return { status: "entered", expiresInMs: Math.max(0, leftMs) };
}

/** The busiest answer: a waiting visitor's JSON, known to be ASCII. */
function sendAscii(response: Response, body: string, headers: readonly string[] = NOTHING): void {
  const length = String(body.length);
  // Written out rather than spread: this is the busiest line of all.
  const whole = [
    "Content-Type",
    "application/json; charset=utf-8",
    "Cache-Control",
    "no-store",
    "X-Content-Type-Options",
    "nosniff",
    "Content-Length",
    length,
  ];
  if (headers.length > 0) whole.push(...headers);
  sendWhole(response, 200, whole, body, "latin1");
}

function answer(call: Call, status: number, body: object, headers: readonly string[] = []): void {
  send(call.response, status, [...PERSONAL_JSON, ...headers], JSON.stringify(body));
}
