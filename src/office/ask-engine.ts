/**
 * Calls to the engine with a timeout. An engine whose store is unavailable throws, rejects or never answers; all three
 * become `EngineAway`, so that no request at the control address hangs.
 */
import type { Eventually } from "../core/engine.ts";
import type { World } from "../core/world.ts";

/** How long to wait for the engine. */
export const ENGINE_ANSWER_MAX_MS = 2_000;

export class EngineAway extends Error {
  constructor(cause: unknown) {
    super("the engine does not answer", { cause });
    this.name = "EngineAway";
  }
}

/** The engine's answer; throws `EngineAway` when there is none in time. */
export async function askEngine<T>(world: World, ask: () => Eventually<T>): Promise<T> {
  let stop = (): void => {};
  try {
    const answer = ask();
    if (!(answer instanceof Promise)) return answer;
    const late = new Promise<never>((_, reject) => {
      const tooLate = () => reject(new Error(`no answer within ${ENGINE_ANSWER_MAX_MS} ms`));
      stop = world.timers.after(ENGINE_ANSWER_MAX_MS, tooLate);
    });
    return await Promise.race([answer, late]);
  } catch (error) {
    throw new EngineAway(error);
  } finally {
    stop();
  }
}
