/**
 * Taking the next few out of a relaxed line: of a few shards, picked by dice, the first ones are looked at, and the best
 * is taken, as `core/relaxed.ts` plans it. Between the look and the taking others may have gone, so each taking says what it
 * must not be worse than; where it would be, the second best is taken from where it stood.
 */
import {
  keysToSee,
  type PlannedPop,
  planPops,
  type RelaxedKey,
  type Sight,
  shardsToPeek,
} from "../../core/relaxed.ts";
import type { RoomCalls } from "./room-calls.ts";

/** Values of each one that was taken. */
const TAKEN_LENGTH = 4;

/** Someone who was taken out of a shard. */
export interface TakenVisitor {
  readonly shard: number;
  /** Id and time of joining, as the functions have them. */
  readonly member: string;
  readonly sequence: number;
  /** What the shard knows of their past, for the main part. */
  readonly past: number;
  /** Until when the turn may be used. */
  readonly claimBy: number;
}

export interface TakingParts {
  readonly shards: readonly RoomCalls[];
  /** Shards with people in them. */
  readonly among: readonly number[];
  readonly count: number;
  readonly peek: number;
  readonly now: string;
  readonly dice: () => number;
}

/** Takes so many, or as many as there are, in the order in which their turns are given. */
export async function takeNext({
  shards,
  among,
  count,
  peek,
  now,
  dice,
}: TakingParts): Promise<TakenVisitor[]> {
  const picks = Array.from({ length: count }, () => shardsToPeek(among, peek, dice));
  const seen = await look(shards, keysToSee(picks), now);
  const plans = planPops(seen, picks, "secondBest").filter((plan) => plan !== null);
  const first = await takeFrom(shards, plans, now);
  const again = plans.flatMap((plan, index) =>
    first[index] || plan.otherwise === null ? [] : [{ shard: plan.otherwise, unlessWorseThan: null, index }],
  );
  const second = await takeFrom(shards, again, now);
  for (const [i, { index }] of again.entries()) first[index] = second[i] ?? null;
  return first.filter((one) => one !== null);
}

async function look(
  shards: readonly RoomCalls[],
  wanted: ReadonlyMap<number, number>,
  now: string,
): Promise<Sight> {
  const seen = await Promise.all(
    [...wanted].map(async ([shard, count]) => {
      const values = await shards[shard]!.call("peek", [now, String(count)]);
      return [shard, keysIn(values)] as const;
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

/** One call for each shard; null where nobody was taken. */
async function takeFrom(
  shards: readonly RoomCalls[],
  plans: readonly Pick<PlannedPop, "shard" | "unlessWorseThan">[],
  now: string,
): Promise<(TakenVisitor | null)[]> {
  const taken: (TakenVisitor | null)[] = plans.map(() => null);
  const numbers = [...new Set(plans.map(({ shard }) => shard))];
  await Promise.all(
    numbers.map(async (shard) => {
      const indexes = plans.flatMap((plan, index) => (plan.shard === shard ? [index] : []));
      const guards = indexes.flatMap((index) => guardOf(plans[index]!.unlessWorseThan));
      const calls = shards[shard]!;
      const values = await calls.call("take", [now, ...guards], calls.kept);
      for (const [i, index] of indexes.entries()) taken[index] = takenIn(values, i * TAKEN_LENGTH, shard);
    }),
  );
  return taken;
}

function guardOf(key: RelaxedKey | null): string[] {
  return key ? [String(key.priority), key.id] : ["", ""];
}

function takenIn(values: readonly unknown[], at: number, shard: number): TakenVisitor | null {
  const [sequence, member, past, claimBy] = values.slice(at, at + TAKEN_LENGTH);
  if (member === 0) return null;
  return {
    shard,
    member: String(member),
    sequence: Number(sequence),
    past: Number(past),
    claimBy: Number(claimBy),
  };
}
