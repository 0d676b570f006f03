/**
 * The board: the one small public state of a room that every waiting visitor reads. It is the same for everyone, so
 * it can be prebuilt, cached and pushed; a page finds its own place in it by its ticket's sequence.
 *
 * `marks` are pairs (sequence, living tickets ahead of it), dense near the front and sparse towards the end, in
 * rising order. Between two marks `ahead` is found by drawing a straight line; it is exact at a mark.
 */
export type RoomState = "open" | "queueing" | "prequeue" | "paused" | "closed";

export interface Board {
  readonly room: string;
  /** Rises with every change. A reader keeps the highest it has seen. */
  readonly version: number;
  readonly madeAt: number;
  readonly state: RoomState;
  /** Null, here and below: not to be known. */
  readonly waiting: number | null;
  /** The highest admitted sequence in everybody's lane. */
  readonly admitted: number;
  readonly marks: readonly Mark[];
  /** Visitors admitted a minute, as measured lately. */
  readonly ratePerMinute: number | null;
  /** The wait by people ahead, in seconds; null also while nobody can say. */
  readonly waits: readonly WaitPoint[] | null;
  readonly message: string;
  /** When the prequeue ends, or the next event of a closed room starts. */
  readonly nextEventAt: number | null;
  /** The lanes before everybody's, by number, each with marks and waits of its own. Not there: there are none. */
  readonly lanes?: Readonly<Record<number, LaneBoard>>;
  /** The draw of the event that is on or comes next. Not there: none. */
  readonly draw?: DrawNotice;
  /** What is left to buy behind the room. Not there: nothing is sold there, or nobody has looked yet. */
  readonly stock?: StockNotice;
}

/** What is left for those who wait. */
export interface StockNotice {
  /** Everything that is offered behind the room is sold. */
  readonly isSoldOut: boolean;
  /** An estimate: for those with more people ahead, probably nothing will be left. Null: nobody can say. */
  readonly reach: number | null;
}

/** The board of one lane: what these are for everybody. */
export interface LaneBoard extends Pick<Board, "marks" | "waits"> {
  /** The highest admitted sequence. */
  readonly admitted: number;
}

/** A draw as everyone may know it. */
export interface DrawNotice {
  readonly event: string;
  /** SHA-256 of the seed, there before the first place is given. */
  readonly seedHash: string;
  /** The seed itself, from the start on. */
  readonly seed: string | null;
}

export type Mark = readonly [sequence: number, ahead: number];

/** A point of the curve from people ahead to the wait; between two points the wait is on a straight line. */
export type WaitPoint = readonly [ahead: number, low: number, middle: number, high: number];

/** An honest wait: as likely below `middle` as above, and between `low` and `high` four times out of five. */
export interface WaitRange {
  readonly low: number;
  readonly middle: number;
  readonly high: number;
}

/** How many marks a board carries at the most. */
export const MARKS_MAX = 48;
/** This many at the front each have their own mark. */
const EXACT_MARKS = 16;

/**
 * The ranks worth a mark in a line of `waiting`: every one of the first few, then spreading out by a constant factor,
 * and always the last.
 */
export function markRanks(waiting: number): number[] {
  const ranks: number[] = [];
  const exact = Math.min(waiting, EXACT_MARKS);
  for (let rank = 0; rank < exact; rank++) ranks.push(rank);
  const last = waiting - 1;
  const steps = MARKS_MAX - exact;
  for (let step = 1; step <= steps && ranks.length < waiting; step++) {
    const rank = Math.round(exact * (last / exact) ** (step / steps));
    if (rank > ranks[ranks.length - 1]!) ranks.push(rank);
  }
  return ranks;
}

/**
 * People ahead of `sequence` as far as the board tells: exact at a mark, in proportion between two. Null beyond the
 * last mark: visitors who joined after this board was made are not on it yet.
 */
export function aheadOnBoard(board: Pick<Board, "marks">, sequence: number): number | null {
  let before: Mark | undefined;
  for (const mark of board.marks) {
    if (mark[0] === sequence) return mark[1];
    if (mark[0] > sequence) {
      if (!before) return 0;
      const share = (sequence - before[0]) / (mark[0] - before[0]);
      return Math.round(before[1] + share * (mark[1] - before[1]));
    }
    before = mark;
  }
  return null;
}
