/** The scenes of the bench `estimate`. */
import { laneNumber } from "../src/core/lanes.ts";
import { DEFAULT_RULES, type DoorRules } from "../src/core/rules.ts";
import { type Dice, MINUTE_MS, type Person, type Scene } from "./estimate-scene.ts";

const SECOND_MS = 1_000;
const NEVER = Number.POSITIVE_INFINITY;

/** What visits are like, in minutes. */
interface Visits {
  readonly mean: number;
  readonly shape?: "exponential" | "lognormal" | "fixed";
  readonly clickSeconds?: number;
  readonly leave?: number;
}

interface Crowd {
  readonly count: number;
  readonly from: number;
  /** Over how many minutes they come. */
  readonly over: number;
  readonly visits: Visits;
  readonly lane?: number;
  readonly noShow?: number;
  /** Share of visitors who close the page, at some time within this many minutes. */
  readonly closes?: { readonly share: number; readonly within: number };
}

function crowd(dice: Dice, { count, from, over, visits, lane, noShow = 0, closes }: Crowd): Person[] {
  return Array.from({ length: count }, () => {
    const closesAfterMs = closes && dice() < closes.share ? dice() * closes.within * MINUTE_MS : NEVER;
    return {
      comesMs: Math.floor((from + dice() * over) * MINUTE_MS),
      ...(lane !== undefined && { lane }),
      staysMs: staysMs(dice, visits),
      clickEveryMs: (visits.clickSeconds ?? 25) * SECOND_MS,
      leaves: dice() < (visits.leave ?? 0),
      closesAfterMs,
      noShow: dice() < noShow,
    };
  });
}

function staysMs(dice: Dice, { mean, shape = "exponential" }: Visits): number {
  if (shape === "fixed") return mean * MINUTE_MS;
  if (shape === "exponential") return -Math.log(1 - dice()) * mean * MINUTE_MS;
  const normal = Math.sqrt(-2 * Math.log(1 - dice())) * Math.cos(2 * Math.PI * dice());
  return mean * MINUTE_MS * Math.exp(0.8 * normal - 0.32);
}

const README_RULES = { totalActiveUsers: 200, sessionDurationMs: 10 * MINUTE_MS };
const BROWSING: Visits = { mean: 3 };
const LANES = {
  order: "strict",
  othersShare: 10,
  named: ["members", "partners"].map((name, index) => ({
    number: laneNumber(name),
    name,
    share: index === 0 ? 50 : 30,
    isPrivileged: false,
  })),
} as const;

export const SCENES: readonly Scene[] = [
  {
    name: "fills at once",
    about: "200 slots, sessions of 10 minutes, 1,141 people within ten seconds",
    rules: () => README_RULES,
    people: (dice) => crowd(dice, { count: 1_141, from: 0, over: 1 / 6, visits: BROWSING }),
    endsMs: 100 * MINUTE_MS,
  },
  {
    name: "slow trickle",
    about: "50 slots, 20 people a minute where 14 get in",
    rules: () => ({ totalActiveUsers: 50, sessionDurationMs: 2 * MINUTE_MS }),
    people: (dice) => crowd(dice, { count: 1_400, from: 0, over: 70, visits: { mean: 1.5 } }),
    endsMs: 110 * MINUTE_MS,
  },
  {
    name: "short visits that leave",
    about: "100 slots, visits of a minute that end by themselves",
    rules: () => ({ totalActiveUsers: 100, sessionDurationMs: 10 * MINUTE_MS }),
    people: (dice) => crowd(dice, { count: 1_600, from: 0, over: 1, visits: { mean: 1, leave: 1 } }),
    endsMs: 40 * MINUTE_MS,
  },
  {
    name: "visits until timeout",
    about: "100 slots, one page each, sessions of 5 minutes",
    rules: () => ({ totalActiveUsers: 100, sessionDurationMs: 5 * MINUTE_MS }),
    people: (dice) => crowd(dice, { count: 800, from: 0, over: 2, visits: { mean: 0, shape: "fixed" } }),
    endsMs: 60 * MINUTE_MS,
  },
  {
    name: "long sliding sessions",
    about: "150 slots, visits of 8 minutes, sessions of 4",
    rules: () => ({ totalActiveUsers: 150, sessionDurationMs: 4 * MINUTE_MS }),
    people: (dice) => crowd(dice, { count: 900, from: 0, over: 2, visits: { mean: 8, shape: "lognormal" } }),
    endsMs: 110 * MINUTE_MS,
  },
  {
    name: "limited by the rate",
    about: "60 new visitors a minute, no limit of visitors at once",
    rules: () => ({ newUsersPerMinute: 60 }),
    people: (dice) => crowd(dice, { count: 1_200, from: 0, over: 0.5, visits: BROWSING }),
    endsMs: 30 * MINUTE_MS,
  },
  {
    name: "mixed",
    about: "200 slots and 40 a minute, some leave, some never come to their turn, newcomers all the time",
    rules: () => ({ totalActiveUsers: 200, newUsersPerMinute: 40, sessionDurationMs: 8 * MINUTE_MS }),
    people: (dice) => [
      ...crowd(dice, {
        count: 900,
        from: 0,
        over: 1,
        visits: { mean: 4, shape: "lognormal", leave: 0.4 },
        noShow: 0.1,
      }),
      ...crowd(dice, {
        count: 300,
        from: 1,
        over: 30,
        visits: { mean: 4, shape: "lognormal", leave: 0.4 },
        noShow: 0.1,
      }),
    ],
    endsMs: 110 * MINUTE_MS,
  },
  {
    name: "half the line lapses",
    about: "100 slots; half of those who wait close the page within half an hour",
    rules: () => ({ totalActiveUsers: 100, sessionDurationMs: 3 * MINUTE_MS }),
    people: (dice) =>
      crowd(dice, {
        count: 1_200,
        from: 0,
        over: 1,
        visits: { mean: 2 },
        closes: { share: 0.5, within: 30 },
      }),
    endsMs: 80 * MINUTE_MS,
  },
  {
    name: "capacity doubled",
    about: "100 slots, after 15 minutes 200",
    rules: () => ({ totalActiveUsers: 100, sessionDurationMs: 5 * MINUTE_MS }),
    people: (dice) => crowd(dice, { count: 1_000, from: 0, over: 1, visits: BROWSING }),
    changes: [{ atMs: 15 * MINUTE_MS, rules: { totalActiveUsers: 200 } }],
    endsMs: 100 * MINUTE_MS,
  },
  {
    name: "capacity halved",
    about: "200 slots, after 15 minutes 100",
    rules: () => ({ totalActiveUsers: 200, sessionDurationMs: 5 * MINUTE_MS }),
    people: (dice) => crowd(dice, { count: 1_000, from: 0, over: 1, visits: BROWSING }),
    changes: [{ atMs: 15 * MINUTE_MS, rules: { totalActiveUsers: 100 } }],
    endsMs: 110 * MINUTE_MS,
  },
  {
    name: "pause and open",
    about: "150 slots, paused from minute 10 to 18",
    rules: () => ({ totalActiveUsers: 150, sessionDurationMs: 5 * MINUTE_MS }),
    people: (dice) => crowd(dice, { count: 1_000, from: 0, over: 1, visits: BROWSING }),
    changes: [
      { atMs: 10 * MINUTE_MS, rules: { paused: true } },
      { atMs: 18 * MINUTE_MS, rules: { paused: false } },
    ],
    endsMs: 110 * MINUTE_MS,
  },
  {
    name: "a draw",
    about: "people gather for 10 minutes; 100 slots, and the order is drawn at the start",
    rules: (startAt) => {
      const base: DoorRules = { ...DEFAULT_RULES, totalActiveUsers: 100, sessionDurationMs: 4 * MINUTE_MS };
      return {
        ...base,
        events: [
          {
            name: "sale",
            prequeueAt: startAt,
            startAt: startAt + 10 * MINUTE_MS,
            endAt: startAt + 24 * 60 * MINUTE_MS,
            isShuffled: true,
            seed: "5a".repeat(32),
            rules: base,
          },
        ],
      };
    },
    people: (dice) => [
      ...crowd(dice, { count: 700, from: 0, over: 10, visits: BROWSING }),
      ...crowd(dice, { count: 100, from: 10, over: 10, visits: BROWSING }),
    ],
    endsMs: 100 * MINUTE_MS,
  },
  {
    name: "three lanes",
    about: "150 slots; members and partners come all the time and go first",
    rules: () => ({ totalActiveUsers: 150, sessionDurationMs: 4 * MINUTE_MS, lanes: LANES }),
    people: (dice) => [
      ...crowd(dice, { count: 700, from: 0, over: 1, visits: BROWSING }),
      ...crowd(dice, { count: 200, from: 0, over: 40, visits: BROWSING, lane: LANES.named[0]!.number }),
      ...crowd(dice, { count: 200, from: 0, over: 40, visits: BROWSING, lane: LANES.named[1]!.number }),
    ],
    endsMs: 110 * MINUTE_MS,
  },
  {
    name: "a restart",
    about: "150 slots; the process restarts after 12 minutes",
    rules: () => ({ totalActiveUsers: 150, sessionDurationMs: 5 * MINUTE_MS }),
    people: (dice) => crowd(dice, { count: 1_000, from: 0, over: 1, visits: BROWSING }),
    restartAtMs: 12 * MINUTE_MS,
    endsMs: 110 * MINUTE_MS,
  },
];
