/**
 * Calls the engine with a timeout. A synchronous answer is handed on at once. An engine that fails or is too slow gives the
 * value `ENGINE_AWAY`, so that one place decides, by setting, what then happens to the visitor.
 */
import type { Eventually } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import { PacedLog } from "./paced-log.ts";
import type { Traffic } from "./traffic.ts";

export const ENGINE_AWAY = Symbol("engine away");
export type Away = typeof ENGINE_AWAY;

/** Goes on with an answer: at once if it is synchronous, otherwise when it arrives. */
export function after<T, U>(answer: Eventually<T>, use: (answer: T) => Eventually<U>): Eventually<U> {
  return answer instanceof Promise ? answer.then(use) : use(answer);
}

const PATIENCE_MS = 2_000;
/** An engine that times out by itself says why, so it gets a little longer than its own timeout. */
const SAYING_WHY_MS = 500;
/** While an engine is away, one line a second says so. */
const COMPLAINT_PERIOD_MS = 1_000;

export class AskEngine {
  readonly #world: World;
  readonly #traffic: Traffic;
  readonly #patienceMs: number;
  readonly #bugs: PacedLog;
  #complainedAt = Number.NEGATIVE_INFINITY;

  /** `timeoutMs`: after how long the engine gives up by itself; 0 when it never does. */
  constructor(traffic: Traffic, world: World, timeoutMs: number) {
    this.#traffic = traffic;
    this.#world = world;
    this.#bugs = new PacedLog(world);
    this.#patienceMs = Math.max(PATIENCE_MS, timeoutMs + SAYING_WHY_MS);
  }

  /**
   * The engine's answer, synchronously if it has one; or `ENGINE_AWAY`. An answer that arrives after the timeout goes to `late`.
   */
  ask<T>(question: () => Eventually<T>, late?: (answer: T) => void): Eventually<T | Away> {
    let answer: Eventually<T>;
    try {
      answer = question();
    } catch (cause) {
      return this.#away(cause);
    }
    return answer instanceof Promise ? this.#wait(answer, late) : answer;
  }

  /** The same when no request waits for the answer: an unusable one is logged. */
  hear<T>(question: () => Eventually<T>, use: (answer: T | Away) => void): void {
    const answer = this.ask(question);
    if (answer instanceof Promise) void answer.then((value) => this.#use(value, use));
    else use(answer);
  }

  #wait<T>(answer: Promise<T>, late: ((answer: T) => void) | undefined): Promise<T | Away> {
    return new Promise((resolve) => {
      let isOver = false;
      const stop = this.#world.timers.after(this.#patienceMs, () => {
        isOver = true;
        resolve(this.#away(new Error("no answer in time")));
      });
      answer.then(
        (value) => {
          if (isOver) return late && this.#use(value, late);
          stop();
          resolve(value);
        },
        (cause: unknown) => {
          if (isOver) return;
          stop();
          resolve(this.#away(cause));
        },
      );
    });
  }

  /** Nothing above catches errors from here, and a bug in one visitor's request must not end the process. */
  #use<T>(value: T, use: (value: T) => void): void {
    try {
      use(value);
    } catch (cause) {
      const message = "an answer of the engine could not be used";
      this.#bugs.add({ level: "error", about: String(cause), fields: { err: cause }, message });
    }
  }

  #away(cause: unknown): Away {
    const failures = ++this.#traffic.engineFailures;
    const now = this.#world.clock.now();
    if (now - this.#complainedAt >= COMPLAINT_PERIOD_MS) {
      this.#complainedAt = now;
      this.#world.log.error({ err: cause, failures }, "the engine does not answer");
    }
    return ENGINE_AWAY;
  }
}
