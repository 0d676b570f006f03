import assert from "node:assert/strict";
import { test } from "node:test";
import { SAMPLE_MAX, VisitSample } from "./visit-sample.ts";

const idOf = (n: number) =>
  (Math.imul(n + 1, 0x9e3779b1) >>> 0).toString(16).padStart(8, "0").padEnd(32, "0");

function site(): { all: Map<string, { id: string }>; sample: VisitSample<{ id: string }> } {
  const all = new Map<string, { id: string }>();
  return { all, sample: new VisitSample(() => all.values()) };
}

test("a small site is sampled whole", () => {
  const { all, sample } = site();
  for (let n = 0; n < 500; n++) {
    const visit = { id: idOf(n) };
    all.set(visit.id, visit);
    sample.add(visit);
  }
  assert.equal([...sample.values()].length, 500);
});

test("a large site is sampled by few enough visits to be cheap, and never by too few", () => {
  const { all, sample } = site();
  for (let n = 0; n < 50_000; n++) {
    const visit = { id: idOf(n) };
    all.set(visit.id, visit);
    sample.add(visit);
    assert.ok([...(n % 1_000 === 0 ? sample.values() : [])].length <= SAMPLE_MAX);
  }
  const large = [...sample.values()].length;
  assert.ok(large > SAMPLE_MAX / 4 && large <= SAMPLE_MAX, `${large}`);
  for (let n = 0; n < 49_700; n++) {
    all.delete(idOf(n));
    sample.delete(idOf(n));
  }
  const small = [...sample.values()].length;
  assert.ok(small >= 200 && small <= 300, `${small} of 300`);
});
