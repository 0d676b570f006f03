/**
 * A request's body on its way to the origin. It stands between the visitor's connection and the HTTP client so that
 * the client may give up on it without taking the visitor's connection along: there is still an error page to send.
 *
 * Nothing is read from the visitor before the origin's connection is ready and asks for it. Until then a request can
 * go to another address, and `100 Continue` has not been said.
 */
import { Readable } from "node:stream";

/** The visitor sent more than the limit allows. */
export class BodyTooLarge extends Error {
  readonly code = "BODY_TOO_LARGE";
}

/** The visitor's connection ended inside the body. */
export class BodyCutShort extends Error {
  readonly code = "BODY_CUT_SHORT";
}

export interface UploadOptions {
  /** The most bytes to pass on; null for no limit. */
  readonly bytesMax: number | null;
  /** Called once, just before the first byte is asked for. */
  readonly onStart: () => void;
}

/** A body that is read when it is asked for, counted, and left alone once destroyed. */
export class Upload extends Readable {
  /** True once the visitor's body has been asked for. */
  isStarted = false;
  readonly #source: Readable;
  readonly #options: UploadOptions;
  #bytes = 0;

  constructor(source: Readable, options: UploadOptions) {
    super();
    this.#source = source;
    this.#options = options;
    // The HTTP client listens only while it holds the body; an error after that must not bring the process down.
    this.on("error", () => {});
  }

  override _read(): void {
    if (this.isStarted) {
      this.#source.resume();
      return;
    }
    this.isStarted = true;
    if (this.#source.readableEnded) {
      this.push(null);
      return;
    }
    this.#options.onStart();
    this.#source
      .on("data", this.#onData)
      .on("end", this.#onEnd)
      .on("error", this.#onError)
      .on("close", this.#onClose);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    const source = this.#source;
    source.off("data", this.#onData).off("end", this.#onEnd).off("close", this.#onClose);
    if (this.isStarted && !source.readableEnded) source.pause();
    callback(error);
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#bytes += chunk.length;
    const { bytesMax } = this.#options;
    if (bytesMax !== null && this.#bytes > bytesMax) this.destroy(new BodyTooLarge("body over the limit"));
    else if (!this.push(chunk)) this.#source.pause();
  };

  readonly #onEnd = (): void => {
    this.push(null);
  };

  // Stays on the source after this body is gone: a late error there has been dealt with here, or matters no more.
  readonly #onError = (error: Error): void => {
    this.destroy(error);
  };

  readonly #onClose = (): void => {
    if (!this.#source.readableEnded) this.destroy(new BodyCutShort("visitor left inside the body"));
  };
}
