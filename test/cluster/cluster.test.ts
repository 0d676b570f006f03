/** The play of kill-and-cut.ts, once; `npm run bench -- cluster-kills` runs it a hundred times. */
import { test } from "node:test";
import { proves } from "../../src/testing/requirements/proves.ts";
import { assertKept } from "./cluster-play.ts";
import { killAndCut } from "./kill-and-cut.ts";

test(
  proves(
    ["dp5", "dp6"],
    "two of five nodes are killed, one is added and one cut off: everyone gets in once, in order, within capacity",
  ),
  async (t) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    t.diagnostic(`seed ${seed}`);
    const outcome = await killAndCut(seed);
    const { violations: _, failures: __, ...numbers } = outcome;
    t.diagnostic(JSON.stringify(numbers));
    assertKept(outcome);
  },
);
