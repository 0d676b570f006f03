/**
 * The draws of a room. Visitors who join during the prequeue of a shuffled event gather. At its start their places are
 * shuffled (draw.ts), and a ticket from before is read as the one it has become. The seed and the gathered ids determine a
 * draw, so it comes out the same however often and wherever it is made.
 *
 * Engines decide how the gathered ids are stored and when a draw is made; what a draw is and what is published is here.
 */
import { type Drawn, type DrawRecord, seedHash } from "./draw.ts";
import type { EventRules } from "./rules.ts";
import type { Ticket } from "./ticket.ts";

const SECOND_MS = 1_000;

/** Who gathered, by sequence. */
export interface Pool {
  readonly size: number;
  has(sequence: number): boolean;
  clear(): void;
}

/** A draw without its pool. */
export interface DrawPlan {
  readonly event: string;
  /** The number that tickets carry. */
  readonly number: number;
  readonly seed: string;
  readonly prequeueAt: number;
  readonly startAt: number;
  readonly drawnAt: number | null;
  /** Until then a valid ticket may date from before it. */
  readonly keepUntil: number;
}

export class Draw<P extends Pool> implements DrawPlan {
  readonly event: string;
  readonly number: number;
  readonly seed: string;
  readonly seedHash: string;
  pool: P;
  prequeueAt: number;
  startAt: number;
  keepUntil: number;
  drawnAt: number | null;
  drawn: Drawn | null = null;

  constructor({ event, number, seed, prequeueAt, startAt, drawnAt, keepUntil }: DrawPlan, pool: P) {
    this.event = event;
    this.number = number;
    this.seed = seed;
    this.seedHash = seedHash(seed);
    this.pool = pool;
    this.prequeueAt = prequeueAt;
    this.startAt = startAt;
    this.keepUntil = keepUntil;
    this.drawnAt = drawnAt;
  }

  /** Stores the result. Returns the moves: each sequence in `from` becomes the one at the same index of `to`. */
  settle(drawn: Drawn, { at, keepUntil }: { at: number; keepUntil: number }): Moves {
    this.drawn = drawn;
    this.drawnAt = at;
    this.keepUntil = keepUntil;
    const from = new Float64Array(drawn.size);
    const to = new Float64Array(drawn.size);
    let index = 0;
    drawn.forEachMove((before, after) => {
      from[index] = before;
      to[index++] = after;
    });
    return { from, to };
  }

  moveTo({ prequeueAt, startAt, endAt }: EventRules): void {
    // Visitors who gathered under an earlier opening stay gathered.
    this.prequeueAt = Math.min(this.prequeueAt, prequeueAt ?? startAt);
    this.startAt = startAt;
    this.keepUntil = endAt;
  }
}

export interface Moves {
  readonly from: Float64Array;
  readonly to: Float64Array;
}

export class DrawLedger<P extends Pool, D extends Draw<P>> {
  protected draws: D[] = [];
  readonly #make: (plan: DrawPlan) => D;

  constructor(make: (plan: DrawPlan) => D) {
    this.#make = make;
  }

  /** What is published of an event's seed. The seed whose hash was shown first stays, even if the rules change later. */
  announce(event: EventRules): { seedHash: string; seed: string | null } {
    const { seed, seedHash, drawnAt } = this.of(event);
    return { seedHash, seed: drawnAt === null ? null : seed };
  }

  /** True for a place that is gathered and not drawn yet. */
  isGathered(event: EventRules | null, sequence: number): boolean {
    if (!event?.isShuffled) return false;
    const draw = this.#find(event);
    return draw !== undefined && draw.drawnAt === null && draw.pool.has(sequence);
  }

  isDrawn(event: EventRules): boolean {
    return this.of(event).drawnAt !== null;
  }

  /** Visitors are let in while people gather, by changed rules: those gathered so far keep the order in which they came. */
  scatter(): void {
    for (const draw of this.draws) if (draw.drawnAt === null) draw.pool.clear();
  }

  /** The ticket as its draw changed it; null: it was in no draw known here. */
  drawnTicket(ticket: Ticket): Ticket | null {
    for (const { number, pool, drawn } of this.draws) {
      const sequence = drawn && pool.has(ticket.sequence) ? drawn.sequenceFor(ticket.id) : null;
      if (sequence !== null) return { ...ticket, sequence, draw: number };
    }
    return null;
  }

  /** The record of an event's draw. Null: forgotten. */
  record(event: EventRules, now: number): DrawRecord | null {
    if (event.endAt <= now && !this.#find(event)) return null;
    const { seed, seedHash, startAt, drawnAt, pool, drawn } = this.of(event);
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

  /** Drops and returns the draws that every valid ticket is younger than. */
  forget(now: number): readonly D[] {
    const over = this.draws.filter(({ keepUntil }) => keepUntil <= now);
    if (over.length > 0) this.draws = this.draws.filter(({ keepUntil }) => keepUntil > now);
    return over;
  }

  /** An event's draw. One whose start is moved before it is drawn stays the same draw. */
  protected of(event: EventRules): D {
    const known = this.#find(event);
    if (known) {
      if (known.drawnAt === null) known.moveTo(event);
      return known;
    }
    const { name, prequeueAt, startAt, endAt, seed } = event;
    let number = Math.floor(startAt / SECOND_MS);
    while (this.draws.some((draw) => draw.number === number)) number++;
    const plan = { event: name, number, seed, startAt, drawnAt: null, keepUntil: endAt };
    const draw = this.#make({ ...plan, prequeueAt: prequeueAt ?? startAt });
    this.draws.push(draw);
    return draw;
  }

  #find({ name, startAt }: EventRules): D | undefined {
    return this.draws.find(
      (draw) => draw.event === name && (draw.startAt === startAt || draw.drawnAt === null),
    );
  }
}
