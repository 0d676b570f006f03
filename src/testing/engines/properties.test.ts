/** The checks can see: an engine that breaks a promise, each a different one, is found out by its check. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { CAPABILITIES } from "../../core/capabilities.ts";
import type { Engine } from "../../core/engine.ts";
import type { RoomRules } from "../../core/rules.ts";
import { MemoryEngine } from "../../engines/memory/memory-engine.ts";
import type { HandWorld } from "../../sim/hand-world.ts";
import {
  holdInEveryLife,
  type LifeCheck,
  noLaneStarves,
  orderIsKept,
  orderIsNearlyThatOfArrival,
  rateIsNeverTooHigh,
  siteIsNeverTooFull,
  thePatientGetIn,
} from "./properties.ts";

/** An engine that takes other rules for those it is given. */
function engineWith(mistake: (rules: RoomRules) => Partial<RoomRules>) {
  return {
    name: "mistaken",
    capabilities: CAPABILITIES.memory,
    make: async (world: HandWorld): Promise<Engine> => {
      const engine = new MemoryEngine(world);
      const configure = engine.configure.bind(engine);
      engine.configure = (room, rules) => configure(room, { ...rules, ...mistake(rules) });
      return engine;
    },
  };
}

/** One failing life is enough, and it need not be small. */
const FIRST_FAILURE = { numRuns: 200, endOnFailure: true };

const oneMore = (limit: number | null) => (limit === null ? null : limit + 1);

const MISTAKES: readonly {
  readonly name: string;
  readonly mistake: (rules: RoomRules) => Partial<RoomRules>;
  readonly throughout?: Partial<RoomRules>;
  readonly check: LifeCheck;
}[] = [
  {
    name: "lets one too many onto the site",
    mistake: ({ totalActiveUsers }) => ({ totalActiveUsers: oneMore(totalActiveUsers) }),
    check: siteIsNeverTooFull,
  },
  {
    name: "lets one too many onto the site where turns are given on top",
    mistake: ({ totalActiveUsers }) => ({ totalActiveUsers: oneMore(totalActiveUsers) }),
    throughout: { fillNoShows: true },
    check: siteIsNeverTooFull,
  },
  {
    name: "lets one too many in a minute",
    mistake: ({ newUsersPerMinute }) => ({ newUsersPerMinute: oneMore(newUsersPerMinute) }),
    check: rateIsNeverTooHigh,
  },
  { name: "picks at random", mistake: () => ({ queueingMethod: "random" }), check: orderIsKept },
  {
    name: "picks at random among those who came long before",
    mistake: () => ({ queueingMethod: "random" }),
    check: orderIsNearlyThatOfArrival,
  },
  {
    name: "leaves nothing to the lanes behind",
    mistake: ({ lanes }) => ({ lanes: { ...lanes, order: "strict", othersShare: 0 } }),
    check: noLaneStarves,
  },
  { name: "never opens", mistake: () => ({ queueAll: true }), check: thePatientGetIn },
];

for (const { name, mistake, throughout = {}, check } of MISTAKES) {
  test(`an engine that ${name} is found out`, async () => {
    const lives = holdInEveryLife(engineWith(mistake), throughout, [check], FIRST_FAILURE);
    await assert.rejects(lives, /Property failed/);
  });
}
