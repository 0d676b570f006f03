/** The canary: a gateway that keeps nothing. The books must report violations, or they see nothing. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Violation, Wrong } from "./books.ts";
import { play } from "./play.ts";
import { rush } from "./rush.ts";

const GONE_MIN = 10;
/** However slowly the gateway starts again, the passes of those who are gone would still be valid. */
const SESSION_MS = 120_000;
const wrongsOf = ({ violations }: { readonly violations: readonly Violation[] }) =>
  new Set(violations.map(({ wrong }) => wrong));
/** Which other violations happen depends on the instant of the kill. */
const isSeen = (wrongs: ReadonlySet<Wrong>) => wrongs.has("ended pass taken") && wrongs.size > 2;

test("without a data folder the same books are full of violations: they can see", async () => {
  const outcome = await play({
    kills: 1,
    seed: 1,
    lifeMs: { low: 2_500, high: 2_500 },
    sessionMs: SESSION_MS,
    // Waits until enough visitors are gone to show what is over once more, and then until enough is wrong.
    isRipe: ({ kills, crowd, books }) => (kills === 0 ? crowd.gone >= GONE_MIN : isSeen(wrongsOf(books))),
    arrivalsPerSecond: 20,
    atOnceMax: 60,
    drainMs: 0,
    keepsData: false,
  });
  const seen = wrongsOf(outcome);
  assert.ok(isSeen(seen), [...seen].join());
  const rushed = await rush({ atOnce: 64, killAfterMs: 300, keepsData: false });
  assert.ok(rushed.violations.length > 0);
});
