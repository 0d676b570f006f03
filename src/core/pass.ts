/**
 * A pass: permission to be on the site. It has the ticket's id, so a visitor has one id from joining to leaving, and a pass
 * presented twice counts once.
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
 * True when enough of the session has passed to report presence and renew a sliding pass; and for a first pass, whose holder
 * has shown by presenting it that they keep cookies.
 */
export function isRenewalDue(pass: Pass, renewal: Renewal): boolean {
  const { now, sessionDurationMs, disableSessionRenewal } = renewal;
  if (isFirstPass(pass, sessionDurationMs)) return true;
  return !disableSessionRenewal && now - pass.createdAt >= sessionDurationMs / RENEWALS_PER_SESSION;
}

/** The pass for one more session length from now; where renewal is off, from when the visit began. */
export function renewPass(pass: Pass, { now, sessionDurationMs, disableSessionRenewal }: Renewal): Pass {
  const from = disableSessionRenewal ? pass.admittedAt : now;
  return { ...pass, createdAt: now, expiresAt: from + sessionDurationMs };
}

/**
 * When a visit ends that begins again after its pass expired; not after `now` when it may not begin. Where renewal is off only
 * the form grace is added: otherwise a visitor who keeps sending forms would stay for ever.
 */
export function resumedUntil(pass: Pass, renewal: Renewal & { readonly formGraceMs: number }): number {
  const { now, sessionDurationMs, disableSessionRenewal, formGraceMs } = renewal;
  return (disableSessionRenewal ? pass.admittedAt + formGraceMs : now) + sessionDurationMs;
}

/** Someone on the site. */
export interface OnSite extends Pick<Pass, "id" | "lane" | "joinedAt" | "admittedAt" | "expiresAt"> {}

/** The current pass of a visit: it was renewed one session before it expires. */
export function passOf(
  visit: OnSite,
  { room, node, sessionDurationMs }: Pick<Pass, "room" | "node"> & { readonly sessionDurationMs: number },
): Pass {
  const { id, lane, joinedAt, admittedAt, expiresAt } = visit;
  const createdAt = expiresAt - sessionDurationMs;
  return { id, room, lane, joinedAt, admittedAt, createdAt, expiresAt, node };
}

/**
 * When the last pass of a visit that ends now stops being usable. A gateway may have renewed one just now and not reported it:
 * that one lasts one more session, and may begin the visit again for a while after that.
 */
export function lastPassEnd(
  knownEnd: number,
  rules: { readonly sessionDurationMs: number; readonly formGraceMs: number },
  now: number,
): number {
  return Math.max(knownEnd, now + rules.sessionDurationMs) + rules.formGraceMs + PRESENCE_GRACE_MS;
}

/**
 * True for the pass of a visitor who went straight through and has not been seen since. It lasts less than a session, so that
 * a client that keeps no cookies holds a slot for a short time only.
 */
export function isFirstPass(pass: Pass, sessionDurationMs: number): boolean {
  return pass.createdAt === pass.admittedAt && pass.expiresAt - pass.createdAt < sessionDurationMs;
}

/**
 * A slot is held this long past its pass, because gateways report presence in batches: the last request of a visit
 * may be reported after the old pass ran out.
 */
export const PRESENCE_GRACE_MS = 2_000;

/** How long the response with which the origin ends a visit may take to arrive. */
export const LAST_ANSWER_MS = 2_000;
/** By then all gateways have heard of the end of a visit and closed its connections. */
const END_HEARD_MS = 1_000;

/** For how long a connection may be open at most after its visit was left or revoked. */
export function lingerMs(connectionGraceMs: number): number {
  return Math.max(connectionGraceMs, LAST_ANSWER_MS) + END_HEARD_MS;
}
