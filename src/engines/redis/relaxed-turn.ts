/**
 * Taking the next few out of a line in pieces: of a few pieces, picked by dice, the first ones are looked at, and the best
 * is taken, as `core/relaxed.ts` plans it. Between the look and the taking others may have gone, so each taking says what it
 * must not be worse than; where it would be, the second best is taken from where it stood.
 */
import {
  keysToSee,
  linesToPeek,
  type PlannedPop,
  planPops,
  type RelaxedKey,
  type Sight,
} from "../../core/relaxed.ts";
import type { RoomCalls } from "./room-calls.ts";

/** Values of each one that was taken. */
const TAKEN_LENGTH = 4;

/** Someone who was taken out of a piece. */
export interface TakenVisitor {
  readonly piece: number;
  /** Id and time of joining, as the functions have them. */
  readonly member: string;
  readonly sequence: number;
  /** What the piece knows of their past, for the main part. */
  readonly past: number;
  /** Until when the turn may be used. */
  readonly claimBy: number;
}

export interface TakingParts {
  readonly pieces: readonly RoomCalls[];
  /** Pieces with people in them. */
  readonly among: readonly number[];
  readonly count: number;
  readonly peek: number;
  readonly now: string;
  readonly dice: () => number;
}

/** Takes so many, or as many as there are, in the order in which their turns are given. */
export async function takeNext({
  pieces,
  among,
  count,
  peek,
  now,
  dice,
}: TakingParts): Promise<TakenVisitor[]> {
  const picks = Array.from({ length: count }, () => linesToPeek(among, peek, dice));
  const seen = await look(pieces, keysToSee(picks), now);
  const plans = planPops(seen, picks, "secondBest").filter((plan) => plan !== null);
  const first = await takeFrom(pieces, plans, now);
  const again = plans.flatMap((plan, index) =>
    first[index] || plan.otherwise === null ? [] : [{ line: plan.otherwise, unlessWorseThan: null, index }],
  );
  const second = await takeFrom(pieces, again, now);
  for (const [i, { index }] of again.entries()) first[index] = second[i] ?? null;
  return first.filter((one) => one !== null);
}

async function look(
  pieces: readonly RoomCalls[],
  wanted: ReadonlyMap<number, number>,
  now: string,
): Promise<Sight> {
  const seen = await Promise.all(
    [...wanted].map(async ([line, count]) => {
      const values = await pieces[line]!.call("peek", [now, String(count)]);
      return [line, keysIn(values)] as const;
    }),
  );
  return new Map(seen);
}

function keysIn(values: readonly unknown[]): RelaxedKey[] {
  const keys: RelaxedKey[] = [];
  for (let i = 0; i < values.length; i += 2)
    keys.push({ priority: Number(values[i]), id: String(values[i + 1]) });
  return keys;
}

/** One call for each piece; null where nobody was taken. */
async function takeFrom(
  pieces: readonly RoomCalls[],
  plans: readonly Pick<PlannedPop, "line" | "unlessWorseThan">[],
  now: string,
): Promise<(TakenVisitor | null)[]> {
  const taken: (TakenVisitor | null)[] = plans.map(() => null);
  const lines = [...new Set(plans.map(({ line }) => line))];
  await Promise.all(
    lines.map(async (line) => {
      const indexes = plans.flatMap((plan, index) => (plan.line === line ? [index] : []));
      const guards = indexes.flatMap((index) => guardOf(plans[index]!.unlessWorseThan));
      const calls = pieces[line]!;
      const values = await calls.call("take", [now, ...guards], calls.kept);
      for (const [i, index] of indexes.entries()) taken[index] = takenIn(values, i * TAKEN_LENGTH, line);
    }),
  );
  return taken;
}

function guardOf(key: RelaxedKey | null): string[] {
  return key ? [String(key.priority), key.id] : ["", ""];
}

function takenIn(values: readonly unknown[], at: number, piece: number): TakenVisitor | null {
  const [sequence, member, past, claimBy] = values.slice(at, at + TAKEN_LENGTH);
  if (member === 0) return null;
  return {
    piece,
    member: String(member),
    sequence: Number(sequence),
    past: Number(past),
    claimBy: Number(claimBy),
  };
}
