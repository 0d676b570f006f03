/**
 * The draws of a room, at one node of a cluster. Whoever joins during the prequeue of a shuffled event is gathered; at its
 * start the places change hands as the lot says, and an old ticket is read as the one it has become.
 *
 * Everybody must draw from the same pool, and nobody knows at an instant who has joined everywhere. So the root asks
 * all nodes to gather no more and to say how far their logs are, reads them that far, and writes down the whole pool in
 * its own log (POOL), then that it is drawn (DRAWN). Whoever reads that draws the same, and writes DRAWN too: what an
 * owner wrote before its DRAWN is about the places before the draw, what it wrote after is about those after it.
 *
 * A part without the majority does not draw: two parts would draw from two pools.
 */
import { type Drawn, type DrawRecord, drawOrder, type Gathered, seedHash } from "../../../core/draw.ts";
import { fromHex } from "../../../core/hex.ts";
import { ID_BYTES } from "../../../core/id.ts";
import type { EventRules } from "../../../core/rules.ts";
import type { Ticket } from "../../../core/ticket.ts";
import type { DrawnEntry, Entry, PoolEntry } from "../log/entries.ts";
import { DRAWN, POOL } from "../log/entries.ts";

const SECOND_MS = 1_000;
/** How many of those who gathered go into one entry. */
const POOL_ENTRY_MAX = 1_000;

interface Draw {
  readonly event: string;
  /** By which tickets and entries know it. */
  readonly number: number;
  readonly seed: string;
  readonly seedHash: string;
  startAt: number;
  keepUntil: number;
  drawnAt: number | null;
  drawn: Drawn | null;
  /** Everyone who gathered as far as known here; once it is drawn, everyone who was in it. */
  pool: Map<number, string>;
  /** The pool as each root has written it down so far: one may be gone before it was drawn. */
  readonly written: Map<number, Map<number, string>>;
  /** Owners whose entries are about places as they are after it. */
  readonly after: Set<number>;
  moves: Map<number, number>;
  /** Nobody gathers any more: it is about to be drawn. */
  isClosed: boolean;
}

export class Draws {
  #draws: Draw[] = [];

  /** True when some entries may be about places from before a draw. */
  get hasMoved(): boolean {
    return this.#draws.some(({ drawnAt }) => drawnAt !== null);
  }

  /** Draws that were made. */
  numbers(): number[] {
    return this.#draws.filter(({ drawnAt }) => drawnAt !== null).map(({ number }) => number);
  }

  announce(event: EventRules): { seedHash: string; seed: string | null } {
    const { seed, seedHash, drawnAt } = this.#of(event);
    return { seedHash, seed: drawnAt === null ? null : seed };
  }

  /** Whoever waits with this key has gathered for this event. */
  gather(event: EventRules, key: number, id: string): void {
    const draw = this.#of(event);
    if (draw.drawnAt === null) draw.pool.set(key, id);
  }

  isGathered(event: EventRules | null, key: number): boolean {
    if (!event?.isShuffled) return false;
    const draw = this.#find(event);
    return draw !== undefined && draw.drawnAt === null && draw.pool.has(key);
  }

  isClosed(event: EventRules): boolean {
    const { isClosed, drawnAt } = this.#of(event);
    return isClosed || drawnAt !== null;
  }

  close(event: EventRules): void {
    this.#of(event).isClosed = true;
  }

  isDrawn(event: EventRules): boolean {
    return this.#of(event).drawnAt !== null;
  }

  /** Someone is let in while people gather, by rules that changed: those who gathered so far are served as they came. */
  scatter(): void {
    for (const draw of this.#draws) if (draw.drawnAt === null) draw.pool.clear();
  }

  /** What the root writes down to draw. */
  *entriesToDraw(event: EventRules, now: number, keepForMs: number): Generator<PoolEntry | DrawnEntry> {
    const draw = this.#of(event);
    const keepUntil = Math.max(event.endAt, now + keepForMs);
    yield* poolEntries(draw, draw.pool);
    yield [DRAWN, draw.number, draw.event, draw.pool.size, now, keepUntil];
  }

  /** All draws that were made, for someone who knows nothing yet. */
  *entries(): Generator<PoolEntry | DrawnEntry> {
    for (const draw of this.#draws) {
      if (draw.drawnAt === null) continue;
      yield* poolEntries(draw, draw.pool);
      yield [DRAWN, draw.number, draw.event, draw.pool.size, draw.drawnAt, draw.keepUntil];
    }
  }

  addToPool([, number, , gathered]: PoolEntry, origin: number): void {
    const draw = this.#draws.find((known) => known.number === number);
    if (!draw || draw.drawnAt !== null) return;
    const pool = draw.written.get(origin) ?? new Map<number, string>();
    draw.written.set(origin, pool);
    for (let i = 0; i + 1 < gathered.length; i += 2) pool.set(Number(gathered[i]), String(gathered[i + 1]));
  }

  /** Makes sure that an event's draw is known. */
  expect(event: EventRules): void {
    this.#of(event);
  }

  /** False when an entry must wait: it is about places after a draw that has not been made here. */
  isReadyFor(entry: Entry): boolean {
    if (entry[0] !== DRAWN) return true;
    const draw = this.#draws.find(({ number }) => number === entry[1]);
    return !draw || draw.drawnAt !== null || writtenPool(draw, entry[3]) !== null;
  }

  /** A key in an entry of this owner's, as it is after the draws it does not know of yet. */
  currentKey(key: number, origin: number): number {
    for (const { drawnAt, after, moves } of this.#draws)
      if (drawnAt !== null && !after.has(origin)) key = moves.get(key) ?? key;
    return key;
  }

  /** An owner has drawn; the first time, so does this node. Gives the keys that change hands, or null. */
  draw(
    [, number, , size, drawnAt, keepUntil]: DrawnEntry,
    origin: number,
  ): { from: Float64Array; to: Float64Array } | null {
    const draw = this.#draws.find((known) => known.number === number);
    if (!draw) return null;
    draw.after.add(origin);
    if (draw.drawnAt !== null) return null;
    draw.pool = writtenPool(draw, size) ?? new Map();
    draw.written.clear();
    draw.drawn = drawOrder(new SortedPool(draw.pool), draw.seed);
    draw.drawnAt = drawnAt;
    draw.keepUntil = keepUntil;
    const from = new Float64Array(draw.drawn.size);
    const to = new Float64Array(draw.drawn.size);
    let at = 0;
    draw.drawn.forEachMove((before, after) => {
      from[at] = before;
      to[at++] = after;
      draw.moves.set(before, after);
    });
    return { from, to };
  }

  /** A ticket as it is after the draws since it was given. */
  current(ticket: Ticket): Ticket {
    if (this.#draws.length === 0 || ticket.draw !== 0) return ticket;
    for (const { number, pool, drawn } of this.#draws) {
      const sequence = drawn && pool.has(ticket.sequence) ? drawn.sequenceFor(ticket.id) : null;
      if (sequence !== null) return { ...ticket, sequence, draw: number };
    }
    return ticket;
  }

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

  forget(now: number): void {
    if (this.#draws.some(({ keepUntil }) => keepUntil <= now))
      this.#draws = this.#draws.filter(({ keepUntil }) => keepUntil > now);
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
      if (known.drawnAt === null) {
        known.startAt = event.startAt;
        known.keepUntil = event.endAt;
      }
      return known;
    }
    const { name, startAt, endAt, seed } = event;
    let number = Math.floor(startAt / SECOND_MS);
    while (this.#draws.some((draw) => draw.number === number)) number++;
    const draw: Draw = {
      ...{ event: name, number, seed, seedHash: seedHash(seed), startAt, keepUntil: endAt, isClosed: false },
      ...{
        drawnAt: null,
        drawn: null,
        pool: new Map(),
        written: new Map(),
        after: new Set(),
        moves: new Map(),
      },
    };
    this.#draws.push(draw);
    return draw;
  }
}

/** The pool of that size that some root has written down whole; null: none is here yet. */
function writtenPool({ written }: Draw, size: number): Map<number, string> | null {
  if (size === 0) return new Map();
  return [...written.values()].find((pool) => pool.size === size) ?? null;
}

function* poolEntries({ number, event }: Draw, pool: ReadonlyMap<number, string>): Generator<PoolEntry> {
  let gathered: (number | string)[] = [];
  for (const [key, id] of pool) {
    gathered.push(key, id);
    if (gathered.length < 2 * POOL_ENTRY_MAX) continue;
    yield [POOL, number, event, gathered];
    gathered = [];
  }
  if (gathered.length > 0) yield [POOL, number, event, gathered];
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
