/**
 * One shard of a relaxed queue, in one hash slot, and the calls to its functions. What they answer becomes
 * values here and nowhere else. Every call may throw a RedisProblem; the shard is then away for a while. One that cannot
 * be added to, for want of memory or replicas, may still be popped from.
 */
import type { PlannedPop, RelaxedKey } from "../../../core/relaxed.ts";
import type { Clock } from "../../../core/world.ts";
import type { RedisLink } from "../link/link.ts";
import { RedisProblem } from "../link/problem.ts";
import type { RelaxedItem } from "./item.ts";
import { ShardsMismatch } from "./relaxed-problem.ts";

/** The part of a link that shards use. */
export type ShardLink = Pick<RedisLink, "call" | "close">;

export type CommitAnswer =
  /** Its work is done, and it is gone for good. */
  | "committed"
  /** It is not there any more: this or another taking has committed it. */
  | "alreadyCommitted"
  /** It is there, but not in this taking: it went back, and somebody else has it or will. */
  | "returned";

/** What came of one planned pop; `isGone`: its payload had been removed from outside, and so is the item now. */
export interface Pulled extends RelaxedItem {
  readonly isGone: boolean;
}

export interface ShardOptions {
  readonly link: ShardLink;
  readonly key: string;
  /** How many the queue has. */
  readonly shards: number;
  readonly clock: Clock;
  /** How many replicas must have what was added. */
  readonly replicas: number;
  readonly replicaTimeoutMs: number;
}

/** How long a shard that failed is left alone, unless there is no other. */
const AWAY_MS = 1_000;
const COMMIT_ANSWERS: readonly CommitAnswer[] = ["returned", "committed", "alreadyCommitted"];

export class Shard {
  readonly #options: ShardOptions;
  #awayUntilAt = 0;
  #fullUntilAt = 0;

  constructor(options: ShardOptions) {
    this.#options = options;
  }

  /** False for a while after a call other than `add` failed. */
  get canBePopped(): boolean {
    return this.#options.clock.now() >= this.#awayUntilAt;
  }

  /** False for a while after any call failed. */
  get canBeAddedTo(): boolean {
    return this.canBePopped && this.#options.clock.now() >= this.#fullUntilAt;
  }

  /** Of each item: true when it was added, false when it was there. */
  async add(items: readonly RelaxedItem[]): Promise<boolean[]> {
    const { link, key, shards, replicas, replicaTimeoutMs } = this.#options;
    const words = items.flatMap(({ id, priority, payload }) => [id, String(priority), payload]);
    const args = [String(shards), ...words];
    const call = () => link.call("add", key, args, { replicas, timeoutMs: replicaTimeoutMs });
    const answer = await this.#watched(call, (untilAt) => {
      this.#fullUntilAt = untilAt;
    });
    return this.#agreed(answer).map((code) => code === 1);
  }

  /** The keys of the first few, best first. */
  async peekKeys(count: number): Promise<RelaxedKey[]> {
    const answer = this.#agreed(await this.#call("peek", [this.#shards, String(count), "0"]));
    return inGroups(answer, 2).map(([id, priority]) => ({ id: String(id), priority: Number(priority) }));
  }

  /** The first few, best first. */
  async peekItems(count: number): Promise<RelaxedItem[]> {
    const answer = this.#agreed(await this.#call("peek", [this.#shards, String(count), "1"]));
    return inGroups(answer, 3).map(itemOf);
  }

  /** Takes one item for each guard, if the first one is no worse than that. Null where nothing was taken. */
  async take(
    guards: readonly PlannedPop["unlessWorseThan"][],
    { token, timeoutMs }: { readonly token: string; readonly timeoutMs: number },
  ): Promise<(Pulled | null)[]> {
    const words = guards.flatMap((guard) => (guard ? [String(guard.priority), guard.id] : ["", ""]));
    const answer = await this.#call("take", [token, String(timeoutMs), ...words]);
    return inGroups(answer, 3).map((group) =>
      group[0] === "" ? null : { ...itemOf(group), isGone: group[2] === 0 },
    );
  }

  async commit(takings: readonly { readonly id: string; readonly token: string }[]): Promise<CommitAnswer[]> {
    const answer = await this.#call("commit", takings.flatMap(idAndToken));
    return answer.map((code) => COMMIT_ANSWERS[Number(code)]!);
  }

  /** Of each: true when it went back, false when it was not in this taking any more. */
  async abort(takings: readonly { readonly id: string; readonly token: string }[]): Promise<boolean[]> {
    const answer = await this.#call("abort", takings.flatMap(idAndToken));
    return answer.map((code) => code === 1);
  }

  async counts(): Promise<{ readonly waiting: number; readonly taken: number }> {
    const [waiting, taken] = this.#agreed(await this.#call("counts", [this.#shards]));
    return { waiting: Number(waiting), taken: Number(taken) };
  }

  get #shards(): string {
    return String(this.#options.shards);
  }

  #call(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    const call = () => this.#options.link.call(name, this.#options.key, args);
    return this.#watched(call, (untilAt) => {
      this.#awayUntilAt = untilAt;
    });
  }

  async #watched(
    call: () => Promise<readonly unknown[]>,
    setAway: (untilAt: number) => void,
  ): Promise<readonly unknown[]> {
    try {
      const answer = await call();
      setAway(0);
      return answer;
    } catch (thrown) {
      if (thrown instanceof RedisProblem) setAway(this.#options.clock.now() + AWAY_MS);
      throw thrown;
    }
  }

  /** The answer without its first value, which says whether the number of shards is right. */
  #agreed([actual, ...answer]: readonly unknown[]): readonly unknown[] {
    const { key, shards } = this.#options;
    if (actual !== 0) throw new ShardsMismatch(key, shards, Number(actual));
    return answer;
  }
}

function idAndToken({ id, token }: { readonly id: string; readonly token: string }): [string, string] {
  return [id, token];
}

function itemOf([id, priority, payload]: readonly unknown[]): RelaxedItem {
  return { id: String(id), priority: Number(priority), payload: String(payload) };
}

function inGroups(values: readonly unknown[], size: number): (readonly unknown[])[] {
  return Array.from({ length: values.length / size }, (_, i) => values.slice(i * size, (i + 1) * size));
}
