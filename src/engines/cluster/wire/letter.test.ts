import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isLetter } from "./letter.ts";

const LETTER = { to: null, name: "a", life: 1, clock: 1_000.5, view: 64, bodies: [{ kind: "hello" }] };

test("a letter is one with any number of bodies, from someone with a view or without", () => {
  assert.ok(isLetter(LETTER));
  assert.ok(isLetter({ ...LETTER, to: "b#2", view: null, bodies: [] }));
});

test("what does not say who writes, when, and of what view is no letter", () => {
  const wrong: unknown[] = [
    ...[null, undefined, 1, "letter", [], {}],
    { ...LETTER, to: undefined },
    { ...LETTER, to: 7 },
    { ...LETTER, name: 1 },
    { ...LETTER, name: "x".repeat(129) },
    { ...LETTER, life: 1.5 },
    { ...LETTER, clock: Number.NaN },
    { ...LETTER, clock: "now" },
    { ...LETTER, view: undefined },
    { ...LETTER, view: 0.5 },
    { ...LETTER, bodies: { length: 1 } },
    { ...LETTER, bodies: [null] },
    { ...LETTER, bodies: ["hello"] },
  ];
  for (const value of wrong) assert.equal(isLetter(value), false, JSON.stringify(value));
});

test("anything at all can be looked at without harm", () => {
  fc.assert(fc.property(fc.anything(), (value) => void isLetter(value)));
  fc.assert(fc.property(fc.anything(), (body) => void isLetter({ ...LETTER, bodies: [body] })));
});
