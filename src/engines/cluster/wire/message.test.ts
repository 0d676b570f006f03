import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isMessage } from "./message.ts";

const MESSAGE = { to: null, name: "a", life: 1, clock: 1_000.5, view: 64, bodies: [{ kind: "hello" }] };

test("a message has any number of bodies, from a node with a view or without", () => {
  assert.ok(isMessage(MESSAGE));
  assert.ok(isMessage({ ...MESSAGE, to: "b#2", view: null, bodies: [] }));
});

test("what does not name its writer, time and view is no message", () => {
  const wrong: unknown[] = [
    ...[null, undefined, 1, "message", [], {}],
    { ...MESSAGE, to: undefined },
    { ...MESSAGE, to: 7 },
    { ...MESSAGE, name: 1 },
    { ...MESSAGE, name: "x".repeat(129) },
    { ...MESSAGE, life: 1.5 },
    { ...MESSAGE, clock: Number.NaN },
    { ...MESSAGE, clock: "now" },
    { ...MESSAGE, view: undefined },
    { ...MESSAGE, view: 0.5 },
    { ...MESSAGE, bodies: { length: 1 } },
    { ...MESSAGE, bodies: [null] },
    { ...MESSAGE, bodies: ["hello"] },
  ];
  for (const value of wrong) assert.equal(isMessage(value), false, JSON.stringify(value));
});

test("anything at all can be checked without harm", () => {
  fc.assert(fc.property(fc.anything(), (value) => void isMessage(value)));
  fc.assert(fc.property(fc.anything(), (body) => void isMessage({ ...MESSAGE, bodies: [body] })));
});
