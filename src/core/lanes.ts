/**
 * Lanes: whose turn is next when a room has several lines side by side, what that means for one place, and
 * what it costs the others. Inside a lane nothing changes: first come, first served.
 *
 * **Strict.** A lane before another is served first, but every lane leaves `othersShare` of each hundred
 * turns to those behind it while people wait there; they share these among themselves by the same rule. A
 * count for each lane rises by that share with every turn that comes to it, and at a hundred the turn goes on
 * behind. Counts start at half, so that what `aheadInLanes` tells is the middle of what may be, not one end.
 *
 * **Weighted.** Lanes with people in them are served in proportion to their shares, by earliest eligible
 * virtual deadline first (Stoica and Abdel-Wahab, 1995): with each turn every lane is owed its part of it;
 * those that are not ahead of their part are eligible; of them the one goes whose next whole turn is due
 * first. While the same lanes wait from the first turn on, none is ever a whole turn off its part. After
 * lanes have come and gone, what that left the others short of is made good first.
 *
 * A lane that empties loses what it was owed. What it got too early, always less than one turn, it pays back,
 * and until then its share counts as if people waited there: otherwise a lane that keeps emptying and filling
 * would get a turn each time. So a lane gains nothing by arriving in small groups, and saves nothing up for a
 * crowd.
 *
 * **The cost is bounded**, whatever arrives in the other lanes. Weighted: a wait is at most 100 / share times
 * as long as if the lane had the door to itself, and the next turn of a lane comes within 200 / share
 * admissions. Strict: at most 100 / othersShare times for each lane before it, and 100 / (100 - othersShare)
 * times for those behind. Both but for one round, since turns are whole. `laneCostFactor` tells the bound,
 * `laneCostMs` what the cost is now.
 *
 * Not done here: which lane a visitor belongs to, and whether it is served at all. Where only the privileged
 * are admitted, the caller says that nobody waits in the other lanes.
 */
import { EVERYBODY, type LanesRules } from "./rules.ts";

/** Shares are per this many turns. */
const WHOLE = 100;
const HALF = 50;
/** A lane without any share would never be served. */
const SHARE_MIN = 1;
/** Sums of parts that are no whole numbers must not decide whose turn it is. In turns. */
const TOLERANCE = 1e-9;
const LANE_NUMBER_MAX = 65_535;
const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** What is remembered of a lane over a restart. */
export interface LaneMemo {
  readonly lane: number;
  /** Weighted: turns it is short of its part. Below zero: it had one before its time. */
  readonly owed: number;
  /** Strict: hundredths of the next turn that it leaves to those behind it. */
  readonly spared: number;
}

interface Account {
  readonly lane: number;
  readonly share: number;
  owed: number;
  spared: number;
  isWaiting: boolean;
}

/** Decides whose turn is next. The same calls in the same order give the same answers. */
export class LaneTurns {
  #rules: LanesRules | null = null;
  /** Foremost first. */
  #accounts: readonly Account[] = [];

  /** The lane that gets this turn; null when nobody waits. Each call is a turn given. */
  next(rules: LanesRules, isWaiting: (lane: number) => boolean): number | null {
    if (rules !== this.#rules) this.#follow(rules);
    const accounts = this.#accounts;
    for (const account of accounts) account.isWaiting = isWaiting(account.lane);
    const turn = rules.order === "strict" ? nextStrict(accounts, rules.othersShare) : nextWeighted(accounts);
    return turn === null ? null : turn.lane;
  }

  memo(): LaneMemo[] {
    return this.#accounts.map(({ lane, owed, spared }) => ({ lane, owed, spared }));
  }

  restore(memo: readonly LaneMemo[]): void {
    this.#rules = null;
    this.#accounts = memo.map((kept) => ({ ...kept, share: 0, isWaiting: false }));
  }

  /** Lanes that stay keep their accounts. These are in turns, so they mean the same under other shares. */
  #follow(rules: LanesRules): void {
    const kept = new Map(this.#accounts.map((account) => [account.lane, account]));
    this.#accounts = [...rules.named.map(({ number }) => number), EVERYBODY].map((lane) => ({
      lane,
      share: shareOf(rules, lane),
      owed: kept.get(lane)?.owed ?? 0,
      spared: kept.get(lane)?.spared ?? HALF,
      isWaiting: false,
    }));
    this.#rules = rules;
  }
}

function nextStrict(accounts: readonly Account[], othersShare: number): Account | null {
  const last = accounts.findLast(({ isWaiting }) => isWaiting);
  if (!last) return null;
  for (const account of accounts) {
    if (account === last) break;
    if (!account.isWaiting) continue;
    account.spared += othersShare;
    if (account.spared < WHOLE) return account;
    account.spared -= WHOLE;
  }
  return last;
}

function nextWeighted(accounts: readonly Account[]): Account | null {
  let waitingShare = 0;
  let payingShare = 0;
  let owed = 0;
  for (const account of accounts) {
    if (account.isWaiting) {
      waitingShare += account.share;
      owed += account.owed;
    } else if (account.owed < 0) payingShare += account.share;
  }
  if (waitingShare === 0) return null;
  // When those who wait are together ahead of their parts, lanes that were owed a turn have emptied. Nobody
  // is there to get it, so time goes on to where they are not ahead: then at least one of them is eligible.
  const skipped = Math.max(0, -owed / waitingShare);
  const passed = skipped + 1 / (waitingShare + payingShare);
  let first: Account | null = null;
  let firstDue = Number.POSITIVE_INFINITY;
  for (const account of accounts) {
    const { share, isWaiting } = account;
    const owedNow = account.owed + share * skipped;
    const due = (1 - owedNow) / share;
    if (isWaiting && owedNow >= -TOLERANCE && due < firstDue - TOLERANCE) {
      first = account;
      firstDue = due;
    }
    const owedAfter = account.owed + share * passed;
    account.owed = isWaiting ? owedAfter : Math.min(0, owedAfter);
  }
  if (first) first.owed -= 1;
  return first;
}

/** The lane a ticket counts in: its own, or everybody's where the rules no longer know it. */
export function laneOf(rules: LanesRules, lane: number): number {
  return rules.named.some(({ number }) => number === lane) ? lane : EVERYBODY;
}

/** Of a hundred turns, while people wait in every lane. Everybody's lane has what the named ones leave. */
export function shareOf(rules: LanesRules, lane: number): number {
  let left = WHOLE;
  for (const { number, share } of rules.named) {
    if (number === lane) return Math.max(SHARE_MIN, share);
    left -= share;
  }
  return Math.max(SHARE_MIN, left);
}

/** A place in a lane: how many living tickets come before it there. */
export interface LanePlace {
  readonly lane: number;
  readonly ahead: number;
}

/**
 * How many living tickets of all lanes are admitted before this place, if nobody else comes. `waitingIn`
 * tells how many wait in a lane. Strict: exact when turns start afresh; later, each lane before may be one
 * turn behind or ahead in what it leaves. Weighted: off by less than a round of the lane's own, 100 / share
 * admissions.
 */
export function aheadInLanes(
  rules: LanesRules,
  waitingIn: (lane: number) => number,
  { lane, ahead }: LanePlace,
): number {
  const own = laneOf(rules, lane);
  return rules.order === "strict"
    ? aheadStrict(rules, waitingIn, { lane: own, ahead })
    : aheadWeighted(rules, waitingIn, { lane: own, ahead });
}

function aheadStrict(
  { named, othersShare }: LanesRules,
  waitingIn: (lane: number) => number,
  { lane, ahead }: LanePlace,
): number {
  const index = indexOf(named, lane);
  let behind = index < named.length ? waitingIn(EVERYBODY) : 0;
  for (let i = index + 1; i < named.length; i++) behind += waitingIn(named[i]!.number);
  // The turn in which this lane has had `ahead` and is not sending the next one on.
  const turn = Math.floor((WHOLE * ahead + HALF) / (WHOLE - othersShare));
  let before = ahead + Math.min(behind, turn - ahead);
  for (let i = index - 1; i >= 0; i--) {
    // The turn in which a lane before sends on for the time after `before`.
    const sentOn = Math.ceil((WHOLE * (before + 1) - HALF) / othersShare);
    before += Math.min(waitingIn(named[i]!.number), sentOn - before - 1);
  }
  return before;
}

/** By the middle of the time between the turn before and this one's deadline. */
function aheadWeighted(
  rules: LanesRules,
  waitingIn: (lane: number) => number,
  { lane, ahead }: LanePlace,
): number {
  const time = (ahead + 0.5) / shareOf(rules, lane);
  let others = lane === EVERYBODY ? 0 : Math.min(waitingIn(EVERYBODY), time * shareOf(rules, EVERYBODY));
  for (const { number } of rules.named) {
    if (number !== lane) others += Math.min(waitingIn(number), time * shareOf(rules, number));
  }
  return ahead + Math.round(others);
}

/** Where a lane stands among the named ones; after all of them for everybody's. */
function indexOf(named: LanesRules["named"], lane: number): number {
  const index = named.findIndex(({ number }) => number === lane);
  return index < 0 ? named.length : index;
}

/**
 * How much longer a visitor who joins `lane` now will wait because of those in lanes before it, when `perMs` are
 * admitted per millisecond. Null when the speed is not known. Later arrivals in lanes before it are not in this
 * number; `laneCostFactor` covers them too.
 */
export function laneCostMs(
  rules: LanesRules,
  waitingIn: (lane: number) => number,
  { lane, perMs }: { readonly lane: number; readonly perMs: number },
): number | null {
  if (perMs <= 0) return null;
  const own = laneOf(rules, lane);
  const index = indexOf(rules.named, own);
  const joining = { lane: own, ahead: waitingIn(own) };
  const isBefore = (other: number) => indexOf(rules.named, other) < index;
  const without = aheadInLanes(rules, (other) => (isBefore(other) ? 0 : waitingIn(other)), joining);
  return (aheadInLanes(rules, waitingIn, joining) - without) / perMs;
}

/** The factor by which other lanes can lengthen a wait in `lane`, whatever arrives in them. */
export function laneCostFactor(rules: LanesRules, lane: number): number {
  const own = laneOf(rules, lane);
  if (rules.order === "weighted") return WHOLE / shareOf(rules, own);
  const before = indexOf(rules.named, own);
  const bySparing = own === EVERYBODY ? 1 : WHOLE / (WHOLE - rules.othersShare);
  return bySparing * (WHOLE / rules.othersShare) ** before;
}

/** The number of a lane from its name, 1 to 65,535: FNV-1a, folded. Two names may get the same one. */
export function laneNumber(name: string): number {
  let hash = FNV_OFFSET;
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i);
    hash = Math.imul(hash ^ (unit & 0xff), FNV_PRIME);
    if (unit > 0xff) hash = Math.imul(hash ^ (unit >>> 8), FNV_PRIME);
  }
  return ((hash >>> 0) % LANE_NUMBER_MAX) + 1;
}
