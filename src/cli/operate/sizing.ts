/**
 * From what is known of a site to the two limits and the session length. Pure; docs/sizing.md has the same in words.
 *
 *   requests a visit   r = pages × requests a page
 *   visits a second    λ = requests a second × (1 − reserve) ÷ r
 *   newUsersPerMinute  60 λ
 *   sessionDuration    s = the larger of 2 min and four times a page's time, in half minutes
 *   totalActiveUsers   λ × (visit + s)                      (Little 1961: who is in = who comes a second × how long)
 *   sold out after     tickets ÷ (60 λ × share who buy × tickets each)
 */
const MINUTE_MS = 60_000;
const SESSION_MIN_MS = 2 * MINUTE_MS;
const SESSION_STEP_MS = 30_000;
/** Of pages that are read for a mean time, fewer than one in fifty takes four times as long. */
const PAGE_TIMES = 4;

export interface SiteFacts {
  /** That the site bears. */
  readonly requestsPerSecond: number;
  readonly pages: number;
  /** Of one page, that reach the site itself. */
  readonly requestsPerPage: number;
  readonly visitMs: number;
  /** The share of what the site bears that is kept free. */
  readonly reserve: number;
  /** Null: nothing is sold out. */
  readonly tickets: number | null;
  /** The share of visitors who buy, and how many tickets each of them takes. */
  readonly buyers: number;
  readonly ticketsEach: number;
}

export interface Sizing {
  readonly requestsPerVisit: number;
  readonly visitsPerSecond: number;
  readonly newUsersPerMinute: number;
  readonly sessionDurationMs: number;
  readonly totalActiveUsers: number;
  /** Visitors who get in until everything is sold, and how long that takes; null where nothing is. */
  readonly soldOut: { readonly visitors: number; readonly afterMs: number } | null;
}

/** The limits for a site. Whole numbers, rounded so that the site never has more to bear. */
export function sizingOf(facts: SiteFacts): Sizing {
  const requestsPerVisit = facts.pages * facts.requestsPerPage;
  const visitsPerSecond = (facts.requestsPerSecond * (1 - facts.reserve)) / requestsPerVisit;
  const newUsersPerMinute = Math.max(1, Math.floor(60 * visitsPerSecond));
  const pageMs = facts.visitMs / facts.pages;
  const sessionDurationMs =
    Math.ceil(Math.max(SESSION_MIN_MS, PAGE_TIMES * pageMs) / SESSION_STEP_MS) * SESSION_STEP_MS;
  const holdsSeconds = (facts.visitMs + sessionDurationMs) / 1_000;
  const totalActiveUsers = Math.max(1, Math.ceil((newUsersPerMinute / 60) * holdsSeconds));
  const visitors =
    facts.tickets === null ? null : Math.ceil(facts.tickets / (facts.buyers * facts.ticketsEach));
  return {
    ...{ requestsPerVisit, visitsPerSecond, newUsersPerMinute, sessionDurationMs, totalActiveUsers },
    soldOut:
      visitors === null
        ? null
        : { visitors, afterMs: Math.round((visitors / newUsersPerMinute) * MINUTE_MS) },
  };
}
