/**
 * Checks once a second whether a file handle can still be had. Without one the system turns new connections away without
 * telling us. The reserve of `socket-limits.ts` prevents this, unless the limit was lowered meanwhile or the whole machine has
 * run out.
 */
import { closeSync, openSync } from "node:fs";
import { devNull } from "node:os";
import type { World } from "../core/world.ts";
import { isOutOfHandles, type Relief } from "./relief.ts";

const LOOK_EVERY_MS = 1_000;

/** Starts checking. Returns the way to stop. */
export function watchHandles(relief: Relief, world: World): () => void {
  return world.timers.every(LOOK_EVERY_MS, () => {
    try {
      closeSync(openSync(devNull, "r"));
    } catch (error) {
      if (isOutOfHandles(error as Error)) relief.ask(error as Error);
    }
  });
}
