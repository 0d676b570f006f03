/**
 * Works out the two limits and the session length from figures about a site. Pure; docs/sizing.md explains the formulas.
 *
 *   requests a visit   r = pages × requests a page
 *   visits a second    λ = requests a second × (1 − reserve) ÷ r
 *   newUsersPerMinute  60 λ
 *   sessionDuration    s = the larger of 2 min and four times a page's time, in half minutes
 *   a slot is taken    h = visit + (1 − share who say they leave) × s
 *   on the site        L = λ h                    (Little 1961: who is in = who comes a second × how long)
 *   totalActiveUsers   L + 2 √L                   (Halfin and Whitt 1981: room for chance, so that the rate is what limits)
 *   sold out after     tickets ÷ (60 λ × share who buy × tickets each)
 */
const MINUTE_MS = 60_000;
const SESSION_MIN_MS = 2 * MINUTE_MS;
const SESSION_STEP_MS = 30_000;
/** Of pages that are read for a mean time, fewer than one in fifty takes four times as long. */
const PAGE_TIMES = 4;
/** A Poisson number exceeds its mean by more than two of its square roots about once in forty times. */
const ROOTS = 2;

export interface SiteFacts {
  /** The load that the site can bear. */
  readonly requestsPerSecond: number;
  /** Requests of one page that reach the site itself. */
  readonly requestsPerPage: number;
  readonly pages: number;
  readonly visitMs: number;
  /** The share of visitors who leave explicitly, or whose visit the site ends: their slot is free at once. */
  readonly leave: number;
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
  readonly slotMs: number;
  /** On average, while people wait. */
  readonly onSite: number;
  readonly totalActiveUsers: number;
  /** Visitors who get in until everything is sold, and how long that takes; null where nothing is. */
  readonly soldOut: { readonly visitors: number; readonly afterMs: number } | null;
}

/** The limits for a site. The rate is rounded down, so that the site never has more to bear. */
export function sizingOf(facts: SiteFacts): Sizing {
  const { pages, visitMs, tickets } = facts;
  const requestsPerVisit = pages * facts.requestsPerPage;
  const visitsPerSecond = (facts.requestsPerSecond * (1 - facts.reserve)) / requestsPerVisit;
  // Without the nudge, 0.8 × 100 ÷ 8 may be a hair below 10.
  const newUsersPerMinute = Math.max(1, Math.floor(60 * visitsPerSecond + 1e-9));
  const sessionDurationMs =
    Math.ceil(Math.max(SESSION_MIN_MS, (PAGE_TIMES * visitMs) / pages) / SESSION_STEP_MS) * SESSION_STEP_MS;
  const slotMs = visitMs + (1 - facts.leave) * sessionDurationMs;
  const onSite = (newUsersPerMinute / MINUTE_MS) * slotMs;
  const visitors = tickets === null ? null : Math.ceil(tickets / (facts.buyers * facts.ticketsEach));
  return {
    ...{ requestsPerVisit, visitsPerSecond, newUsersPerMinute, sessionDurationMs, slotMs, onSite },
    totalActiveUsers: Math.ceil(onSite + ROOTS * Math.sqrt(onSite)),
    soldOut:
      visitors === null
        ? null
        : { visitors, afterMs: Math.round((visitors / newUsersPerMinute) * MINUTE_MS) },
  };
}
