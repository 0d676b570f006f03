import assert from "node:assert/strict";
import { test } from "node:test";
import { ADDRESSES_MAX, Attempts, BLOCK_MS, FAILURES_MAX } from "./attempts.ts";

function failOften(attempts: Attempts, address: string, now: number): void {
  for (let i = 0; i < FAILURES_MAX; i++) attempts.fail(address, now);
}

test("the last allowed failure blocks, and says so once", () => {
  const attempts = new Attempts();
  const answers = Array.from({ length: FAILURES_MAX }, () => attempts.fail("a", 0));
  assert.equal(answers.indexOf(true), FAILURES_MAX - 1);
  assert.equal(attempts.blockedForMs("a", 0), BLOCK_MS);
  assert.equal(attempts.blockedForMs("a", BLOCK_MS - 1), 1);
  assert.equal(attempts.blockedForMs("a", BLOCK_MS), 0);
});

test("after a block the count starts anew", () => {
  const attempts = new Attempts();
  failOften(attempts, "a", 0);
  assert.equal(attempts.blockedForMs("a", BLOCK_MS), 0);
  assert.equal(attempts.fail("a", BLOCK_MS), false);
  assert.equal(attempts.blockedForMs("a", BLOCK_MS), 0);
});

test("of too many blocked addresses the first is forgotten, and the latest is not", () => {
  const attempts = new Attempts();
  for (let i = 0; i <= ADDRESSES_MAX; i++) failOften(attempts, `a${i}`, 0);
  assert.equal(attempts.blockedForMs("a0", 0), 0);
  assert.equal(attempts.blockedForMs("a1", 0), BLOCK_MS);
  assert.equal(attempts.blockedForMs(`a${ADDRESSES_MAX}`, 0), BLOCK_MS);
});
