/**
 * Random tests that are slow for each run. fast-check makes a failure smaller by hundreds of further runs; with this it
 * stops after a while, and the smallest failure so far is shown. The runs that look for a failure are never cut short.
 */
import fc from "fast-check";

const SHRINKING_MAX_MS = 30_000;

/** The same check for one `fc.assert`, which after a failure goes on for no longer than half a minute. */
export function shrunkBriefly<Drawn extends unknown[]>(
  check: (...drawn: Drawn) => Promise<void>,
  now: () => number = () => performance.now(),
): (...drawn: Drawn) => Promise<void> {
  let stopAt = Number.POSITIVE_INFINITY;
  return async (...drawn) => {
    // A smaller case that is good leaves the last failure as the smallest.
    if (now() > stopAt) return;
    try {
      await check(...drawn);
    } catch (failure) {
      if (!fc.PreconditionFailure.isFailure(failure)) stopAt = Math.min(stopAt, now() + SHRINKING_MAX_MS);
      throw failure;
    }
  };
}
