/**
 * What an engine must know of a room's settings, in plain milliseconds and numbers. The settings file's schema
 * produces these; the admin address may change them while the room runs.
 */
export interface RoomRules {
  /** The most visitors on the site at once, admitted-but-not-yet-entered included. null: no such limit. */
  readonly totalActiveUsers: number | null;
  /** The most visitors admitted in any minute, as an even flow. null: no such limit. */
  readonly newUsersPerMinute: number | null;
  /** Nobody is admitted while true; everybody keeps their place. */
  readonly paused: boolean;
  /** How long a pass lasts without a request. */
  readonly sessionDurationMs: number;
  /** True: a pass lasts `sessionDurationMs` from entering, whatever its holder does. */
  readonly disableSessionRenewal: boolean;
  /** How long an admitted visitor may take to enter before the turn goes to the next. */
  readonly claimWindowMs: number;
  /** How long after a missed check-in a waiting visitor is no longer waited for. */
  readonly lapseAfterMs: number;
  /** How long a ticket keeps its place without its holder being seen. */
  readonly ticketTtlMs: number;
  /** Check-ins a second that the whole room may cost, whatever the line's length. */
  readonly pollBudgetPerSecond: number;
  /** The operator's words to everyone waiting. Empty: none. */
  readonly message: string;
}

/** The values a room has where its settings are silent. */
export const DEFAULT_RULES: RoomRules = {
  totalActiveUsers: null,
  newUsersPerMinute: null,
  paused: false,
  sessionDurationMs: 5 * 60_000,
  disableSessionRenewal: false,
  claimWindowMs: 2 * 60_000,
  lapseAfterMs: 60_000,
  ticketTtlMs: 24 * 3_600_000,
  pollBudgetPerSecond: 2_000,
  message: "",
};
