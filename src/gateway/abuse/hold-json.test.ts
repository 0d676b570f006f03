import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import type { JoinHold } from "./abuse-guard.ts";
import { holdJson } from "./hold-json.ts";
import { isSolved } from "./work.ts";

const DOCUMENT = readFileSync(new URL("../../../docs/programs.md", import.meta.url), "utf8");

test("a program is told why, what to do and when to come back, and is not told the slip twice", () => {
  const work = { challenge: "AgM", bits: 14 };
  const comeBack = { kind: "comeBack", reason: "firstContact", slip: "AgM", work, waitMs: 1_000 } as const;
  assert.equal(
    holdJson(comeBack),
    '{"status":"comeBack","reason":"firstContact","waitMs":1000,"work":{"challenge":"AgM","bits":14}}',
  );
  assert.equal(
    holdJson({ ...comeBack, reason: "usedSlip", slip: null, work: null }),
    '{"status":"comeBack","reason":"usedSlip","waitMs":1000,"work":null}',
  );
});

test("a program that asked too often is told for how long to stay away", () => {
  assert.equal(
    holdJson({ kind: "tooMany", reason: "networkBudget", retryAfterSeconds: 20 }),
    '{"status":"refused","reason":"networkBudget","retryAfterSeconds":20}',
  );
});

test("a program whose work is wrong is told so", () => {
  assert.equal(
    holdJson({ kind: "wrongWork", reason: "wrongWork" }),
    '{"status":"refused","reason":"wrongWork"}',
  );
});

test("every reason is in docs/programs.md", () => {
  const reasons: Readonly<Record<JoinHold, true>> = {
    addressBudget: true,
    networkBudget: true,
    firstContact: true,
    badSlip: true,
    usedSlip: true,
    tooSoon: true,
    noWork: true,
    easyWork: true,
    wrongWork: true,
  };
  for (const reason of Object.keys(reasons)) assert.ok(DOCUMENT.includes(`\`${reason}\``), reason);
});

test("the answer in docs/programs.md has the fields that answers have", () => {
  const written = DOCUMENT.match(/```json\n(\{\n {2}"status": "comeBack"[\s\S]*?\n\})\n```/)?.[1];
  const { work, ...rest } = JSON.parse(written ?? assert.fail("there is no such answer"));
  const verdict = { kind: "comeBack", reason: rest.reason, slip: null, work, waitMs: rest.waitMs } as const;
  assert.deepEqual(JSON.parse(holdJson(verdict)), { ...rest, work });
});

test("the program in docs/programs.md solves what it is given", async () => {
  const written = DOCUMENT.match(/```js\n(import [\s\S]*?function solve[\s\S]*?)```/)?.[1];
  const module = `${written ?? assert.fail("there is no such program")}\nexport { solve };`;
  const { solve } = await import(`data:text/javascript,${encodeURIComponent(module)}`);
  for (const bits of [1, 8, 12]) {
    const challenge = `AgM${bits}`.padEnd(78, "x");
    assert.ok(isSolved(challenge, bits, solve(challenge, bits)), `${bits} bits`);
  }
});
