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

/** When a pass is renewed, and by which rules. */
export interface Renewal {
  readonly now: number;
  readonly sessionDurationMs: number;
  readonly disableSessionRenewal: boolean;
}

/**
 * True when enough of the session has gone that presence should be reported and a sliding pass renewed; and for a first
 * pass, whose holder has come back with it and so can keep one.
 */
export function isRenewalDue(pass: Pass, renewal: Renewal): boolean {
  const { now, sessionDurationMs, disableSessionRenewal } = renewal;
  if (isFirstPass(pass, sessionDurationMs)) return true;
  return !disableSessionRenewal && now - pass.createdAt >= sessionDurationMs / RENEWALS_PER_SESSION;
}

/** The same leave for one more session length, as of now; where there is no renewal, as of when the visit began. */
export function renewPass(pass: Pass, { now, sessionDurationMs, disableSessionRenewal }: Renewal): Pass {
  const from = disableSessionRenewal ? pass.admittedAt : now;
  return { ...pass, createdAt: now, expiresAt: from + sessionDurationMs };
}

/**
 * Until when a visit lasts that begins again after its pass ran out; not after now when it may not. Where there is no renewal a
 * visit is as long as it is, and a form has the grace: otherwise whoever sends one in time would stay for ever.
 */
export function resumedUntil(pass: Pass, renewal: Renewal & { readonly formGraceMs: number }): number {
  const { now, sessionDurationMs, disableSessionRenewal, formGraceMs } = renewal;
  return (disableSessionRenewal ? pass.admittedAt + formGraceMs : now) + sessionDurationMs;
}

/** Someone on the site. */
export interface OnSite extends Pick<Pass, "id" | "lane" | "joinedAt" | "admittedAt" | "expiresAt"> {}

/** The pass of a visit that goes on as it is: it was renewed a session before it runs out. */
export function passOf(
  visit: OnSite,
  { room, node, sessionDurationMs }: Pick<Pass, "room" | "node"> & { readonly sessionDurationMs: number },
): Pass {
  const { id, lane, joinedAt, admittedAt, expiresAt } = visit;
  const createdAt = expiresAt - sessionDurationMs;
  return { id, room, lane, joinedAt, admittedAt, createdAt, expiresAt, node };
}

/**
 * When the last pass of a visit that is ended now is good for nothing any more: one that a gateway renewed just now, and has
 * not told of yet, lasts one more session, and may begin the visit again for a while after that.
 */
export function lastPassEnd(
  knownEnd: number,
  rules: { readonly sessionDurationMs: number; readonly formGraceMs: number },
  now: number,
): number {
  return Math.max(knownEnd, now + rules.sessionDurationMs) + rules.formGraceMs + PRESENCE_GRACE_MS;
}

/**
 * True for the pass of someone who went straight through and has not been seen since: it is for less than a session, so
 * that whoever cannot keep a pass takes a slot for a short time only.
 */
export function isFirstPass(pass: Pass, sessionDurationMs: number): boolean {
  return pass.createdAt === pass.admittedAt && pass.expiresAt - pass.createdAt < sessionDurationMs;
}

/**
 * A slot is held this long past its pass, because gateways report presence in batches: the last request of a visit
 * may be reported after the old pass ran out.
 */
export const PRESENCE_GRACE_MS = 2_000;

/** What the origin says while it ends a visit, such as its last page, may take this long to arrive. */
export const LAST_ANSWER_MS = 2_000;
/** Until all gateways have heard of the end of a visit, and closed what they are to close. */
const END_HEARD_MS = 1_000;

/** For how long a connection may be open at most after its visit was left or revoked. */
export function lingerMs(connectionGraceMs: number): number {
  return Math.max(connectionGraceMs, LAST_ANSWER_MS) + END_HEARD_MS;
}
