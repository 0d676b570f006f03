/**
 * A request's body on its way to the origin. It stands between the visitor's connection and the HTTP client so that
 * the client may give up on it without taking the visitor's connection along: there is still an error page to send.
 *
 *   unread ──▶ gathering ──▶ gathered ──▶ passing ──▶ over
 *
 * First the beginning is read into memory, which for most bodies is all of it. Only then is a connection to the origin
 * taken, so a visitor who sends a small body slowly holds none. What is larger is passed on as it comes from there on.
 * Until the origin's connection asks for it a body can go to another address.
 *
 * Of a visitor who waits for 100 nothing is read before the origin wants it: asking for the body is what says 100.
 */
import { Readable } from "node:stream";
import { type Pressed, type SlowVisitors, StreamPace, type WatchedFlow } from "./slow-visitors.ts";

/** The visitor sent more than the limit allows. */
export class BodyTooLarge extends Error {
  readonly code = "BODY_TOO_LARGE";
}

/** The visitor's connection ended inside the body. */
class BodyCutShort extends Error {
  readonly code = "BODY_CUT_SHORT";
}

export interface UploadOptions {
  readonly slow: SlowVisitors;
  /** The origin address whose connection it has; null while it has none. */
  readonly address: () => Pressed | null;
  /** Called once, just before the first byte is asked for. */
  readonly onStart: () => void;
  /** So much has come. */
  readonly onBytes: (bytes: number) => void;
  /** The visitor sends less than the pace asks for. */
  readonly onTooSlow: () => void;
}

/** A body that is read when it is asked for, counted, and left alone once destroyed. */
export class Upload extends Readable implements WatchedFlow {
  readonly #source: Readable;
  readonly #options: UploadOptions;
  readonly #pace: StreamPace;
  #bytes = 0;
  #isStarted = false;
  /** True once all of it has come. */
  isWhole = false;
  /** What has been gathered and not been passed on. */
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  /** Set while gathering. */
  #onGathered: ((error: Error | null) => void) | null = null;

  constructor(source: Readable, options: UploadOptions) {
    super();
    this.#source = source;
    this.#options = options;
    this.#pace = new StreamPace(options.slow.now());
    // The HTTP client listens only while it holds the body; an error after that must not bring the process down.
    this.on("error", () => {});
  }

  /** Reads as much as may be kept in memory, then calls `done` once. */
  gather(done: (error: Error | null) => void): void {
    this.#onGathered = done;
    if (this.#isEnough()) this.#endGathering(null);
    else this.#start();
  }

  /** Asks for nothing until the origin does. The visitor waits, and is not to blame for it. */
  withhold(): void {
    this.#source.pause();
  }

  /** True when some of it has come although nobody asked for it yet. */
  get isUnasked(): boolean {
    return !this.#isStarted && this.#source.readableLength > 0;
  }

  override _read(): void {
    const gathered = this.#gathered;
    if (gathered.length > 0) {
      this.#letGo();
      for (const chunk of gathered) this.push(chunk);
    } else if (this.isWhole) this.push(null);
    else if (this.#isStarted) this.#goOn();
    else this.#start();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const source = this.#source;
    source.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    if (this.#isStarted && !source.readableEnded) source.pause();
    this.#letGo();
    this.#options.slow.release(this);
    callback(error);
  }

  /** Gives up on a visitor who sends too little. While the origin holds the body up, the visitor is not to blame. */
  judge(now: number): void {
    const { bodyPace: perSecond, paceWindowMs: windowMs } = this.#options.slow.limits;
    if (this.#source.isPaused()) this.#pace.restart(now, this.#bytes);
    else if (this.#pace.isTooSlow(now, this.#bytes, { windowMs, perSecond })) this.cut();
  }

  holdingUp(address: Pressed, now: number): number {
    const isHolding = this.#options.address() === address && !this.#source.isPaused();
    return isHolding ? this.#pace.current(now, this.#bytes) : Number.POSITIVE_INFINITY;
  }

  cut(): void {
    this.#options.onTooSlow();
  }

  /** The pace begins anew where something else held the body up. */
  #goOn(): void {
    if (this.#source.isPaused()) this.#pace.restart(this.#options.slow.now(), this.#bytes);
    this.#source.resume();
  }

  #start(): void {
    this.#isStarted = true;
    if (this.#source.readableEnded) {
      this.#onEnd();
      return;
    }
    this.#options.onStart();
    this.#options.slow.watch(this);
    this.#source
      .on("data", this.#onData)
      .on("end", this.#onEnd)
      .on("error", this.#onError)
      .on("close", this.#onClose)
      .resume();
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    this.#options.onBytes(chunk.length);
    const { bodyBytes } = this.#options.slow.limits;
    if (bodyBytes !== null && this.#bytes > bodyBytes) this.#fail(new BodyTooLarge("body over the limit"));
    else if (this.#onGathered !== null) this.#keep(chunk);
    else if (!this.push(chunk)) this.#source.pause();
  };

  #keep(chunk: Buffer): void {
    this.#gathered.push(chunk);
    this.#gatheredBytes += chunk.length;
    this.#options.slow.bodies.take(chunk.length);
    if (!this.#isEnough()) return;
    this.#source.pause();
    this.#endGathering(null);
  }

  #isEnough(): boolean {
    const { bodies, limits } = this.#options.slow;
    return this.#gatheredBytes >= limits.bufferedBodyBytes || bodies.free === 0;
  }

  #letGo(): void {
    this.#options.slow.bodies.give(this.#gatheredBytes);
    this.#gathered = [];
    this.#gatheredBytes = 0;
  }

  #endGathering(error: Error | null): void {
    const done = this.#onGathered;
    this.#onGathered = null;
    done?.(error);
  }

  readonly #onEnd = (): void => {
    this.#options.slow.release(this);
    this.isWhole = true;
    if (this.#onGathered !== null) this.#endGathering(null);
    else if (this.#gathered.length === 0) this.push(null);
  };

  // Stays on the source after this body is gone: a late error there has been dealt with here, or matters no more.
  readonly #onError = (cause: Error): void =>
    this.#fail(new BodyCutShort("visitor's connection broke inside the body", { cause }));

  readonly #onClose = (): void => {
    if (!this.#source.readableEnded) this.#fail(new BodyCutShort("visitor left inside the body"));
  };

  #fail(error: Error): void {
    this.destroy(error);
    this.#endGathering(error);
  }
}
