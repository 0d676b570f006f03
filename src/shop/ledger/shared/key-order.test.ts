import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { isWithin, keyBytes } from "../../../durable/key-range.ts";
import { KeyOrder } from "./key-order.ts";

/** Around the slash, after which groups are told apart, and where UTF-8 and UTF-16 do not agree. */
const PARTS = ["a", "b", "/", "!", "0", "\u0000", "é", "\uffff", "😀"];
const someKey = fc
  .array(fc.constantFrom(...PARTS), { minLength: 1, maxLength: 4 })
  .map((all) => all.join(""));
const ALL = { from: new Uint8Array(), to: Uint8Array.of(0xff) };

type Step =
  | { readonly kind: "add"; readonly key: string }
  | { readonly kind: "remove"; readonly key: string }
  | { readonly kind: "list"; readonly from: string; readonly to: string; readonly isReverse: boolean };

const someStep: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ kind: fc.constant("add" as const), key: someKey }),
  fc.record({ kind: fc.constant("remove" as const), key: someKey }),
  fc.record({ kind: fc.constant("list" as const), from: someKey, to: someKey, isReverse: fc.boolean() }),
);

const inOrder = (keys: Iterable<string>) =>
  [...keys].sort((a, b) => Buffer.compare(keyBytes(a), keyBytes(b)));

test("keys are listed as a sorted array has them, whatever was added and removed in between", () => {
  fc.assert(
    fc.property(fc.array(someStep, { maxLength: 60 }), (steps) => {
      const order = new KeyOrder();
      const keys = new Set<string>();
      for (const step of steps) {
        if (step.kind === "add") {
          if (!keys.has(step.key)) order.add(step.key);
          keys.add(step.key);
        } else if (step.kind === "remove") {
          if (keys.delete(step.key)) order.remove(step.key);
        } else {
          const range = { from: keyBytes(step.from), to: keyBytes(step.to) };
          const wanted = inOrder(keys).filter((key) => isWithin(range, key));
          if (step.isReverse) wanted.reverse();
          assert.deepEqual([...order.within(range, step.isReverse)], wanted);
        }
      }
      assert.deepEqual([...order.within(ALL, false)], inOrder(keys));
    }),
  );
});

test("after it was cleared it lists what is added from then on", () => {
  const order = new KeyOrder();
  for (const key of ["log/1", "count/seat"]) order.add(key);
  order.clear();
  assert.deepEqual([...order.within(ALL, false)], []);
  order.add("log/1");
  assert.deepEqual([...order.within(ALL, false)], ["log/1"]);
});
