/**
 * One request and its answer: the visitor's on one side, the origin's on the other, bytes passed on as they come.
 *
 * Little is kept: the beginning of a body (`upload.ts`) and some of an answer for a slow visitor (`spool.ts`), so that
 * slow visitors hold no connection to the origin. Beyond that, when the visitor reads slowly the origin is paused, when
 * the origin reads slowly the visitor is. A visitor who leaves takes the origin's request along. What can still be saved
 * is saved: as long as no connection was made any other address may serve the request, and a request that may be repeated
 * is sent to another one when no answer comes. From the first byte of an answer there is no way back, only breaking
 * off. The result of a request is reported to its address before the connection is given back.
 *
 *   gathering ──▶ asking ──▶ connected ──▶ answering ──▶ over
 *                  │  ▲         │              └── origin fails: break off
 *                  └──┘         └── no answer: repeat elsewhere, or a problem page
 *               next address
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Dispatcher } from "undici";
import { isOutOfHandles } from "../../sockets/relief.ts";
import { type BodyCarrier, entryOf } from "../access-log/entry.ts";
import { commandIn, requestHeaders, responseHeaders } from "../headers.ts";
import type { PageKind } from "../page/languages.ts";
import type { OriginAddress } from "./address.ts";
import { answerWhole, breakOff, discardRest, hasBody, writeHead, writeHints } from "./answer.ts";
import { diagnose } from "./diagnosis.ts";
import type { Forward, ProxyContext, SlowKind } from "./forward.ts";
import { originForm } from "./framing.ts";
import { OriginBusy, OriginRequest } from "./origin-request.ts";
import type { PoolHandler, PoolRequest } from "./pool.ts";
import { PRESSED_WINDOW_MS } from "./slow-visitors.ts";
import { Spool } from "./spool.ts";
import { LARGE_BYTES, type TurnTaker } from "./turns.ts";
import { BodyTooLarge, Upload } from "./upload.ts";

/** Reported for a visitor who left before the answer; nobody is sent it. */
export const STATUS_VISITOR_LEFT = 499;

/** RFC 9110, section 9.2.2. */
const IDEMPOTENT = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
/** A chunk of a body larger than this is passed on at once. */
const HELD_BYTES_MAX = 16_384;

class VisitorLeft extends Error {
  readonly code = "VISITOR_LEFT";
}

/** The visitor sends less of the body than the pace asks for. */
class BodyTooSlow extends Error {
  readonly code = "BODY_TOO_SLOW";
}

/** The visitor takes less of the answer than the pace asks for. */
class ReaderTooSlow extends Error {
  readonly code = "READER_TOO_SLOW";
}

/** Early hints and trailers: nothing of ours goes with them, and caches do not go by them. */
const HINTS = { added: [], isPersonal: false, canTrail: false } as const;

/** Carries one request to the origin and its answer back. */
export class Exchange extends OriginRequest implements PoolHandler, TurnTaker, BodyCarrier {
  readonly use = "requests";
  isInvalid = false;
  private readonly response: ServerResponse;
  /** When the origin was first asked; null before that. */
  private askedAt: number | null = null;
  private readonly isHttp2: boolean;
  private readonly headers: string[];
  private readonly upload: Upload | null;
  private controller: Dispatcher.DispatchController | null = null;
  private isAnswered = false;
  /** The first small chunk of a body, until the end of the tick in which it came. */
  private held: Buffer | null = null;
  private isFlushed = false;
  /** Only for an answer that its visitor does not take at once. */
  private spool: Spool | null = null;
  /** How much of the answer has been passed on. */
  private passedBytes = 0;
  /** So much that it takes turns with others (`turns.ts`). */
  private isLarge = false;
  private isTurnAwaited = false;

  constructor(proxy: ProxyContext, request: IncomingMessage, response: ServerResponse, forward: Forward) {
    super(proxy, request, forward, entryOf(response));
    this.response = response;
    if (this.entry !== null) this.entry.carrier = this;
    this.isHttp2 = request.httpVersionMajor === 2;
    const { sender: client } = forward;
    this.headers = requestHeaders(request.rawHeaders, {
      client,
      host: proxy.hostFor(client),
      id: forward.id,
      added: forward.requestHeaders,
      upgrade: null,
    });
    this.upload = hasBody(request)
      ? new Upload(request, {
          slow: proxy.slow,
          address: () => (this.isWaiting ? null : this.address),
          onStart: () => this.onUploadStart(),
          onBytes: (bytes) => this.noteMoved(bytes),
          onTooSlow: () => this.cutOff("body", new BodyTooSlow("visitor sends slower than the pace")),
        })
      : null;
  }

  get isRepeatable(): boolean {
    return this.upload === null && IDEMPOTENT.has(this.request.method!);
  }

  get sentBytes(): number {
    return this.passedBytes - (this.spool?.keptBytes ?? 0);
  }

  /** Uploads are judged by what comes of them, not here. */
  carriedPace(now: number): number {
    const lastedMs = now - this.askedAt!;
    if (this.isComing || lastedMs < PRESSED_WINDOW_MS) return Number.POSITIVE_INFINITY;
    return (this.passedBytes / lastedMs) * 1_000;
  }

  cut(): void {
    this.cutOff("answer", new OriginBusy("its connection was needed for others"));
  }

  get isComing(): boolean {
    return this.upload !== null && !this.upload.isWhole;
  }

  start(): void {
    this.response.on("close", () => this.onVisitorClose());
    const { bodyBytes } = this.proxy.slow.limits;
    if (bodyBytes !== null && Number(this.request.headers["content-length"]) > bodyBytes)
      this.fail(new BodyTooLarge("Content-Length over the limit"));
    else if (this.upload === null) this.ask();
    else if (this.forward.isContinueExpected) {
      // The origin says whether it wants the body; nothing comes before that.
      this.upload.withhold();
      this.ask();
    } else this.upload.gather((error) => this.onGathered(error));
  }

  private onGathered(error: Error | null): void {
    if (this.isOver) return;
    if (error === null) this.ask();
    else this.fail(error);
  }

  protected override ask(): void {
    if (this.askedAt === null) {
      this.askedAt = this.proxy.world.clock.now();
      this.forward.watch?.asked();
      this.proxy.origin.count();
    }
    super.ask();
  }

  protected send(address: OriginAddress): void {
    const { request, upload } = this;
    const options: PoolRequest = {
      path: originForm(request.url!),
      method: request.method!,
      headers: this.headers,
      body: upload,
      servername: address.hostname,
      expectContinue: upload !== null && this.forward.isContinueExpected,
      te: request.headers.te,
    };
    address.pool.dispatch(options, this);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.address !== null) this.proxy.origin.connected(this.address, this);
    // Thrown, not aborted: undici then drops the request and keeps the connection, to which nothing has been written.
    if (this.isOver) throw new VisitorLeft("visitor left before the request was sent");
    this.controller = controller;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    message = "",
  ): void {
    const raw = decode(controller.rawHeaders as RawList);
    if (status < 200) {
      if (status === 103) writeHints(this.request, this.response, responseHeaders(raw, HINTS));
      return;
    }
    this.proxy.ownLinks?.rewrite(raw, this.forward.sender);
    const canTrail = this.request.method !== "HEAD" && this.request.httpVersion !== "1.0";
    const { isPersonal } = this.forward;
    const headers = responseHeaders(raw, { added: this.watched(status, raw), isPersonal, canTrail });
    this.isAnswered = true;
    // In place of a 100 this would be the last answer on its connection, and be lost if that is closed inside a body.
    if (this.upload?.isUnasked) this.onUploadStart();
    this.proxy.origin.answered(this.address!, this, status);
    if (this.entry !== null) this.entry.originMs = this.proxy.world.clock.now() - this.askedAt!;
    writeHead(this.response, { status, message, headers });
    // A head that comes alone must not wait for its body.
    process.nextTick(flush, this);
  }

  /** Tells the watch, and returns the headers to add. */
  private watched(status: number, raw: readonly string[]): readonly string[] {
    const { watch, responseHeaders } = this.forward;
    if (watch === null) return responseHeaders;
    watch.answered(status, this.proxy.world.clock.now() - this.askedAt!);
    const command = commandIn(raw);
    return (command === null ? null : watch.commanded(this.forward, command)) ?? responseHeaders;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // undici says so whenever it goes on after a pause. Answering with the next pause would go on for ever.
    if (chunk.length === 0) return;
    if (!this.isFlushed && this.held === null && chunk.length <= HELD_BYTES_MAX) this.held = chunk;
    else {
      this.flush();
      this.pass(chunk);
    }
  }

  onResponseEnd(controller: Dispatcher.DispatchController): void {
    this.leaveAddress();
    const trailers = controller.rawTrailers as RawList | null;
    this.finish(this.response.statusCode);
    if (this.spool === null) this.end(trailers);
    else this.spool.end(() => this.end(trailers));
    if (this.upload !== null && !this.request.complete)
      discardRest(this.request, this.response, this.proxy.world.timers);
  }

  /** Ends the answer; what the visitor has not taken by then goes on being watched. */
  private end(trailers: RawList | null): void {
    if (trailers !== null && trailers.length > 0) this.addTrailers(decode(trailers));
    this.passedBytes += this.held?.length ?? 0;
    // A small page that came whole leaves whole: as text it goes out with its head in one write.
    if (this.held === null) this.response.end();
    else if (this.isHttp2) this.response.end(this.held);
    else this.response.end(this.held.toString("latin1"), "latin1");
    if (this.spool === null && this.response.writableLength > 0) this.spool = this.newSpool();
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: Error): void {
    const address = this.address;
    const wasConnected = this.controller !== null;
    this.isInvalid = isInvalidArgument(error);
    // Also for a visitor who has left: what the origin did not do is known all the same.
    if (address !== null) this.proxy.origin.failed(address, this, error);
    this.leaveAddress();
    if (this.isOver) return;
    if (this.isAnswered || this.isInvalid || address === null) this.fail(error, address);
    else this.retry(address, error, wasConnected);
  }

  protected fail(error: Error, address: OriginAddress | null = null): void {
    const { status, kind, code } = diagnose(error);
    const { id } = this.forward;
    const cause = (error as NodeJS.ErrnoException).code;
    const fields = { code, id, address: address?.name ?? null, status, cause, error: error.message };
    this.proxy.log.add({
      level: "warn",
      about: `${code} ${fields.address}`,
      fields,
      message: this.isAnswered ? "answer from the origin broken off" : "request not answered by the origin",
    });
    if (!this.isAnswered && isOrigins(kind) && !isOutOfHandles(error)) this.forward.watch?.failed();
    this.finish(status);
    if (this.response.headersSent) breakOff(this.response);
    else this.answerProblem(status, kind);
  }

  private answerProblem(status: number, kind: PageKind): void {
    const { world, renderProblem } = this.proxy;
    const { id } = this.forward;
    const problem = renderProblem(this.request, { status, id, kind });
    const headers = [...problem.headers, ...this.forward.responseHeaders];
    try {
      answerWhole(this.request, this.response, {
        status,
        headers,
        body: problem.body,
        timers: world.timers,
      });
    } catch (error) {
      const fields = { code: "PROBLEM_NOT_SENT", id, error: String(error) };
      this.proxy.log.add({ level: "error", about: "", fields, message: "problem page could not be sent" });
      this.response.destroy();
    }
  }

  private finish(status: number): void {
    this.isOver = true;
    this.clearTimer();
    // Before undici does it, so that reading the rest of the visitor's body is not stopped again.
    this.upload?.destroy();
    if (this.askedAt === null) return;
    this.forward.watch?.done();
    this.proxy.onDone?.({ status, tookMs: this.proxy.world.clock.now() - this.askedAt });
  }

  protected override leaveAddress(): void {
    this.controller = null;
    if (this.address !== null && this.isLarge) this.leaveTurns();
    super.leaveAddress();
  }

  private addTrailers(raw: readonly string[]): void {
    const clean = responseHeaders(raw, HINTS);
    const trailers: Record<string, string> = {};
    for (let i = 0; i < clean.length; i += 2) trailers[clean[i]!] = clean[i + 1]!;
    this.response.addTrailers(trailers);
  }

  /** Sends what is held back: a small chunk of the body, or at least the head. */
  flush(): void {
    if (this.isFlushed || this.isOver) return;
    this.isFlushed = true;
    const held = this.held;
    this.held = null;
    if (held !== null) this.pass(held);
    else if (this.isHttp2) this.response.flushHeaders();
    // Node would send a head that it flushes as UTF-8.
    else this.response.write("", "latin1");
  }

  private pass(chunk: Buffer): void {
    if (this.spool !== null) this.spool.push(chunk);
    else if (!this.response.write(chunk)) this.spool = this.newSpool();
    if (this.spool?.isFull) this.controller!.pause();
    this.passedBytes += chunk.length;
    if (this.isHttp2) this.noteMoved(chunk.length);
    if (this.passedBytes > LARGE_BYTES) this.takeTurns(chunk.length);
  }

  private noteMoved(bytes: number): void {
    const { connection } = this.forward;
    if (connection !== null) connection.moved += bytes;
  }

  /** Counts what it has passed on, and waits where it is the turn of others. */
  private takeTurns(bytes: number): void {
    const { turns } = this.proxy.slow;
    if (!this.isLarge) turns.enter();
    this.isLarge = true;
    if (turns.spend(bytes)) return;
    this.isTurnAwaited = true;
    this.controller!.pause();
    turns.wait(this);
  }

  takeTurn(): void {
    this.isTurnAwaited = false;
    this.goOn();
  }

  /** Reads on, unless there is no room for more or it is not this answer's turn. */
  private goOn(): void {
    if (!this.isTurnAwaited && !this.spool?.isFull) this.controller?.resume();
  }

  private leaveTurns(): void {
    const { turns } = this.proxy.slow;
    this.isLarge = false;
    turns.leave();
    turns.giveUp(this);
  }

  private newSpool(): Spool {
    return new Spool(this.response, {
      slow: this.proxy.slow,
      address: () => this.address,
      onRoom: () => this.goOn(),
      onTooSlow: () => this.cutOff("answer", new ReaderTooSlow("visitor reads slower than the pace")),
    });
  }

  private onUploadStart(): void {
    if (this.forward.isContinueExpected && !this.response.headersSent) this.response.writeContinue();
  }

  /** Ends it because its visitor is too slow. The connection is free at once. */
  private cutOff(what: SlowKind, error: Error): void {
    const { controller, address } = this;
    this.proxy.onCut?.(what);
    this.leaveAddress();
    if (this.isOver) breakOff(this.response);
    else this.fail(error, address);
    controller?.abort(error);
  }

  private onVisitorClose(): void {
    if (this.isOver) return;
    const { controller } = this;
    this.finish(STATUS_VISITOR_LEFT);
    if (this.isWaiting) this.leaveAddress();
    controller?.abort(new VisitorLeft("visitor left"));
  }
}

function flush(exchange: Exchange): void {
  exchange.flush();
}

function isInvalidArgument(error: Error): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === "UND_ERR_INVALID_ARG" || code === "UND_ERR_NOT_SUPPORTED";
}

/** Header bytes are Latin-1 on both sides, so that what is passed on is byte for byte what came. */
function decode(raw: RawList): string[] {
  const list = new Array<string>(raw.length);
  for (let i = 0; i < raw.length; i++) list[i] = raw[i]!.toString("latin1");
  return list;
}

/** From undici as bytes, from connections of our own as text. */
type RawList = readonly { toString(encoding: "latin1"): string }[];

/** True when it was the origin that did not do its part. */
function isOrigins(kind: PageKind): boolean {
  return kind === "originAway" || kind === "originSlow";
}
