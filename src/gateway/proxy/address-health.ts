/**
 * The health of one address of an origin, learned from the results of requests to it. Nothing here reads a clock or keeps a
 * timer; every call is told `now`.
 *
 * Four states are distinguished, because each is cured in another way:
 *
 *   down      Nobody can connect to it. Only a new connection shows that it is back, and that costs no visitor anything:
 *             a connection of our own tries it again and again (`probe.ts`).
 *   failing   It hangs up, does not answer in time, or breaks answers off. Only a request shows that it is well again, so
 *             after a rest one request that can be repeated elsewhere is its trial.
 *   doubted   A connection is being made, or an answer awaited, for longer than usual. Nothing is proven yet.
 *   errors    The share of 5xx answers and failures of late. A site may mean its 500s, so the address stays in use and is
 *             offered less (`choice.ts`).
 *
 *          score reaches OUT_AT                 rest over, one request
 *   well ──────────────────────▶ resting ──────────────────────────▶ on trial ──▶ well   (answered)
 *    ▲                              ▲                                    │
 *    └── on probation: one failure  └──────── failed: twice the rest ────┘
 *        is enough, for a while
 *
 * Rests double from a second to half a minute, and also when an address fails again soon after it came back: one that
 * comes and goes writes a few log lines a minute, not hundreds.
 */

export const BACK_OFF_MIN_MS = 1_000;
export const BACK_OFF_MAX_MS = 30_000;
/** An address that was healthy for this long begins with the shortest rest again. */
export const STEADY_AFTER_MS = 30_000;

/** What each outcome leaves of the score. A failure adds one to it. */
const SCORE_KEPT = 0.8;
/** Three failures in a row reach it, and so do more than two of five over time. */
const OUT_AT = 2;
/** The score after a trial: one failure then reaches `OUT_AT`. */
const PROBATION_SCORE = (OUT_AT - 1) / SCORE_KEPT;

/** How long an address whose rest is over waits for a request that can be repeated, before any other request becomes its trial. */
export const TRIAL_WAITS_MS = 10_000;

/** A connection that takes longer casts doubt on the address. */
export const CONNECT_PATIENCE_MS = 500;
/** The same for an answer, where others are quicker. */
export const ANSWER_PATIENCE_MS = 5_000;

/** After this time without an error an address gets its whole share again, however few requests it had. */
export const ERRORS_REMEMBERED_MS = 10_000;
/** The weight of one answer in the error rate. */
const ANSWER_WEIGHT = 0.1;

/** How far a request has come at the address. Null: it waits for its turn, or is over. */
export type RequestPhase = "connecting" | "asked" | "answered" | null;

/** Whatever is at the address: a request or an upgraded connection. */
export interface AddressUser {
  phase: RequestPhase;
}

/** How an address may be used, the better the lower. */
export const STANDING = { well: 0, doubted: 1, failing: 2, unwell: 3, down: 4 } as const;
export type AddressStanding = (typeof STANDING)[keyof typeof STANDING];

/** Why an address is not up. */
export type Trouble = "unreachable" | "failsCheck" | "failing";

/** An error that counts like a broken connection. */
export type AnswerKind = "good" | "error" | "failure";

/** What an outcome changed, for the log. */
export type HealthChange = "out" | "back" | null;

export class AddressHealth {
  /** The result of the settings' health check. */
  isFailingCheck = false;
  readonly #canRest: boolean;
  readonly #errors = new RecentErrors();

  #connecting = 0;
  #connectingSince = 0;
  #connectedAt = Number.NEGATIVE_INFINITY;
  #asked = 0;
  #askedSince = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;

  readonly #downTime = new BackOff();
  #connectsFailed = 0;
  #failedAt = Number.NEGATIVE_INFINITY;

  readonly #restTime = new BackOff();
  #score = 0;
  #isResting = false;
  #restsUntil = 0;
  #trial: AddressUser | null = null;

  /** `canRest`: other addresses can take its place. */
  constructor(canRest: boolean) {
    this.#canRest = canRest;
  }

  /** The caller begins to connect, or takes an existing connection. */
  begin(caller: AddressUser, now: number): void {
    caller.phase = "connecting";
    if (this.#connecting++ === 0) this.#connectingSince = now;
  }

  /** The caller has a connection. True when that brings the address back. */
  connected(caller: AddressUser, now: number): boolean {
    this.#leavePhase(caller);
    caller.phase = "asked";
    if (this.#asked++ === 0) this.#askedSince = now;
    return this.reached(now);
  }

  /** Somebody connected. True when that brings the address back. */
  reached(now: number): boolean {
    this.#connectedAt = now;
    if (this.#connectsFailed === 0) return false;
    this.#connectsFailed = 0;
    this.#downTime.end(now);
    return true;
  }

  /** A request could not connect. True when the address is down from now on. */
  unreachable(now: number): boolean {
    this.#failedAt = now;
    if (this.#connectsFailed > 0) return false;
    this.#connectsFailed = 1;
    this.#downTime.begin(now);
    return true;
  }

  /** A connection of our own could not be made either. */
  probeFailed(now: number): void {
    this.#failedAt = now;
    this.#connectsFailed++;
    this.#downTime.goOn();
  }

  /** How long to wait before the next connection of our own. */
  get probeAfterMs(): number {
    return this.#downTime.restMs;
  }

  /** An answer began. */
  answered(caller: AddressUser, now: number, kind: AnswerKind): HealthChange {
    this.#leavePhase(caller);
    caller.phase = "answered";
    this.#answeredAt = now;
    this.#errors.note(now, kind !== "good");
    return kind === "failure" ? this.#bad(caller, now) : this.#good(caller, now);
  }

  /** The address hung up, did not answer in time, or broke its answer off. */
  failed(caller: AddressUser, now: number): HealthChange {
    this.#errors.note(now, true);
    return this.#bad(caller, now);
  }

  /** The caller is gone, with whatever result. */
  leave(caller: AddressUser): void {
    this.#leavePhase(caller);
    caller.phase = null;
    if (this.#trial === caller) this.#trial = null;
  }

  /** True when a request should be the trial: one that can be repeated elsewhere, or another when no such request comes. */
  isTrialDue(now: number, isRepeatable: boolean): boolean {
    if (!this.#isResting || this.#trial !== null) return false;
    return now >= this.#restsUntil + (isRepeatable ? 0 : TRIAL_WAITS_MS);
  }

  beginTrial(caller: AddressUser): void {
    this.#trial = caller;
  }

  /**
   * `isSticky`: for a visitor who belongs to the address, doubt alone is no reason to go elsewhere, unless connections fail.
   */
  standing(now: number, isSticky: boolean): AddressStanding {
    if (this.#connectsFailed > 0) return STANDING.down;
    if (this.isFailingCheck) return STANDING.unwell;
    if (this.#isResting) return STANDING.failing;
    const isDoubted = isSticky ? this.#isStuck(now) : this.#isUnproven(now) || this.#isSilent(now);
    return isDoubted ? STANDING.doubted : STANDING.well;
  }

  get trouble(): Trouble | null {
    if (this.#connectsFailed > 0) return "unreachable";
    if (this.isFailingCheck) return "failsCheck";
    return this.#isResting ? "failing" : null;
  }

  /** Connections that failed in a row, a request's or our own. */
  get connectsFailed(): number {
    return this.#connectsFailed;
  }

  /** When a connection last failed. */
  get failedAt(): number {
    return this.#failedAt;
  }

  /** The recent error rate: 0 without errors, towards 1 when there is nothing else. */
  errorShare(now: number): number {
    return this.#errors.share(now);
  }

  /** Connecting has taken long, and nobody has succeeded meanwhile. One request at a time finds out. */
  #isUnproven(now: number): boolean {
    return this.#connecting > 0 && now - this.#connectedAt > CONNECT_PATIENCE_MS;
  }

  /** Connecting has taken a while, and nobody has succeeded meanwhile. */
  #isStuck(now: number): boolean {
    return this.#isUnproven(now) && now - this.#connectingSince > CONNECT_PATIENCE_MS;
  }

  /** Answers have been awaited for long, and none has come meanwhile. */
  #isSilent(now: number): boolean {
    return this.#asked > 0 && now - Math.max(this.#askedSince, this.#answeredAt) > ANSWER_PATIENCE_MS;
  }

  #leavePhase({ phase }: AddressUser): void {
    if (phase === "connecting") this.#connecting--;
    else if (phase === "asked") this.#asked--;
  }

  #good(caller: AddressUser, now: number): HealthChange {
    if (this.#trial !== caller) {
      this.#score *= SCORE_KEPT;
      return null;
    }
    this.#trial = null;
    this.#isResting = false;
    this.#score = PROBATION_SCORE;
    this.#restTime.end(now);
    return "back";
  }

  #bad(caller: AddressUser, now: number): HealthChange {
    if (this.#trial === caller) {
      this.#trial = null;
      this.#restsUntil = now + this.#restTime.goOn();
      return null;
    }
    // Requests that were under way when its rest began tell nothing new.
    if (this.#isResting || !this.#canRest) return null;
    this.#score = this.#score * SCORE_KEPT + 1;
    if (this.#score < OUT_AT) return null;
    this.#isResting = true;
    this.#restsUntil = now + this.#restTime.begin(now);
    return "out";
  }
}

/** Rests that double while trouble goes on, or comes back soon after it ended. */
class BackOff {
  #restMs = 0;
  #endedAt = Number.NEGATIVE_INFINITY;

  get restMs(): number {
    return this.#restMs;
  }

  /** Trouble begins. How long to rest. */
  begin(now: number): number {
    if (now - this.#endedAt >= STEADY_AFTER_MS) this.#restMs = 0;
    return this.goOn();
  }

  /** The trouble goes on. */
  goOn(): number {
    this.#restMs = Math.min(Math.max(this.#restMs * 2, BACK_OFF_MIN_MS), BACK_OFF_MAX_MS);
    return this.#restMs;
  }

  end(now: number): void {
    this.#endedAt = now;
  }
}

/** The error rate of about the last twenty answers, which also fades with time. */
class RecentErrors {
  #share = 0;
  #lastAt = Number.NEGATIVE_INFINITY;

  note(now: number, isError: boolean): void {
    this.#share = this.share(now) * (1 - ANSWER_WEIGHT) + (isError ? ANSWER_WEIGHT : 0);
    if (isError) this.#lastAt = now;
  }

  share(now: number): number {
    return now - this.#lastAt < ERRORS_REMEMBERED_MS ? this.#share : 0;
  }
}
