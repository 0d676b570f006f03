import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { formatDuration, formatSize, parseDuration, parseSize } from "./units.ts";

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

test("what is written is read back as the same", () => {
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
