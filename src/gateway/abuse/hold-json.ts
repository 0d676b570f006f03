/** What a program, or a page's script, is told when it may not join yet. `docs/programs.md` describes it. */
import type { ComeBack, TooMany, WrongWork } from "./abuse-guard.ts";

/** The answer's body, in ASCII. */
export function holdJson(verdict: ComeBack | TooMany | WrongWork): string {
  const { reason } = verdict;
  switch (verdict.kind) {
    case "comeBack":
      return JSON.stringify({ status: "comeBack", reason, waitMs: verdict.waitMs, work: verdict.work });
    case "tooMany":
      return JSON.stringify({ status: "refused", reason, retryAfterSeconds: verdict.retryAfterSeconds });
    case "wrongWork":
      return JSON.stringify({ status: "refused", reason });
  }
}
