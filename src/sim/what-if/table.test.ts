import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { whatIfTable } from "./table.ts";
import { whatIf } from "./what-if.ts";
import { wrapped } from "./words.ts";

test("no line of the table is wider than a hundred columns, whatever the numbers", () => {
  const crowd = { shape: "spike", size: 300, overMs: 5_000, stayMs: 5_000, seed: 1 } as const;
  const few = { impatient: 0.1, noShow: 0.1, leave: 0.1 };
  const rules = {
    ...DEFAULT_RULES,
    totalActiveUsers: 60,
    newUsersPerMinute: 5_000,
    sessionDurationMs: 5_000,
  };
  const text = whatIfTable(
    whatIf({ room: "a-room-with-quite-a-long-name-indeed", rules, crowd: { ...crowd, ...few } }),
  );
  for (const line of text.split("\n")) assert.ok(line.length <= 100, line);
  for (const word of ["p50", "p90", "p95", "p99", "longest", "gave up waiting", "Kendall tau", "limit 5,000"])
    assert.ok(text.includes(word), word);
});

test("text is wrapped at words, and continues with its indentation", () => {
  const [first, second, ...rest] = wrapped("word ".repeat(24).trim(), 98, "lead ");
  assert.match(first!, /^lead word/);
  assert.match(second!, /^ {5}word/);
  assert.deepEqual(rest, []);
});
