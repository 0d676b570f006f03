/**
 * The draws of a room: whoever joins during the prequeue of a shuffled event gathers; at its start the places change hands
 * as the lot says (draw.ts), and an old ticket is read as the one it has become. A draw follows from its seed and from
 * who gathered, whoever makes it, and however often.
 *
 * How those who gathered are kept, and when a draw is made, is each engine's own; what a draw is, and what everyone may know
 * of it, is here.
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

/** What there is to know of a draw besides its pool. */
export interface DrawPlan {
  readonly event: string;
  /** By which tickets know it. */
  readonly number: number;
  readonly seed: string;
  readonly prequeueAt: number;
  readonly startAt: number;
  readonly drawnAt: number | null;
  /** Until then someone may hold a ticket from before it. */
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

  /** It is drawn. Gives the sequences that change hands: each in `from` becomes the one at the same index of `to`. */
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
    // Whoever gathered under an earlier opening has gathered.
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

  /** What everyone may know of an event's seed. It is the one whose hash was shown first, whatever the rules say later. */
  announce(event: EventRules): { seedHash: string; seed: string | null } {
    const { seed, seedHash, drawnAt } = this.of(event);
    return { seedHash, seed: drawnAt === null ? null : seed };
  }

  /** True for a place that has been gathered and not been drawn. */
  isGathered(event: EventRules | null, sequence: number): boolean {
    if (!event?.isShuffled) return false;
    const draw = this.#find(event);
    return draw !== undefined && draw.drawnAt === null && draw.pool.has(sequence);
  }

  isDrawn(event: EventRules): boolean {
    return this.of(event).drawnAt !== null;
  }

  /** Someone is let in while people gather, by rules that changed: those who gathered so far are served as they came. */
  scatter(): void {
    for (const draw of this.draws) if (draw.drawnAt === null) draw.pool.clear();
  }

  /** A ticket as it is after the draw that it was in; null: it was in none that is known here. */
  drawnTicket(ticket: Ticket): Ticket | null {
    for (const { number, pool, drawn } of this.draws) {
      const sequence = drawn && pool.has(ticket.sequence) ? drawn.sequenceFor(ticket.id) : null;
      if (sequence !== null) return { ...ticket, sequence, draw: number };
    }
    return null;
  }

  /** Null for one that has been forgotten. */
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

  /** Drops draws that no good ticket can be older than, and gives them. */
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
