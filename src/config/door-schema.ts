/**
 * The settings of a room's door that are mappings of their own: lanes, standby, the adaptive limits, and what waiting
 * visitors are told. `schema.ts` puts them into the room.
 */
import { z } from "zod";
import { DEFAULT_RULES } from "../core/rules.ts";
import { count, duration, isTrue, number, percent, setting } from "./kinds.ts";
import { laneMembersSchema } from "./lane-schema.ts";

/** The lane for everybody gets at least one admission in a hundred, so the named ones have at most this many together. */
export const SHARES_MAX = 99;
export const LANES_MAX = 16;
export const USERS_MAX = 100_000_000;
const REQUESTS_PER_SECOND_MAX = 10_000_000;
const IN_FLIGHT_MAX = 1_000_000;

const laneSchema = z.strictObject({
  share: setting(count({ min: 1, max: SHARES_MAX }), 10).describe(
    "Of every hundred visitors admitted, how many come from this lane while visitors wait in every lane. Counts with `laneOrder: weighted`.",
  ),
  privileged: setting(isTrue(), false).describe(
    "true: visitors in this lane are admitted even while `privilegedOnly` is on.",
  ),
  members: setting(laneMembersSchema, {}).describe(
    "Who belongs in this lane: a visitor who meets any one of these.",
  ),
});

export const lanesSchema = z.record(z.string(), laneSchema);

/** What an event may override in one of the room's lanes: everything except its members. */
export const laneOverridesSchema = z.record(
  z.string(),
  z.strictObject({
    share: laneSchema.shape.share.unwrap().optional().meta(aboutOf(laneSchema.shape.share)),
    privileged: laneSchema.shape.privileged.unwrap().optional().meta(aboutOf(laneSchema.shape.privileged)),
  }),
);

function aboutOf(schema: z.ZodType) {
  return { ...schema.meta() };
}

export const standbySchema = z.strictObject({
  requestsPerSecond: setting(count({ min: 1, max: REQUESTS_PER_SECOND_MAX }), null).describe(
    "The line starts above this many requests per second for the room's routes, averaged over a minute. null: not looked at.",
  ),
  activeUsers: setting(count({ min: 1, max: USERS_MAX }), null).describe(
    "The line starts above this many visitors on the site. null: not looked at.",
  ),
  originLatency: setting(duration({ min: "10ms", max: "1h" }), null).describe(
    "The line starts when one in twenty of the origin's responses takes longer than this to begin. null: not looked at.",
  ),
  originErrors: setting(percent({ min: "1%", max: "100%" }), null).describe(
    "The line starts when more of the origin's responses than this are errors (5xx, or none at all). null: not looked at.",
  ),
  stopBelow: setting(percent({ min: "1%", max: "100%" }), "70%").describe(
    "The line stops once every value has been below this part of its threshold for `quietFor`.",
  ),
  quietFor: setting(duration({ min: "1s", max: "1d" }), "2m").describe(
    "How long every value must stay below `stopBelow`, so that the line does not come and go.",
  ),
});

export const adaptiveSchema = z.strictObject({
  least: setting(percent({ min: "1%", max: "100%" }), "20%").describe(
    "The limits are never lowered below this part of what is set.",
  ),
  latencyFactor: setting(number({ min: 1.1, max: 100 }), 2.5).describe(
    "The limits are lowered when one in twenty of the origin's responses takes this many times as long as usual.",
  ),
  latency: setting(duration({ min: "10ms", max: "1h" }), null).describe(
    "The limits are also lowered when one in twenty takes longer than this. null: only the factor counts.",
  ),
  errors: setting(percent({ min: "0.1%", max: "100%" }), "2%").describe(
    "The limits are also lowered when more of the responses than this are errors (5xx, or none at all).",
  ),
  inFlight: setting(count({ min: 1, max: IN_FLIGHT_MAX }), null).describe(
    "The limits are also lowered when more requests than this are under way at once. null: not looked at.",
  ),
});

export const showSchema = z.strictObject({
  ahead: setting(isTrue(), DEFAULT_RULES.show.ahead).describe(
    "true: a waiting visitor sees how many people are ahead of them.",
  ),
  behind: setting(isTrue(), DEFAULT_RULES.show.behind).describe(
    "true: a waiting visitor sees how many people wait in all, and how many of them are behind.",
  ),
  wait: setting(isTrue(), DEFAULT_RULES.show.wait).describe(
    "true: a waiting visitor sees about how long the wait will be.",
  ),
});
