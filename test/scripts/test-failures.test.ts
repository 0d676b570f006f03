import assert from "node:assert/strict";
import { test } from "node:test";
import { failuresIn } from "../../scripts/test-failures.ts";

test("failed tests are named with their file, once each; passed tests are not", () => {
  const printed = `✔ one that passed (3.1ms)
✖ one that failed (12.5ms)

✖ failing tests:

test at test/a/b.test.ts:12:3
✖ one that failed (12.5ms)
  AssertionError [ERR_ASSERTION]: no

test at test/a/b.test.ts:12:3
✖ one that failed (12.5ms)
Tests failed: sockets. What each group said is above.
Tests left these in the temporary folder, and should not: pulse-1.
`;
  assert.deepEqual(failuresIn(printed), [
    "test/a/b.test.ts: one that failed",
    "Tests left these in the temporary folder, and should not: pulse-1.",
  ]);
});

test("a run that ended without any reason is a failure too", () => {
  assert.deepEqual(failuresIn("begun\nthe last words\n"), [
    'no reason found; it ended with "the last words"',
  ]);
  assert.equal(failuresIn("").length, 1);
});

test("a type error is a reason", () => {
  assert.deepEqual(failuresIn("src/a.ts(3,4): error TS2322: no\n"), ["src/a.ts(3,4): error TS2322: no"]);
});
