/**
 * A priority queue over many Redis nodes, for producers and consumers. It delivers items nearly in
 * order of priority (`docs/relaxed.md` says how nearly), each at least once: a popped item that is not committed in time goes
 * back.
 *
 * It is cut into shards (subqueues in Lin and Liang 2020), each in a hash slot of its own, that know nothing of each other.
 * Producers add to any shard; consumers peek at a few and pop from the best. No operation needs every node, so throughput
 * grows with the number of nodes. Producers and consumers skip a shard whose node is down; when the node returns, the shard
 * is used again, with the items it held.
 *
 * Where we differ: items are kept in Redis, not in Kafka and snapshots; a pop carries its guard, so no
 * item has to be put back; the id decides the shard, so an add can be retried; several items are popped in one call; and
 * "empty" is answered only after all shards were read.
 */
import { compareKeys, shardsToPeek } from "../../../core/relaxed.ts";
import type { World } from "../../../core/world.ts";
import { RedisProblem } from "../link/problem.ts";
import { type Added, addAll } from "./adding.ts";
import { readHandle, type Taking } from "./handle.ts";
import { checkItemCount, checkItems, type NewItem, type RelaxedItem } from "./item.ts";
import { type Popped, Popping } from "./popping.ts";
import { type QueueOptions, withDefaults } from "./queue-options.ts";
import { askEach, orProblem, reachableOf } from "./reach.ts";
import { RelaxedProblem } from "./relaxed-problem.ts";
import { type CommitAnswer, Shard, type ShardLink } from "./shard.ts";

export interface QueueCounts {
  readonly waiting: number;
  readonly taken: number;
  /** Shards that could not be asked, and are not in the numbers. */
  readonly away: readonly number[];
}

export class RelaxedQueue {
  readonly #shards: readonly Shard[];
  readonly #popping: Popping;
  readonly #links: readonly ShardLink[];
  readonly #peek: number;
  readonly #world: World;

  /** The shards are dealt out to the links in turn; the queue closes them with itself. */
  constructor(options: QueueOptions, links: readonly ShardLink[], world: World) {
    const set = withDefaults(options);
    this.#shards = Array.from(
      { length: set.shards },
      (_, i) =>
        new Shard({
          ...set,
          link: links[i % links.length]!,
          key: `${set.prefix}:{${set.name}:${i}}`,
          clock: world.clock,
        }),
    );
    this.#popping = new Popping(this.#shards, set, world);
    this.#links = links;
    this.#peek = set.peek;
    this.#world = world;
  }

  /**
   * Adds items; the answers are in their order. Throws a RelaxedProblem when some could not be added: to try again,
   * give those their ids from there, and none will be there twice.
   */
  async add(items: readonly NewItem[]): Promise<Added[]> {
    checkItems(items);
    return addAll(items, this.#shards, this.#world.random);
  }

  /** Some of the first items, best first, as they are in a few shards; of all shards if those few have none. */
  async peek(count: number): Promise<RelaxedItem[]> {
    checkItemCount(count, "items");
    const all = reachableOf(this.#shards, "canBePopped");
    const few = shardsToPeek(all, this.#peek, () => this.#world.random.fraction());
    const seen = await orProblem(this.#firstOf(few, count));
    if (!(seen instanceof RedisProblem) && seen.length > 0) return seen;
    return this.#firstOf(reachableOf(this.#shards, "canBePopped"), count);
  }

  /** Nearly the best item, in your hands until you commit it; null when there is none. */
  async pop(): Promise<Popped | null> {
    const [popped = null] = await this.#popping.pop(1);
    return popped;
  }

  /** The same, for up to `count` at once, best first. Fewer: there were no more, or others were quicker. */
  async popMany(count: number): Promise<Popped[]> {
    checkItemCount(count, "items");
    return this.#popping.pop(count);
  }

  /** Says that the work of these items is done. Doing it twice is harmless. */
  commit(handles: readonly string[]): Promise<CommitAnswer[]> {
    return this.#withHandles("commit", handles, (shard, takings) => shard.commit(takings));
  }

  /** Gives items back at once. Of each: true when it went back, false when it was not in this taking any more. */
  abort(handles: readonly string[]): Promise<boolean[]> {
    return this.#withHandles("abort", handles, (shard, takings) => shard.abort(takings));
  }

  /** How many items there are. */
  async counts(): Promise<QueueCounts> {
    const counts = await askEach(this.#shards.keys(), (number) => this.#shards[number]!.counts());
    const sum = (of: (one: { waiting: number; taken: number }) => number) =>
      [...counts.values()].reduce((total, one) => total + of(one), 0);
    const away = [...this.#shards.keys()].filter((number) => !counts.has(number));
    return { waiting: sum(({ waiting }) => waiting), taken: sum(({ taken }) => taken), away };
  }

  /** Lets calls that were sent finish, and ends the connections. */
  async close(): Promise<void> {
    await Promise.all(this.#links.map((link) => link.close()));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #firstOf(numbers: readonly number[], count: number): Promise<RelaxedItem[]> {
    const seen = await askEach(numbers, (number) => this.#shards[number]!.peekItems(count));
    return [...seen.values()].flat().sort(compareKeys).slice(0, count);
  }

  /** Asks each shard about the handles that are its own; the answers are in the order of the handles. */
  async #withHandles<T>(
    what: string,
    handles: readonly string[],
    ask: (shard: Shard, takings: readonly Taking[]) => Promise<T[]>,
  ): Promise<T[]> {
    checkItemCount(handles.length, "handles");
    const takings = handles.map((handle, index) => ({ ...readHandle(handle, this.#shards.length), index }));
    const answers: (T | RedisProblem)[] = [];
    const groups = Map.groupBy(takings, ({ shard }) => shard);
    const askOne = async (number: number, group: readonly (Taking & { index: number })[]) => {
      const answered = await orProblem(ask(this.#shards[number]!, group));
      for (const [i, { index }] of group.entries())
        answers[index] = answered instanceof RedisProblem ? answered : answered[i]!;
    };
    await Promise.all([...groups].map(([number, group]) => askOne(number, group)));
    return allGood(what, takings, answers);
  }
}

function allGood<T>(what: string, takings: readonly Taking[], answers: readonly (T | RedisProblem)[]): T[] {
  const problem = answers.find((answer) => answer instanceof RedisProblem);
  if (!problem) return answers as T[];
  const outcomes = answers.map((answer, i) => ({
    id: takings[i]!.id,
    outcome: outcomeOf(answer),
  }));
  throw new RelaxedProblem(what, outcomes, problem);
}

function outcomeOf(answer: unknown): "done" | "refused" | "unknown" {
  if (!(answer instanceof RedisProblem)) return "done";
  return answer.wasRefused ? "refused" : "unknown";
}
