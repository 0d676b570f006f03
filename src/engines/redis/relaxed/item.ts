/**
 * What is in a relaxed queue, and where it belongs.
 *
 * An id decides the shard, by its hash, whether the caller gave it or it was drawn. So an add that nobody knows the
 * outcome of can be done again with the same id: it goes to the same shard, which takes every id once. Drawn ids are
 * random, so their shards are too.
 */
import { hash } from "node:crypto";
import { ID_BYTES, idFromBytes } from "../../../core/id.ts";
import type { RelaxedKey } from "../../../core/relaxed.ts";
import type { Random } from "../../../core/world.ts";

/** Something to be added. */
export interface NewItem {
  /** The lower number is popped first. */
  readonly priority: number;
  readonly payload: string;
  /** Its name, if it has one: the same id is added once as long as it is there. */
  readonly id?: string;
}

/** Something that is in the queue. */
export interface RelaxedItem extends RelaxedKey {
  readonly payload: string;
}

/** In UTF-8. */
export const PAYLOAD_BYTES_MAX = 65_536;
/** In UTF-8. */
export const ID_BYTES_MAX = 256;
/** Of one call: add, pop, peek, commit, abort. */
export const ITEMS_MAX = 256;
/** How much of a wrong value is quoted. */
const QUOTED_MAX = 80;

/** Throws when the items cannot be added as they are: a mistake of the caller, told before anything is sent. */
export function checkItems(items: readonly NewItem[]): void {
  checkItemCount(items.length, "items");
  for (const { id, priority, payload } of items) {
    if (!Number.isFinite(priority)) throw new RangeError(`priority ${priority} is not a finite number`);
    checkText("payload", payload, PAYLOAD_BYTES_MAX);
    if (id === "") throw new RangeError('id "" is empty; leave it out to get one');
    if (id !== undefined) checkText("id", id, ID_BYTES_MAX);
  }
}

/** Throws when one call asks for too much. */
export function checkItemCount(count: number, what: string): void {
  if (!Number.isInteger(count) || count < 0 || count > ITEMS_MAX)
    throw new RangeError(`${count} ${what}; one call takes 0 to ${ITEMS_MAX}`);
}

function checkText(name: string, text: string, bytesMax: number): void {
  const quoted = JSON.stringify(text.slice(0, QUOTED_MAX));
  // Half a character would come back as another one.
  if (!text.isWellFormed()) throw new RangeError(`${name} ${quoted} is not well-formed Unicode`);
  const bytes = Buffer.byteLength(text);
  if (bytes > bytesMax) throw new RangeError(`${name} ${quoted}… has ${bytes} bytes, at most ${bytesMax}`);
}

/** The shard an id belongs to: the first 32 bits of its SHA-256, modulo the number of shards. */
export function shardOf(id: string, shards: number): number {
  return hash("sha256", id, "buffer").readUInt32BE(0) % shards;
}

/** Draws an id of 128 random bits that belongs to one of the allowed shards. At least one must be allowed. */
export function drawId(random: Random, shards: number, allowed: ReadonlySet<number>): string {
  for (;;) {
    const id = idFromBytes(random.bytes(ID_BYTES));
    if (allowed.has(shardOf(id, shards))) return id;
  }
}
