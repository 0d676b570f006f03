/**
 * What becomes of one request, as a value. `Gateway.visit` makes it, `render` turns all but two kinds into an answer, and
 * an adapter acts on it: `passOn` goes to the site, `stream` is opened, `gone` has nobody left to hear it.
 */
import type { OriginSettings } from "../config/schema.ts";
import type { Waiting } from "../core/engine.ts";
import type { Asking } from "./asking.ts";
import type { Call } from "./call.ts";
import type { Carrier } from "./carrier.ts";
import type { Facts } from "./facts.ts";
import type { HeldBack, TurnedAway } from "./newcomers.ts";
import type { Noted, OwnAnswer } from "./own-answer.ts";
import type { Client } from "./proxy/trust.ts";
import type { Over } from "./requests-under-way.ts";
import type { RoomFront } from "./room-front.ts";
import type { HeldPass, HeldTicket } from "./tokens/held-tokens.ts";

export type Verdict =
  | PassOn
  | Wait
  | TurnAway
  | EngineIsAway
  | Preflight
  | Redirect
  | Refuse
  | TooManyUnderWay
  | OwnAnswer
  | OpenStream
  | NobodyLeft;

/** All that an adapter can show: everything that `render` takes. */
export type Shown = Exclude<Verdict, PassOn | OpenStream | NobodyLeft>;

/** It goes to the site. */
export interface PassOn extends Noted {
  readonly kind: "passOn";
  /** In logs and on error pages. */
  readonly id: string;
  readonly front: RoomFront | null;
  readonly origin: OriginSettings | null;
  /** Path and query for the site. */
  readonly target: string;
  /** Flat list of `Fairgate-*` headers for the site. */
  readonly requestHeaders: readonly string[];
  /** Flat list of headers for the visitor, such as a cookie. */
  readonly responseHeaders: readonly string[];
  /** Behind a line: the answer is for this visitor alone. */
  readonly isPersonal: boolean;
  /** Whose visit it belongs to; null: nobody's. */
  readonly held: HeldPass | null;
  readonly facts: Facts;
  readonly carrier: Carrier;
  readonly client: Client;
}

/** What someone is told who asked for a page of the site and does not get it. */
export interface Told extends Noted {
  readonly call: Call;
  readonly asking: Asking;
  /** Flat list: the ticket to hand out. */
  readonly headers: readonly string[];
  /** The sequence of the place they hold; below 0 when they hold none. */
  readonly sequence: number;
}

/** They have a place in the line. */
export interface Wait extends Told {
  readonly kind: "wait";
  readonly waiting: Waiting;
  /** They have this place only because the former one was given up: its turns were not used. */
  readonly isAnew: boolean;
  /** The place of someone who has not shown that they keep a cookie; null when there is none such. */
  readonly unproven: string | null;
}

/** They get no place, or not yet. */
export interface TurnAway extends Told {
  readonly kind: "turnAway";
  readonly why: TurnedAway | HeldBack;
}

/** The line cannot be reached; whatever place they have is kept. */
export interface EngineIsAway extends Told {
  readonly kind: "engineAway";
}

/** A page of an origin that is named may make its call, which then gets its own answer. */
export interface Preflight extends Told {
  readonly kind: "preflight";
}

/** They asked with a code in the address, and are sent to the same without it. */
export interface Redirect extends Noted {
  readonly kind: "redirect";
  readonly to: string;
  readonly headers: readonly string[];
}

/** It is no request that is acted on. */
export interface Refuse extends Noted {
  readonly kind: "refuse";
  readonly status: number;
  readonly reason: string;
}

/** Too many of theirs are under way. */
export interface TooManyUnderWay extends Noted {
  readonly kind: "tooMany";
  readonly over: Over;
  readonly accept: string | undefined;
  readonly language: string | undefined;
  readonly headers: readonly string[];
}

/** An event stream is opened, if there is room for one. */
export interface OpenStream extends Noted {
  readonly kind: "stream";
  readonly front: RoomFront;
  readonly held: HeldTicket;
  readonly headers: readonly string[];
  /** The visitor's address. */
  readonly address: string;
}

/** They hung up; there is nobody to answer. */
export interface NobodyLeft {
  readonly kind: "gone";
}

export const NOBODY_LEFT: NobodyLeft = { kind: "gone" };
