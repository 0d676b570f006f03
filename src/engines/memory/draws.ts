/**
 * The draws of a room in memory. Whoever joins during the prequeue of a shuffled event is gathered; at its start the
 * places change hands as the lot says, and an old ticket is read as the one it has become.
 *
 * A draw follows from its seed and from who gathered, and both are kept. So a process that dies in the middle of one
 * makes the same one again.
 */
import { type Drawn, type DrawRecord, drawOrder, seedHash } from "../../core/draw.ts";
import { DrawPool } from "../../core/draw-pool.ts";
import type { EventRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";

const SECOND_MS = 1_000;

/** What is kept of a draw besides the pool. */
export interface DrawMemo {
  readonly event: string;
  /** By which tickets know it. */
  readonly number: number;
  readonly seed: string;
  readonly prequeueAt: number;
  readonly startAt: number;
  readonly drawnAt: number | null;
  /** Until then someone may hold a ticket from before it. */
  readonly keepUntil: number;
  /** Those of whom nothing was known when they came back: the sequences they got instead. */
  readonly late: readonly (readonly [id: string, sequence: number])[];
}

/** A ticket from an earlier life, and from before a draw of which nothing is known: its holder needs a new place. */
export const TOO_LATE = Symbol("too late for the draw");

export class Draws {
  #draws: Draw[] = [];
  /** Draws that are dropped, with pools whose emptiness has yet to be kept. */
  #dropped: Draw[] = [];
  readonly #isKept: boolean;
  /** Of those who joined earlier nothing is known. */
  #knownFrom: number;

  /** `isKept`: someone takes the changes. */
  constructor(isKept: boolean, now: number) {
    this.#isKept = isKept;
    this.#knownFrom = now;
  }

  /** What everyone may know of an event's seed. It is the one whose hash was shown first, whatever the rules say later. */
  announce(event: EventRules): { seedHash: string; seed: string | null } {
    const { seed, seedHash, drawnAt } = this.#of(event);
    return { seedHash, seed: drawnAt === null ? null : seed };
  }

  gather(event: EventRules, sequence: number, id: string): void {
    this.#of(event).pool.add(sequence, id);
  }

  /** True for a place that has been gathered and not been drawn. */
  isGathered(event: EventRules | null, sequence: number): boolean {
    if (!event?.isShuffled) return false;
    const draw = this.#find(event);
    return draw !== undefined && draw.drawnAt === null && draw.pool.has(sequence);
  }

  isDrawn(event: EventRules): boolean {
    return this.#of(event).drawnAt !== null;
  }

  /** Draws, and gives the sequences that change hands: each in `from` becomes the one at the same index of `to`. */
  draw(event: EventRules, now: number, keepForMs: number): { from: Float64Array; to: Float64Array } {
    const draw = this.#of(event);
    const drawn = drawOrder(draw.pool, draw.seed);
    draw.drawn = drawn;
    draw.drawnAt = now;
    draw.keepUntil = Math.max(event.endAt, now + keepForMs);
    const from = new Float64Array(drawn.size);
    const to = new Float64Array(drawn.size);
    let at = 0;
    drawn.forEachMove((before, after) => {
      from[at] = before;
      to[at++] = after;
    });
    return { from, to };
  }

  /** Someone is let in while people gather, by rules that changed: those who gathered so far are served as they came. */
  scatter(): void {
    for (const draw of this.#draws) if (draw.drawnAt === null) draw.pool.clear();
  }

  /** A ticket as it is after the draws since it was given. */
  current(ticket: Ticket): Ticket | typeof TOO_LATE {
    if (this.#draws.length === 0 || ticket.draw !== 0) return ticket;
    for (const { number, pool, drawn } of this.#draws) {
      const sequence = drawn && pool.has(ticket.sequence) ? drawn.sequenceFor(ticket.id) : null;
      if (sequence !== null) return { ...ticket, sequence, draw: number };
    }
    // In a room that knows all its tickets its number is still its own; in another it may be somebody's by now.
    if (ticket.joinedAt >= this.#knownFrom) return ticket;
    const draw = this.#missed(ticket);
    if (!draw) return ticket;
    const sequence = draw.late.get(ticket.id);
    return sequence === undefined ? TOO_LATE : { ...ticket, sequence, draw: draw.number };
  }

  /** Gives someone who was too late their new sequence, for good. */
  takeLate(ticket: Ticket, sequence: number): Ticket {
    const draw = this.#missed(ticket)!;
    draw.late.set(ticket.id, sequence);
    return { ...ticket, sequence, draw: draw.number };
  }

  /** Null for one that has been forgotten. */
  record(event: EventRules, now: number): DrawRecord | null {
    if (event.endAt <= now && !this.#find(event)) return null;
    const { seed, seedHash, startAt, drawnAt, pool, drawn } = this.#of(event);
    return {
      event: event.name,
      seedHash,
      seed: drawnAt === null ? null : seed,
      startAt,
      drawnAt,
      size: pool.size,
      ids: drawn?.ids() ?? null,
    };
  }

  /** Drops draws that no good ticket can be older than. */
  forget(now: number): void {
    const [over, open] = partition(this.#draws, ({ keepUntil }) => keepUntil <= now);
    if (over.length === 0) return;
    for (const { pool } of over) pool.clear();
    this.#draws = open;
    if (this.#isKept) this.#dropped.push(...over);
  }

  get hasChanges(): boolean {
    return this.#isKept && (this.#dropped.length > 0 || this.#draws.some(({ pool }) => pool.hasChanges));
  }

  memo(): DrawMemo[] {
    return this.#draws.map((draw) => {
      const { event, number, seed, prequeueAt, startAt, drawnAt, keepUntil, late } = draw;
      return { event, number, seed, prequeueAt, startAt, drawnAt, keepUntil, late: [...late] };
    });
  }

  /** Pieces of pools that changed since this was last asked, by draw and piece; null for one with nobody in it. */
  takeChanges(): Map<string, Uint8Array | null> {
    const changes = new Map<string, Uint8Array | null>();
    if (!this.#isKept) return changes;
    for (const { number, pool } of [...this.#dropped, ...this.#draws])
      for (const [piece, bytes] of pool.takeChanges()) changes.set(`${number}/${piece}`, bytes);
    this.#dropped = [];
    return changes;
  }

  /** Takes in again what `memo` and `takeChanges` gave. What was drawn is drawn again, the same. */
  restore(memos: readonly DrawMemo[], pieces: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    this.#knownFrom = Number.NEGATIVE_INFINITY;
    this.#draws = memos.map((memo) => new Draw(memo));
    for (const [name, bytes] of pieces) {
      const [number, piece] = name.split("/").map(Number);
      this.#draws.find((draw) => draw.number === number)?.pool.restore(piece!, bytes);
    }
    for (const draw of this.#draws) {
      draw.pool.takeChanges();
      if (draw.drawnAt !== null) draw.drawn = drawOrder(draw.pool, draw.seed);
    }
  }

  #find({ name, startAt }: EventRules): Draw | undefined {
    return this.#draws.find(
      (draw) => draw.event === name && (draw.startAt === startAt || draw.drawnAt === null),
    );
  }

  /** An event's draw. One whose start is moved before it is drawn stays the same draw. */
  #of(event: EventRules): Draw {
    const known = this.#find(event);
    if (known) {
      if (known.drawnAt === null) known.moveTo(event);
      return known;
    }
    const { name, prequeueAt, startAt, endAt, seed } = event;
    let number = Math.floor(startAt / SECOND_MS);
    while (this.#draws.some((draw) => draw.number === number)) number++;
    const draw = new Draw({
      event: name,
      number,
      seed,
      prequeueAt: prequeueAt ?? startAt,
      startAt,
      drawnAt: null,
      keepUntil: endAt,
      late: [],
    });
    this.#draws.push(draw);
    return draw;
  }

  /** The draw that a ticket must have been in that was given before it. */
  #missed({ joinedAt }: Ticket): Draw | undefined {
    return this.#draws.find(
      ({ drawnAt, prequeueAt, startAt }) => drawnAt !== null && joinedAt >= prequeueAt && joinedAt < startAt,
    );
  }
}

class Draw {
  readonly event: string;
  readonly number: number;
  readonly seed: string;
  readonly seedHash: string;
  readonly pool = new DrawPool();
  readonly late: Map<string, number>;
  prequeueAt: number;
  startAt: number;
  keepUntil: number;
  drawnAt: number | null;
  drawn: Drawn | null = null;

  constructor({ event, number, seed, prequeueAt, startAt, drawnAt, keepUntil, late }: DrawMemo) {
    this.event = event;
    this.number = number;
    this.seed = seed;
    this.seedHash = seedHash(seed);
    this.late = new Map(late);
    this.prequeueAt = prequeueAt;
    this.startAt = startAt;
    this.keepUntil = keepUntil;
    this.drawnAt = drawnAt;
  }

  moveTo({ prequeueAt, startAt, endAt }: EventRules): void {
    // Whoever gathered under an earlier opening has gathered.
    this.prequeueAt = Math.min(this.prequeueAt, prequeueAt ?? startAt);
    this.startAt = startAt;
    this.keepUntil = endAt;
  }
}

function partition<T>(all: readonly T[], isFirst: (one: T) => boolean): [T[], T[]] {
  return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
