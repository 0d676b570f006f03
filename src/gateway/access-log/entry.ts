/**
 * What is noted about one request for the access log, from its arrival to its end. An entry is attached to its response, or for
 * an upgrade to its connection, so that each part that decides something about the request can note it. While the access log is
 * off there are no entries, and the cost is one check.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { AnyResponse } from "../proxy/any-http.ts";
import type { Client, Incoming } from "../proxy/trust.ts";
import type { Decision } from "./line.ts";

const ENTRY = Symbol("entry of the access log");

/** Carries a body, and knows how many of its bytes the connection of the visitor has been given. */
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

/** The parts of a verdict that are logged. */
export interface Decided {
  readonly decision: Decision;
  readonly room: string | null;
  readonly visitor: string | null;
  readonly isPoll?: boolean;
}

export class AccessEntry {
  readonly request: LoggedRequest;
  readonly startedAt: number;
  /** The other end of the connection. Noted at the start, since a closed connection no longer has it. */
  readonly peer: string;
  method: string | null;
  /** As it was sent; routing may change it. */
  path: string | null;
  /** The visitor, once known. */
  client: Client | null = null;
  room: string | null = null;
  decision: Decision = "none";
  visitor: string | null = null;
  origin: string | null = null;
  originMs: number | null = null;
  id: string | null = null;
  /** True for what waiting visitors request again and again: no line, unless it fails. */
  isPoll = false;
  /** 0: the response has it. */
  status = 0;
  bytes: number | null = null;
  carrier: BodyCarrier | null = null;
  /** When bytes are written past a response: what the connection had sent before. */
  connection: Socket | null = null;
  connectionFrom = 0;
  /** What else ends with the request: a second listener on every response would cost more than the line. */
  atEnd: ((isGivenUp: boolean) => void) | null = null;

  constructor(request: LoggedRequest, now: number) {
    this.request = request;
    this.startedAt = now;
    this.peer = request.socket.remoteAddress ?? "";
    this.method = request.method ?? null;
    this.path = request.url ?? null;
  }

  /** The request goes to the site; `atEnd` is called when it is over. */
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

  /** The decision about it. */
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

  /** From here on all bytes that the connection sends count for it. */
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
