import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Deadlines } from "./deadlines.ts";

test("items come out soonest first, and only when due", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 0, max: 100 }), { maxLength: 100 }),
      fc.integer({ min: 0, max: 100 }),
      (ats, now) => {
        const deadlines = new Deadlines<number>();
        for (const at of ats) deadlines.add(at, at);
        const out: number[] = [];
        for (let due = deadlines.takeDue(now); due !== undefined; due = deadlines.takeDue(now)) out.push(due);
        assert.deepEqual(
          out,
          ats.filter((at) => at <= now).sort((a, b) => a - b),
        );
        assert.equal(deadlines.size, ats.length - out.length);
        const rest = ats.filter((at) => at > now);
        assert.equal(deadlines.soonestAt, rest.length > 0 ? Math.min(...rest) : null);
      },
    ),
  );
});
