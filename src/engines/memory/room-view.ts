/** A room as others see it: what a visitor is told of their place, the board, and the operator's counts. */
import { type Board, type LaneBoard, type Mark, markRanks, type RoomState } from "../../core/board.ts";
import type { Counts, LaneCounts } from "../../core/engine.ts";
import { unfairness } from "../../core/fairness.ts";
import { aheadInLanes, laneCostMs } from "../../core/lanes.ts";
import { type DoorRules, EVERYBODY } from "../../core/rules.ts";
import type { Phase } from "../../core/schedule.ts";
import type { LaneLines } from "./lane-lines.ts";
import type { RoomBooks } from "./room-books.ts";

const MINUTE_MS = 60_000;
/** The name of the lane of everybody who is in no other. */
const EVERYBODY_NAME = "everybody";

/** The books of a room, read at an instant. */
export interface RoomView {
  readonly books: RoomBooks;
  readonly now: number;
}

/** How many are expected to be let in before the one with this sequence. */
export function expectedAhead(lines: LaneLines, rules: DoorRules, lane: number, sequence: number): number {
  // Whoever is picked at random has on the whole half of the others before them.
  if (rules.queueingMethod === "random") return lines.size >> 1;
  const aheadInLane = lines.ahead(lane, sequence);
  if (rules.lanes.named.length === 0) return aheadInLane;
  return aheadInLanes(rules.lanes, (other) => lines.waitingIn(other), { lane, ahead: aheadInLane });
}

/** True when visitors have a number of people ahead of them, and may know it. */
export function isAheadShown({ queueingMethod, show }: DoorRules): boolean {
  return show.ahead && queueingMethod !== "random";
}

export function boardOf(view: RoomView, version: number): Board {
  const { books, now } = view;
  const { name, door, lines, pace, admittedSequences } = books;
  const rules = books.rulesAt(now);
  const phase = door.phase(now);
  const perHundred = rules.show.wait ? pace.perHundred(rules) : null;
  const secondsPerHundred = perHundred && {
    low: seconds(perHundred.low),
    middle: seconds(perHundred.middle),
    high: seconds(perHundred.high),
  };
  const lanes = laneBoards(view, secondsPerHundred);
  const draw = drawNotice(view);
  return {
    room: name,
    version,
    madeAt: now,
    state: stateOf(view),
    waiting: rules.show.behind ? lines.size : null,
    admitted: isAheadShown(rules) ? (admittedSequences.get(EVERYBODY) ?? 0) : 0,
    marks: marksOf(view, EVERYBODY),
    ratePerMinute: rules.show.wait ? Math.round(pace.perMs(rules) * 10 * MINUTE_MS) / 10 : null,
    secondsPerHundred,
    message: rules.message,
    nextEventAt: phase.opensAt,
    ...(lanes && { lanes }),
    ...(draw && { draw }),
  };
}

export function countsOf(view: RoomView): Counts {
  const { books, now } = view;
  const { door, crowd, pace, recent, lapsed, totals } = books;
  const rules = books.rulesAt(now);
  return {
    waiting: crowd.waiting,
    admitted: crowd.admitted,
    onSite: crowd.onSite,
    lapsed,
    ratePerMinute: pace.perMs(rules) * MINUTE_MS,
    unfairness: unfairness(recent),
    state: stateOf(view),
    event: door.phase(now).event?.name ?? null,
    limits: door.limits(now),
    isActive: door.isActive,
    noShows: door.noShows,
    lanes: laneCounts(books, rules),
    remarks: door.remarks,
    totals: { ...totals },
  };
}

/** What the board says of the room in one word. */
export function stateOf({ books: { door, lines }, now }: RoomView): RoomState {
  const { rules, isPrequeue } = door.phase(now);
  if (rules.closed) return "closed";
  if (isPrequeue) return "prequeue";
  if (rules.paused) return "paused";
  return lines.size > 0 || rules.queueAll ? "queueing" : "open";
}

/** No marks where nobody may know how many are ahead, nor before a draw, when nobody has a number yet. */
function marksOf({ books, now }: RoomView, lane: number): Mark[] {
  const { door, lines } = books;
  const rules = books.rulesAt(now);
  if (!isAheadShown(rules) || isBeforeDraw(door.phase(now))) return [];
  return markRanks(lines.waitingIn(lane)).map((rank): Mark => {
    const sequence = lines.at(lane, rank);
    return [sequence, expectedAhead(lines, rules, lane, sequence)];
  });
}

function isBeforeDraw({ event, isPrequeue }: Phase): boolean {
  return isPrequeue && event?.isShuffled === true;
}

function laneBoards(
  view: RoomView,
  secondsPerHundred: Board["secondsPerHundred"],
): Readonly<Record<number, LaneBoard>> | null {
  const { books, now } = view;
  const rules = books.rulesAt(now);
  const { named } = rules.lanes;
  if (named.length === 0) return null;
  return Object.fromEntries(
    named.map(({ number }) => {
      const admitted = isAheadShown(rules) ? (books.admittedSequences.get(number) ?? 0) : 0;
      return [number, { admitted, marks: marksOf(view, number), secondsPerHundred }];
    }),
  );
}

/** The draw that is on or comes next: its hash is there before the first place is given. */
function drawNotice({ books: { door, draws }, now }: RoomView): Board["draw"] | null {
  const event = door.rules.events.find(({ endAt, isShuffled }) => isShuffled && endAt > now);
  return event ? { event: event.name, ...draws.announce(event) } : null;
}

function laneCounts({ lines, pace, admittedInLane }: RoomBooks, rules: DoorRules): LaneCounts[] {
  const waitingIn = (lane: number) => lines.waitingIn(lane);
  const perMs = pace.perMs(rules);
  const all = [...rules.lanes.named, { number: EVERYBODY, name: EVERYBODY_NAME }];
  return all.map(({ number, name }) => ({
    lane: number,
    name,
    waiting: lines.waitingIn(number),
    admitted: admittedInLane.get(number) ?? 0,
    costMs: laneCostMs(rules.lanes, waitingIn, { lane: number, perMs }),
  }));
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
