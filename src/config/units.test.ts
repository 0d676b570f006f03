import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  formatDuration,
  formatInstant,
  formatPercent,
  formatSize,
  parseDuration,
  parseInstant,
  parsePercent,
  parseSize,
} from "./units.ts";

test("lengths of time are read as people write them", () => {
  const cases: [string, number | null][] = [
    ["500ms", 500],
    ["45s", 45_000],
    ["10m", 600_000],
    ["1.5h", 5_400_000],
    ["1d", 86_400_000],
    [" 5m ", 300_000],
    ["300", null],
    ["5 m", null],
    ["5min", null],
    ["-5m", null],
    ["1m30s", null],
    ["1e3s", null],
    ["9999999999999s", null],
    ["", null],
  ];
  for (const [text, ms] of cases) assert.equal(parseDuration(text), ms, text);
});

test("sizes are read as people write them, and a KB is 1024 bytes", () => {
  const cases: [string, number | null][] = [
    ["1B", 1],
    ["16KB", 16_384],
    ["16kb", 16_384],
    ["1.5 MB", 1_572_864],
    ["2GB", 2_147_483_648],
    ["16", null],
    ["16K", null],
    ["-1KB", null],
  ];
  for (const [text, bytes] of cases) assert.equal(parseSize(text), bytes, text);
});

test("percentages are read as shares of 1", () => {
  const cases: [string, number | null][] = [
    ["70%", 0.7],
    ["2%", 0.02],
    ["0.5 %", 0.005],
    ["99.99%", 0.9999],
    ["100%", 1],
    ["70", null],
    ["0.7", null],
    ["-5%", null],
    ["1.234%", null],
    ["%", null],
    ["1e1%", null],
  ];
  for (const [text, share] of cases) assert.equal(parsePercent(text), share, text);
});

test("an instant is a date, a time of day and a time zone", () => {
  const tenOClock = Date.UTC(2026, 11, 1, 10);
  for (const text of [
    "2026-12-01T10:00:00Z",
    "2026-12-01T10:00Z",
    "2026-12-01t10:00:00z",
    "2026-12-01 10:00:00 Z",
    " 2026-12-01T12:00:00+02:00 ",
    "2026-12-01T05:30:00-04:30",
    "2026-12-02T00:00:00+14:00",
  ]) {
    assert.deepEqual(parseInstant(text), { at: tenOClock }, text);
  }
});

test("an instant that no clock shows is refused, each with its reason", () => {
  const wrong = (text: string) => {
    const answer = parseInstant(text);
    return "wrong" in answer ? answer.wrong : assert.fail(`${text} was taken`);
  };
  for (const text of ["2026-12-01T10:00:00", "2026-12-01 10:00"])
    assert.equal(wrong(text), "has no time zone");
  for (const text of [
    "2026-12-01",
    "10:00Z",
    "1796119200",
    "tomorrow",
    "",
    "2026-12-01T10Z",
    "26-12-01T10:00Z",
  ])
    assert.equal(wrong(text), "is not a date with a time of day", text);
  for (const text of [
    "2026-02-30T10:00:00Z",
    "2025-02-29T10:00:00Z",
    "2026-13-01T10:00:00Z",
    "2026-12-00T10:00:00Z",
    "2026-12-01T24:00:00Z",
    "2026-12-01T10:60:00Z",
    "2026-12-01T10:00:60Z",
    "2026-12-01T10:00:00+15:00",
    "2026-12-01T10:00:00+02:60",
  ]) {
    assert.equal(wrong(text), "is not in the calendar or on the clock", text);
  }
  assert.equal(wrong("2026-12-01T10:00:00.250Z"), "has a part of a second");
  assert.deepEqual(parseInstant("2026-12-01T10:00:00.000Z"), parseInstant("2026-12-01T10:00:00Z"));
});

test("every second of two centuries is read back as it was written, whatever the zone", () => {
  const second = fc.integer({ min: Date.UTC(1970) / 1_000, max: Date.UTC(2169) / 1_000 });
  fc.assert(
    fc.property(second, fc.integer({ min: -14 * 60, max: 14 * 60 }), (seconds, offset) => {
      const at = seconds * 1_000;
      assert.deepEqual(parseInstant(formatInstant(at)), { at });
      const clock = new Date(at + offset * 60_000).toISOString().slice(0, 19);
      const two = (part: number) => String(Math.floor(part)).padStart(2, "0");
      const zone = `${offset < 0 ? "-" : "+"}${two(Math.abs(offset) / 60)}:${two(Math.abs(offset) % 60)}`;
      assert.deepEqual(parseInstant(clock + zone), { at });
    }),
  );
});

test("what is written is read back as the same", () => {
  fc.assert(
    fc.property(fc.nat(10_000), (hundredths) => {
      const share = hundredths / 10_000;
      assert.equal(parsePercent(formatPercent(share)), share);
    }),
  );
  fc.assert(fc.property(fc.nat(1e11), (ms) => assert.equal(parseDuration(formatDuration(ms)), ms)));
  fc.assert(fc.property(fc.nat(1e11), (bytes) => assert.equal(parseSize(formatSize(bytes)), bytes)));
});

test("the largest whole unit is used", () => {
  assert.deepEqual([0, 500, 90_000, 300_000, 86_400_000].map(formatDuration), [
    "0ms",
    "500ms",
    "90s",
    "5m",
    "1d",
  ]);
  assert.deepEqual([1, 1_023, 16_384, 1_048_576].map(formatSize), ["1B", "1023B", "16KB", "1MB"]);
});
