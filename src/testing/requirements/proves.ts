/**
 * Ties a test to the requirements it proves: `test(proves(["ce4"], "turns come in order"), …)` is an ordinary test by that name,
 * and `covering-tests.ts` finds the call. A requirement that does not exist is an error of types.
 */
import type { RequirementId } from "./requirements.ts";

/** The test's name, for `test` or whatever else declares it. */
export function proves(_ids: readonly [RequirementId, ...RequirementId[]], name: string): string {
  return name;
}
