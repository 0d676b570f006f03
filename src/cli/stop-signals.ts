/**
 * SIGTERM and Ctrl-C, for what takes a moment to stop. The first one stops. Under npm a Ctrl-C comes twice, from the terminal
 * and from npm, which passes it on; so whatever comes within a second of the first is taken for the same. A later one
 * does not wait.
 */
import type { Clock } from "../core/world.ts";

const SAME_SIGNAL_MS = 1_000;

/** Calls `stop` for the first signal, and `hurry`, which is to end the process, for another. */
export function onStopSignals(
  clock: Clock,
  { stop, hurry }: { stop(signal: string): Promise<void>; hurry(signal: string): void },
): void {
  let stoppingSince: number | null = null;
  const hear = (signal: string) => {
    const now = clock.now();
    if (stoppingSince === null) {
      stoppingSince = now;
      void stop(signal);
    } else if (now - stoppingSince >= SAME_SIGNAL_MS) hurry(signal);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => hear(signal));
}
