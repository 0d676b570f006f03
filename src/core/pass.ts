/**
 * A pass: leave to be on the site. It has the ticket's id, so that one visitor is one id from joining to leaving, and
 * presenting a pass twice counts once.
 */
export interface Pass {
  readonly id: string;
  readonly room: string;
  readonly lane: number;
  readonly joinedAt: number;
  readonly admittedAt: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly node: number;
}

/** A pass is reported and renewed at most once in this share of a session. */
const RENEWALS_PER_SESSION = 10;

/** True when enough of the session has gone that presence should be reported and a sliding pass renewed. */
export function isRenewalDue(pass: Pass, renewal: { now: number; sessionDurationMs: number }): boolean {
  return renewal.now - pass.createdAt >= renewal.sessionDurationMs / RENEWALS_PER_SESSION;
}

/** The same leave for one more session length, as of now. */
export function renewPass(pass: Pass, renewal: { now: number; sessionDurationMs: number }): Pass {
  return { ...pass, createdAt: renewal.now, expiresAt: renewal.now + renewal.sessionDurationMs };
}

/**
 * A slot is held this long past its pass, because gateways report presence in batches: the last request of a visit
 * may be reported after the old pass ran out.
 */
export const PRESENCE_GRACE_MS = 2_000;
