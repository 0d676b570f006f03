import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Agenda } from "./agenda.ts";

function takeAll(agenda: Agenda): [visitor: number, at: number][] {
  const taken: [number, number][] = [];
  for (let at = agenda.nextAt(); at < Number.POSITIVE_INFINITY; at = agenda.nextAt())
    taken.push([agenda.take(), at]);
  return taken;
}

test("everyone comes up once, at the instant set last, in order of time", () => {
  const entry = fc.record({ visitor: fc.nat(9), at: fc.nat(50), isDropped: fc.boolean() });
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 60 }), (entries) => {
      const agenda = new Agenda(10);
      const last = new Map<number, number>();
      for (const { visitor, at, isDropped } of entries) {
        agenda.put(visitor, at);
        last.set(visitor, at);
        if (!isDropped) continue;
        agenda.drop(visitor);
        last.delete(visitor);
      }
      const taken = takeAll(agenda);
      assert.deepEqual(
        taken.map(([, at]) => at),
        [...last.values()].sort((a, b) => a - b),
      );
      assert.deepEqual(new Map(taken), last);
    }),
  );
});

test("a visitor who is set while others are taken comes up in time", () => {
  const agenda = new Agenda(2);
  agenda.put(0, 10);
  agenda.put(1, 20);
  assert.equal(agenda.nextAt(), 10);
  assert.equal(agenda.take(), 0);
  agenda.put(0, 15);
  assert.deepEqual(takeAll(agenda), [
    [0, 15],
    [1, 20],
  ]);
});

test("an agenda without visitors has nothing to do", () => {
  assert.equal(new Agenda(0).nextAt(), Number.POSITIVE_INFINITY);
});
