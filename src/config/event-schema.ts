/**
 * An event of a room: a window of time with settings of its own. What it may say of the room is not written down a
 * second time: it is made from the room's own schema, so that a setting has the same name, the same check and the same
 * words in both places, and a new setting of the room is one of its events too.
 *
 * An event names only what differs. Settings inside a mapping such as `page` differ one by one; a mapping that may be
 * null, such as `standby`, is one setting and stands for itself, with its own defaults.
 */
import { z } from "zod";
import { laneOverridesSchema } from "./door-schema.ts";
import { instant, isTrue, readable } from "./kinds.ts";
import { NAME_SHAPE, readName } from "./name.ts";
import type { Known } from "./salvage.ts";

export const EVENTS_MAX = 20;

/**
 * Settings that an event cannot change: what finds the room, what its visitors hold, what other rooms share, and how the
 * line is kept.
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

/** The events of a room that has the settings in `room` besides them. */
export function eventsSchema<Shape extends z.ZodRawShape>(room: z.ZodObject<Shape>) {
  const event = z.strictObject({
    name: readable(readName, { kind: "text", max: 32, shape: NAME_SHAPE }).describe(
      "What it is called; no two of a room have the same name. The draw is known by it.",
    ),
    prequeueStartTime: instant()
      .nullable()
      .prefault(null)
      .describe(
        "From then on the event's settings hold and newcomers gather; nobody is let in before the start. null: there is no such time.",
      ),
    eventStartTime: instant().describe("From then on people are let in by the event's settings."),
    eventEndTime: instant().describe("From then on the room's own settings hold again."),
    shuffleAtEventStart: isTrue()
      .prefault(false)
      .describe(
        "true: everyone who gathered before the start gets their place by a draw that anyone can check; whoever comes later is behind them, first come, first served.",
      ),
    suspended: isTrue().prefault(false).describe("true: as if this event were not in the list."),
    ...overridesOf(room),
    lanes: laneOverridesSchema
      .optional()
      .describe("Lanes of the room whose share or privilege differs; the others stay as they are."),
  });
  return z
    .array(event)
    .max(EVENTS_MAX)
    .prefault([])
    .meta({
      shape: `a list of at most ${EVENTS_MAX} events, each with name, eventStartTime and eventEndTime`,
    })
    .describe(
      "Windows of time with settings of their own, which win over the room's and over changes to the room. No two may be on at once.",
    );
}

/** Every setting of the room that an event may change, with nothing in it unless it is written. */
function overridesOf<Shape extends z.ZodRawShape>(room: z.ZodObject<Shape>): Overrides<Shape> {
  const kept = new Set<string>([...KEPT, "lanes", "suspended"]);
  const settings = Object.entries(room.shape).filter(([key]) => !kept.has(key));
  const shape = settings.map(([key, setting]) => [key, override(setting as z.ZodType)]);
  return Object.fromEntries(shape) as Overrides<Shape>;
}

function override(setting: z.ZodType): z.ZodType {
  const inner = setting instanceof z.ZodPrefault ? (setting.unwrap() as z.ZodType) : setting;
  const isPlainMapping = inner instanceof z.ZodObject && !inner.def.checks?.length;
  const part = isPlainMapping
    ? z.strictObject(
        Object.fromEntries(Object.entries(inner.shape).map(([key, child]) => [key, override(child)])),
      )
    : inner;
  return part.optional().meta({ ...inner.meta(), ...setting.meta() });
}
