/**
 * One HTTP/2 connection to an origin, and the requests on it.
 *
 * A connection that is going away (GOAWAY), on which a request timed out or many were taken back, gets no new requests and
 * is closed when the last one on it is over. What the origin refused without doing anything for it (RFC 9113, section 8.7) is handed back.
 *
 * Node ends a stream that was reset, or whose connection was lost, as if all of it had come. What really ends an answer,
 * END_STREAM, is known by coming while the stream is open.
 */
import { validateHeaderValue } from "node:http";
import http2, { type ClientHttp2Session, type ClientHttp2Stream } from "node:http2";
import type { Socket } from "node:net";
import type { Timers } from "../../core/world.ts";
import { LINGER_MAX_MS } from "./answer.ts";
import { type OriginCall, OriginClosed } from "./origin-call.ts";
import { RESPONSE_HEADER_BYTES_MAX, UNUSED_MAX_MS } from "./pool.ts";

/** The most requests on one connection, where the origin allows as many. */
const STREAMS_MAX = 100;
/**
 * How many requests may be taken back on one connection. Visitors who leave must not bring a connection, which is that of
 * others too, over what origins allow (CVE-2023-44487): some hundreds, most of them.
 */
export const CANCELS_MAX = 100;
/** How much of an answer, and of all of them, may be on its way before we have read it. Paused answers hold as much. */
const STREAM_WINDOW_BYTES = 131_072;
const SESSION_WINDOW_BYTES = 4_194_304;
/** Named by an origin that means to go away and has not decided yet after which request (RFC 9113, section 6.8). */
const STREAM_ID_MAX = 2 ** 31 - 1;
/** The most header lines in one answer. */
const RESPONSE_HEADERS_MAX = 1_000;

const METHOD = /^[\w!#$%&'*+.^`|~-]+$/;
const PATH = /^[\x21-\xff]+$/;

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM } = http2.constants;

/** What an origin did with the requests on a connection. */
export interface RequestCounts {
  readonly taken: number;
  readonly refused: number;
  /** The origin said that it would close it. */
  readonly isGone: boolean;
}

export interface SessionEvents {
  /** It can take a request, or is closed. */
  onChange(): void;
  /** The origin refused a request, or the connection is closed. */
  onCounts(counts: RequestCounts): void;
  /** The origin ends the connection in good order, after this many requests. */
  onEnd(requests: number): void;
  /** The origin did nothing for the request, which was taken back. */
  onRefused(call: OriginCall): void;
}

export interface SessionOptions {
  readonly url: URL;
  readonly timers: Timers;
  /** How many requests are sent over one connection. */
  requestsMax(): number;
}

/** Begins to speak HTTP/2 on a connection. */
export function beginSession(url: URL, socket: Socket): ClientHttp2Session {
  const session = http2.connect(url.origin, {
    createConnection: () => socket,
    peerMaxConcurrentStreams: STREAMS_MAX,
    maxHeaderListPairs: RESPONSE_HEADERS_MAX,
    // A visitor may well send a header twice.
    strictSingleValueFields: false,
    settings: {
      enablePush: false,
      initialWindowSize: STREAM_WINDOW_BYTES,
      maxHeaderListSize: RESPONSE_HEADER_BYTES_MAX,
    },
  } as http2.SecureClientSessionOptions);
  // Each request on it hears of this by itself.
  session.on("error", () => {});
  session.on("connect", () => session.setLocalWindowSize(SESSION_WINDOW_BYTES));
  return session;
}

export class OriginSession {
  readonly #session: ClientHttp2Session;
  readonly #url: URL;
  readonly #events: SessionEvents;
  readonly #timers: Timers;
  readonly #requestsMax: () => number;
  #streams = 0;
  #sent = 0;
  #refused = 0;
  #cancels = 0;
  #isGone = false;
  #isRetired = false;
  #stopIdle: (() => void) | null = null;

  /** For a session whose origin has said what it allows. */
  constructor(session: ClientHttp2Session, options: SessionOptions, events: SessionEvents) {
    const { url, timers, requestsMax } = options;
    this.#session = session;
    this.#url = url;
    this.#timers = timers;
    this.#requestsMax = requestsMax;
    this.#events = events;
    session.on("goaway", (code, lastStream) => {
      this.#isGone = true;
      if (code === NGHTTP2_NO_ERROR && lastStream < STREAM_ID_MAX) events.onEnd((lastStream + 1) / 2);
      this.#retire();
    });
    session.on("remoteSettings", () => events.onChange());
    session.on("close", () => {
      this.#stopIdle?.();
      events.onCounts(this.#counts());
      events.onChange();
    });
    this.#rest();
  }

  get isClosed(): boolean {
    return this.#session.destroyed;
  }

  get hasRoom(): boolean {
    if (this.#isRetired || this.#isWorn || this.#session.closed || this.#session.destroyed) return false;
    // An origin that allows none makes those wait that are asked of it.
    const allowed = Math.max(1, this.#session.remoteSettings.maxConcurrentStreams ?? STREAMS_MAX);
    return this.#streams < Math.min(STREAMS_MAX, allowed);
  }

  /** Sends a request. There must be room for it. */
  send(call: OriginCall): void {
    if (!call.begin()) return;
    let stream: ClientHttp2Stream;
    try {
      stream = this.#session.request(headersOf(call, this.#url), { endStream: call.request.body === null });
    } catch (error) {
      call.fail(Object.assign(error as Error, { code: "UND_ERR_INVALID_ARG" }));
      return;
    }
    this.#streams++;
    this.#sent++;
    this.#stopIdle?.();
    this.#listen(stream, call);
    call.open({ outgoing: stream, drop: () => this.#drop(stream) });
  }

  destroy(): void {
    this.#session.destroy();
  }

  #listen(stream: ClientHttp2Stream, call: OriginCall): void {
    const isWhole = endWatch(stream);
    let trailers: string[] = [];
    let isHandedBack = false;
    stream.on("continue", () => call.sendBody());
    stream.on("headers", (headers, _flags, raw) => {
      if (headers[":status"] !== 100) call.inform(Number(headers[":status"]), withoutPseudo(raw));
    });
    stream.on("response", (headers, _flags, raw) => {
      call.answer({ status: Number(headers[":status"]), raw: withoutPseudo(raw), message: "" }, stream);
    });
    stream.on("trailers", (_headers, _flags, raw) => {
      trailers = withoutPseudo(raw);
    });
    stream.on("end", () => {
      if (isWhole()) call.end(trailers);
    });
    stream.on("error", (error) => {
      if (isRefused(stream, error)) {
        this.#refused++;
        this.#events.onCounts(this.#counts());
        isHandedBack ||= call.takeBack(this.#isGone);
      }
      if (!isHandedBack) call.fail(error);
    });
    stream.on("close", () => {
      this.#streams--;
      if (!isHandedBack) call.fail(new OriginClosed("origin closed in the middle of its answer"));
      if (call.isTimedOut) this.#retire();
      if (this.#streams === 0) this.#rest();
      this.#events.onChange();
      if (isHandedBack) this.#events.onRefused(call);
    });
  }

  get #isWorn(): boolean {
    return this.#sent >= this.#requestsMax();
  }

  #counts(): RequestCounts {
    return { taken: this.#sent - this.#refused, refused: this.#refused, isGone: this.#isGone };
  }

  /** Takes a request back that is under way. One that is over may send the last of its body, for a while. */
  #drop(stream: ClientHttp2Stream): void {
    const cancel = () => {
      if (++this.#cancels >= CANCELS_MAX) this.#isRetired = true;
      stream.close(NGHTTP2_CANCEL);
      stream.destroy();
    };
    if (!stream.readableEnded || !stream.writableEnded) cancel();
    else if (!stream.writableFinished) stream.once("close", this.#timers.after(LINGER_MAX_MS, cancel));
  }

  /** No more requests on this connection. */
  #retire(): void {
    this.#isRetired = true;
    if (this.#streams === 0) this.#session.destroy();
  }

  /** Nothing is under way. */
  #rest(): void {
    if (this.#isRetired || this.#isWorn) this.#session.destroy();
    else this.#stopIdle = this.#timers.after(UNUSED_MAX_MS, () => this.#retire());
  }
}

/** Tells, at the end of a stream, whether the origin has ended it. */
function endWatch(stream: ClientHttp2Stream): () => boolean {
  let isWhole: boolean | null = null;
  const push = stream.push.bind(stream);
  stream.push = (chunk: unknown, encoding?: BufferEncoding) => {
    if (chunk === null) isWhole ??= !stream.closed;
    return push(chunk, encoding);
  };
  return () => isWhole === true;
}

function isRefused(stream: ClientHttp2Stream, error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ERR_HTTP2_GOAWAY_SESSION" || code === "ERR_HTTP2_INVALID_SESSION") return true;
  return stream.rstCode === NGHTTP2_REFUSED_STREAM;
}

/** Throws where one is malformed. Node takes any text for a value here, and a zero byte in it for its end. */
function headersOf({ request }: OriginCall, url: URL): http2.OutgoingHttpHeaders {
  if (!METHOD.test(request.method) || !PATH.test(request.path)) throw new Error("malformed request");
  const headers: Record<string, string | string[]> = Object.create(null);
  headers[":method"] = request.method;
  headers[":scheme"] = url.protocol.slice(0, -1);
  headers[":authority"] = url.host;
  headers[":path"] = request.path;
  const given = request.headers as readonly string[];
  for (let i = 0; i < given.length; i += 2) {
    const name = given[i]!.toLowerCase();
    const value = given[i + 1]!;
    validateHeaderValue(name, value);
    if (name === "host") headers[":authority"] = value;
    else headers[name] = name in headers ? [headers[name]!, value].flat() : value;
  }
  if (request.expectContinue === true) headers.expect = "100-continue";
  if (acceptsTrailers(request.te)) headers.te = "trailers";
  return headers;
}

function acceptsTrailers(te: string | string[] | undefined): boolean {
  return String(te ?? "")
    .split(",")
    .some((coding) => coding.trim().toLowerCase() === "trailers");
}

function withoutPseudo(raw: readonly string[]): string[] {
  const headers: string[] = [];
  for (let i = 0; i < raw.length; i += 2) if (!raw[i]!.startsWith(":")) headers.push(raw[i]!, raw[i + 1]!);
  return headers;
}
