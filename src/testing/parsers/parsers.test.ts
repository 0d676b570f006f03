/**
 * No request costs more than its bytes: every parser of untrusted text reads sixteen times the text in about sixteen times the
 * time. A quadratic one would take 256 times as long.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { costOf, processorCostOf, worstFor } from "./cost.ts";
import { again, type Letters, type Parser } from "./parser.ts";
import { PARSERS } from "./parsers.ts";

const SMALL = 4;
const LARGE = 64;
/** Four times the expected ratio: caches and the garbage collector add noise, quadratic parsers are far beyond. */
const GROWTH_MAX = 4 * (LARGE / SMALL);
/** One measurement is enough for nearly all; the others are measured again before the test fails. */
const LARGE_TRIES = [1, 3, 10, 30];
const SMALL_TRIES = 4;
/** An input that takes this long is measured once. */
const LARGE_NS_MAX = 1e9;
/** All inputs are read once, and this many of the slowest are measured. A quadratic one stands out by far. */
const LETTERS_MEASURED = 4;

/** How many times as long the large text takes; with as many tries as are needed to clear it. */
async function growth(
  parser: Parser,
  letters: Letters,
  sizes = { small: SMALL, large: LARGE },
): Promise<number> {
  const small = await costOf(parser, letters, { kilobytes: sizes.small, tries: SMALL_TRIES });
  let large = Number.POSITIVE_INFINITY;
  for (const tries of LARGE_TRIES) {
    large = Math.min(large, await costOf(parser, letters, { kilobytes: sizes.large, tries }));
    if (large / small <= GROWTH_MAX || large * tries > LARGE_NS_MAX) break;
  }
  return large / small <= GROWTH_MAX ? large / small : processorGrowth(parser, letters, sizes);
}

/** The same where other programs interrupt every long reading and not every short one. */
async function processorGrowth(
  parser: Parser,
  letters: Letters,
  { small, large }: { small: number; large: number },
): Promise<number> {
  const least = await processorCostOf(parser, letters, small);
  return (await processorCostOf(parser, letters, large)) / least;
}

for (const parser of PARSERS)
  test(`${parser.name}: its time is linear in the text, for every input`, async () => {
    const guilty: string[] = [];
    for (const letters of await worstFor(parser, LARGE, LETTERS_MEASURED)) {
      const times = await growth(parser, letters);
      if (times > GROWTH_MAX) guilty.push(`${letters.name}: ${times.toFixed(0)} times as long`);
    }
    assert.deepEqual(guilty, []);
  });

test("the check works: an expression that reads the same characters again and again is found", async () => {
  const trailing: Parser = { name: "trailing slashes", read: (text) => text.replace(/\/+$/, ""), worst: [] };
  const sizes = { small: SMALL / 4, large: LARGE / 4 };
  assert.ok((await growth(trailing, again("/", { after: "a" }), sizes)) > GROWTH_MAX);
});
