/** Answers for the Fetch API: the answer of the site on its way to the visitor, and an event stream. */

import { responseHeaders } from "../headers.ts";
import type { OpenAnswer } from "../streams/open-answer.ts";
import type { StreamEvent, StreamSink } from "../streams/stream-event.ts";

type Body = ReadableStream<Uint8Array>;

/** A request on its way through the site, and its answer on its way back. */
export class Passage implements OpenAnswer {
  readonly isUpgraded = false;
  /** Aborted when the visitor leaves, or when the visit ends. */
  readonly signal: AbortSignal;
  /** Bytes of the answer. */
  sent = 0;
  #received = 0;
  readonly #ending = new AbortController();
  #onOver: ((isGivenUp: boolean) => void) | null = null;

  constructor(visitor: AbortSignal) {
    this.signal = AbortSignal.any([visitor, this.#ending.signal]);
  }

  bytes(): number {
    return this.sent + this.#received;
  }

  end(): void {
    this.#ending.abort(new Error("the visit is over"));
  }

  whenOver(onOver: (isGivenUp: boolean) => void): void {
    this.#onOver = onOver;
    // Not every server cancels the body when its visitor has left.
    if (this.signal.aborted) this.over(true);
    else this.signal.addEventListener("abort", () => this.over(true), { once: true });
  }

  /** The exchange is over; only the first call counts. */
  over(isGivenUp: boolean): void {
    this.#onOver?.(isGivenUp);
    this.#onOver = null;
  }

  /** The site's answer; null when the visit ends first. */
  unlessEnded(ask: () => Promise<Response>): Promise<Response | null> {
    const { signal } = this.#ending;
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => resolve(null), { once: true });
      ask().then(
        (answer) => {
          if (signal.aborted) void answer.body?.cancel().catch(() => {});
          resolve(answer);
        },
        (cause: unknown) => (signal.aborted ? resolve(null) : reject(cause)),
      );
    });
  }

  /** The site's answer as the visitor gets it. */
  through(
    { method }: Request,
    answer: Response,
    context: { added: readonly string[]; isPersonal: boolean },
  ): Response {
    const { status, statusText, body } = answer;
    // An upgrade that the site made by means of its runtime.
    if (status < 200) {
      this.over(false);
      return answer;
    }
    const headers = headersOf(responseHeaders([...answer.headers].flat(), { ...context, canTrail: false }));
    if (body === null || method === "HEAD") {
      this.over(false);
      void body?.cancel().catch(() => {});
      return new Response(null, { status, statusText, headers });
    }
    const passed = this.#watched(
      body as Body,
      (bytes) => (this.sent += bytes),
      (isGivenUp) => this.over(isGivenUp),
    );
    return new Response(passed, { status, statusText, headers });
  }

  /** A request body whose bytes are counted. */
  counted(body: Body): Body {
    return this.#watched(body, (bytes) => (this.#received += bytes));
  }

  #watched(body: Body, moved: (bytes: number) => void, over?: (isGivenUp: boolean) => void): Body {
    const { signal } = this;
    const reader = body.getReader();
    const breakOff = (controller: ReadableStreamDefaultController) => {
      // A moment later, so that a server that cancels the body because the visitor left does not get an error.
      queueMicrotask(() => controller.error(signal.reason));
      void reader.cancel(signal.reason).catch(() => {});
    };
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          if (signal.aborted) breakOff(controller);
          else signal.addEventListener("abort", () => breakOff(controller), { once: true });
        },
        pull: async (controller) => {
          try {
            const { done, value } = await reader.read();
            if (signal.aborted) return;
            if (done) {
              over?.(false);
              controller.close();
            } else {
              moved(value.length);
              controller.enqueue(value);
            }
          } catch (cause) {
            over?.(false);
            controller.error(cause);
          }
        },
        cancel: (reason) => {
          over?.(true);
          return reader.cancel(reason);
        },
      },
      { highWaterMark: 0 },
    );
  }
}

/** An event stream as the body of a `Response`. */
export class FetchSink implements StreamSink {
  readonly body: Body;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #sent = 0;
  #isOver = false;
  #onOver: ((bytes: number) => void) | null = null;

  constructor() {
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
        },
        cancel: () => this.#over(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
    );
  }

  whenOver(visitor: AbortSignal, onOver: (bytes: number) => void): void {
    this.#onOver = onOver;
    const leave = () => {
      this.#over();
      queueMicrotask(() => this.destroy());
    };
    if (visitor.aborted) leave();
    else visitor.addEventListener("abort", leave, { once: true });
  }

  /** The queue holds what its reader has not taken yet. */
  backlog(): number {
    return -(this.#controller.desiredSize ?? 0);
  }

  write({ plain }: StreamEvent): void {
    if (this.#isOver) return;
    this.#sent += plain.length;
    this.#controller.enqueue(plain);
  }

  end(): void {
    if (!this.#isOver) this.#controller.close();
    this.#over();
  }

  destroy(): void {
    this.#controller.error(new Error("the stream was given up"));
    this.#over();
  }

  #over(): void {
    this.#isOver = true;
    this.#onOver?.(this.#sent);
    this.#onOver = null;
  }
}

export function headersOf(flat: readonly string[]): Headers {
  const headers = new Headers();
  for (let i = 0; i < flat.length; i += 2) headers.append(flat[i]!, flat[i + 1]!);
  return headers;
}
