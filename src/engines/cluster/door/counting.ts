/**
 * Counting up the tree (TAG: Madden and others 2002; Koopmans 2024, 3.4 and 4.4), by the root only, at its interval.
 *
 *   root ──count──▶ children ──▶ …      each adds what its children report to its own and passes it on, so a
 *   root ◀─report── children ◀── …      message is as long however many nodes and visitors are behind it
 *   root ─announce▶ children ──▶ …      what the root decided; each keeps its part and splits the rest by what was reported
 *
 * To let k people in, the root must know the order key up to which exactly k wait. It asks how many wait up to each of a
 * few keys (`pivots`), and if none is exactly right, once or twice more between the two nearest. So k admissions cost
 * three or four messages for each node, whatever k is.
 *
 * Messages may be lost: a count is repeated until its report is there, and brings the announcement before it along, in
 * case that was lost. An announcement counts only for the round that a node last reported to.
 *
 * Here are the shapes and their sums; `counter.ts` takes part in rounds, `round.ts` decides.
 */

import { addCounts, NO_TURNS, type TurnCounts } from "./turn-news.ts";

/** For one lane: how many wait, and how many of them up to each pivot. */
export type LaneReport = readonly [lane: number, waiting: number, ...upTo: number[]];

/** What nodes have together in a room. */
export interface RoomReport {
  readonly lanes: readonly LaneReport[];
  /** Those that are firm. */
  readonly turns: number;
  readonly visits: number;
  /** Spare slots that stay where they are, for those who come before the round is over. */
  readonly kept: number;
  /** Spare slots that are given back. */
  readonly offered: number;
  /** Slots in use beyond those held: more came with passes than there were slots for. */
  readonly owed: number;
  /** Leave to go straight through that was not used. */
  readonly leaveBack: number;
  /** How many joined lately, times `ARRIVALS_UNIT` and a little more, by which slots are handed out. */
  readonly arrivals: number;
  /** Those who came in without leave where none was needed, since the last round. */
  readonly used: number;
  /** What became of turns since the last round that was announced. */
  readonly news: TurnCounts;
}

export type RoomReports = readonly (readonly [room: string, report: RoomReport])[];
export type LanePivots = readonly [lane: number, ...pivots: number[]];
export type Asks = readonly (readonly [room: string, lanes: readonly LanePivots[]])[];

export interface CountBody {
  readonly kind: "count";
  readonly seq: number;
  /** The root's slot. */
  readonly root: number;
  /** 0: everything is asked; from 1 on only how many wait up to other pivots. */
  readonly pass: number;
  readonly asks: Asks;
  /** Rooms whose draw is due: gather no more, and say how far your log is. */
  readonly draws: readonly string[];
  /** Draws that were made; whoever has not made them yet cannot count. */
  readonly drawn: readonly (readonly [room: string, draw: number])[];
  /** The latest memo that the root knows of. */
  readonly memoAt: RoundId;
  readonly last: AnnounceBody | null;
}

export interface ReportBody {
  readonly kind: "report";
  readonly seq: number;
  readonly pass: number;
  readonly rooms: RoomReports;
  /** How far logs are, where a draw is due. */
  readonly heads: readonly (readonly [log: string, head: number])[];
  /** A memo later than the root's. */
  readonly memo: Memo | null;
  /** Rounds of earlier views that were never announced, by whoever was root. */
  readonly dropped: readonly RoundId[];
}

export type RoundId = readonly [view: number, seq: number];

/** Of a lane: everyone up to that pivot of that pass, or so many by lot. */
export type Cut =
  | readonly [lane: number, pass: number, pivot: number]
  | readonly [lane: number, byLot: number];

/** What the nodes of a subtree get in a room. */
export interface RoomShare {
  readonly cuts: readonly Cut[];
  /** Slots for those who come while nobody waits, and leave for so many. */
  readonly slots: number;
  readonly leave: number;
  /** So many of the firm turns that were reported may be used before the next round. null: all. */
  readonly entries: number | null;
  /** Slots for those who are in without one. */
  readonly paid: number;
  /** More are in use than there are: nobody keeps any to spare. */
  readonly isOver: boolean;
}

export interface AnnounceBody {
  readonly kind: "announce";
  readonly seq: number;
  /** The root's time. */
  readonly at: number;
  readonly shares: readonly (readonly [room: string, share: RoomShare])[];
  readonly memo: Memo;
  /** What was offered to these rounds is whose it was before; only while members are lost, or the sum has it. */
  readonly dropped: readonly RoundId[];
}

/** What doorkeepers remember; whoever is root goes on with it. */
export interface Memo {
  readonly view: number;
  readonly seq: number;
  readonly rooms: readonly (readonly [room: string, memo: unknown])[];
}

export const NOTHING: RoomReport = {
  ...{ lanes: [], turns: 0, visits: 0, kept: 0, offered: 0, owed: 0, leaveBack: 0 },
  ...{ arrivals: 0, used: 0, news: NO_TURNS },
};

/** What came is told in thousandths. */
export const ARRIVALS_UNIT = 1_000;

/** The pivot up to which everybody waits. */
export const EVERYONE_UP_TO = Number.MAX_SAFE_INTEGER;

/** Reports of two subtrees as one. */
export function addReports(a: RoomReports, b: RoomReports): RoomReports {
  const sum = new Map(a);
  for (const [room, report] of b) {
    const known = sum.get(room);
    sum.set(room, known ? addRoom(known, report) : report);
  }
  return [...sum];
}

function addRoom({ lanes, news, ...a }: RoomReport, b: RoomReport): RoomReport {
  const { lanes: otherLanes, news: otherNews, ...counts } = b;
  return { ...addCounts(a, counts), lanes: addLanes(lanes, otherLanes), news: addCounts(news, otherNews) };
}

function addLanes(a: readonly LaneReport[], b: readonly LaneReport[]): LaneReport[] {
  const sum = new Map(a.map((report) => [report[0], report]));
  for (const report of b) {
    const [lane, ...counts] = report;
    const known = sum.get(lane);
    if (known)
      sum.set(lane, [
        lane,
        ...counts.map((count, i) => count + (known[i + 1] ?? 0)),
      ] as unknown as LaneReport);
    else sum.set(lane, report);
  }
  return [...sum.values()];
}

/** Splits a whole number by weights, each its part or one more or less; all of it is given. */
export function splitByWeight(total: number, weights: readonly number[]): number[] {
  const sum = weights.reduce((all, weight) => all + weight, 0);
  const parts: number[] = [];
  let left = total;
  let weightLeft = sum;
  for (const weight of weights) {
    const part = weightLeft > 0 ? Math.round((left * weight) / weightLeft) : 0;
    parts.push(part);
    left -= part;
    weightLeft -= weight;
  }
  return parts;
}

/** How many of `picked` out of all fall on each group, when every one has the same chance. */
export function splitByLot(picked: number, sizes: readonly number[], dice: () => number): number[] {
  const parts = sizes.map(() => 0);
  const left = [...sizes];
  let all = left.reduce((sum, size) => sum + size, 0);
  for (let i = 0; i < picked && all > 0; i++) {
    let pick = Math.floor(dice() * all);
    let group = 0;
    while (pick >= left[group]!) pick -= left[group++]!;
    left[group]!--;
    parts[group]!++;
    all--;
  }
  return parts;
}
