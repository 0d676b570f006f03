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

interface Entry {
  readonly at: number;
  readonly text: string;
  /** Among all ids. */
  readonly position: number;
  /** The id of the same owner's next answer. */
  next: string | null;
}

/** Whose name stands before the first slash of the ids. */
interface Owner {
  /** Characters of their answers. */
  length: number;
  oldest: string;
  newest: string;
}

export class KeptAnswers {
  readonly #changes: ChangedRecords;
  readonly #prefix: string;
  readonly #keptMs: number;
  readonly #answers = new Map<string, Entry>();
  /** Their ids in the order of their times. */
  readonly #ids = new Queue<string>();
  readonly #owners = new Map<string, Owner>();

  constructor(changes: ChangedRecords, { prefix, keptMs }: { prefix: string; keptMs: number }) {
    this.#changes = changes;
    this.#prefix = prefix;
    this.#keptMs = keptMs;
  }

  get(id: string, now: number): KeptAnswer | undefined {
    const kept = this.#answers.get(id);
    return kept && kept.at + this.#keptMs > now ? JSON.parse(kept.text) : undefined;
  }

  /** Only where `get` found nothing. */
  keep(id: string, kept: KeptAnswer): void {
    while (this.#answers.has(id) && this.forgetOne(kept.at));
    const text = JSON.stringify(kept);
    this.#add(id, { at: kept.at, text });
    this.#changes.put(this.#prefix + id, () => text);
  }

  /** How many characters are kept of one owner, whose name is before the slash in their ids. */
  lengthOf(owner: string): number {
    return this.#owners.get(owner)?.length ?? 0;
  }

  /** Forgets an owner's oldest, before its time. */
  forgetOldestOf(owner: string): void {
    const oldest = this.#owners.get(owner)?.oldest;
    if (oldest !== undefined) this.#forget(oldest);
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
    this.#forget(id);
    return true;
  }

  restore(records: readonly (readonly [key: string, text: string])[]): void {
    const shape = { fields: { asked: "text", answer: "anything", at: "count" } } as const;
    const answers = records.map(([key, text]) => ({
      id: key.slice(this.#prefix.length),
      kept: { at: readStored<KeptAnswer>(key, text, shape).at, text },
    }));
    for (const { id, kept } of answers.sort((a, b) => a.kept.at - b.kept.at)) this.#add(id, kept);
  }

  #add(id: string, { at, text }: { readonly at: number; readonly text: string }): void {
    this.#answers.set(id, { at, text, position: this.#ids.push(id), next: null });
    const name = ownerOf(id);
    const owner = this.#owners.get(name);
    if (!owner) {
      this.#owners.set(name, { length: text.length, oldest: id, newest: id });
      return;
    }
    this.#answers.get(owner.newest)!.next = id;
    owner.newest = id;
    owner.length += text.length;
  }

  /** `id`: its owner's oldest. */
  #forget(id: string): void {
    const { text, position, next } = this.#answers.get(id)!;
    this.#answers.delete(id);
    this.#ids.remove(position);
    const name = ownerOf(id);
    const owner = this.#owners.get(name)!;
    owner.length -= text.length;
    if (next === null) this.#owners.delete(name);
    else owner.oldest = next;
    this.#changes.remove(this.#prefix + id);
  }
}

function ownerOf(id: string): string {
  return id.slice(0, Math.max(0, id.indexOf("/")));
}
