/**
 * Adding items to the shards that can be reached.
 *
 * An item that came without an id is given one of a shard that is not away, and another if that shard refuses it. One
 * that has an id can go to one shard only, and so can one whose outcome is unknown: adding it elsewhere could make two.
 */
import type { Random } from "../../../core/world.ts";
import type { RedisProblem } from "../link/problem.ts";
import { drawId, type NewItem, shardOf } from "./item.ts";
import { orProblem, reachableOf } from "./reach.ts";
import { type ItemOutcome, RelaxedProblem } from "./relaxed-problem.ts";
import type { Shard } from "./shard.ts";

export interface Added {
  readonly id: string;
  /** False when an item with this id was there already; it stays as it is. */
  readonly isNew: boolean;
}

type Answer = Added | { readonly id: string; readonly problem: RedisProblem };

interface Open {
  /** Where in the caller's list. */
  readonly index: number;
  readonly item: NewItem;
}

/** Adds all, or throws a RelaxedProblem that says what became of each. */
export async function addAll(
  items: readonly NewItem[],
  shards: readonly Shard[],
  random: Random,
): Promise<Added[]> {
  const answers: Answer[] = [];
  let open: Open[] = items.map((item, index) => ({ index, item }));
  // Each round that leaves items open has found one more shard away.
  for (let round = 0; round < shards.length && open.length > 0; round++) {
    const answered = await addOnce(open, shards, random);
    for (const { index, answer } of answered) answers[index] = answer;
    open = open.filter(({ index, item }) => item.id === undefined && wasRefused(answers[index]!));
  }
  const failed = answers.find((answer) => "problem" in answer);
  if (failed) throw new RelaxedProblem("add", answers.map(outcomeOf), failed.problem);
  return answers as Added[];
}

async function addOnce(
  open: readonly Open[],
  shards: readonly Shard[],
  random: Random,
): Promise<{ readonly index: number; readonly answer: Answer }[]> {
  const reachable = new Set(reachableOf(shards, "canBeAddedTo"));
  const named = open.map(({ index, item }) => {
    const id = item.id ?? drawId(random, shards.length, reachable);
    return { index, item: { id, priority: item.priority, payload: item.payload } };
  });
  const groups = Map.groupBy(named, ({ item }) => shardOf(item.id, shards.length));
  const answers = [...groups].map(async ([number, group]) => {
    const added = await orProblem(shards[number]!.add(group.map(({ item }) => item)));
    return group.map(({ index, item: { id } }, i) => ({
      index,
      answer: Array.isArray(added) ? { id, isNew: added[i]! } : { id, problem: added },
    }));
  });
  return (await Promise.all(answers)).flat();
}

function wasRefused(answer: Answer): boolean {
  return "problem" in answer && answer.problem.wasRefused;
}

function outcomeOf(answer: Answer): ItemOutcome {
  if (!("problem" in answer)) return { id: answer.id, outcome: "done" };
  return { id: answer.id, outcome: answer.problem.wasRefused ? "refused" : "unknown" };
}
