/**
 * Asking the engine with a limit on patience. An answer that is there at once is handed on at once; a slow one is
 * waited for until the limit; an engine that fails or is too slow becomes a value, `ENGINE_AWAY`, so that what then
 * happens to the visitor is decided in one place, by setting.
 */
import type { Eventually } from "../core/engine.ts";
import type { World } from "../core/world.ts";

export const ENGINE_AWAY = Symbol("engine away");
export type Away = typeof ENGINE_AWAY;

const ENGINE_PATIENCE_MS = 2_000;
/** While an engine is away, one line a second says so. */
const COMPLAINT_PERIOD_MS = 1_000;

export class AskEngine {
  readonly #world: World;
  failures = 0;
  #complainedAt = Number.NEGATIVE_INFINITY;

  constructor(world: World) {
    this.#world = world;
  }

  /** Calls `question`, then `use` with its answer or with `ENGINE_AWAY`. */
  ask<T>(question: () => Eventually<T>, use: (answer: T | Away) => void): void {
    let answer: Eventually<T>;
    try {
      answer = question();
    } catch (cause) {
      use(this.#away(cause));
      return;
    }
    if (answer instanceof Promise) this.#wait(answer, use);
    else use(answer);
  }

  #wait<T>(answer: Promise<T>, use: (answer: T | Away) => void): void {
    let isUsed = false;
    const useOnce = (value: T | Away) => {
      if (isUsed) return;
      isUsed = true;
      stop();
      use(value);
    };
    const stop = this.#world.timers.after(ENGINE_PATIENCE_MS, () =>
      useOnce(this.#away(new Error("no answer in time"))),
    );
    answer.then(useOnce, (cause: unknown) => useOnce(this.#away(cause)));
  }

  #away(cause: unknown): Away {
    this.failures++;
    const now = this.#world.clock.now();
    if (now - this.#complainedAt >= COMPLAINT_PERIOD_MS) {
      this.#complainedAt = now;
      this.#world.log.error({ err: cause, failures: this.failures }, "the engine does not answer");
    }
    return ENGINE_AWAY;
  }
}
