/**
 * An event of a room: a window of time with settings of its own. The settings it may override are derived from the room's
 * schema, so that each has the same name, check and words in both places, and a new setting of the room is also one of
 * its events.
 *
 * An event names only what differs. Settings inside a mapping such as `page` are overridden one by one; a mapping that may
 * be null, such as `standby`, is replaced as a whole, with its own defaults.
 */
import { z } from "zod";
import { laneOverridesSchema } from "./door-schema.ts";
import { instant, isTrue, listOf, readable, setting } from "./kinds.ts";
import { NAME_SHAPE, readName } from "./name.ts";
import type { Known } from "./salvage.ts";

export const EVENTS_MAX = 20;

/**
 * Settings that an event cannot override: which requests the room is for, its visitors' cookies, what it shares with other
 * rooms or sells, and how its line is kept.
 */
const KEPT = [
  "host",
  "path",
  "additionalRoutes",
  "origin",
  "cookieAttributes",
  "cookieDomain",
  "corsOrigins",
  "budget",
  "guaranteed",
  "shop",
  "line",
  "shards",
  "peek",
] as const;
type Kept = (typeof KEPT)[number] | "lanes" | "suspended";

type Overrides<Shape extends z.ZodRawShape> = {
  [Key in Exclude<keyof Shape, Kept>]: z.ZodOptional<
    z.ZodType<Known<z.output<Shape[Key]>>, Known<z.input<Shape[Key]>>>
  >;
};

/** The `events` of a room with the settings in `room`. */
export function eventsSchema<Shape extends z.ZodRawShape>(room: z.ZodObject<Shape>) {
  const event = z.strictObject({
    name: readable(readName, { kind: "text", max: 32, shape: NAME_SHAPE }).describe(
      "Name of the event, different from the room's other events. Its draw is published under this name.",
    ),
    prequeueStartTime: setting(instant(), null).describe(
      "From this time on the event's settings hold and newcomers gather; nobody is admitted before the start. null: no prequeue.",
    ),
    eventStartTime: instant().describe("From this time on visitors are admitted by the event's settings."),
    eventEndTime: instant().describe("From this time on the room's own settings hold again."),
    shuffleAtEventStart: setting(isTrue(), false).describe(
      "true: everyone who gathered before the start gets their place by a draw that anyone can verify; later visitors are behind them, first come, first served.",
    ),
    suspended: setting(isTrue(), false).describe("true: the event is ignored."),
    ...overridesOf(room),
    lanes: laneOverridesSchema
      .optional()
      .describe("Lanes of the room whose share or privilege differs; the others stay as they are."),
  });
  const events = listOf(event, {
    max: EVENTS_MAX,
    of: "events, each with name, eventStartTime and eventEndTime",
  });
  return events
    .prefault([])
    .describe(
      "Windows of time with settings of their own, which take precedence over the room's and over changes made at run time. No two may overlap.",
    );
}

/** Every setting of the room that an event may override, left out unless it is written. */
function overridesOf<Shape extends z.ZodRawShape>(room: z.ZodObject<Shape>): Overrides<Shape> {
  const kept = new Set<string>([...KEPT, "lanes", "suspended"]);
  const settings = Object.entries(room.shape).filter(([key]) => !kept.has(key));
  const shape = settings.map(([key, schema]) => [key, override(schema as z.ZodType)]);
  return Object.fromEntries(shape) as Overrides<Shape>;
}

function override(schema: z.ZodType): z.ZodType {
  const inner = schema instanceof z.ZodPrefault ? (schema.unwrap() as z.ZodType) : schema;
  const isPlainMapping = inner instanceof z.ZodObject && !inner.def.checks?.length;
  const part = isPlainMapping
    ? z.strictObject(
        Object.fromEntries(Object.entries(inner.shape).map(([key, child]) => [key, override(child)])),
      )
    : inner;
  return part.optional().meta({ ...inner.meta(), ...schema.meta() });
}
