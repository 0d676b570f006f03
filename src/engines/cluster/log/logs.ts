/**
 * Logs: what each owner wrote down, as far as it is known here, and how it gets to the others. A log is read in order and
 * without gaps; a reader tells how far it is, and what it lacks is sent again until it has it.
 *
 * The last blocks are kept, others' included: when an owner is lost, those who read on tell the rest what they have of
 * its log, so that all have read the same before anyone takes over its places. Whoever lacks more than is kept gets
 * a copy: entries that say how everything of that owner's is now.
 */
import type { Totals } from "../../../core/engine.ts";
import { OP, type Written } from "./entries.ts";
import { BLOCK_ENTRIES_MAX, type Block, blockOf } from "./entry-blocks.ts";

/** So many of the last entries of each log are kept, at least. */
const KEPT_MIN = 20_000;
/** With so many entries a message is full; the rest follows when these are known to have come. */
const MESSAGE_ENTRIES = 4_000;
/** What nobody said they have is sent again after this long. */
const RESEND_MS = 250;

/** Entries of one log, from a number on. */
export interface EntriesBody {
  readonly kind: "entries";
  readonly log: string;
  /** How many come before these. */
  readonly from: number;
  readonly blocks: readonly Block[];
  /** Somebody waits to hear that these were read. */
  readonly isUrgent: boolean;
  /** A copy: forget what you know of this log and begin with these, part by part. */
  readonly copy: CopyPart | null;
}

export interface CopyPart {
  readonly part: number;
  readonly parts: number;
  /** Of the owner, by room; with the last part. */
  readonly totals: readonly (readonly [room: string, totals: Totals])[];
}

/** How far the sender is with a log, and the parts of a copy that it has. */
export type Head = readonly [log: string, head: number, part: number];

/** How far the sender is with logs it was sent something of. */
export interface ReadBody {
  readonly kind: "read";
  readonly logs: readonly Head[];
}

/** How far the sender is with every log, for all to settle in a view. */
export interface HeadsBody {
  readonly kind: "heads";
  readonly heads: readonly Head[];
  /** The sender is not settled and wants to hear the same. */
  readonly isAsking: boolean;
}

/** One owner's log as known here. */
export class OwnerLog {
  readonly id: string;
  /** Index by which books know its owner. */
  readonly index: number;
  /** How many entries were read. */
  head = 0;
  /** The next part of a copy that is awaited; 0: none is under way; below: one is wanted. */
  copyPart = 0;
  /** What is kept for others, without gaps up to `end`. */
  #kept: Block[] = [];
  #keptFrom = 0;
  #end = 0;
  /** Written here, and in no block yet. */
  #unbound: Written[] = [];

  constructor(id: string, index: number) {
    this.id = id;
    this.index = index;
  }

  /** How many entries there are for others to read. */
  get end(): number {
    return this.#end + this.#unbound.length;
  }

  /** Writes one down; for its owner. */
  add(written: Written): void {
    const op = written.entry[0];
    // Whoever reads may have to wait before one of these, and a block is read as a whole.
    if (op === OP.pool || op === OP.drawn || this.#unbound.length === BLOCK_ENTRIES_MAX) this.bind();
    this.#unbound.push(written);
    this.head++;
  }

  /** Makes a block of what is in none yet. */
  bind(): void {
    if (this.#unbound.length === 0) return;
    const written = this.#unbound;
    this.#unbound = [];
    this.keep(this.#end, blockOf(written));
  }

  /** Keeps a block that was read, if it has something that is not kept. */
  keep(from: number, block: Block): void {
    const end = from + block[0];
    if (from > this.#end || end <= this.#end) return;
    if (this.#kept.length === 0) this.#keptFrom = from;
    this.#kept.push(block);
    this.#end = end;
    if (end - this.#keptFrom >= 2 * KEPT_MIN) this.#trim();
  }

  /** Its owner is gone and everything of it was taken over: nobody asks for entries any more. */
  drop(): void {
    this.startAt(this.head);
  }

  /** A copy was read that says how everything is after so many entries. */
  startAt(head: number): void {
    this.head = head;
    this.#kept = [];
    this.#unbound = [];
    this.#keptFrom = head;
    this.#end = head;
    this.copyPart = 0;
  }

  /** Blocks with the entries after the first `head`, a message full, and how many come before them; null when they are no longer kept. */
  after(head: number): { readonly from: number; readonly blocks: readonly Block[] } | null {
    this.bind();
    if (head < this.#keptFrom || head < 0) return null;
    let [first, from] = [this.#kept.length, this.#end];
    while (from > head) from -= this.#kept[--first]![0];
    let last = first;
    for (let entries = 0; last < this.#kept.length && entries < MESSAGE_ENTRIES; )
      entries += this.#kept[last++]![0];
    return { from, blocks: this.#kept.slice(first, last) };
  }

  #trim(): void {
    let drop = 0;
    for (; this.#end - this.#keptFrom - this.#kept[drop]![0] >= KEPT_MIN; drop++)
      this.#keptFrom += this.#kept[drop]![0];
    this.#kept = this.#kept.slice(drop);
  }
}

/** How far one peer has read one log, and what is on its way to it. */
export class Reader {
  /** What it said it has read. */
  head: number;
  /** What was sent. */
  sent: number;
  /** When it last got on, or was sent again what it lacked. */
  #sinceAt = Number.NEGATIVE_INFINITY;
  /** When it last got on, or had nothing to get on with. */
  #gotOnAt = Number.NEGATIVE_INFINITY;
  /** Parts of a copy that it said it has; null: no copy is under way. */
  copy: { readonly head: number; readonly parts: readonly EntriesBody[]; part: number } | null = null;

  constructor(head = 0) {
    this.head = head;
    this.sent = head;
  }

  /** It says how far it is. */
  hear(head: number, part: number, now: number): void {
    if (this.copy && part > this.copy.part) {
      this.copy.part = part;
      this.#sinceAt = Number.NEGATIVE_INFINITY;
    }
    if (this.copy && head >= this.copy.head) this.copy = null;
    if (head > this.head) {
      this.head = head;
      this.#sinceAt = now;
      this.#gotOnAt = now;
    }
    if (this.sent < this.head) this.sent = this.head;
  }

  /** It wants all of it again, from the beginning. */
  startOver(): void {
    if (this.copy?.part === 0) return;
    this.copy = null;
    this.head = -1;
    this.sent = -1;
  }

  /** Whether it was sent something that long ago and has not read a word since. */
  isStuck(forMs: number, now: number): boolean {
    return this.sent > this.head && now - this.#gotOnAt >= forMs;
  }

  /** Whether there is something to send now. */
  isDue(log: OwnerLog, now: number): boolean {
    return this.nextAt(log) <= now;
  }

  nextAt(log: OwnerLog): number {
    if (this.head >= log.end && !this.copy) return Number.POSITIVE_INFINITY;
    return this.sent < log.end && !this.copy ? Number.NEGATIVE_INFINITY : this.#sinceAt + RESEND_MS;
  }

  /** What to send: the entries it lacks, or the next part of a copy made by `copy`. */
  take(log: OwnerLog, now: number, copy: () => readonly EntriesBody[]): EntriesBody | null {
    const isOverdue = now - this.#sinceAt >= RESEND_MS;
    if (this.copy) {
      if (!isOverdue) return null;
      this.#sinceAt = now;
      return this.copy.parts[this.copy.part] ?? null;
    }
    if (this.sent === this.head) this.#gotOnAt = now;
    if (this.sent === this.head || isOverdue) {
      this.sent = this.head;
      this.#sinceAt = now;
    }
    const found = log.after(this.sent);
    if (!found) {
      this.copy = { head: log.head, parts: copy(), part: 0 };
      return this.copy.parts[0]!;
    }
    const { from, blocks } = found;
    this.sent = blocks.reduce((head, [count]) => head + count, from);
    return { kind: "entries", log: log.id, from, blocks, isUrgent: false, copy: null };
  }
}
