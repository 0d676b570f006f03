/**
 * The draws of a room at one node of a cluster.
 *
 * All nodes must draw from the same pool, and no node knows at once who has joined elsewhere. So the root asks all nodes to close
 * the pool and to report the length of their logs, reads them that far, writes the whole pool into its own log (`pool` entries)
 * and then that it is drawn (`drawn`). Every node that reads this makes the same draw, and writes `drawn` too: an owner's earlier
 * entries are about places before the draw, later ones about places after it.
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

const POOL_ENTRY_MAX = 1_000;

class NodeDraw extends Draw<Map<number, string>> {
  /** The pool as each root has written it: a root may die before it has drawn. */
  readonly written = new Map<number, Map<number, string>>();
  /** Owners whose entries are about places after this draw. */
  readonly after = new Set<number>();
  readonly moves = new Map<number, number>();
  /** The pool takes nobody in any more. */
  isClosed = false;

  constructor(plan: DrawPlan) {
    super(plan, new Map());
  }
}

/** A pool holds everyone known here to have gathered; after the draw, everyone who was in it. */
export class Draws extends DrawLedger<Map<number, string>, NodeDraw> {
  constructor() {
    super((plan) => new NodeDraw(plan));
  }

  /** True when entries may arrive about places from before a draw. */
  get hasMoved(): boolean {
    return this.draws.some(({ drawnAt }) => drawnAt !== null);
  }

  /** The numbers of the draws that were made. */
  numbers(): number[] {
    return this.draws.filter(({ drawnAt }) => drawnAt !== null).map(({ number }) => number);
  }

  /** The visitor waiting with this key has gathered for this event. */
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

  /** The entries by which the root draws. */
  *entriesToDraw(event: EventRules, now: number, keepForMs: number): Generator<PoolEntry | DrawnEntry> {
    const draw = this.of(event);
    const keepUntil = Math.max(event.endAt, now + keepForMs);
    yield* poolEntries(draw, draw.pool);
    yield [OP.drawn, draw.number, draw.event, draw.pool.size, now, keepUntil];
  }

  /** All draws that were made, for a node that knows nothing yet. */
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

  expect(event: EventRules): void {
    this.of(event);
  }

  /** False when an entry must wait for a draw that has not been made here. */
  isReadyFor(entry: Entry): boolean {
    if (entry[0] !== OP.drawn) return true;
    const draw = this.draws.find(({ number }) => number === entry[1]);
    return !draw || draw.drawnAt !== null || writtenPool(draw, entry[3]) !== null;
  }

  /** A key in an entry of this owner's, as it is after the draws that this owner has not read yet. */
  currentKey(key: number, origin: number): number {
    for (const { drawnAt, after, moves } of this.draws)
      if (drawnAt !== null && !after.has(origin)) key = moves.get(key) ?? key;
    return key;
  }

  /** Notes that an owner has drawn. The first time this node draws too; returns which keys change hands, or null. */
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

  /** A ticket as it is after all draws since it was given. */
  current(ticket: Ticket): Ticket {
    if (this.draws.length === 0 || ticket.draw !== 0) return ticket;
    return this.drawnTicket(ticket) ?? ticket;
  }
}

/** A pool of that size that some root has written completely; null: none has arrived. */
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

/** A pool as runs of one key, since its keys have gaps. */
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
