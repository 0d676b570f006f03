import assert from "node:assert/strict";
import { test } from "node:test";
import { ClockWatch, clockText } from "./clock-watch.ts";

test("a clock that is near enough is no problem, however late messages arrive at times", () => {
  const watch = new ClockWatch(1_000);
  assert.equal(watch.wrongBy("b#1"), null);
  for (let now = 0; now < 60_000; now += 100) {
    watch.hear("b#1", now - (now % 5_000 === 0 ? 20 : 15_000), now);
    if (now > 0) assert.equal(watch.wrongBy("b#1"), null, `at ${now}`);
  }
});

test("a clock that is too far ahead or behind is reported until it is right again", () => {
  for (const off of [5_000, -3_600_000]) {
    const watch = new ClockWatch(1_000);
    watch.hear("b#1", off, 0);
    assert.equal(watch.wrongBy("b#1"), off);
    assert.equal(watch.wrongIn(off, 0), off);
    for (let now = 1_000; now <= 30_000; now += 1_000) watch.hear("b#1", now, now);
    assert.equal(watch.wrongBy("b#1"), null);
    watch.keep([]);
    assert.equal(watch.wrongBy("b#1"), null);
  }
});

test("the difference is told in words", () => {
  assert.equal(clockText(-3_600_000), "3600 s behind");
  assert.equal(clockText(1_540), "1.5 s ahead of");
});
