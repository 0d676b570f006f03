/** Waiting with a timeout. */
import type { Timers } from "../../../core/world.ts";

/** Resolves when the work or the time is over, whichever is first. Rejects if the work does so first. */
export async function within(work: Promise<unknown>, timeoutMs: number, timers: Timers): Promise<void> {
  let stop = () => {};
  const late = new Promise<void>((resolve) => {
    stop = timers.after(timeoutMs, resolve);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    stop();
  }
}
