/**
 * What is noted of one request for the access log, from when it came until it is over. An entry hangs on its response,
 * or for an upgrade on its connection, so that each part that decides something about the request notes it there. While the
 * access log is off there are no entries, and the cost is one check.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { AnyResponse } from "../proxy/any-http.ts";
import type { Client, Incoming } from "../proxy/trust.ts";
import type { Decision } from "./line.ts";

const ENTRY = Symbol("entry of the access log");

/** What carries a body, and knows how much of it the visitor's connection has been given. */
export interface BodyCarrier {
  readonly sentBytes: number;
}

/** A request, as far as the log reads it. */
export interface LoggedRequest extends Incoming {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  /** Left out where the runtime does not tell. */
  readonly httpVersion?: string | undefined;
}

/** What a verdict says of itself. */
export interface Decided {
  readonly decision: Decision;
  readonly room: string | null;
  readonly visitor: string | null;
  readonly isPoll?: boolean;
}

export class AccessEntry {
  readonly request: LoggedRequest;
  readonly startedAt: number;
  /** The other end of the connection; gone with it, so it is noted at the start. */
  readonly peer: string;
  method: string | null;
  /** As it was asked for; routing may change it. */
  path: string | null;
  /** Who asked, once somebody has found that out. */
  client: Client | null = null;
  room: string | null = null;
  decision: Decision = "none";
  visitor: string | null = null;
  origin: string | null = null;
  originMs: number | null = null;
  id: string | null = null;
  /** True for what waiting visitors ask again and again: no line, unless it goes wrong. */
  isPoll = false;
  /** 0: the response knows. */
  status = 0;
  bytes: number | null = null;
  carrier: BodyCarrier | null = null;
  /** Where bytes are written past any response: what the connection had sent when they began. */
  connection: Socket | null = null;
  connectionFrom = 0;
  /** What else ends with the request: a second listener on every response costs more than the line does. */
  atEnd: ((isGivenUp: boolean) => void) | null = null;

  constructor(request: LoggedRequest, now: number) {
    this.request = request;
    this.startedAt = now;
    this.peer = request.socket.remoteAddress ?? "";
    this.method = request.method ?? null;
    this.path = request.url ?? null;
  }

  /** It goes to the site; `atEnd` is called when it is over. */
  passOn(
    { id, sender }: { readonly id: string; readonly sender: Client },
    atEnd: (isGivenUp: boolean) => void,
  ): void {
    this.id = id;
    this.client = sender;
    this.atEnd = atEnd;
  }

  decide(decision: Decision): void {
    this.decision = decision;
  }

  /** What is to become of it. */
  note({ decision, room, visitor, isPoll = false }: Decided): void {
    this.decision = decision;
    this.room = room;
    this.visitor = visitor;
    this.isPoll = isPoll;
  }

  /** This is the question of a proxy in front (forward-auth) about one of its requests. */
  noteAsked({ method, url }: { method: string; url: string }, decided: Decided, client: Client): void {
    this.method = method;
    this.path = url;
    this.client = client;
    this.note(decided);
  }

  /** Counts bytes of the body that were handed over. */
  sent(bytes: number): void {
    this.bytes = (this.bytes ?? 0) + bytes;
  }

  /** Answered on the connection itself. */
  answered(status: number, bytes: number): void {
    this.status = status;
    this.bytes = bytes;
  }

  /** From here on everything that the connection sends belongs to it. */
  countOn(connection: Socket): void {
    this.connection = connection;
    this.connectionFrom = connection.bytesWritten;
  }
}

interface Noted {
  [ENTRY]?: AccessEntry;
}

/** The entry of a response or an upgraded connection; null while the access log is off. */
export function entryOf(answer: AnyResponse | Duplex): AccessEntry | null {
  return (answer as Noted)[ENTRY] ?? null;
}

export function attach(entry: AccessEntry, answer: AnyResponse | Duplex): void {
  (answer as Noted)[ENTRY] = entry;
}
