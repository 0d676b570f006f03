/**
 * The draws of a room in memory. Seeds and who gathered are kept on disk, so a process that dies during a draw makes the same
 * one again.
 */
import { drawOrder } from "../../core/draw.ts";
import { Draw, DrawLedger, type DrawPlan, type Moves } from "../../core/draw-ledger.ts";
import { DrawPool } from "../../core/draw-pool.ts";
import type { EventRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";

/** What is kept of a draw besides the pool. */
export interface DrawMemo extends DrawPlan {
  /** Visitors unknown to the draw when they came back, with the sequences they got instead. */
  readonly late: readonly (readonly [id: string, sequence: number])[];
}

/** A ticket of an earlier process, older than a draw that did not include it: its holder needs a new place. */
export const TOO_LATE = Symbol("too late for the draw");

class MemoryDraw extends Draw<DrawPool> {
  readonly late: Map<string, number>;

  constructor(plan: DrawPlan, late: DrawMemo["late"] = []) {
    super(plan, new DrawPool());
    this.late = new Map(late);
  }
}

export class Draws extends DrawLedger<DrawPool, MemoryDraw> {
  /** Draws that were dropped; that their pools are empty has yet to be kept. */
  #dropped: MemoryDraw[] = [];
  readonly #isKept: boolean;
  /** Visitors who joined before this are unknown here. */
  #knownFrom: number;

  /** `isKept`: changes are noted, for `takeChanges`. */
  constructor(isKept: boolean, now: number) {
    super((plan) => new MemoryDraw(plan));
    this.#isKept = isKept;
    this.#knownFrom = now;
  }

  gather(event: EventRules, sequence: number, id: string): void {
    this.of(event).pool.add(sequence, id);
  }

  /** Draws, and gives the sequences that change hands. */
  draw(event: EventRules, now: number, keepForMs: number): Moves {
    const draw = this.of(event);
    const keepUntil = Math.max(event.endAt, now + keepForMs);
    return draw.settle(drawOrder(draw.pool, draw.seed), { at: now, keepUntil });
  }

  /** A ticket as it is after the draws since it was given. */
  current(ticket: Ticket): Ticket | typeof TOO_LATE {
    if (this.draws.length === 0 || ticket.draw !== 0) return ticket;
    const drawn = this.drawnTicket(ticket);
    if (drawn) return drawn;
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

  /** Pieces of pools that changed since this was last asked, by draw and piece; null for one with nobody in it. */
  takeChanges(): Map<string, Uint8Array | null> {
    const changes = new Map<string, Uint8Array | null>();
    if (!this.#isKept) return changes;
    for (const { number, pool } of [...this.#dropped, ...this.draws])
      for (const [piece, bytes] of pool.takeChanges()) changes.set(`${number}/${piece}`, bytes);
    this.#dropped = [];
    return changes;
  }

  /** Takes in again what `memo` and `takeChanges` gave. What was drawn is drawn again, the same. */
  restore(memos: readonly DrawMemo[], pieces: Iterable<readonly [name: string, bytes: Uint8Array]>): void {
    this.#knownFrom = Number.NEGATIVE_INFINITY;
    this.draws = memos.map((memo) => new MemoryDraw(memo, memo.late));
    for (const [name, bytes] of pieces) {
      const [number, piece] = name.split("/").map(Number);
      this.draws.find((draw) => draw.number === number)?.pool.restore(piece!, bytes);
    }
    for (const draw of this.draws) {
      draw.pool.takeChanges();
      if (draw.drawnAt !== null) draw.drawn = drawOrder(draw.pool, draw.seed);
    }
  }

  /** The draw made since this ticket was given, in which it should have been. */
  #missed({ joinedAt }: Ticket): MemoryDraw | undefined {
    return this.draws.find(
      ({ drawnAt, prequeueAt, startAt }) => drawnAt !== null && joinedAt >= prequeueAt && joinedAt < startAt,
    );
  }
}
