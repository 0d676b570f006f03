import assert from "node:assert/strict";
import { test } from "node:test";
import { type PeerProblem, Problems } from "./problems.ts";

test("an address is reported once in a while, others meanwhile", () => {
  const told: string[] = [];
  const problems = new Problems(({ text }: PeerProblem) => told.push(text));
  problems.report({ address: "a:1", text: "a is away" }, 0);
  problems.report({ address: "a:1", text: "a is away still" }, 4_999);
  problems.report({ address: "b:1", text: "b is away" }, 4_999);
  problems.report({ address: "a:1", text: "a is away for long" }, 5_000);
  problems.report({ address: "b:1", text: "b is away still" }, 5_000);
  assert.deepEqual(told, ["a is away", "b is away", "a is away for long"]);
});

test("a crowd of addresses is not reported one by one", () => {
  let told = 0;
  const problems = new Problems(() => told++);
  for (let i = 0; i < 10_000; i++) problems.report({ address: `host ${i}`, text: "knocks" }, i / 10);
  assert.ok(told > 100 && told < 300, `${told}`);
  problems.report({ address: "a:1", text: "is away" }, 60_000);
  assert.ok(told < 300);
});
