/**
 * What an engine must know of a room's settings, in plain milliseconds and numbers. The settings file's schema
 * produces these; the admin address may change them while the room runs.
 *
 * `RoomRules` are those of the whole room; while an event is on, the event's own (`EventRules.rules`) hold in their
 * place. `schedule.ts` says which are in force at an instant.
 */
export interface DoorRules {
  /** The most visitors on the site at once, those with a firm turn included. null: no such limit. */
  readonly totalActiveUsers: number | null;
  /** The most visitors who enter in any minute, as an even flow. null: no such limit. */
  readonly newUsersPerMinute: number | null;
  readonly queueingMethod: QueueingMethod;
  /** Nobody is admitted while true; everybody keeps their place. */
  readonly paused: boolean;
  /** Every newcomer gets a place in the line and nobody is admitted; visitors are not told of a pause. */
  readonly queueAll: boolean;
  /** Everybody is admitted, whatever the limits. */
  readonly drained: boolean;
  /** Nobody joins and nobody is admitted; everybody keeps their place. */
  readonly closed: boolean;
  /** Only visitors in privileged lanes join and are admitted. */
  readonly privilegedOnly: boolean;
  readonly lanes: LanesRules;
  /** Gives turns on top for those that will not be used, so that the site is full all the same. */
  readonly fillNoShows: boolean;
  /** When to start and stop the line. null: there is always one. */
  readonly standby: StandbyRules | null;
  /** How limits follow the load of the origin. null: they stay as set. */
  readonly adaptive: AdaptiveRules | null;
  /** How long a pass lasts without a request. */
  readonly sessionDurationMs: number;
  /** True: a pass lasts `sessionDurationMs` from entering, however active its holder is. */
  readonly disableSessionRenewal: boolean;
  /** How long after its pass expired a visit may begin again. */
  readonly formGraceMs: number;
  /** How long the slot of a left or revoked visit is held: its connections may still be open. */
  readonly lingerMs: number;
  /** How long an admitted visitor may take to enter before the turn is missed. */
  readonly claimWindowMs: number;
  /** A place is forfeited after this many missed turns. */
  readonly missedTurnsMax: number;
  /** How long after a missed check-in a waiting visitor lapses. */
  readonly lapseAfterMs: number;
  /** How long a ticket keeps its place while its holder is away. */
  readonly ticketTtlMs: number;
  /** Check-ins per second for the whole room, whatever the line's length. */
  readonly pollBudgetPerSecond: number;
  /** What waiting visitors are shown. */
  readonly show: ShowRules;
  /** The operator's words to everyone waiting. Empty: none. */
  readonly message: string;
}

export interface RoomRules extends DoorRules {
  /** The line is cut into shards and nearly in order. null: it is whole and exact. */
  readonly relaxed: RelaxedRules | null;
  /** A capacity shared with other rooms. null: none. */
  readonly budget: BudgetRules | null;
  /** In order of time; no two overlap. */
  readonly events: readonly EventRules[];
}

/**
 * `fifo`: first come, first served. `random`: each turn goes to a random visitor. `passthrough`: everybody goes through,
 * counted, without a line. `reject`: newcomers are turned away; those already waiting keep waiting.
 */
export type QueueingMethod = "fifo" | "random" | "passthrough" | "reject";

export interface LanesRules {
  /**
   * `strict`: a lane before another is served first, but for `othersShare`. `weighted`: lanes with people in them are
   * served in proportion to their shares.
   */
  readonly order: "strict" | "weighted";
  /** Strict order only: of a hundred admissions at least this many go to lanes further back while people wait there. */
  readonly othersShare: number;
  /** In order of priority. The default lane (number 0) is not listed: it comes last, with the share that is left. */
  readonly named: readonly LaneRules[];
}

export interface LaneRules {
  /** 1 to 65,535, made from the name; tickets carry it. */
  readonly number: number;
  readonly name: string;
  /** Of a hundred admissions, while people wait in every lane. */
  readonly share: number;
  readonly isPrivileged: boolean;
}

/** The default lane. */
export const EVERYBODY = 0;

/** The line starts when one of these is crossed, and stops when all of them are well below for a while. */
export interface StandbyRules {
  /** Requests a second over the last minute. null, here and below: no such threshold. */
  readonly requestsPerSecond: number | null;
  readonly activeUsers: number | null;
  readonly originLatencyMs: number | null;
  /** Share of the origin's answers that are errors, 0 to 1. */
  readonly originErrors: number | null;
  /** "Well below" is this share of the threshold, 0 to 1. */
  readonly stopBelow: number;
  readonly quietForMs: number;
}

/** Limits move between these and what is set as `totalActiveUsers` and `newUsersPerMinute`. */
export interface AdaptiveRules {
  /** The least share of the set limits, 0 to 1. */
  readonly least: number;
  /** The 95th percentile may be this many times the origin's own baseline. */
  readonly latencyFactor: number;
  /** Or this, whatever the baseline. null: only the factor counts. */
  readonly latencyMs: number | null;
  /** Share of answers that may be errors, 0 to 1. */
  readonly errors: number;
  /** The most requests under way at the origin. null: no limit. */
  readonly inFlight: number | null;
}

export interface ShowRules {
  readonly ahead: boolean;
  readonly behind: boolean;
  readonly wait: boolean;
}

export interface RelaxedRules {
  /** How many there are. */
  readonly shards: number;
  /** How many of them are looked at to find who is next. */
  readonly peek: number;
}

export interface BudgetRules {
  readonly name: string;
  /** For all rooms of this budget together. */
  readonly totalActiveUsers: number;
  /** Slots of it that are reserved for this room. */
  readonly guaranteed: number;
}

export interface EventRules {
  readonly name: string;
  /** From here on newcomers gather. null: there is no prequeue. */
  readonly prequeueAt: number | null;
  readonly startAt: number;
  readonly endAt: number;
  /** True: at the start the gathered visitors are put in a random order. */
  readonly isShuffled: boolean;
  /** 32 bytes in hexadecimal; secret until the start. */
  readonly seed: string;
  /** The room's rules with the event's own in them. */
  readonly rules: DoorRules;
}

/** While nobody is let in, nobody can say how long that will be. */
export function isHeld({ paused, queueAll, closed }: DoorRules): boolean {
  return paused || queueAll || closed;
}

/** The defaults of a room. */
export const DEFAULT_RULES: RoomRules = {
  totalActiveUsers: null,
  newUsersPerMinute: null,
  queueingMethod: "fifo",
  paused: false,
  queueAll: false,
  drained: false,
  closed: false,
  privilegedOnly: false,
  lanes: { order: "strict", othersShare: 10, named: [] },
  fillNoShows: false,
  standby: null,
  adaptive: null,
  sessionDurationMs: 5 * 60_000,
  disableSessionRenewal: false,
  formGraceMs: 2 * 60_000,
  lingerMs: 0,
  claimWindowMs: 2 * 60_000,
  missedTurnsMax: 3,
  lapseAfterMs: 60_000,
  ticketTtlMs: 24 * 3_600_000,
  pollBudgetPerSecond: 2_000,
  show: { ahead: true, behind: true, wait: true },
  message: "",
  relaxed: null,
  budget: null,
  events: [],
};
