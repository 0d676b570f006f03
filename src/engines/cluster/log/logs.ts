/**
 * Logs: what each owner wrote, as far as it is known here, and how it gets to the others. A log is read in order and without
 * gaps; a reader acknowledges how far it is, and what it lacks is sent again until it has it.
 *
 * Every node keeps the last blocks, of other owners too. When an owner is lost, the nodes that have read furthest send the rest
 * to the others, so that all have read the same before anyone takes over its places. A reader that lacks more than is kept gets a
 * copy: entries that describe the present state of everything of that owner's.
 */
import type { Totals } from "../../../core/engine.ts";
import { OP, type Written } from "./entries.ts";
import { BLOCK_ENTRIES_MAX, type Block, blockOf } from "./entry-blocks.ts";

const KEPT_MIN = 20_000;
/** The most entries in one message; the rest follows once these are acknowledged. */
const MESSAGE_ENTRIES = 4_000;
const RESEND_MS = 250;

/** Entries of one log from an index on. */
export interface EntriesBody {
  readonly kind: "entries";
  readonly log: string;
  /** How many entries come before these. */
  readonly from: number;
  readonly blocks: readonly Block[];
  /** The sender waits for the acknowledgement. */
  readonly isUrgent: boolean;
  /** Set when this is part of a copy: forget this log and start from the copy. */
  readonly copy: CopyPart | null;
}

export interface CopyPart {
  readonly part: number;
  readonly parts: number;
  /** The owner's totals by room; in the last part only. */
  readonly totals: readonly (readonly [room: string, totals: Totals])[];
}

/** How far the sender has read a log, and how many parts of a copy it has. */
export type Head = readonly [log: string, head: number, part: number];

/** How far the sender has read the logs it was sent. */
export interface ReadBody {
  readonly kind: "read";
  readonly logs: readonly Head[];
}

/** How far the sender has read every log, for all to settle in a view. */
export interface HeadsBody {
  readonly kind: "heads";
  readonly heads: readonly Head[];
  /** The sender is not settled and asks for the same. */
  readonly isAsking: boolean;
}

/** One owner's log as known here. */
export class OwnerLog {
  readonly id: string;
  /** The owner's index in the books. */
  readonly index: number;
  /** How many entries were read. */
  head = 0;
  /** The next part of a copy that is expected. 0: no copy is under way. Negative: one is wanted. */
  copyPart = 0;
  /** Blocks kept for others, without gaps up to `end`. */
  #kept: Block[] = [];
  #keptFrom = 0;
  #end = 0;
  #unbound: Written[] = [];

  constructor(id: string, index: number) {
    this.id = id;
    this.index = index;
  }

  /** How many entries others can read. */
  get end(): number {
    return this.#end + this.#unbound.length;
  }

  /** Writes an entry; only for the owner. */
  add(written: Written): void {
    const op = written.entry[0];
    // A reader may have to wait before one of these, and a block is read as a whole.
    if (op === OP.pool || op === OP.drawn || this.#unbound.length === BLOCK_ENTRIES_MAX) this.bind();
    this.#unbound.push(written);
    this.head++;
  }

  /** Packs what is in no block yet. */
  bind(): void {
    if (this.#unbound.length === 0) return;
    const written = this.#unbound;
    this.#unbound = [];
    this.keep(this.#end, blockOf(written));
  }

  /** Keeps a block, if it has anything new. */
  keep(from: number, block: Block): void {
    const end = from + block[0];
    if (from > this.#end || end <= this.#end) return;
    if (this.#kept.length === 0) this.#keptFrom = from;
    this.#kept.push(block);
    this.#end = end;
    if (end - this.#keptFrom >= 2 * KEPT_MIN) this.#trim();
  }

  /** The owner is gone and all its places were taken over: nobody asks for entries any more. */
  drop(): void {
    this.startAt(this.head);
  }

  /** A copy was read that describes the state after that many entries. */
  startAt(head: number): void {
    this.head = head;
    this.#kept = [];
    this.#unbound = [];
    this.#keptFrom = head;
    this.#end = head;
    this.copyPart = 0;
  }

  /** Blocks with the entries after the first `head`, one message full, and their start; null when they are no longer kept. */
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
  head: number;
  sent: number;
  /** When it last made progress, or was sent again what it lacked. */
  #sinceAt = Number.NEGATIVE_INFINITY;
  /** When it last made progress, or had nothing left to read. */
  #gotOnAt = Number.NEGATIVE_INFINITY;
  /** Parts of a copy that it acknowledged; null: no copy is under way. */
  copy: { readonly head: number; readonly parts: readonly EntriesBody[]; part: number } | null = null;

  constructor(head = 0) {
    this.head = head;
    this.sent = head;
  }

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

  /** It asks for everything from the beginning. */
  startOver(): void {
    if (this.copy?.part === 0) return;
    this.copy = null;
    this.head = -1;
    this.sent = -1;
  }

  /** True when it has acknowledged nothing for that long of what it was sent. */
  isStuck(forMs: number, now: number): boolean {
    return this.sent > this.head && now - this.#gotOnAt >= forMs;
  }

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
