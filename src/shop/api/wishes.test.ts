import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { readCount, readWish } from "./wishes.ts";

const bytes = (value: unknown) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value));
const wrong = (value: unknown) => {
  const read = readWish(bytes(value));
  return "wrong" in read ? read.wrong : null;
};

test("a wish is whole after reading: counts are one and nothing is chosen unless it says so", () => {
  assert.deepEqual(readWish(bytes({ product: "seat" })), {
    value: { product: "seat", count: 1, chosen: [] },
  });
  assert.deepEqual(
    readWish(bytes({ product: "a", count: 2, chosen: [{ product: "b", chosen: [{ product: "c" }] }] })),
    {
      value: {
        product: "a",
        count: 2,
        chosen: [{ product: "b", count: 1, chosen: [{ product: "c", count: 1, chosen: [] }] }],
      },
    },
  );
});

test("what is no wish is told why", () => {
  assert.equal(wrong("{"), "the body is not JSON");
  assert.equal(wrong(""), "the body is not JSON");
  assert.match(wrong([])!, /^a wish should be an object/);
  assert.match(wrong({ product: 3 })!, /product's id/);
  assert.match(wrong({ product: "a", count: 1.5 })!, /whole number/);
  assert.match(wrong({ product: "a", count: 10_001 })!, /whole number/);
  assert.match(wrong({ product: "a", chosen: {} })!, /list/);
  assert.match(wrong({ product: "a", extra: 1 })!, /no "extra"/);
  assert.match(wrong({ product: "a", chosen: [null] })!, /object/);
  assert.match(wrong(Buffer.from([0xff, 0x22]).toString("latin1"))!, /not JSON/);
});

test("wishes are neither too deep nor too many", () => {
  let deep: object = { product: "a" };
  for (let level = 0; level < 25; level++) deep = { product: "a", chosen: [deep] };
  assert.match(wrong(deep)!, /deep/);
  assert.match(wrong({ product: "a", chosen: Array(500).fill({ product: "b" }) })!, /more than 500/);
  assert.equal(wrong({ product: "a", chosen: Array(499).fill({ product: "b" }) }), null);
});

test("no text makes reading fail", () => {
  fc.assert(fc.property(fc.string(), (text) => "value" in readWish(bytes(text)) || true));
  fc.assert(fc.property(fc.json(), (text) => "value" in readWish(bytes(text)) || true));
  fc.assert(fc.property(fc.uint8Array(), (body) => "value" in readWish(body) || true));
});

test("how many somebody waits for is one unless they say so", () => {
  assert.deepEqual(readCount(bytes("")), { value: 1 });
  assert.deepEqual(readCount(bytes("{}")), { value: 1 });
  assert.deepEqual(readCount(bytes({ count: 3 })), { value: 3 });
  for (const body of ["[]", "3", { count: 0 }, { count: "3" }, { product: "a" }])
    assert.ok("wrong" in readCount(bytes(body)));
});
