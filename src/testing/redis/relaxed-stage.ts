/** What the tests of the relaxed queue share: queues on real servers, closed with the test, and consumers that keep records. */
import assert from "node:assert/strict";
import {
  openRelaxedQueue,
  type Popped,
  RedisProblem,
  type RelaxedQueue,
  type RelaxedQueueOptions,
  ShardsMismatch,
} from "../../relaxed.ts";
import { eventually } from "../cli/eventually.ts";
import { realWorld } from "../real-world.ts";

/** Opens a queue whose log says nothing, and waits until all its servers answer. */
export async function open(
  options: Omit<RelaxedQueueOptions, "name"> & { readonly name?: string },
): Promise<RelaxedQueue> {
  const queue = await openRelaxedQueue({ name: "mail", log: realWorld().log, ...options });
  await eventually("all shards answer", () => areAllThere(queue));
  return queue;
}

async function areAllThere(queue: RelaxedQueue): Promise<boolean> {
  try {
    return (await queue.counts()).away.length === 0;
  } catch (thrown) {
    if (thrown instanceof RedisProblem) return false;
    if (thrown instanceof ShardsMismatch) return true;
    throw thrown;
  }
}

/** Items with priorities 0, 1, 2 …, repeated in the payload, without ids of their own. */
export function numbered(count: number, from = 0): { readonly priority: number; readonly payload: string }[] {
  return Array.from({ length: count }, (_, i) => ({ priority: from + i, payload: `item ${from + i}` }));
}

export function sortedIds(texts: Iterable<string>): string[] {
  return [...texts].sort();
}

/** Which consumer holds which item; an item that two hold at once is an error. */
export class Books {
  /** Ids that a consumer holds. */
  readonly held = new Set<string>();
  /** How often each id was committed. */
  readonly committed = new Map<string, number>();

  take(item: Popped): void {
    assert.ok(!this.held.has(item.id), `two consumers hold ${item.id}`);
    this.held.add(item.id);
  }

  /** Recorded before Redis is told: from then on another consumer may have the item. */
  letGo(items: readonly Popped[]): void {
    for (const { id } of items) assert.ok(this.held.delete(id));
  }

  commit(id: string): void {
    this.committed.set(id, (this.committed.get(id) ?? 0) + 1);
  }
}
