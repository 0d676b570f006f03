/**
 * The settings of a room's door that are mappings of their own: lanes, standby, the adaptive loop, and what those who
 * wait may know. `schema.ts` puts them into the room.
 */
import { z } from "zod";
import { DEFAULT_RULES } from "../core/rules.ts";
import { count, duration, isTrue, number, percent } from "./kinds.ts";
import { laneMembersSchema } from "./lane-schema.ts";

/** Everybody's lane has at least one admission in a hundred, so the named ones have at most this many together. */
export const SHARES_MAX = 99;
export const LANES_MAX = 16;
const REQUESTS_PER_SECOND_MAX = 10_000_000;
const USERS_MAX = 100_000_000;
const IN_FLIGHT_MAX = 1_000_000;

const laneSchema = z.strictObject({
  share: count({ min: 1, max: SHARES_MAX })
    .prefault(10)
    .describe(
      "Of a hundred visitors let in, how many come from this lane while people wait in every lane. Counts with `laneOrder: weighted`.",
    ),
  privileged: isTrue().prefault(false).describe("true: its visitors are let in while `privilegedOnly` is."),
  members: laneMembersSchema
    .prefault({})
    .describe("Who belongs in this lane: whoever any one of these is true of."),
});

export const lanesSchema = z.record(z.string(), laneSchema);

/** What an event may say of a lane that the room has: anything but who belongs in it. */
export const laneOverridesSchema = z.record(
  z.string(),
  z.strictObject({
    share: laneSchema.shape.share.unwrap().optional().meta(aboutOf(laneSchema.shape.share)),
    privileged: laneSchema.shape.privileged.unwrap().optional().meta(aboutOf(laneSchema.shape.privileged)),
  }),
);

function aboutOf(setting: z.ZodType) {
  return { ...setting.meta() };
}

export const standbySchema = z.strictObject({
  requestsPerSecond: count({ min: 1, max: REQUESTS_PER_SECOND_MAX })
    .nullable()
    .prefault(null)
    .describe(
      "The line starts above this many requests a second for the room's routes, over a minute. null: does not matter.",
    ),
  activeUsers: count({ min: 1, max: USERS_MAX })
    .nullable()
    .prefault(null)
    .describe("The line starts above this many visitors on the site. null: does not matter."),
  originLatency: duration({ min: "10ms", max: "1h" })
    .nullable()
    .prefault(null)
    .describe(
      "The line starts when one in twenty of the origin's answers takes longer than this to begin. null: does not matter.",
    ),
  originErrors: percent({ min: "1%", max: "100%" })
    .nullable()
    .prefault(null)
    .describe(
      "The line starts when more of the origin's answers than this are errors (5xx, or none at all). null: does not matter.",
    ),
  stopBelow: percent({ min: "1%", max: "100%" })
    .prefault("70%")
    .describe(
      "The line stops once everything is below this part of its threshold, for as long as `quietFor`.",
    ),
  quietFor: duration({ min: "1s", max: "1d" })
    .prefault("2m")
    .describe("How long everything must have been below `stopBelow`, so that the line does not come and go."),
});

export const adaptiveSchema = z.strictObject({
  least: percent({ min: "1%", max: "100%" })
    .prefault("20%")
    .describe("The limits are never lowered below this part of what is set."),
  latencyFactor: number({ min: 1.1, max: 100 })
    .prefault(2.5)
    .describe(
      "The limits are lowered when one in twenty of the origin's answers takes this many times as long as is usual for it.",
    ),
  latency: duration({ min: "10ms", max: "1h" })
    .nullable()
    .prefault(null)
    .describe("Or when it takes longer than this, whatever is usual. null: only the factor counts."),
  errors: percent({ min: "0.1%", max: "100%" })
    .prefault("2%")
    .describe("Or when more of its answers than this are errors (5xx, or none at all)."),
  inFlight: count({ min: 1, max: IN_FLIGHT_MAX })
    .nullable()
    .prefault(null)
    .describe("Or when more requests than this are under way at once. null: does not matter."),
});

export const showSchema = z.strictObject({
  ahead: isTrue()
    .prefault(DEFAULT_RULES.show.ahead)
    .describe("true: a waiting visitor sees how many people are ahead of them."),
  behind: isTrue()
    .prefault(DEFAULT_RULES.show.behind)
    .describe("true: a waiting visitor sees how many people wait, and how many of them are behind."),
  wait: isTrue()
    .prefault(DEFAULT_RULES.show.wait)
    .describe("true: a waiting visitor sees about how long it will take."),
});
