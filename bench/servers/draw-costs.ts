/**
 * Gathers a number of visitors, draws once, and prints the cost as JSON: memory, the draw, the same hashes by Node,
 * finding each ticket's new place, and checking the record.
 */
import { hash, randomBytes } from "node:crypto";
import { drawOrder, seedHash } from "../../src/core/draw.ts";
import { DrawPool } from "../../src/core/draw-pool.ts";
import { checkRecord, readRecord } from "../../src/core/draw-record.ts";
import { recordText } from "../../src/testing/record-text.ts";
import type { DrawCosts } from "../draw.ts";

const gathered = Number(process.argv[2]);
const ID_BYTES = 16;
const FIRST_SEQUENCE = 47_000_000_000_000;
const ASKED = 100_000;

const seed = randomBytes(32);
const ids = randomBytes(gathered * ID_BYTES);
const idOf = (index: number) => ids.toString("hex", index * ID_BYTES, (index + 1) * ID_BYTES);

const before = used();
const pool = new DrawPool();
for (let i = 0; i < gathered; i++) pool.add(FIRST_SEQUENCE + i, idOf(i));
const bytesEach = (used() - before) / gathered;

const [drawn, drawMs] = timed(() => drawOrder(pool, seed.toString("hex")));
const [, hashMs] = timed(hashOneByOne);
const asked = Array.from({ length: ASKED }, (_, i) => idOf(Math.floor((i * gathered) / ASKED)));
const [, findMs] = timed(() => {
  for (const id of asked) if (drawn.sequenceFor(id) === null) throw new Error(`${id} was not drawn`);
});

const text = recordText("bench", {
  event: "bench",
  seedHash: seedHash(seed.toString("hex")),
  seed: seed.toString("hex"),
  startAt: 0,
  drawnAt: 0,
  size: drawn.size,
  ids: drawn.ids(),
});
const [, auditMs] = timed(() => {
  const read = readRecord(text);
  if ("wrong" in read || checkRecord(read.value.record)) throw new Error("the record is not good");
});
const costs: DrawCosts = { bytesEach, drawMs, hashMs, findNs: (findMs * 1e6) / ASKED, auditMs };
console.log(JSON.stringify(costs));

function hashOneByOne(): void {
  const message = Buffer.concat([seed, Buffer.alloc(ID_BYTES)]);
  for (let i = 0; i < gathered; i++) {
    ids.copy(message, seed.length, i * ID_BYTES, (i + 1) * ID_BYTES);
    hash("sha256", message, "buffer");
  }
}

function used(): number {
  globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

function timed<T>(work: () => T): [result: T, ms: number] {
  const startAt = performance.now();
  const result = work();
  return [result, performance.now() - startAt];
}
