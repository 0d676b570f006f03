/** Which shards to ask, and how calls go on without those that do not answer. */
import { RedisProblem } from "../link/problem.ts";
import type { Shard } from "./shard.ts";

/** The numbers of the shards that can be popped from, or added to; of all, when none can. */
export function reachableOf(shards: readonly Shard[], can: "canBePopped" | "canBeAddedTo"): number[] {
  const numbers = [...shards.keys()];
  const reachable = numbers.filter((number) => shards[number]![can]);
  return reachable.length > 0 ? reachable : numbers;
}

/** What was answered, or the problem that Redis has. Everything else is thrown on. */
export async function orProblem<T>(answer: Promise<T>): Promise<T | RedisProblem> {
  try {
    return await answer;
  } catch (thrown) {
    if (thrown instanceof RedisProblem) return thrown;
    throw thrown;
  }
}

/**
 * Asks some shards the same, together: the answers of those that have one, by number. Throws the problem when none
 * has one and there was somebody to ask.
 */
export async function askEach<T>(
  numbers: Iterable<number>,
  ask: (number: number) => Promise<T>,
): Promise<Map<number, T>> {
  const asked = [...numbers];
  const answers = await Promise.all(asked.map((number) => orProblem(ask(number))));
  const good = new Map<number, T>();
  for (const [i, answer] of answers.entries())
    if (!(answer instanceof RedisProblem)) good.set(asked[i]!, answer);
  const problem = answers.find((answer) => answer instanceof RedisProblem);
  if (good.size === 0 && problem) throw problem;
  return good;
}
