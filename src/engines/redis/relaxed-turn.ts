/**
 * Taking the next few out of a relaxed line: of a few shards, picked by dice, the first ones are looked at, and the best
 * is taken, as `core/relaxed.ts` plans it. Between the look and the taking others may have gone, so each taking says what it
 * must not be worse than; where it would be, the second best is taken from where it stood.
 */
import { keysToSee, planPops, type RelaxedKey, type Sight, shardsToPeek } from "../../core/relaxed.ts";
import { carryOut } from "./relaxed/carry-out.ts";
import type { RoomCalls } from "./room-calls.ts";

/** How many values the reply has for each visitor taken. */
const TAKEN_LENGTH = 4;

/** Someone who was taken out of a shard. */
export interface TakenVisitor {
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

/** Takes up to `count`, in the order in which their turns are given. */
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
  const taken = await carryOut(plans, async (shard, guards) => {
    const calls = shards[shard]!;
    const values = await calls.call("take", [now, ...guards.flatMap(guardOf)], calls.kept);
    return guards.map((_, index) => takenIn(values, index * TAKEN_LENGTH));
  });
  return taken.filter((one) => one !== null);
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

function guardOf(key: RelaxedKey | null): string[] {
  return key ? [String(key.priority), key.id] : ["", ""];
}

/** Null where nobody was taken. */
function takenIn(values: readonly unknown[], at: number): TakenVisitor | null {
  const [sequence, member, past, claimBy] = values.slice(at, at + TAKEN_LENGTH);
  if (member === 0) return null;
  return { member: String(member), sequence: Number(sequence), past: Number(past), claimBy: Number(claimBy) };
}
