/**
 * The decision about one request, as a value. `Gateway.visit` makes it, and an adapter acts on it: `passOn` goes to the site,
 * `stream` is opened, for `takeBody` the body is read and gives another verdict, for `gone` nothing is done, and everything else
 * is shown (`render.ts`).
 */
import type { OriginSettings } from "../config/schema.ts";
import type { Eventually, Waiting } from "../core/engine.ts";
import type { Asking } from "./asking.ts";
import type { BodyOutcome } from "./body-intake.ts";
import type { Call, Carrier } from "./call.ts";
import type { Facts } from "./facts.ts";
import type { Gone, HeldBack, TurnedAway } from "./newcomers.ts";
import type { Noted, OwnAnswer } from "./own-answer.ts";
import type { Forward } from "./proxy/forward.ts";
import type { Client } from "./proxy/trust.ts";
import type { Limited } from "./requests-under-way.ts";
import type { RoomFront } from "./room-front.ts";
import type { StreamSink } from "./streams/stream-event.ts";
import type { HeldPass } from "./tokens/held-tokens.ts";

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
  | TakeBody
  | Gone;

/** All that an adapter can show: everything that `render` takes. */
export type Shown = Exclude<Verdict, PassOn | OpenStream | TakeBody | Gone>;

/** It goes to the site, and is handed to the proxy as it is. */
export interface PassOn extends Noted, Forward {
  readonly kind: "passOn";
  readonly front: RoomFront | null;
  readonly origin: OriginSettings | null;
  /** Path and query for the site. */
  readonly target: string;
  /** Whose visit it belongs to; null for a request without one. */
  readonly held: HeldPass | null;
  readonly facts: Facts;
  readonly carrier: Carrier;
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

/** The request is refused without being acted on. */
export interface Refuse extends Noted {
  readonly kind: "refuse";
  readonly status: number;
  readonly reason: string;
}

/** Too many of theirs are under way. */
export interface TooManyUnderWay extends Noted {
  readonly kind: "tooMany";
  readonly over: Limited;
  readonly accept: string | undefined;
  readonly language: string | undefined;
  readonly headers: readonly string[];
}

/** What is answered depends on the body of the request, which is read first (`body-intake.ts`). */
export interface TakeBody extends Noted {
  readonly kind: "takeBody";
  readonly bytesMax: number;
  /** For the number of requests that its sender may have under way. */
  readonly sender: Client;
  readonly use: (body: BodyOutcome) => Eventually<OwnAnswer | Gone>;
}

/** An event stream is opened, if there is room for one. */
export interface OpenStream extends Noted {
  readonly kind: "stream";
  readonly headers: readonly string[];
  /** Opens it, for which `begin` sends the head. Gives what is to be called when its reader is gone; or what is said instead. */
  readonly open: (begin: () => StreamSink) => (() => void) | OwnAnswer;
}
