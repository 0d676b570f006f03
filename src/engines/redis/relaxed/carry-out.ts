/**
 * Carrying out what `core/relaxed.ts` plans: each item is taken from the best shard that was seen, and where somebody else has
 * taken it meanwhile, from the second best, whatever is there.
 */
import type { PlannedPop, RelaxedKey } from "../../../core/relaxed.ts";

/** What came of each plan; null where nothing was taken. `take` takes from one shard, one item for each guard. */
export async function carryOut<T>(
  plans: readonly PlannedPop[],
  take: (shard: number, guards: readonly (RelaxedKey | null)[]) => Promise<readonly (T | null)[]>,
): Promise<(T | null)[]> {
  const taken: (T | null)[] = plans.map(() => null);
  const takeAll = async (attempts: readonly { index: number; shard: number; guard: RelaxedKey | null }[]) => {
    const groups = Map.groupBy(attempts, ({ shard }) => shard);
    const takings = [...groups].map(async ([shard, group]) => {
      const got = await take(
        shard,
        group.map(({ guard }) => guard),
      );
      for (const [i, { index }] of group.entries()) taken[index] = got[i] ?? null;
    });
    await Promise.all(takings);
  };
  await takeAll(plans.map(({ shard, unlessWorseThan: guard }, index) => ({ index, shard, guard })));
  await takeAll(
    plans.flatMap(({ otherwise: shard }, index) =>
      taken[index] || shard === null ? [] : [{ index, shard, guard: null }],
    ),
  );
  return taken;
}
