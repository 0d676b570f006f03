/**
 * A forecast of the door: how many turns it will have given by when. The room is played forward in equal steps from what
 * is known: when the visits on the site will end and how long new ones will last (`stays.ts`), the limits in force and those
 * of the schedule, turns that nobody uses. The line is taken to be endless, so one play serves every place in it.
 *
 * From that `waitCurve` makes the wait of each place: people who lapse ahead of it shorten the wait, people who join
 * lanes before it lengthen it. `middle` is as likely too long as too short; four waits out of five lie between `low` and `high`.
 * How far these are apart follows from chance (single visits end when they end) and from how little is known yet.
 */
import type { WaitPoint } from "./board.ts";
import { FIRM_MS } from "./firm-turns.ts";
import { aheadInLanes } from "./lanes.ts";
import { type DoorRules, EVERYBODY, isHeld, type RoomRules } from "./rules.ts";
import { phaseAt } from "./schedule.ts";
import type { Stays } from "./stays.ts";

const MINUTE_MS = 60_000;
const STEPS = 240;
/** The play goes on for so many mean visits; what comes after goes on as its second half. */
const HOLDS = 4;
/** However short visits are, so that a line let in by rate alone has some steps. */
const PLAY_LEAST_MS = 4 * MINUTE_MS;
/** The door lets everybody in: so many each millisecond. */
const WIDE_OPEN_PER_MS = 50;
const SEGMENTS_MAX = 64;

/** The 10th and 90th percentile of a normal distribution lie this many deviations out. */
const TENTH_DEVIATIONS = 1.2816;
/** How much of the doubt about the length of visits becomes doubt about the pace: errors partly cancel. */
const GUESS_DOUBT = 1.2;
/** Of visitors who seem to have stopped some may come back. */
const UNPROVEN_DOUBT = 0.07;
/** What nobody has lived yet may be much longer or shorter. */
const UNSEEN_DOUBT = 0.6;
/** A pace set by visits that end is never known better than this. */
const PACE_DOUBT = 0.012;
/** Half a turn is always in doubt. */
const COUNT_DOUBT = 0.5;
/** Counted smoothly, a turn is given when half of it has passed. */
const HALF_TURN = 0.5;
/** A door turns, and a page hears of it, this late. */
const LATE_MS = 500;
/** The standard deviation of an instant that may be anywhere in its step, in steps. */
const STEP_DEVIATION = 0.29;
/** No wait is known better than to this share of it: what is set as a rate is kept, what hangs on visits less so. */
const RATE_DOUBT = 0.003;
/** A minute falls short of its rate by this many times the root of the turns that are out. */
const WANDER = 0.6;
/** Turns a minute, however low the rate. */
const RATE_LEAST = 0.5;
/** Of those expected to lapse ahead, or to join ahead, so many may be more or fewer. */
const LINE_DOUBT = 1;
/** A range wider than this is no help. */
export const RANGE_MAX = 4;
/** Places between two points of a curve, as a factor. */
const POINTS_APART = 1.06;
/** A curve serves a line that has grown by so much since. */
const GROWS_MAX = 8;
const COMES_MAX = 5_000;

/** A room at the instant of the forecast. */
export interface Outlook {
  readonly now: number;
  readonly roomRules: RoomRules;
  /** Those in force, with the limits in force. */
  readonly rules: DoorRules;
  readonly onSite: number;
  /** Firm turns out. */
  readonly firm: number;
  /** Slots that other rooms of the same budget leave to this one. */
  readonly budgetFree: number;
  /** Share of turns that nobody uses, and how long a turn is firm on average. */
  readonly noShows: number;
  readonly firmForMs: number;
}

/** Turns given by the end of each step, and the variance of that. */
export interface DoorPlay {
  readonly stepMs: number;
  /** Nothing is given before. In milliseconds from the forecast. */
  readonly opensInMs: number;
  readonly turns: Float64Array;
  readonly variance: Float64Array;
  /** Turns a millisecond after the last step. */
  readonly perMsAfter: number;
  /** Share of the turns that wait for a slot; the others are spaced by the rate. */
  readonly bySlots: number;
  /** It may take shorter, and longer, by these shares: one time in ten even more. */
  readonly shorter: number;
  readonly longer: number;
}

/** The limits that hold from an instant on. */
interface Segment {
  readonly fromMs: number;
  readonly isOpen: boolean;
  readonly isWideOpen: boolean;
  readonly slots: number;
  /** Turns a millisecond by the rate. */
  readonly perMs: number;
}

/** Null: nobody is let in, and nothing says until when. */
export function playForward(outlook: Outlook, stays: Stays): DoorPlay | null {
  const segments = segmentsOf(outlook);
  const open = segments.find(({ isOpen }) => isOpen);
  if (!open) return null;
  const holdMs = stays.meanHoldMs();
  const lengthMs = Math.max(PLAY_LEAST_MS, HOLDS * holdMs);
  // Whoever is on the site when it opens much later is gone by then.
  const isFarOff = open.fromMs > lengthMs;
  const opensInMs = isFarOff ? open.fromMs : 0;
  const stepMs = (isFarOff ? lengthMs : lengthMs + open.fromMs) / STEPS;
  const size = { stepMs, steps: STEPS };
  const { onSite, firm, noShows } = outlook;
  const there = isFarOff ? 0 : onSite;
  const departures = stays.departures(there, size);
  const hold = stays.hold(size);
  const unused = (step: number) => ((step + 1) * stepMs >= FIRM_MS * (1 - noShows) ? noShows : 0);
  const ended = hold.map((share, step) => share * (1 - noShows) + unused(step));
  // By the end of a later step, of turns given all over a step.
  const endedAfter = ended.map((share, step) => (share + (step === 0 ? 0 : ended[step - 1]!)) / 2);
  const turns = new Float64Array(STEPS);
  const variance = new Float64Array(STEPS);
  const given = new Float64Array(STEPS);
  let total = 0;
  let spread = 0;
  let segment = 0;
  let bySlots = 0;
  for (let step = 0; step < STEPS; step++) {
    const atMs = opensInMs + (step + 0.5) * stepMs;
    while (segment + 1 < segments.length && segments[segment + 1]!.fromMs <= atMs) segment++;
    const { isOpen, isWideOpen, slots, perMs } = segments[segment]!;
    let used = there - departures.gone[step]!;
    let noise = departures.variance[step]!;
    if (!isFarOff) {
      used += firm * (1 - ended[step]!);
      noise += firm * ended[step]! * (1 - ended[step]!);
    }
    for (let before = 0; before < step; before++) {
      const share = endedAfter[step - before]!;
      used += given[before]! * (1 - share);
      noise += given[before]! * share * (1 - share);
    }
    const free = Math.max(0, slots - used);
    const allowed = isWideOpen ? WIDE_OPEN_PER_MS * stepMs : Math.min(perMs * stepMs, free);
    given[step] = isOpen ? allowed : 0;
    total += given[step]!;
    if (isOpen && !isWideOpen && free <= perMs * stepMs) {
      spread = Math.max(spread, noise);
      bySlots += given[step]!;
    }
    turns[step] = total;
    variance[step] = spread;
  }
  const half = STEPS / 2;
  const perMsAfter = Math.max(1e-12, (total - turns[half - 1]!) / ((STEPS - half) * stepMs));
  const share = total === 0 ? 0 : bySlots / total;
  const doubt = doubtOf(stays);
  return {
    stepMs,
    opensInMs,
    turns,
    variance,
    perMsAfter,
    bySlots: share,
    shorter: RATE_DOUBT * TENTH_DEVIATIONS + share * doubt.shorter,
    longer: RATE_DOUBT * TENTH_DEVIATIONS + share * doubt.longer,
  };
}

/**
 * By what share a mean visit may be shorter or longer than it is taken to be. The session after the last sign of life is known; of the
 * rest, as long as little is known of it, half as much is as likely as twice as much.
 */
function doubtOf(stays: Stays): Pick<DoorPlay, "shorter" | "longer"> {
  const factor = Math.exp(TENTH_DEVIATIONS * GUESS_DOUBT * stays.doubt);
  const guessed = 1 - stays.knownShare;
  const rest = Math.hypot(UNPROVEN_DOUBT * stays.unprovenShare, UNSEEN_DOUBT * stays.unseenShare, PACE_DOUBT);
  const restFactor = Math.exp(TENTH_DEVIATIONS * rest);
  return {
    shorter: Math.hypot(guessed * (1 - 1 / factor), 1 - 1 / restFactor),
    longer: Math.hypot(guessed * (factor - 1), restFactor - 1),
  };
}

/** The limits of now and of all that the schedule says. */
function segmentsOf({
  now,
  roomRules,
  rules,
  onSite,
  firm,
  budgetFree,
  noShows,
  firmForMs,
}: Outlook): Segment[] {
  const inForce = phaseAt(roomRules, now).rules;
  const slotsShare = shareOf(rules.totalActiveUsers, inForce.totalActiveUsers);
  const rateShare = shareOf(rules.newUsersPerMinute, inForce.newUsersPerMinute);
  const segments: Segment[] = [];
  for (let at = now; at !== Number.POSITIVE_INFINITY && segments.length < SEGMENTS_MAX; ) {
    const phase = phaseAt(roomRules, at);
    const { totalActiveUsers, newUsersPerMinute, fillNoShows } = phase.rules;
    const unlimited = Number.POSITIVE_INFINITY;
    const own = totalActiveUsers === null ? unlimited : totalActiveUsers * slotsShare;
    const slots = Math.min(own, onSite + firm + budgetFree);
    const perMs =
      newUsersPerMinute === null
        ? unlimited
        : turnsPerMinute(newUsersPerMinute * rateShare, noShows, firmForMs) / MINUTE_MS;
    segments.push({
      fromMs: at - now,
      isOpen: !isHeld(phase.rules) && !phase.isPrequeue,
      isWideOpen:
        phase.rules.drained ||
        phase.rules.queueingMethod === "passthrough" ||
        (own === unlimited && perMs === unlimited),
      slots: fillNoShows ? slots / (1 - noShows) : slots,
      perMs,
    });
    at = phase.until;
  }
  return segments;
}

/**
 * Turns a minute by the rate. A turn counts in the minute after it is used, and while it is firm. By chance some visitors use
 * theirs late; a minute that holds fewer than the rate because of that is not made up for, since turns are spaced.
 */
function turnsPerMinute(rate: number, noShows: number, firmForMs: number): number {
  const firm = (rate * firmForMs) / MINUTE_MS;
  const lost = WANDER * Math.min(firm, Math.sqrt(firm));
  return Math.max(RATE_LEAST, rate - lost) / (1 - noShows + firmForMs / MINUTE_MS);
}

/** The adaptive limit as a share of the set one. */
function shareOf(inForce: number | null, set: number | null): number {
  return inForce === null || set === null || set === 0 ? 1 : inForce / set;
}

/** What changes the line ahead of a place while it waits. */
export interface LineOutlook {
  /** Share of those who wait that stop waiting each millisecond. */
  readonly lapsePerMs: number;
  readonly waitingIn: (lane: number) => number;
  /** Newcomers to a lane each millisecond, and for how long that is expected to go on. */
  readonly joinsPerMs: (lane: number) => number;
  readonly comingMs: number;
}

/** The wait of every place in one lane, and of those who may come behind them until the next look. */
export function waitCurve(play: DoorPlay, rules: DoorRules, lane: number, line: LineOutlook): WaitPoint[] {
  const last = line.waitingIn(lane) * GROWS_MAX + COMES_MAX;
  const passed = placesPassed(play, line.lapsePerMs);
  const points: WaitPoint[] = [];
  for (let ahead = 0; ; ahead = Math.max(ahead + 1, Math.round(ahead * POINTS_APART))) {
    points.push(pointAt(play, passed, { rules, lane, line }, ahead));
    if (ahead > last) return inOrder(points);
  }
}

/** How far the line has moved by the end of each step: turns, and those who lapsed before their turn came. */
function placesPassed({ turns, stepMs, opensInMs }: DoorPlay, lapsePerMs: number): Float64Array {
  const passed = new Float64Array(turns.length);
  let total = 0;
  for (let step = 0; step < turns.length; step++) {
    const given = turns[step]! - (step === 0 ? 0 : turns[step - 1]!);
    total += given * Math.exp(Math.min(3, lapsePerMs * (opensInMs + (step + 0.5) * stepMs)));
    passed[step] = total;
  }
  return passed;
}

interface LanePlaces {
  readonly rules: DoorRules;
  readonly lane: number;
  readonly line: LineOutlook;
}

function pointAt(
  play: DoorPlay,
  passed: Float64Array,
  { rules, lane, line }: LanePlaces,
  ahead: number,
): WaitPoint {
  let coming = 0;
  let places = aheadOf(rules, lane, ahead, (other) => line.waitingIn(other)) + HALF_TURN;
  let middle = instantOf(play, passed, places, 0);
  if (lane === EVERYBODY ? rules.lanes.named.length > 0 : rules.lanes.named.length > 1) {
    const now = places;
    for (let round = 0; round < 4; round++) {
      const joiningMs = line.comingMs * (1 - Math.exp(-middle / line.comingMs));
      const then = (other: number) =>
        line.waitingIn(other) + (other === lane ? 0 : line.joinsPerMs(other) * joiningMs);
      places = aheadOf(rules, lane, ahead, then) + HALF_TURN;
      middle = instantOf(play, passed, places, 0);
    }
    coming = places - now;
  }
  const turns = turnsAt(play, middle);
  const lapsing = Math.max(0, places - turns);
  const lineDoubt = LINE_DOUBT * Math.max(lapsing, Math.abs(coming));
  const deviation = (ms: number) => {
    return Math.sqrt(varianceAt(play, ms) + COUNT_DOUBT ** 2 + lineDoubt ** 2);
  };
  const knownMs = Math.hypot(LATE_MS, STEP_DEVIATION * play.bySlots * play.stepMs) * TENTH_DEVIATIONS;
  const out = TENTH_DEVIATIONS * deviation(middle);
  const soonest = instantOf(play, passed, Math.max(0.001, places - out), 0);
  const latest = instantOf(play, passed, places + out, 0);
  const low = Math.max(middle - Math.hypot(middle - soonest, knownMs, play.shorter * middle), 0);
  const high = middle + Math.hypot(latest - middle, knownMs, play.longer * middle);
  return withinRange([ahead, low, middle, high]);
}

/** Never wider than by RANGE_MAX, about the middle. */
export function withinRange([ahead, low, middle, high]: WaitPoint): WaitPoint {
  if (high <= low * RANGE_MAX) return [ahead, low, middle, high];
  const below = Math.min(middle / Math.max(low, 1), RANGE_MAX ** 0.75);
  const top = Math.min(high, middle * RANGE_MAX ** 0.75);
  const share = Math.log(RANGE_MAX) / Math.log(Math.max(RANGE_MAX, (top / Math.max(1, middle)) * below));
  return [ahead, middle / below ** share, middle, middle * (top / Math.max(1, middle)) ** share];
}

function aheadOf(rules: DoorRules, lane: number, ahead: number, waitingIn: (lane: number) => number): number {
  return rules.lanes.named.length === 0
    ? ahead
    : aheadInLanes(rules.lanes, (other) => Math.round(waitingIn(other)), { lane, ahead });
}

/** When so many places have passed. */
function instantOf(
  { stepMs, opensInMs, perMsAfter, turns }: DoorPlay,
  passed: Float64Array,
  places: number,
  from: number,
): number {
  const last = passed.length - 1;
  if (places > passed[last]!) {
    const growth = turns[last]! > 0 ? passed[last]! / turns[last]! : 1;
    return opensInMs + (last + 1) * stepMs + (places - passed[last]!) / (perMsAfter * growth);
  }
  let low = from;
  let high = last;
  while (low < high) {
    const between = (low + high) >> 1;
    if (passed[between]! >= places) high = between;
    else low = between + 1;
  }
  const before = low === 0 ? 0 : passed[low - 1]!;
  return opensInMs + (low + (places - before) / (passed[low]! - before)) * stepMs;
}

function turnsAt({ stepMs, opensInMs, turns, perMsAfter }: DoorPlay, ms: number): number {
  const step = (ms - opensInMs) / stepMs;
  const last = turns.length;
  if (step >= last) return turns[last - 1]! + (step - last) * stepMs * perMsAfter;
  const whole = Math.max(0, Math.floor(step));
  const before = whole === 0 ? 0 : turns[whole - 1]!;
  return before + (step - whole) * (turns[whole]! - before);
}

/** Beyond the last step chance adds up as it did before. */
function varianceAt({ stepMs, opensInMs, variance }: DoorPlay, ms: number): number {
  const step = Math.max(0, (ms - opensInMs) / stepMs);
  const last = variance.length - 1;
  return step <= last ? variance[Math.floor(step)]! : (variance[last]! * step) / last;
}

/** A place further back never waits less. */
function inOrder(points: WaitPoint[]): WaitPoint[] {
  for (let i = 1; i < points.length; i++) {
    const [, low, middle, high] = points[i - 1]!;
    const point = points[i]!;
    points[i] = [point[0], Math.max(low, point[1]), Math.max(middle, point[2]), Math.max(high, point[3])];
  }
  return points;
}
