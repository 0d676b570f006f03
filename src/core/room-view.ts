/**
 * A room as others see it: the board that everyone reads, and the operator's counts. Every engine tells what it knows as
 * `RoomFigures`, and this makes the same of them everywhere.
 */
import { type Board, type LaneBoard, type Mark, markRanks, type RoomState, type WaitPoint } from "./board.ts";
import type { Counts, LaneCounts, Remark, Totals } from "./engine.ts";
import type { Pace } from "./eta.ts";
import { type Turn, unfairness } from "./fairness.ts";
import { aheadInLanes, laneCostMs } from "./lanes.ts";
import { type DoorRules, EVERYBODY, type EventRules, type RoomRules } from "./rules.ts";
import type { Phase } from "./schedule.ts";
import type { WaitAccuracy } from "./told-waits.ts";
import type { WaitCurve } from "./wait-curve.ts";

const MINUTE_MS = 60_000;
/** Places between two points of the board's waits, as a factor. */
const WAITS_APART = 1.5;
/** The name of the lane of everybody who is in no other. */
const EVERYBODY_NAME = "everybody";

/** What an engine knows of a room at an instant. */
export interface RoomFigures {
  readonly name: string;
  readonly now: number;
  readonly roomRules: RoomRules;
  /** Those in force, with the limits in force. */
  readonly rules: DoorRules;
  readonly phase: Phase;
  readonly waiting: number;
  readonly admitted: number;
  readonly looseTurns: number;
  readonly onSite: number;
  readonly lapsed: number;
  readonly isActive: boolean;
  readonly noShows: number;
  readonly remarks: readonly Remark[];
  readonly totals: Totals;
  readonly pace: Pick<Pace, "perMs">;
  /** The wait for every place of a lane; null while nobody can say. */
  waitCurve(lane: number): WaitCurve | null;
  waitAccuracy(): WaitAccuracy | null;
  waitingIn(lane: number): number;
  /** The sequence of the one in a lane with `rank` before them there. */
  sequenceAt(lane: number, rank: number): number;
  /** The highest admitted sequence of a lane; 0: none. */
  highestAdmitted(lane: number): number;
  admittedIn(lane: number): number;
  /** The latest admissions. */
  recent(): readonly Turn[];
  /** What everyone may know of an event's seed. */
  announce(event: EventRules): { readonly seedHash: string; readonly seed: string | null };
}

/** How many visitors, of all lanes, are expected to be admitted before someone with `ahead` visitors before them in their lane. */
export function expectedAhead(
  rules: DoorRules,
  waitingIn: (lane: number) => number,
  place: { readonly lane: number; readonly ahead: number },
): number {
  return rules.lanes.named.length === 0 ? place.ahead : aheadInLanes(rules.lanes, waitingIn, place);
}

/** True when visitors have a number of people ahead of them, and may know it. */
export function isAheadShown({ queueingMethod, show }: DoorRules): boolean {
  return show.ahead && queueingMethod !== "random";
}

export function boardOf(figures: RoomFigures, version: number): Board {
  const { name, now, rules, phase, pace, waiting } = figures;
  const lanes = laneBoards(figures);
  const draw = drawNotice(figures);
  return {
    room: name,
    version,
    madeAt: now,
    state: stateOf(phase, waiting),
    waiting: rules.show.behind ? waiting : null,
    admitted: isAheadShown(rules) ? figures.highestAdmitted(EVERYBODY) : 0,
    marks: marksOf(figures, EVERYBODY),
    ratePerMinute: rules.show.wait ? Math.round(pace.perMs(rules) * 10 * MINUTE_MS) / 10 : null,
    waits: waitsOf(figures, EVERYBODY),
    message: rules.message,
    nextEventAt: phase.opensAt,
    ...(lanes && { lanes }),
    ...(draw && { draw }),
  };
}

export function countsOf(figures: RoomFigures): Counts {
  const { waiting, admitted, looseTurns, onSite, lapsed, rules, phase, pace, totals } = figures;
  const { totalActiveUsers, newUsersPerMinute } = rules;
  return {
    waiting,
    admitted,
    looseTurns,
    onSite,
    lapsed,
    ratePerMinute: pace.perMs(rules) * MINUTE_MS,
    unfairness: unfairness(figures.recent()),
    state: stateOf(phase, waiting),
    event: phase.event?.name ?? null,
    limits: { totalActiveUsers, newUsersPerMinute },
    isActive: figures.isActive,
    noShows: figures.noShows,
    waitAccuracy: figures.waitAccuracy(),
    lanes: laneCounts(figures),
    remarks: figures.remarks,
    totals: { ...totals },
  };
}

/** What the board says of a room in one word. */
export function stateOf({ rules, isPrequeue }: Phase, waiting: number): RoomState {
  if (rules.closed) return "closed";
  if (isPrequeue) return "prequeue";
  if (rules.paused) return "paused";
  return waiting > 0 || rules.queueAll ? "queueing" : "open";
}

/** No marks where nobody may know how many are ahead, nor before a draw, when nobody has a number yet. */
export function hasMarks(rules: DoorRules, { event, isPrequeue }: Phase): boolean {
  return isAheadShown(rules) && !(isPrequeue && event?.isShuffled === true);
}

function marksOf(figures: RoomFigures, lane: number): Mark[] {
  const { rules, phase } = figures;
  if (!hasMarks(rules, phase)) return [];
  const waitingIn = (other: number) => figures.waitingIn(other);
  return markRanks(figures.waitingIn(lane)).map(
    (rank): Mark => [figures.sequenceAt(lane, rank), expectedAhead(rules, waitingIn, { lane, ahead: rank })],
  );
}

/** Without the number of people ahead a page has no use for them, and they tell the line's length. */
function waitsOf(figures: RoomFigures, lane: number): readonly WaitPoint[] | null {
  const { rules, waiting } = figures;
  const isShown = rules.show.wait && isAheadShown(rules) && waiting > 0;
  return isShown ? waitPoints(figures, lane, figures.waitingIn(lane)) : null;
}

/** The waits of a lane to `last` in seconds, by the same numbers of people ahead as the marks; null while nobody can say. */
export function waitPoints(
  figures: RoomFigures,
  lane: number,
  last = Number.POSITIVE_INFINITY,
): readonly WaitPoint[] | null {
  const { rules } = figures;
  const curve = figures.waitCurve(lane);
  if (!curve) return null;
  const waitingIn = (other: number) => figures.waitingIn(other);
  const points: WaitPoint[] = [];
  let next = 0;
  for (const [index, [rank, low, middle, high]] of curve.points.entries()) {
    if (rank < next && index < curve.points.length - 1) continue;
    const ahead = expectedAhead(rules, waitingIn, { lane, ahead: rank });
    points.push([ahead, seconds(low), seconds(middle), seconds(high)]);
    if (rank >= last) break;
    next = Math.max(rank + 1, rank * WAITS_APART);
  }
  return points;
}

function laneBoards(figures: RoomFigures): Readonly<Record<number, LaneBoard>> | null {
  const { rules } = figures;
  const { named } = rules.lanes;
  if (named.length === 0) return null;
  return Object.fromEntries(
    named.map(({ number }) => {
      const admitted = isAheadShown(rules) ? figures.highestAdmitted(number) : 0;
      return [number, { admitted, marks: marksOf(figures, number), waits: waitsOf(figures, number) }];
    }),
  );
}

/** The draw that is on or comes next: its hash is there before the first place is given. */
function drawNotice(figures: RoomFigures): Board["draw"] | null {
  const { roomRules, now } = figures;
  const event = roomRules.events.find(({ endAt, isShuffled }) => isShuffled && endAt > now);
  return event ? { event: event.name, ...figures.announce(event) } : null;
}

function laneCounts(figures: RoomFigures): LaneCounts[] {
  const { rules, pace } = figures;
  const waitingIn = (lane: number) => figures.waitingIn(lane);
  const perMs = pace.perMs(rules);
  const all = [...rules.lanes.named, { number: EVERYBODY, name: EVERYBODY_NAME }];
  return all.map(({ number, name }) => ({
    lane: number,
    name,
    waiting: figures.waitingIn(number),
    admitted: figures.admittedIn(number),
    costMs: laneCostMs(rules.lanes, waitingIn, { lane: number, perMs }),
  }));
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
