/**
 * One request over a connection that undici does not have. Its handler hears of it as from undici, so that an exchange
 * does not know the difference; what speaks the protocol (`expect-continue.ts`, `http2-session.ts`) tells it to the call.
 *
 *   begun ──▶ expecting ──▶ sending ──▶ answering ──▶ over
 *     │           │            ▲ │          ▲
 *     └───────────┼────────────┘ └──────────┤
 *                 └─────────────────────────┘  an answer before the body was asked for: the body is never sent
 *
 * Until it is answered a call can be taken back and begun on another connection, where the origin says that it has done
 * nothing for it, and as long as all that was sent of the body is still here.
 *
 * A request that expects 100 sends its body when the origin says so, or after `CONTINUE_WAIT_MS`, since some servers have
 * never heard of it (RFC 9110, section 10.1.1).
 */
import type { Readable, Writable } from "node:stream";
import type { Dispatcher } from "undici";
import type { OriginSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import type { PoolHandler, PoolRequest } from "./pool.ts";
import { isNamed } from "./raw-header.ts";

/** How long an origin has to say 100 before it gets the body all the same. */
export const CONTINUE_WAIT_MS = 1_000;

/** How often a request is begun again, each time on another connection. */
const TAKE_BACKS_MAX = 5;
/**
 * How much of a body is kept for sending it again. An origin that does not look at a request gets no more of its body than
 * the first window of HTTP/2, 64 KB unless it allows more; behind that wait one part of the body, 64 KB at most, and less
 * than the 16 KB from which on a stream asks to wait.
 */
export const KEPT_BYTES_MAX = 147_456;

/** What the transport of a call has to be able to do. */
export interface CallTransport {
  /** Where the body goes. */
  readonly outgoing: Writable;
  /** Lets go of what is still open, in the middle of whatever is under way. Called once. */
  drop(): void;
}

export interface CallOptions {
  readonly settings: Pick<OriginSettings, "headersTimeout" | "idleTimeout">;
  readonly world: World;
}

/** The origin was silent for too long. The codes are undici's. */
class OriginSilent extends Error {
  readonly code: "UND_ERR_HEADERS_TIMEOUT" | "UND_ERR_BODY_TIMEOUT";

  constructor(code: OriginSilent["code"]) {
    super("origin took too long");
    this.code = code;
  }
}

/** The visitor's body is not as long as they said. */
class BodyLengthWrong extends Error {
  readonly code = "UND_ERR_INVALID_ARG";
}

/** The other side closed in the middle. */
export class OriginClosed extends Error {
  readonly code = "UND_ERR_SOCKET";
}

const NO_HEADERS = Object.freeze({});

export class OriginCall implements Dispatcher.DispatchController {
  readonly request: PoolRequest;
  /** How long the body is to be; null when that is not known yet. */
  readonly contentLength: number | null;
  rawHeaders: string[] = [];
  rawTrailers: string[] = [];
  paused = false;
  aborted = false;
  reason: Error | null = null;
  /** True once a timeout has ended it. */
  isTimedOut = false;
  readonly #handler: PoolHandler;
  readonly #options: CallOptions;
  #transport: CallTransport | null = null;
  #incoming: Readable | null = null;
  #isSending = false;
  #sentBytes = 0;
  #isBodySent = false;
  /** What was sent of the body, while that is little enough to be sent again; null once it is not. */
  #kept: Buffer[] | null = [];
  #takeBacks = 0;
  #isOver = false;
  /** When the origin, or the visitor's body, was last seen to move. */
  #movedAt = 0;
  #stopWaiting: (() => void) | null = null;
  #stopTimer: (() => void) | null = null;

  constructor(request: PoolRequest, handler: PoolHandler, options: CallOptions) {
    this.request = request;
    const length = headerIn(request.headers as readonly string[], "Content-Length", "content-length");
    this.contentLength = length === null ? null : Number(length);
    this.#handler = handler;
    this.#options = options;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** There is a connection. False: nobody wants it any more, and nothing may be sent. */
  begin(): boolean {
    if (this.#isOver) return false;
    return this.#tell(() => this.#handler.onRequestStart?.(this, null));
  }

  /** The head is on its way. */
  open(transport: CallTransport): void {
    this.#transport = transport;
    this.#watch(this.#options.settings.headersTimeout, "UND_ERR_HEADERS_TIMEOUT");
    transport.outgoing.on("drain", () => this.#goOn(transport));
    if (this.#isSending) this.#sendAgain(transport);
    else if (this.request.expectContinue !== true) this.sendBody();
    else this.#stopWaiting = this.#options.world.timers.after(CONTINUE_WAIT_MS, () => this.sendBody());
  }

  /** The origin wants the body. A second time is ignored. */
  sendBody(): void {
    if (this.#isSending || this.#isOver || this.#incoming !== null) return;
    this.#isSending = true;
    this.#stopWaiting?.();
    const body = this.#body;
    if (body === null) this.#finishBody();
    else
      body
        .on("data", (chunk: Buffer) => this.#send(chunk))
        .on("end", () => this.#finishBody())
        .on("error", (error) => this.fail(error));
  }

  /**
   * The origin did nothing for it. True when another connection may carry it: once (RFC 9110, section 9.2.2), and a few
   * times where it is the connection that goes away, since servers close one after a number of requests, even with many on it.
   */
  takeBack(isConnectionGoing: boolean): boolean {
    if (this.#isOver || this.#incoming !== null || this.#kept === null) return false;
    if (this.#takeBacks >= (isConnectionGoing ? TAKE_BACKS_MAX : 1)) return false;
    this.#takeBacks++;
    this.#transport = null;
    this.#stopWaiting?.();
    this.#body?.pause();
    return true;
  }

  /** An answer that is not the last one (1xx). */
  inform(status: number, raw: string[]): void {
    if (this.#isOver || this.#incoming !== null) return;
    this.rawHeaders = raw;
    this.#tell(() => this.#handler.onResponseStart?.(this, status, NO_HEADERS, ""));
  }

  /** The answer begins. `incoming` has its body, and is read from here on. */
  answer(head: { status: number; raw: string[]; message: string }, incoming: Readable): void {
    if (this.#isOver || this.#incoming !== null) return;
    this.#incoming = incoming;
    this.#kept = null;
    this.#stopWaiting?.();
    this.rawHeaders = head.raw;
    this.#watch(this.#options.settings.idleTimeout, "UND_ERR_BODY_TIMEOUT");
    if (!this.#tell(() => this.#handler.onResponseStart?.(this, head.status, NO_HEADERS, head.message)))
      return;
    incoming.on("data", (chunk: Buffer) => this.#receive(chunk));
    if (this.paused) incoming.pause();
  }

  /** All of the answer has come. */
  end(trailers: string[]): void {
    if (this.#isOver) return;
    this.rawTrailers = trailers;
    this.#finish();
    try {
      this.#handler.onResponseEnd?.(this, NO_HEADERS);
    } catch (error) {
      this.#handler.onResponseError?.(this, error as Error);
    }
  }

  fail(error: Error): void {
    if (this.#isOver) return;
    this.#finish();
    this.#handler.onResponseError?.(this, error);
  }

  abort(reason: Error): void {
    if (this.aborted) return;
    this.aborted = true;
    this.reason = reason;
    this.fail(reason);
  }

  pause(): void {
    this.paused = true;
    this.#incoming?.pause();
  }

  resume(): void {
    if (!this.paused) return;
    this.paused = false;
    this.#movedAt = this.#options.world.clock.now();
    this.#incoming?.resume();
  }

  get #body(): Readable | null {
    return this.request.body as Readable | null;
  }

  #send(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#sentBytes += chunk.length;
    this.#movedAt = this.#options.world.clock.now();
    if (this.#sentBytes > KEPT_BYTES_MAX) this.#kept = null;
    else this.#kept?.push(chunk);
    if (this.#sentBytes > (this.contentLength ?? this.#sentBytes))
      this.fail(new BodyLengthWrong("body longer than its Content-Length"));
    else if (!this.#transport?.outgoing.write(chunk)) this.#body!.pause();
  }

  #finishBody(): void {
    if (this.#isOver) return;
    this.#isBodySent = true;
    if (this.#body !== null && this.#sentBytes !== (this.contentLength ?? this.#sentBytes))
      this.fail(new BodyLengthWrong("body shorter than its Content-Length"));
    else this.#transport?.outgoing.end();
  }

  /** On another connection, what was sent on the one before, and then the rest. */
  #sendAgain(transport: CallTransport): void {
    let hasRoom = true;
    for (const chunk of this.#kept!) hasRoom = transport.outgoing.write(chunk);
    if (this.#isBodySent) transport.outgoing.end();
    else if (hasRoom) this.#goOn(transport);
  }

  #goOn(transport: CallTransport): void {
    if (transport === this.#transport) this.#body?.resume();
  }

  #receive(chunk: Buffer): void {
    if (this.#isOver) return;
    this.#movedAt = this.#options.world.clock.now();
    this.#tell(() => this.#handler.onResponseData?.(this, chunk));
  }

  /** What a handler throws ends its request, and nothing else. */
  #tell(work: () => void): boolean {
    try {
      work();
    } catch (error) {
      this.fail(error as Error);
    }
    return !this.#isOver;
  }

  /** Gives up on an origin that does not move for so long. The time for which we hold it up does not count. */
  #watch(timeoutMs: number, code: OriginSilent["code"]): void {
    const { clock, timers } = this.#options.world;
    this.#stopTimer?.();
    this.#movedAt = clock.now();
    const look = () => {
      if (this.#isHeldUp()) this.#movedAt = clock.now();
      const leftMs = this.#movedAt + timeoutMs - clock.now();
      if (leftMs > 0) this.#stopTimer = timers.after(leftMs, look);
      else {
        this.isTimedOut = true;
        this.fail(new OriginSilent(code));
      }
    };
    this.#stopTimer = timers.after(timeoutMs, look);
  }

  /** True while the origin waits for the visitor: to send the rest of the body, or to read the answer. */
  #isHeldUp(): boolean {
    if (this.#incoming !== null) return this.paused;
    return this.#isSending && !this.#isBodySent && !this.#body!.isPaused();
  }

  #finish(): void {
    this.#isOver = true;
    this.#stopWaiting?.();
    this.#stopTimer?.();
    this.#transport?.drop();
  }
}

/** A header's value in a flat list; null when it is not there. */
export function headerIn(headers: readonly string[], usual: string, lower: string): string | null {
  for (let i = 0; i < headers.length; i += 2) if (isNamed(headers[i]!, usual, lower)) return headers[i + 1]!;
  return null;
}
