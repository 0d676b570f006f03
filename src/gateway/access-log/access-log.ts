/**
 * The access log: one line for every finished request, with what was decided about it. `line.ts` formats the line,
 * `line-writer.ts` writes it to disk, and the parts that serve a request note what they know in its entry (`entry.ts`).
 *
 * An entry begins when the gateway takes a request up, and ends when its response closes, or for an upgrade its connection.
 * Boards and check-ins with an ordinary answer leave no line: there may be thousands a second, and they tell nothing new.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Clock } from "../../core/world.ts";
import { isGivenUp } from "../adapters/node-request.ts";
import { headerOf } from "../facts.ts";
import { withoutCode } from "../lanes/carried-code.ts";
import type { AnyRequest, AnyResponse } from "../proxy/any-http.ts";
import { STATUS_VISITOR_LEFT } from "../proxy/exchange.ts";
import { plainAddress } from "../proxy/forwarded.ts";
import type { Trust } from "../proxy/trust.ts";
import { AccessEntry, attach, entryOf, type LoggedRequest } from "./entry.ts";
import type { Finished } from "./line.ts";

const OK = 200;

/** The fields for bytes that could not be read as a request. */
const UNREAD: Omit<Finished, "endedAt" | "address" | "status" | "bytes"> = {
  ...{ method: null, path: null, httpVersion: null, referer: null, userAgent: null, host: null },
  ...{ room: null, decision: "refused", visitor: null, origin: null, originMs: null, tookMs: 0, id: null },
};

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Takes finished requests. It must not keep the object, which is reused for the next one. */
export interface Sink {
  add(finished: Finished): void;
}

export class AccessLog {
  /** Null: the access log is off. */
  sink: Sink | null = null;
  readonly #clock: Clock;
  readonly #trust: () => Trust;
  /** One object for all requests, to spare the garbage collector. */
  readonly #line: Writable<Finished> = { ...UNREAD, endedAt: 0, address: "", status: 0, bytes: null };
  readonly #onResponseClose: (this: AnyResponse) => void;
  readonly #onConnectionClose: (this: Duplex) => void;

  /** `trust` finds the client behind a proxy, by the settings in force. */
  constructor(clock: Clock, trust: () => Trust) {
    const finish = (entry: AccessEntry) => this.#finish(entry);
    this.#clock = clock;
    this.#trust = trust;
    // One function for all requests, instead of a closure for each.
    this.#onResponseClose = function () {
      const entry = entryOf(this)!;
      const wasGivenUp = isGivenUp(this);
      readResponse(entry, this, wasGivenUp);
      finish(entry);
      entry.atEnd?.(wasGivenUp);
    };
    this.#onConnectionClose = function () {
      const entry = entryOf(this)!;
      entry.status ||= STATUS_VISITOR_LEFT;
      entry.bytes ??= 0;
      finish(entry);
      entry.atEnd?.(true);
    };
  }

  /** Begins the entry of a request; null while the log is off. */
  begin(request: AnyRequest, response: AnyResponse, now = this.#clock.now()): AccessEntry | null {
    if (this.sink === null) return null;
    const entry = new AccessEntry(request, now);
    attach(entry, response);
    // Both protocols' responses have these events; only their types differ.
    (response as { on(event: "close", listener: unknown): void }).on("close", this.#onResponseClose);
    return entry;
  }

  /** The same for an upgrade, which ends with its connection. */
  beginUpgrade(request: AnyRequest, connection: Duplex): AccessEntry | null {
    if (this.sink === null) return null;
    const entry = new AccessEntry(request, this.#clock.now());
    attach(entry, connection);
    connection.on("close", this.#onConnectionClose);
    return entry;
  }

  /** The same without a response of Node's: the caller says when it has `ended`. */
  beginElsewhere(request: LoggedRequest): AccessEntry | null {
    return this.sink === null ? null : new AccessEntry(request, this.#clock.now());
  }

  ended(entry: AccessEntry, status: number): void {
    entry.status = status;
    this.#finish(entry);
  }

  /** Logs bytes that could not be read as a request, and the status of the answer. */
  malformed(connection: Duplex, status: number, bytes: number): void {
    const { sink } = this;
    if (sink === null) return;
    const address = plainAddress((connection as Socket).remoteAddress ?? "");
    sink.add({ ...UNREAD, endedAt: this.#clock.now(), address, status, bytes });
  }

  #finish(entry: AccessEntry): void {
    const { sink } = this;
    if (sink === null || (entry.isPoll && entry.status === OK)) return;
    const { connection, request, path } = entry;
    const { headers } = request;
    const client = entry.client ?? this.#trust().client({ socket: { remoteAddress: entry.peer }, headers });
    const endedAt = this.#clock.now();
    const referer = headerOf(request, "referer");
    const line = this.#line;
    line.endedAt = endedAt;
    line.tookMs = endedAt - entry.startedAt;
    line.address = client.address;
    line.method = entry.method;
    line.path = path && withoutCode(path);
    line.httpVersion = request.httpVersion ?? null;
    line.status = entry.status;
    line.bytes = connection
      ? Math.max(0, connection.bytesWritten - connection.writableLength - entry.connectionFrom)
      : entry.bytes;
    line.referer = referer === undefined ? null : withoutCode(referer);
    line.userAgent = headerOf(request, "user-agent") ?? null;
    line.host = client.host;
    line.room = entry.room;
    line.decision = entry.decision;
    line.visitor = entry.visitor;
    line.origin = entry.origin;
    line.originMs = entry.originMs;
    line.id = entry.id;
    sink.add(line);
  }
}

/** The status, and how many bytes of the body were sent. */
function readResponse(entry: AccessEntry, response: AnyResponse, wasGivenUp: boolean): void {
  const { headersSent } = response;
  entry.status = headersSent ? response.statusCode : STATUS_VISITOR_LEFT;
  const passed = entry.carrier?.sentBytes ?? 0;
  const unsent = wasGivenUp ? response.writableLength : 0;
  if (entry.method === "HEAD") entry.bytes = 0;
  else if (entry.bytes !== null || entry.carrier !== null || !headersSent)
    entry.bytes = Math.max(0, (entry.bytes ?? 0) + passed - unsent);
  // A site in the same process writes the body itself; its Content-Length is taken, if it has one.
  else entry.bytes = lengthOf(response.getHeader("content-length"));
}

function lengthOf(header: unknown): number | null {
  const length = Number(header);
  return header !== undefined && Number.isSafeInteger(length) ? length : null;
}
