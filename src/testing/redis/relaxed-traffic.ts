/**
 * A producer and a consumer of a relaxed queue that go on while servers die, and record every answer. Held with `await using`,
 * both stop with the test.
 */
import assert from "node:assert/strict";
import { type ItemOutcome, RedisProblem, RelaxedProblem, type RelaxedQueue } from "../../relaxed.ts";
import { eventually } from "../cli/eventually.ts";
import { numbered } from "./relaxed-stage.ts";

const BATCH = 4;
const PAUSE_MS = 20;
const FLOW = 100;

interface Held {
  readonly handle: string;
  readonly id: string;
}

export class RelaxedTraffic {
  /** Ids that the queue said are added. */
  readonly acknowledged = new Set<string>();
  /** Ids that were added again, since the first outcome was unknown. */
  readonly addedAgain = new Set<string>();
  /** How often each id was committed, as the queue said. */
  readonly committed = new Map<string, number>();
  readonly #producer: RelaxedQueue;
  readonly #consumer: RelaxedQueue;
  readonly #producing: Promise<void>;
  readonly #consuming: Promise<void>;
  /** Whose outcome is not known yet. */
  #unknown: string[] = [];
  #uncommitted: Held[] = [];
  #isEnough = false;
  #isOver = false;

  constructor(producer: RelaxedQueue, consumer: RelaxedQueue) {
    this.#producer = producer;
    this.#consumer = consumer;
    this.#producing = this.#produce();
    this.#consuming = this.#consume();
  }

  /** Waits until enough further items are committed to show that the queue works. */
  async flows(when: string): Promise<void> {
    const wanted = this.committed.size + FLOW;
    await eventually(`items flow ${when}`, () => this.committed.size >= wanted);
  }

  /** Ends the adding, and waits until all that was acknowledged has been committed. */
  async drain(): Promise<void> {
    this.#isEnough = true;
    await this.#producing;
    await eventually("all that was acknowledged is committed", () =>
      [...this.acknowledged].every((id) => this.committed.has(id)),
    );
    this.#isOver = true;
    await this.#consuming;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isEnough = true;
    this.#isOver = true;
    await Promise.all([this.#producing, this.#consuming]);
  }

  async #produce(): Promise<void> {
    for (let from = 0; !this.#isEnough; from += BATCH) {
      this.#note(await outcomes(this.#producer.add(numbered(BATCH, from))));
      await this.#addUnknownAgain();
      await pause(1);
    }
  }

  /** One by one: one that cannot be added now must not hold the others back. */
  async #addUnknownAgain(): Promise<void> {
    for (const id of this.#unknown.splice(0)) {
      this.addedAgain.add(id);
      const again = await outcomes(this.#producer.add([{ id, priority: 0, payload: "again" }]));
      if (again[0]?.outcome === "done") this.acknowledged.add(id);
      else this.#unknown.push(id);
    }
  }

  #note(items: readonly ItemOutcome[]): void {
    for (const { id, outcome } of items) {
      if (outcome === "done") this.acknowledged.add(id);
      if (outcome === "unknown") this.#unknown.push(id);
    }
  }

  async #consume(): Promise<void> {
    while (!this.#isOver) {
      const popped = (await orRelaxedProblem(this.#consumer.popMany(BATCH))) ?? [];
      await this.#commit(popped.map(({ handle, id }) => ({ handle, id })));
      // One by one: one that cannot be committed now must not hold the others back.
      for (const unsure of this.#uncommitted.splice(0)) await this.#commit([unsure]);
      await pause(popped.length > 0 ? 0 : PAUSE_MS);
    }
  }

  async #commit(held: readonly Held[]): Promise<void> {
    const answers = await orRelaxedProblem(this.#consumer.commit(held.map(({ handle }) => handle)));
    if (!answers) this.#uncommitted.push(...held);
    for (const [i, answer] of (answers ?? []).entries()) {
      const { id } = held[i]!;
      const times = this.committed.get(id) ?? 0;
      if (answer === "committed") this.committed.set(id, times + 1);
      // The first attempt, with an unknown outcome, had succeeded.
      if (answer === "alreadyCommitted") this.committed.set(id, Math.max(times, 1));
    }
  }
}

/** What became of each item. */
async function outcomes(
  adding: Promise<readonly { readonly id: string }[]>,
): Promise<readonly ItemOutcome[]> {
  try {
    return (await adding).map(({ id }) => ({ id, outcome: "done" }));
  } catch (thrown) {
    assert.ok(thrown instanceof RelaxedProblem, String(thrown));
    return thrown.items;
  }
}

/** The answer; undefined when Redis was away, which these tests cause. Any other error is thrown. */
export async function orRelaxedProblem<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (thrown) {
    assert.ok(thrown instanceof RedisProblem || thrown instanceof RelaxedProblem, String(thrown));
    return undefined;
  }
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
