import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { Script } from "node:vm";
import { isSolved } from "../abuse/work.ts";
import { solve } from "./pow.js";
import { squeezeScript } from "./squeeze.ts";

/** The page has to carry it; a browser gets it squeezed. */
const SQUEEZED_BYTES_MAX = 2_048;
const squeezed = squeezeScript([readFileSync(new URL("./pow.js", import.meta.url), "utf8")]);

/** The first of the numbers, written as the page writes them, that solves a challenge: counted with Node's own hash. */
function firstSolution(challenge: string, bits: number): string {
  for (let number = 1; ; number++) {
    const digits = String(number).padStart(12, "0");
    const digest = createHash("sha256").update(`${challenge}:${digits}`).digest();
    if (Math.clz32(digest.readUInt32BE(0)) >= bits) return digits;
  }
}

test("it finds what Node's own SHA-256 finds, whatever the length of the challenge", async () => {
  for (let length = 0; length <= 140; length++) {
    const challenge = "Ag_x-9".repeat(24).slice(0, length);
    const solution = await solve(challenge, 5, () => {});
    assert.equal(solution, firstSolution(challenge, 5), `${length} characters`);
  }
});

test("what it finds is what the gateway takes, at every difficulty", async () => {
  for (let bits = 1; bits <= 14; bits++) {
    const challenge = `AgN${bits}`.padEnd(78, "x");
    const solution = await solve(challenge, bits, () => {});
    assert.ok(isSolved(challenge, bits, solution), `${bits} bits: ${solution}`);
  }
});

test("it reports rising progress and leaves the page responsive", async () => {
  const told: number[] = [];
  let lived = 0;
  const living = setInterval(() => lived++, 1);
  // No number solves it: the page goes on until it has been told a few times.
  const enough = new Error("enough");
  await assert.rejects(
    solve("x", 33, (share) => {
      told.push(share);
      if (told.length === 20) throw enough;
    }),
    enough,
  );
  clearInterval(living);
  assert.deepEqual(
    told,
    told.toSorted((a, b) => a - b),
  );
  assert.ok(told[0]! > 0 && told.at(-1)! < 1);
  assert.ok(lived > 0, "nothing else ran");
});

test("squeezed it is small, one script, and does the same", async () => {
  assert.ok(squeezed.length <= SQUEEZED_BYTES_MAX, `${squeezed.length} bytes`);
  assert.doesNotMatch(squeezed, /<\/?script|<!--/i);
  const name = /async function (\w+)/.exec(squeezed)?.[1];
  const run = new Script(`(() => {${squeezed};return ${name}})()`).runInThisContext() as typeof solve;
  const challenge = "AgM".padEnd(78, "y");
  assert.equal(await run(challenge, 8, () => {}), firstSolution(challenge, 8));
});
