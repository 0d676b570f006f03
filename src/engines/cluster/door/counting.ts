/**
 * Counting up the tree (TAG: Madden and others 2002; Koopmans 2024, 3.4 and 4.4), by the root only, at its interval.
 *
 *   root ──count──▶ children ──▶ …      each adds its own numbers to its children's and passes the sum on, so a message has
 *   root ◀─report── children ◀── …      the same length however many nodes and visitors are behind it
 *   root ─announce▶ children ──▶ …      what the root decided; each node keeps its part and splits the rest by the reports
 *
 * To admit k visitors the root must know the order key up to which exactly k wait. It asks how many wait up to each of a few keys
 * (`pivots`). If none is exactly right it asks again, once or twice, between the two nearest. So k admissions cost three or four
 * messages for each node, whatever k is.
 *
 * Messages may be lost: a count is repeated until its report arrives, and carries the announcement before it, in case that was
 * lost. An announcement counts only for the round that a node last reported to.
 *
 * This file has the message types and their sums; `counter.ts` takes part in rounds, `round.ts` decides.
 */

import { addCounts, NO_TURNS, type TurnCounts } from "./turn-news.ts";

/** For one lane: how many wait, in all and up to each pivot. */
export type LaneReport = readonly [lane: number, waiting: number, ...upTo: number[]];

/** The sum of what some nodes have in a room. */
export interface RoomReport {
  readonly lanes: readonly LaneReport[];
  readonly turns: number;
  readonly visits: number;
  /** Spare slots that a node keeps for visitors who come before the round is over. */
  readonly kept: number;
  /** Spare slots that are given back. */
  readonly offered: number;
  /** Slots in use beyond those a node has: more visitors came with passes than it had slots for. */
  readonly owed: number;
  /** Unused leave to go straight through. */
  readonly leaveBack: number;
  /** Recent arrivals in thousandths (`ARRIVALS_UNIT`), plus one; slots are handed out in proportion. */
  readonly arrivals: number;
  /** Visitors since the last round who entered without leave, where none was needed. */
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
  /** The root's node number. */
  readonly root: number;
  /** 0 asks for everything; 1 and higher only how many wait up to other pivots. */
  readonly pass: number;
  readonly asks: Asks;
  /** Rooms whose draw is due: close the pool, and report how long your log is. */
  readonly draws: readonly string[];
  /** Draws that were made; a node that has not made them yet cannot count. */
  readonly drawn: readonly (readonly [room: string, draw: number])[];
  /** The latest memo that the root has. */
  readonly memoAt: RoundId;
  readonly last: AnnounceBody | null;
}

export interface ReportBody {
  readonly kind: "report";
  readonly seq: number;
  readonly pass: number;
  readonly rooms: RoomReports;
  /** How long logs are, when a draw is due. */
  readonly heads: readonly (readonly [log: string, head: number])[];
  /** A memo that is later than the root's. */
  readonly memo: Memo | null;
  /** Rounds of earlier views that their root never announced. */
  readonly dropped: readonly RoundId[];
}

export type RoundId = readonly [view: number, seq: number];

/** In one lane: everyone up to that pivot of that pass, or a number of visitors chosen by lot. */
export type Cut =
  | readonly [lane: number, pass: number, pivot: number]
  | readonly [lane: number, byLot: number];

/** What the nodes of a subtree get in a room. */
export interface RoomShare {
  readonly cuts: readonly Cut[];
  /** Slots for newcomers while nobody waits, and the leave to use them. */
  readonly slots: number;
  readonly leave: number;
  /** How many of the reported firm turns may be used before the next round. null: all. */
  readonly entries: number | null;
  /** Slots for visitors who are in without one. */
  readonly paid: number;
  /** More slots are in use than there are: nobody keeps a spare one. */
  readonly isOver: boolean;
}

export interface AnnounceBody {
  readonly kind: "announce";
  readonly seq: number;
  readonly at: number;
  readonly shares: readonly (readonly [room: string, share: RoomShare])[];
  readonly memo: Memo;
  /**
   * Rounds whose offered slots go back to the node that offered them. Only while members are lost; otherwise the sum includes
   * them.
   */
  readonly dropped: readonly RoundId[];
}

/** What doorkeepers remember. The next root continues from it. */
export interface Memo {
  readonly view: number;
  readonly seq: number;
  readonly rooms: readonly (readonly [room: string, memo: unknown])[];
}

export const NOTHING: RoomReport = {
  ...{ lanes: [], turns: 0, visits: 0, kept: 0, offered: 0, owed: 0, leaveBack: 0 },
  ...{ arrivals: 0, used: 0, news: NO_TURNS },
};

/** Arrivals are reported in thousandths. */
export const ARRIVALS_UNIT = 1_000;

/** The pivot up to which everyone waits. */
export const EVERYONE_UP_TO = Number.MAX_SAFE_INTEGER;

/** The sum of two reports. */
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

/** Splits a whole number in proportion to weights, rounded; the parts always add up to it. */
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

/** How many of `picked` fall on each group when everyone has the same chance. */
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
