/**
 * Answers that are kept for a time, oldest first: those to writes with an idempotency key, and those to events of the payment
 * provider, which come at least once. Who asks the same again gets the same answer, and nothing is done twice.
 */
import type { ChangedRecords } from "./changed-records.ts";
import { Queue } from "./queue.ts";
import { readStored } from "./stored-records.ts";

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
  /** How many by what stands before the first slash of their ids. */
  readonly #counts = new Map<string, number>();

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
    this.#add(id, kept);
    this.#changes.put(this.#prefix + id, () => JSON.stringify(kept));
  }

  /** How many are kept of one owner, whose name is before the slash in their ids. */
  countOf(owner: string): number {
    return this.#counts.get(owner) ?? 0;
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
    this.#count(id, -1);
    this.#ids.removeOldest();
    this.#changes.remove(this.#prefix + id);
    return true;
  }

  restore(records: readonly (readonly [key: string, text: string])[]): void {
    const shape = { fields: { asked: "text", answer: "anything", at: "count" } } as const;
    const answers = records.map(([key, text]) => ({
      id: key.slice(this.#prefix.length),
      kept: readStored<KeptAnswer>(key, text, shape),
    }));
    for (const { id, kept } of answers.sort((a, b) => a.kept.at - b.kept.at)) {
      this.#add(id, kept);
    }
  }

  #add(id: string, kept: KeptAnswer): void {
    this.#answers.set(id, kept);
    this.#ids.push(id);
    this.#count(id, 1);
  }

  #count(id: string, change: 1 | -1): void {
    const owner = ownerOf(id);
    const count = this.countOf(owner) + change;
    if (count === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, count);
  }
}

function ownerOf(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf("/")));
}
