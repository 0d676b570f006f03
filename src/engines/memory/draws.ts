/**
 * The draws of a room in memory. Seeds and gathered ids are stored on disk, so a process that dies during a draw makes the same
 * draw again.
 */
import { drawOrder } from "../../core/draw.ts";
import { Draw, DrawLedger, type DrawPlan, type Moves } from "../../core/draw-ledger.ts";
import { DrawPool } from "../../core/draw-pool.ts";
import type { EventRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";

/** What is stored of a draw besides the pool. */
export interface DrawMemo extends DrawPlan {
  /** Visitors who came back unknown to the draw, with the sequences they got instead. */
  readonly late: readonly (readonly [id: string, sequence: number])[];
}

/** A ticket from an earlier process and from before a draw that did not include it: its holder needs a new place. */
export const TOO_LATE = Symbol("too late for the draw");

class MemoryDraw extends Draw<DrawPool> {
  readonly late: Map<string, number>;

  constructor(plan: DrawPlan, late: DrawMemo["late"] = []) {
    super(plan, new DrawPool());
    this.late = new Map(late);
  }
}

export class Draws extends DrawLedger<DrawPool, MemoryDraw> {
  /** Draws that were dropped, whose pools are still to be deleted from disk. */
  #dropped: MemoryDraw[] = [];
  readonly #isKept: boolean;
  /** Visitors who joined before this instant may be unknown here. */
  #knownFrom: number;

  /** `isKept`: records changes for `takeChanges`. */
  constructor(isKept: boolean, now: number) {
    super((plan) => new MemoryDraw(plan));
    this.#isKept = isKept;
    this.#knownFrom = now;
  }

  gather(event: EventRules, sequence: number, id: string): void {
    this.of(event).pool.add(sequence, id);
  }

  /** Draws, and returns the sequences that change hands. */
  draw(event: EventRules, now: number, keepForMs: number): Moves {
    const draw = this.of(event);
    const keepUntil = Math.max(event.endAt, now + keepForMs);
    return draw.settle(drawOrder(draw.pool, draw.seed), { at: now, keepUntil });
  }

  /** A ticket with its sequence after all draws since it was given. */
  current(ticket: Ticket): Ticket | typeof TOO_LATE {
    if (this.draws.length === 0 || ticket.draw !== 0) return ticket;
    const drawn = this.drawnTicket(ticket);
    if (drawn) return drawn;
    // In a room that knows all its tickets, the number is still the ticket's own; otherwise it may be another visitor's by now.
    if (ticket.joinedAt >= this.#knownFrom) return ticket;
    const draw = this.#missed(ticket);
    if (!draw) return ticket;
    const sequence = draw.late.get(ticket.id);
    return sequence === undefined ? TOO_LATE : { ...ticket, sequence, draw: draw.number };
  }

  /** Gives a visitor who was too late a new sequence, for good. */
  takeLate(ticket: Ticket, sequence: number): Ticket {
    const draw = this.#missed(ticket)!;
    draw.late.set(ticket.id, sequence);
    return { ...ticket, sequence, draw: draw.number };
  }

  override forget(now: number): readonly MemoryDraw[] {
    const over = super.forget(now);
    for (const { pool } of over) pool.clear();
    if (this.#isKept) this.#dropped.push(...over);
    return over;
  }

  get hasChanges(): boolean {
    return this.#isKept && (this.#dropped.length > 0 || this.draws.some(({ pool }) => pool.hasChanges));
  }

  memo(): DrawMemo[] {
    return this.draws.map((draw) => {
      const { event, number, seed, prequeueAt, startAt, drawnAt, keepUntil, late } = draw;
      return { event, number, seed, prequeueAt, startAt, drawnAt, keepUntil, late: [...late] };
    });
  }

  /** The chunks of pools that changed since the last call, by draw and chunk; null for an empty one. */
  takeChanges(): Map<string, Uint8Array | null> {
    const changes = new Map<string, Uint8Array | null>();
    if (!this.#isKept) return changes;
    for (const { number, pool } of [...this.#dropped, ...this.draws])
      for (const [piece, bytes] of pool.takeChanges()) changes.set(`${number}/${piece}`, bytes);
    this.#dropped = [];
    return changes;
  }

  /** Restores what `memo` and `takeChanges` returned. Finished draws are repeated, with the same result. */
  restore(memos: readonly DrawMemo[], chunks: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    this.#knownFrom = Number.NEGATIVE_INFINITY;
    this.draws = memos.map((memo) => new MemoryDraw(memo, memo.late));
    for (const [name, bytes] of chunks) {
      const [number, piece] = name.split("/").map(Number);
      this.draws.find((draw) => draw.number === number)?.pool.restore(piece!, bytes);
    }
    for (const draw of this.draws) {
      draw.pool.takeChanges();
      if (draw.drawnAt !== null) draw.drawn = drawOrder(draw.pool, draw.seed);
    }
  }

  /** The draw made since this ticket was given that should have included it. */
  #missed({ joinedAt }: Ticket): MemoryDraw | undefined {
    return this.draws.find(
      ({ drawnAt, prequeueAt, startAt }) => drawnAt !== null && joinedAt >= prequeueAt && joinedAt < startAt,
    );
  }
}
