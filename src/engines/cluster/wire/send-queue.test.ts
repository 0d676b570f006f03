import assert from "node:assert/strict";
import { test } from "node:test";
import { AWAY_BYTES_MAX, AWAY_MS_MAX, QUEUE_BYTES_MAX, SendQueue } from "./send-queue.ts";

const batch = (text: string, sentAt = 0, messages = 1) => ({ body: Buffer.from(text), messages, sentAt });

function textsIn(queue: SendQueue): string[] {
  const texts: string[] = [];
  for (let next = queue.shift(); next; next = queue.shift()) texts.push(next.body.toString());
  return texts;
}

test("batches leave in the order in which they came, however many", () => {
  const queue = new SendQueue();
  const texts = Array.from({ length: 5_000 }, (_, i) => `batch ${i}`);
  for (const text of texts) queue.push(batch(text));
  assert.deepEqual(textsIn(queue), texts);
  assert.equal(queue.isEmpty, true);
  assert.equal(queue.bytes, 0);
  assert.equal(queue.dropped, 0);
});

test("without room the oldest are dropped, and their messages are counted", () => {
  const queue = new SendQueue();
  const body = Buffer.alloc(QUEUE_BYTES_MAX / 4);
  for (let i = 0; i < 6; i++) queue.push({ body, messages: 10 + i, sentAt: i });
  assert.ok(queue.bytes <= QUEUE_BYTES_MAX);
  assert.equal(queue.dropped, 10 + 11 + 12);
  assert.equal(queue.shift()?.messages, 13);
});

test("many tiny batches are kept within the same limit, since each costs something", () => {
  const queue = new SendQueue();
  for (let i = 0; i < 100_000; i++) queue.push(batch("x"));
  assert.ok(queue.bytes <= QUEUE_BYTES_MAX);
  assert.ok(queue.dropped > 50_000);
});

test("while there is no connection less is kept, and nothing old", () => {
  const queue = new SendQueue();
  for (const at of [0, 1, 500]) queue.push(batch(`at ${at}`, at));
  queue.trimAway(AWAY_MS_MAX + 1);
  assert.deepEqual(textsIn(queue), ["at 1", "at 500"]);
  queue.push({ body: Buffer.alloc(AWAY_BYTES_MAX), messages: 7, sentAt: 0 });
  queue.push(batch("new"));
  queue.trimAway(0);
  assert.deepEqual(textsIn(queue), ["new"]);
  assert.equal(queue.dropped, 8);
});
