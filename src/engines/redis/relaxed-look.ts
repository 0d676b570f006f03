/** One look at a room with a relaxed line: the counts of its shards are added up, and their marks are merged. */
import { aheadOnBoard, type Mark, markRanks } from "../../core/board.ts";
import { EVERYBODY } from "../../core/rules.ts";
import type { Look } from "./room-look.ts";

/** The look of the main part, with those of the shards merged in. */
export function mergedLook(main: Look, shards: readonly Look[]): Look {
  const sum = (of: (look: Look) => number) => shards.reduce((total, shard) => total + of(shard), 0);
  const waiting = sum((shard) => shard.waiting);
  const own = main.lanes.find(({ lane }) => lane === EVERYBODY);
  const everybody = {
    ...{ lane: EVERYBODY, waiting, admitted: own?.admitted ?? 0 },
    ...(own?.highest !== undefined && { highest: own.highest }),
    marks: mergedMarks(shards, waiting),
  };
  return {
    ...main,
    waiting,
    lapsed: sum((shard) => shard.lapsed),
    totals: mergedTotals([main, ...shards]),
    lanes: [everybody],
  };
}

function mergedTotals(looks: readonly Look[]): Readonly<Record<string, string>> {
  const totals: Record<string, number> = {};
  for (const look of looks)
    for (const [name, value] of Object.entries(look.totals))
      totals[name] = (totals[name] ?? 0) + Number(value);
  return Object.fromEntries(Object.entries(totals).map(([name, value]) => [name, String(value)]));
}

/** Ranks and sequences, alternating. A rank among all is the sum of the ranks in each shard. */
function mergedMarks(shards: readonly Look[], waiting: number): (number | string)[] {
  const known = shards.map((shard) => ({ marks: marksOf(shard), waiting: shard.waiting }));
  const all = known
    .flatMap(({ marks }) => marks.map(([sequence]) => sequence))
    .sort((a, b) => a - b)
    .map((sequence): Mark => [sequence, aheadAmong(known, sequence)]);
  if (all.length === 0) return [];
  return markRanks(waiting).flatMap((rank) => [rank, String(sequenceOf(all, rank))]);
}

function marksOf({ lanes }: Look): Mark[] {
  const flat = (lanes[0]?.marks ?? []) as readonly (number | string)[];
  const marks: Mark[] = [];
  for (let i = 0; i < flat.length; i += 2) marks.push([Number(flat[i + 1]), Number(flat[i])]);
  return marks;
}

function aheadAmong(
  shards: readonly { marks: readonly Mark[]; waiting: number }[],
  sequence: number,
): number {
  let ahead = 0;
  for (const { marks, waiting } of shards) ahead += aheadOnBoard({ marks }, sequence) ?? waiting;
  return ahead;
}

/** The sequence with about `rank` before it, by linear interpolation between the nearest known. */
function sequenceOf(all: readonly Mark[], rank: number): number {
  const next = all.findIndex(([, ahead]) => ahead >= rank);
  if (next <= 0) return all.at(next)![0];
  const [toSequence, toAhead] = all[next]!;
  const [fromSequence, fromAhead] = all[next - 1]!;
  const share = (rank - fromAhead) / (toAhead - fromAhead);
  return Math.round(fromSequence + share * (toSequence - fromSequence));
}
