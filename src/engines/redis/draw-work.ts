/**
 * Makes the draw of a room in Redis. The gathered visitors are stored there as one text. Seed and ids determine the order; it is
 * computed here and applied there part by part, while the door is shut. Repeating it gives the same result, so if a gateway dies
 * in the middle, the next one does it all again.
 */
import { type Drawn, type DrawRecord, drawOrder } from "../../core/draw.ts";
import { DrawPool } from "../../core/draw-pool.ts";
import { toHex } from "../../core/hex.ts";
import { ID_BYTES } from "../../core/id.ts";
import type { RoomCalls } from "./room-calls.ts";
import type { DrawLook } from "./room-look.ts";

/** Digits in the text for each visitor who gathered: sequence, time of joining, id. */
const SEQUENCE_DIGITS = 16;
const JOINED_DIGITS = 13;
const ID_DIGITS = 2 * ID_BYTES;
const GATHERED_LENGTH = SEQUENCE_DIGITS + JOINED_DIGITS + ID_DIGITS;
/** How many are read or moved in one call; Redis does nothing else meanwhile. */
const READ_MAX = 16_384;
const MOVED_MAX = 1_000;
/** How many records of draws are cached. */
const RECORDS_MAX = 4;

interface Gathered {
  readonly pool: DrawPool;
  readonly joinedAt: Map<string, number>;
}

/** The gateway that makes the draw, and its fencing token. */
export interface Drawer {
  readonly gateway: string;
  readonly fence: number;
}

/** Makes the draw, and moves the places accordingly. False: the lease was lost meanwhile. */
export async function drawLots(
  calls: RoomCalls,
  draw: Pick<DrawLook, "number" | "seed">,
  drawer: Drawer,
): Promise<boolean> {
  const words = () => [calls.now(), drawer.gateway, String(drawer.fence), String(draw.number)];
  const [isStarted, pool] = await calls.call("draw", [...words(), "start"]);
  if (isStarted !== 1) return false;
  const gathered = await readPool(calls, String(pool));
  const drawn = drawOrder(gathered.pool, draw.seed);
  for (const moves of movesOf(drawn, gathered.joinedAt)) {
    const [isDone] = await calls.call("draw", [...words(), "apply", ...moves]);
    if (isDone !== 1) return false;
  }
  const [isDone] = await calls.call("draw", [...words(), "finish", String(drawn.size)], calls.kept);
  return isDone === 1;
}

/** How many gathered so far, from the length of the text. */
async function gatheredCount(calls: RoomCalls, pool: number): Promise<number> {
  return Number(await calls.command("STRLEN", poolKey(calls, String(pool)))) / GATHERED_LENGTH;
}

/** Records of past draws. Each is computed once, from the pool. */
export class DrawRecords {
  readonly #calls: RoomCalls;
  readonly #ids = new Map<number, Promise<Uint8Array>>();

  constructor(calls: RoomCalls) {
    this.#calls = calls;
  }

  async record(draw: DrawLook): Promise<DrawRecord> {
    const { event, seedHash, startAt, drawnAt, seed, size, pool } = draw;
    if (drawnAt === undefined) {
      const count = await gatheredCount(this.#calls, pool);
      return { event, seedHash, seed: null, startAt, drawnAt: null, size: count, ids: null };
    }
    return { event, seedHash, seed, startAt, drawnAt, size, ids: await this.#drawnIds(draw) };
  }

  #drawnIds({ number, pool, seed }: DrawLook): Promise<Uint8Array> {
    const known = this.#ids.get(number);
    if (known) return known;
    const ids = readPool(this.#calls, String(pool)).then((gathered) => drawOrder(gathered.pool, seed).ids());
    this.#ids.set(number, ids);
    if (this.#ids.size > RECORDS_MAX) this.#ids.delete(this.#ids.keys().next().value!);
    ids.catch(() => this.#ids.delete(number));
    return ids;
  }
}

async function readPool(calls: RoomCalls, name: string): Promise<Gathered> {
  const key = poolKey(calls, name);
  const gathered: Gathered = { pool: new DrawPool(), joinedAt: new Map() };
  const step = READ_MAX * GATHERED_LENGTH;
  for (let from = 0; ; from += step) {
    const text = String(await calls.command("GETRANGE", key, String(from), String(from + step - 1)));
    for (let at = 0; at + GATHERED_LENGTH <= text.length; at += GATHERED_LENGTH) take(gathered, text, at);
    if (text.length < step) return gathered;
  }
}

function take({ pool, joinedAt }: Gathered, text: string, at: number): void {
  const joinedFrom = at + SEQUENCE_DIGITS;
  const idFrom = joinedFrom + JOINED_DIGITS;
  const id = text.slice(idFrom, idFrom + ID_DIGITS);
  pool.add(Number(text.slice(at, joinedFrom)), id);
  joinedAt.set(id, Number(text.slice(joinedFrom, idFrom)));
}

/** Everyone's id, when they joined and their new sequence, in batches. */
function* movesOf(drawn: Drawn, joinedAt: ReadonlyMap<string, number>): Generator<string[]> {
  const ids = drawn.ids();
  const sequences: number[] = [];
  drawn.forEachMove((_, after) => sequences.push(after));
  for (let from = 0; from < drawn.size; from += MOVED_MAX) {
    const moves: string[] = [];
    for (let rank = from; rank < Math.min(from + MOVED_MAX, drawn.size); rank++) {
      const id = toHex(ids, rank * ID_BYTES, ID_BYTES);
      moves.push(id, String(joinedAt.get(id)), String(sequences[rank]));
    }
    yield moves;
  }
}

function poolKey({ key }: RoomCalls, name: string): string {
  return `${key}:pool:${name}`;
}
