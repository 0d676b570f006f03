/**
 * Pops items from the shards: peeks at a few, takes from the best of them (`core/relaxed.ts` says which) and, if another
 * consumer was faster, from the second best.
 *
 * If that gives fewer items than wanted, all shards are read, so "empty" is only answered when every shard is empty.
 * Items that a failed call may have taken go back to their shard after the timeout.
 */
import {
  type ConcurrencyPolicy,
  compareKeys,
  keysToSee,
  type PlannedPop,
  planPops,
  shardsToPeek,
} from "../../../core/relaxed.ts";
import type { World } from "../../../core/world.ts";
import { RedisProblem } from "../link/problem.ts";
import { carryOut } from "./carry-out.ts";
import { handleOf, newToken } from "./handle.ts";
import type { RelaxedItem } from "./item.ts";
import { askEach, orProblem, reachableOf } from "./reach.ts";
import type { Pulled, Shard } from "./shard.ts";

/** An item in the consumer's hands until it commits, aborts, or takes too long. */
export interface Popped extends RelaxedItem {
  readonly handle: string;
}

export interface PopOptions {
  readonly policy: ConcurrencyPolicy;
  /** How many shards to look at for each item. */
  readonly peek: number;
  /** How long until an item that was not committed goes back. */
  readonly timeoutMs: number;
}

/** Others may take what a look at all shards saw; after this many looks the answer is what was got. */
const SWEEPS_MAX = 3;

type Pick = readonly number[];

export class Popping {
  readonly #shards: readonly Shard[];
  readonly #options: PopOptions;
  readonly #world: World;

  constructor(shards: readonly Shard[], options: PopOptions, world: World) {
    this.#shards = shards;
    this.#options = options;
    this.#world = world;
  }

  /** Up to `count` items, best first. Throws a RedisProblem when no shard answers. */
  async pop(count: number): Promise<Popped[]> {
    const { peek, policy } = this.#options;
    const reachable = reachableOf(this.#shards, "canBePopped");
    const dice = () => this.#world.random.fraction();
    const picks = Array.from({ length: count }, () => shardsToPeek(reachable, peek, dice));
    // If the few shards picked are all away, others may still answer.
    const popped = await this.#carryOut(planPops(await this.#lookOrNothing(picks, true), picks, policy));
    for (let sweep = 0; popped.length < count && sweep < SWEEPS_MAX; sweep++)
      if (!(await this.#sweep(count, popped))) break;
    return popped.sort(compareKeys);
  }

  /** Looks at all shards for what is still wanted. False when there is nothing. */
  async #sweep(count: number, popped: Popped[]): Promise<boolean> {
    const all = reachableOf(this.#shards, "canBePopped");
    const picks = Array.from({ length: count - popped.length }, () => all);
    const seen = await this.#lookOrNothing(picks, popped.length > 0);
    popped.push(...(await this.#carryOut(planPops(seen, picks, "plain"))));
    return [...seen.values()].some((keys) => keys.length > 0);
  }

  async #lookOrNothing(picks: readonly Pick[], isFine: boolean) {
    const wanted = keysToSee(picks);
    const seen = await orProblem(
      askEach(wanted.keys(), (shard) => this.#shards[shard]!.peekKeys(wanted.get(shard)!)),
    );
    if (!(seen instanceof RedisProblem)) return seen;
    if (!isFine) throw seen;
    return new Map<number, never[]>();
  }

  async #carryOut(plans: readonly (PlannedPop | null)[]): Promise<Popped[]> {
    const { timeoutMs } = this.#options;
    const wanted = plans.filter((plan) => plan !== null);
    const popped = await carryOut(wanted, async (shard, guards) => {
      const token = newToken(this.#world.random);
      const pulled = await orProblem(this.#shards[shard]!.take(guards, { token, timeoutMs }));
      if (pulled instanceof RedisProblem) return [];
      return pulled.map((one) => {
        const item = this.#present(one);
        return item && { ...item, handle: handleOf({ shard, token, id: item.id }) };
      });
    });
    return popped.filter((item) => item !== null);
  }

  #present(pulled: Pulled | null): RelaxedItem | null {
    if (!pulled) return null;
    const { isGone, id, priority, payload } = pulled;
    if (!isGone) return { id, priority, payload };
    const reason = "Somebody else has removed it: is maxmemory-policy noeviction there?";
    this.#world.log.error({ id, priority }, `An item of a relaxed queue has lost its payload. ${reason}`);
    return null;
  }
}
