import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aheadOnBoard, type WaitRange } from "../../core/board.ts";
import { waitOn as pointOn } from "../../core/wait-curve.ts";
import { languages, textsOf, type WaitTexts } from "./languages.ts";
import {
  aheadOn,
  calmWait,
  fill,
  form,
  numeral,
  peopleBehind,
  progress,
  tabTitle,
  waitOn,
  waitWords,
} from "./words.js";

const MINUTE_MS = 60_000;
const english = textsOf("en").wait;

const minutes = (low: number, high: number) => ({
  low: low * MINUTE_MS,
  middle: ((low + high) / 2) * MINUTE_MS,
  high: high * MINUTE_MS,
});

test("the page counts people ahead exactly as core does", () => {
  const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 0, max: 50 })), {
    maxLength: 48,
  });
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 3_000 }), (gaps, sequence) => {
      let mark: [number, number] = [10, 0];
      const marks = gaps.map(([gap, ahead]) => {
        mark = [mark[0] + gap, mark[1] + Math.min(gap, ahead)];
        return mark;
      });
      const board = { marks };
      assert.equal(aheadOn(board, sequence), aheadOnBoard(board, sequence));
    }),
  );
});

test("the page reads the wait from the board's points as core does", () => {
  const points = [
    [0, 10, 20, 30],
    [1, 20, 30, 50],
    [8, 60, 80, 100],
    [900, 3_000, 4_000, 5_000],
  ] as const;
  for (const ahead of [0, 1, 2, 5, 8, 40, 900, 1_000]) {
    const { low, middle, high } = pointOn({ points }, ahead)!;
    assert.deepEqual(waitOn(points, ahead), { low: low * 1_000, middle: middle * 1_000, high: high * 1_000 });
  }
  assert.deepEqual(waitOn([[3, 1, 2, 3]], 7), { low: 1_000, middle: 2_000, high: 3_000 });
  assert.equal(waitOn(null, 10), null);
  assert.equal(waitOn([], 10), null);
});

test("what is shown moves towards what is told, and counts down in between", () => {
  let shown: WaitRange | null = minutes(20, 24);
  for (let second = 0; second < 60; second++) {
    const before: number = shown!.middle;
    shown = calmWait(shown, minutes(26, 30), 1_000);
    assert.ok(Math.abs(shown!.middle - before) < 60_000, "a jump");
  }
  assert.ok(shown!.middle > 27 * 60_000);
  assert.deepEqual(calmWait(minutes(5, 6), minutes(5, 6), 0), minutes(5, 6));
});

test("a wait that has become another, is new, or is gone is shown at once", () => {
  assert.deepEqual(calmWait(minutes(5, 6), minutes(50, 60), 1_000), minutes(50, 60));
  assert.deepEqual(calmWait(null, minutes(5, 6), 1_000), minutes(5, 6));
  assert.equal(calmWait(minutes(5, 6), null, 1_000), null);
});

test("a wait is written as people say it", () => {
  const said = (low: number, high: number) => waitWords(english, "en", minutes(low, high));
  assert.equal(waitWords(english, "en", null), "not known yet");
  assert.equal(said(0.1, 0.9), "less than a minute");
  assert.equal(said(0.4, 2.5), "about 1 to 3 minutes");
  assert.equal(said(4.2, 8.6), "about 4 to 9 minutes");
  assert.equal(said(5, 5), "about 5 minutes");
  assert.equal(said(13.7, 31), "about 13 to 35 minutes");
  assert.equal(said(44, 95), "about 0.5 to 2 hours");
  assert.equal(said(100, 190), "about 1.5 to 3.5 hours");
  assert.equal(said(660, 1_201), "about 11 to 21 hours");
});

test("a wait is never shown narrower than it is", () => {
  const range = fc.tuple(
    fc.double({ min: 0.01, max: 5_000, noNaN: true }),
    fc.double({ min: 1, max: 6, noNaN: true }),
  );
  fc.assert(
    fc.property(range, ([low, factor]) => {
      const said = waitWords(english, "en", minutes(low, low * factor));
      const unit = said.includes("hour") ? 60 : 1;
      const numbers = [...said.matchAll(/[\d.,]+/g)].map(([text]) => Number(text.replaceAll(",", "")) * unit);
      if (numbers.length === 0) return;
      assert.ok(numbers[0]! <= Math.max(low, unit / 2, 1) + 1e-9, `${low}: ${said}`);
      assert.ok(numbers.at(-1)! >= low * factor - 1e-6, `${low * factor}: ${said}`);
    }),
  );
});

for (const [tag, texts] of languages()) {
  test(`${tag} has every plural form that its numbers call for`, () => {
    const rules = new Intl.PluralRules(tag);
    for (let number = 1; number <= 1_200; number++) assertForm(texts.ahead, number, "ahead");
    const used: [keyof WaitTexts, number, number][] = [
      ["minute", 1, 90],
      ["minutes", 2, 90],
      ["hour", 0.5, 60],
      ["hours", 1.5, 60],
    ];
    for (const [key, first, last] of used) {
      for (let number = first; number <= last; number += key.startsWith("hour") ? 0.5 : 1) {
        const isRounded = key.startsWith("hour")
          ? number > 10 && number % 1 > 0
          : number > 20 && number % 5 > 0;
        if (!isRounded) assertForm(texts.wait[key] as Record<string, string>, number, key);
      }
    }

    function assertForm(forms: Readonly<Record<string, string>>, number: number, key: string): void {
      const category = rules.select(number);
      // Where a language has a form for exactly two, a range that ends in two still uses the general form.
      if (category === "two" && key.endsWith("s")) return;
      assert.ok(category in forms, `${key} of ${number} needs "${category}"`);
    }
  });

  test(`${tag} leaves no braces in what it says`, () => {
    for (const [low, high] of [
      [0, 0.5],
      [1, 1],
      [1, 2],
      [3, 9],
      [20, 45],
      [61, 61.5],
      [30, 100],
      [100, 2_000],
    ] as const) {
      assert.doesNotMatch(waitWords(texts.wait, tag, minutes(low, high)), /[{}]|undefined/);
    }
  });
}

test("numbers are written and counted as the language does", () => {
  assert.equal(numeral("en", 1_234_567), "1,234,567");
  assert.equal(numeral("de", 1_234_567), "1.234.567");
  assert.equal(form(textsOf("pl").ahead, "pl", 1), "osoba przed Tobą");
  assert.equal(form(textsOf("pl").ahead, "pl", 3), "osoby przed Tobą");
  assert.equal(form(textsOf("pl").ahead, "pl", 5), "osób przed Tobą");
  assert.equal(form(textsOf("ar").ahead, "ar", 2), "شخصان أمامك");
});

test("progress runs from nothing to all, whatever it is given", () => {
  assert.equal(progress(400, 400), 0);
  assert.equal(progress(400, 100), 75);
  assert.equal(progress(400, 0), 100);
  assert.equal(progress(0, 0), 100);
  assert.equal(progress(1_000, 1), 99);
  assert.equal(progress(0, 3), 0);
  assert.equal(progress(10, 900), 0);
});

test("ahead, behind and the visitor make up the line, and unknown numbers stay unknown", () => {
  assert.equal(peopleBehind(3, 10), 6);
  assert.equal(peopleBehind(0, 1), 0);
  assert.equal(peopleBehind(10, 4), 0);
  assert.equal(peopleBehind(null, 10), null);
  assert.equal(peopleBehind(3, null), null);
});

test("values go in as they are, even ones that look like placeholders or patterns", () => {
  assert.equal(fill("{a} and {b}", { a: "{b}", b: "$& $1" }), "{b} and $& $1");
});

test("the tab's title begins with what changes", () => {
  const tab = { heading: "You are in line", language: "en", title: "Shop" };
  assert.equal(tabTitle({ ...tab, ahead: 1_200 }), "1,200 · You are in line – Shop");
  assert.equal(tabTitle({ ...tab, ahead: 0, title: null }), "You are in line");
  assert.equal(tabTitle({ ...tab, ahead: null }), "You are in line – Shop");
});
