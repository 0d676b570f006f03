/**
 * The shapes of rooms at the control address: their counts, their settings and a change to them. The settings' shapes come
 * from the settings schema. Changes are only documented here; the desk checks them, so any value passes as a change at
 * this point.
 */
import { z } from "@hono/zod-openapi";
import { type RoomInput, roomSchema } from "../config/schema.ts";
import type { RoomState } from "../core/board.ts";
import { documented } from "./documented.ts";

export const ROOM_STATES = [
  "open",
  "queueing",
  "prequeue",
  "paused",
  "closed",
] as const satisfies RoomState[];

const count = (description: string) => z.int().min(0).openapi({ description });
const number = (description: string) => z.number().openapi({ description });
const state = z.enum(ROOM_STATES).openapi({
  description:
    "`open`: no line. `queueing`: people wait. `prequeue`: people gather for an event. `paused`: nobody is admitted. `closed`: nobody joins either.",
});
const event = z
  .string()
  .nullable()
  .openapi({ description: "The event that is on, from its prequeue to its end. null: none." });

const limitsSchema = z
  .object({
    totalActiveUsers: count("The most visitors on the site at once. null: no such limit.").nullable(),
    newUsersPerMinute: number("The most visitors admitted per minute. null: no such limit.").nullable(),
  })
  .openapi({
    description:
      "The limits in force: the settings', an event's, or lower ones while the origin does badly (`adaptive`).",
  });

const laneSchema = z
  .object({
    lane: count("Its number, which tickets carry. 0: the lane for everybody."),
    name: z.string(),
    waiting: count("Living tickets in this lane."),
    admitted: count("Visitors admitted from this lane since the engine started."),
    costMs: number(
      "How many milliseconds longer a visitor who joins now will wait because of the lanes before. null: not known.",
    ).nullable(),
    costFactorMax: number(
      "The most times longer a wait in this lane can get because of the others. null: there is no bound.",
    ).nullable(),
  })
  .openapi("Lane");

const remarkSchema = z
  .object({ at: number("When, in milliseconds since 1970."), text: z.string() })
  .openapi("Remark");

export const countsSchema = z
  .object({
    waiting: count("Living tickets in the line."),
    admitted: count("Turns given and not yet used, for which a slot is reserved."),
    looseTurns: count("Turns that may still be used, for which no slot is reserved any more."),
    onSite: count("Visitors on the site."),
    lapsed: count("Places kept for visitors who stopped checking in."),
    ratePerMinute: z.number().openapi({ description: "Visitors admitted per minute, as expected now." }),
    unfairness: z.number().openapi({
      description:
        "Normalised Kendall tau distance between order of joining and order of admission, lately. 0 is perfect.",
    }),
    state,
    event,
    limits: limitsSchema,
    isActive: z.boolean().openapi({ description: "false while the room is on standby without a line." }),
    noShows: number("Smoothed share of turns that nobody used, 0 to 1."),
    waitAccuracy: z
      .object({
        compared: count("Told waits that were compared with what happened."),
        inside: number("Share that came true within the range told; 0.8 is right."),
        close: number("Share of waits over two minutes whose middle was within 30 percent.").nullable(),
      })
      .nullable()
      .openapi({
        description: "How good the waits told in the past hour were. null: nothing to compare yet.",
      }),
    lanes: z.array(laneSchema).readonly().openapi({
      description:
        "In the order they are served; the lane for everybody is last, and the only one where there are no others.",
    }),
    remarks: z
      .array(remarkSchema)
      .readonly()
      .openapi({ description: "What the room recently did by itself, and why; the latest last." }),
    totals: z
      .object({
        joined: count("Newcomers."),
        straightThrough: count("Newcomers who went straight through."),
        admitted: count("Turns given, and newcomers who went straight through."),
        entered: count("Visits begun."),
        lapsed: count("Times a waiting visitor stopped checking in."),
        returned: count("Times a lapsed visitor came back."),
        missedTurns: count("Turns nobody used in time."),
        forfeited: count("Places lost by missed turns."),
        left: count("Places and visits given up."),
        expired: count("Visits that expired."),
        revoked: count("Visits ended from here or by the origin."),
        waitedMs: z.number().openapi({ description: "Milliseconds waited by everyone admitted, added up." }),
      })
      .openapi({ description: "Since the engine started." }),
  })
  .openapi("Counts");

export const roomSettingsShape = z
  .custom<RoomInput>((value) => typeof value === "object")
  .openapi("RoomSettings", documented(roomSchema, { hasDefaults: true }));

/** Without what only the file can set: routes, origins, budgets and file names; and how the line is kept, set at the start. */
const changeable = roomSchema
  .omit({ host: true, path: true, additionalRoutes: true, origin: true, budget: true, guaranteed: true })
  .omit({ shop: true })
  .omit({ line: true, shards: true, peek: true })
  .extend({ page: roomSchema.shape.page.unwrap().omit({ customPageFile: true }) });

export const changeSchema = z.unknown().openapi("RoomChange", documented(changeable, { hasDefaults: false }));

export const roomSchemas = {
  listed: z
    .object({ name: z.string(), state, event, paused: z.boolean(), counts: countsSchema })
    .openapi("ListedRoom"),
  whole: z.object({ name: z.string(), counts: countsSchema, settings: roomSettingsShape }).openapi("Room"),
  changed: z.object({ name: z.string(), settings: roomSettingsShape }).openapi("ChangedRoom"),
};
