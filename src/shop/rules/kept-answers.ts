/**
 * Answers that are kept for a time, oldest first: those to writes with an idempotency key, and those to events of the payment
 * provider, which come at least once. Who asks the same again gets the same answer, and nothing is done twice.
 */
import type { ChangedRecords } from "./changed-records.ts";
import { Queue } from "./queue.ts";
import { readRecord } from "./stored-records.ts";

export interface KeptAnswer {
  /** What was asked. */
  readonly asked: string;
  readonly answer: unknown;
  readonly at: number;
}

export class KeptAnswers {
  readonly #changes: ChangedRecords;
  readonly #prefix: string;
  readonly #keptMs: number;
  readonly #answers = new Map<string, KeptAnswer>();
  readonly #ids = new Queue<string>();

  constructor(changes: ChangedRecords, { prefix, keptMs }: { prefix: string; keptMs: number }) {
    this.#changes = changes;
    this.#prefix = prefix;
    this.#keptMs = keptMs;
  }

  get(id: string, now: number): KeptAnswer | undefined {
    const kept = this.#answers.get(id);
    return kept && kept.at + this.#keptMs > now ? kept : undefined;
  }

  /** Only where `get` found nothing. */
  keep(id: string, kept: KeptAnswer): void {
    while (this.#answers.has(id) && this.forgetOne(kept.at));
    this.#answers.set(id, kept);
    this.#ids.push(id);
    this.#changes.put(this.#prefix + id, () => JSON.stringify(kept));
  }

  get nextEndAt(): number | null {
    const oldest = this.#answers.get(this.#ids.oldest ?? "");
    return oldest ? oldest.at + this.#keptMs : null;
  }

  /** Forgets the oldest when its time is over. */
  forgetOne(now: number): boolean {
    const id = this.#ids.oldest;
    const kept = id === null ? undefined : this.#answers.get(id);
    if (id === null || !kept || kept.at + this.#keptMs > now) return false;
    this.#answers.delete(id);
    this.#ids.removeOldest();
    this.#changes.remove(this.#prefix + id);
    return true;
  }

  restore(records: readonly (readonly [key: string, text: string])[]): void {
    const shape = { fields: { asked: "text", answer: "anything", at: "count" } } as const;
    const answers = records.map(([key, text]) => ({
      id: key.slice(this.#prefix.length),
      kept: readRecord<KeptAnswer>(key, text, shape),
    }));
    for (const { id, kept } of answers.sort((a, b) => a.kept.at - b.kept.at)) {
      this.#answers.set(id, kept);
      this.#ids.push(id);
    }
  }
}
