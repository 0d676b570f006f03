import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { isSolved, SOLUTION_DIGITS_MAX } from "./work.ts";

/** Leading zero bits, counted the long way. */
function zerosOf(challenge: string, solution: string): number {
  const digest = createHash("sha256").update(`${challenge}:${solution}`).digest();
  const bits = [...digest].map((byte) => byte.toString(2).padStart(8, "0")).join("");
  return bits.indexOf("1");
}

test("a solution is one exactly when its hash begins with as many zero bits as were asked for", () => {
  fc.assert(
    fc.property(
      fc.stringMatching(/^[A-Za-z0-9_-]{1,80}$/),
      fc.nat(),
      fc.nat({ max: 24 }),
      (challenge, nonce, bits) => {
        const solution = String(nonce);
        assert.equal(isSolved(challenge, bits, solution), zerosOf(challenge, solution) >= bits);
      },
    ),
  );
});

test("a solution with more zeros than were asked for is one too, with one less it is none", () => {
  let nonce = 0;
  while (zerosOf("challenge", String(nonce)) < 10) nonce++;
  const zeros = zerosOf("challenge", String(nonce));
  for (let bits = 0; bits <= zeros; bits++) assert.ok(isSolved("challenge", bits, String(nonce)));
  assert.equal(isSolved("challenge", zeros + 1, String(nonce)), false);
});

test("what is not digits, or too many of them, is no solution, whatever its hash", () => {
  for (const solution of [
    "",
    " ",
    "1 ",
    "-1",
    "+1",
    "1e3",
    "0x1",
    "１",
    "1\n",
    "9".repeat(SOLUTION_DIGITS_MAX + 1),
  ])
    assert.equal(isSolved("challenge", 0, solution), false, JSON.stringify(solution));
  assert.ok(isSolved("challenge", 0, "9".repeat(SOLUTION_DIGITS_MAX)));
});
