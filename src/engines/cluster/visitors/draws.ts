/**
 * The draws of a room, at one node of a cluster.
 *
 * Everybody must draw from the same pool, and nobody knows at an instant who has joined everywhere. So the root asks
 * all nodes to gather no more and to say how far their logs are, reads them that far, and writes down the whole pool in
 * its own log (POOL), then that it is drawn (DRAWN). Whoever reads that draws the same, and writes DRAWN too: what an
 * owner wrote before its DRAWN is about the places before the draw, what it wrote after is about those after it.
 *
 * A part without the majority does not draw: two parts would draw from two pools.
 */
import { drawOrder, type Gathered } from "../../../core/draw.ts";
import { Draw, DrawLedger, type DrawPlan, type Moves } from "../../../core/draw-ledger.ts";
import { fromHex } from "../../../core/hex.ts";
import { ID_BYTES } from "../../../core/id.ts";
import type { EventRules } from "../../../core/rules.ts";
import type { Ticket } from "../../../core/ticket.ts";
import { type DrawnEntry, type Entry, OP, type PoolEntry } from "../log/entries.ts";

/** How many of those who gathered go into one entry. */
const POOL_ENTRY_MAX = 1_000;

class NodeDraw extends Draw<Map<number, string>> {
  /** The pool as each root has written it down so far: one may be gone before it was drawn. */
  readonly written = new Map<number, Map<number, string>>();
  /** Owners whose entries are about places as they are after it. */
  readonly after = new Set<number>();
  readonly moves = new Map<number, number>();
  /** Nobody gathers any more: it is about to be drawn. */
  isClosed = false;

  constructor(plan: DrawPlan) {
    super(plan, new Map());
  }
}

/** Pools hold everyone who gathered as far as known here; once it is drawn, everyone who was in it. */
export class Draws extends DrawLedger<Map<number, string>, NodeDraw> {
  constructor() {
    super((plan) => new NodeDraw(plan));
  }

  /** True when some entries may be about places from before a draw. */
  get hasMoved(): boolean {
    return this.draws.some(({ drawnAt }) => drawnAt !== null);
  }

  /** Draws that were made. */
  numbers(): number[] {
    return this.draws.filter(({ drawnAt }) => drawnAt !== null).map(({ number }) => number);
  }

  /** Whoever waits with this key has gathered for this event. */
  gather(event: EventRules, key: number, id: string): void {
    const draw = this.of(event);
    if (draw.drawnAt === null) draw.pool.set(key, id);
  }

  isClosed(event: EventRules): boolean {
    const { isClosed, drawnAt } = this.of(event);
    return isClosed || drawnAt !== null;
  }

  close(event: EventRules): void {
    this.of(event).isClosed = true;
  }

  /** What the root writes down to draw. */
  *entriesToDraw(event: EventRules, now: number, keepForMs: number): Generator<PoolEntry | DrawnEntry> {
    const draw = this.of(event);
    const keepUntil = Math.max(event.endAt, now + keepForMs);
    yield* poolEntries(draw, draw.pool);
    yield [OP.drawn, draw.number, draw.event, draw.pool.size, now, keepUntil];
  }

  /** All draws that were made, for someone who knows nothing yet. */
  *entries(): Generator<PoolEntry | DrawnEntry> {
    for (const draw of this.draws) {
      if (draw.drawnAt === null) continue;
      yield* poolEntries(draw, draw.pool);
      yield [OP.drawn, draw.number, draw.event, draw.pool.size, draw.drawnAt, draw.keepUntil];
    }
  }

  addToPool([, number, , gathered]: PoolEntry, origin: number): void {
    const draw = this.draws.find((known) => known.number === number);
    if (!draw || draw.drawnAt !== null) return;
    const pool = draw.written.get(origin) ?? new Map<number, string>();
    draw.written.set(origin, pool);
    for (let i = 0; i + 1 < gathered.length; i += 2) pool.set(Number(gathered[i]), String(gathered[i + 1]));
  }

  /** Makes sure that an event's draw is known. */
  expect(event: EventRules): void {
    this.of(event);
  }

  /** False when an entry must wait: it is about places after a draw that has not been made here. */
  isReadyFor(entry: Entry): boolean {
    if (entry[0] !== OP.drawn) return true;
    const draw = this.draws.find(({ number }) => number === entry[1]);
    return !draw || draw.drawnAt !== null || writtenPool(draw, entry[3]) !== null;
  }

  /** A key in an entry of this owner's, as it is after the draws it does not know of yet. */
  currentKey(key: number, origin: number): number {
    for (const { drawnAt, after, moves } of this.draws)
      if (drawnAt !== null && !after.has(origin)) key = moves.get(key) ?? key;
    return key;
  }

  /** An owner has drawn; the first time, so does this node. Gives the keys that change hands, or null. */
  draw([, number, , size, drawnAt, keepUntil]: DrawnEntry, origin: number): Moves | null {
    const draw = this.draws.find((known) => known.number === number);
    if (!draw) return null;
    draw.after.add(origin);
    if (draw.drawnAt !== null) return null;
    draw.pool = writtenPool(draw, size) ?? new Map();
    draw.written.clear();
    const moves = draw.settle(drawOrder(new SortedPool(draw.pool), draw.seed), { at: drawnAt, keepUntil });
    for (const [index, key] of moves.from.entries()) draw.moves.set(key, moves.to[index]!);
    return moves;
  }

  /** A ticket as it is after the draws since it was given. */
  current(ticket: Ticket): Ticket {
    if (this.draws.length === 0 || ticket.draw !== 0) return ticket;
    return this.drawnTicket(ticket) ?? ticket;
  }
}

/** The pool of that size that some root has written down whole; null: none is here yet. */
function writtenPool({ written }: NodeDraw, size: number): Map<number, string> | null {
  if (size === 0) return new Map();
  return [...written.values()].find((pool) => pool.size === size) ?? null;
}

function* poolEntries({ number, event }: NodeDraw, pool: ReadonlyMap<number, string>): Generator<PoolEntry> {
  let gathered: (number | string)[] = [];
  for (const [key, id] of pool) {
    gathered.push(key, id);
    if (gathered.length < 2 * POOL_ENTRY_MAX) continue;
    yield [OP.pool, number, event, gathered];
    gathered = [];
  }
  if (gathered.length > 0) yield [OP.pool, number, event, gathered];
}

/** A pool whose keys have gaps between them: every run is of one. */
class SortedPool implements Gathered {
  readonly #pool: ReadonlyMap<number, string>;

  constructor(pool: ReadonlyMap<number, string>) {
    this.#pool = pool;
  }

  get size(): number {
    return this.#pool.size;
  }

  forEachRun(visit: (sequence: number, length: number, ids: Uint8Array) => void): void {
    for (const key of [...this.#pool.keys()].sort((a, b) => a - b)) {
      const id = fromHex(this.#pool.get(key)!);
      if (id?.length !== ID_BYTES) throw new RangeError(`an id is ${2 * ID_BYTES} hexadecimal digits`);
      visit(key, 1, id);
    }
  }
}
