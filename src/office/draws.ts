/**
 * The record of an event's draw, as a text that anyone can verify. It is the same for everyone and contains nothing
 * personal except ids of tickets, so it may be published. A long one is sent in parts, so that other requests do not wait.
 */
import { createRoute, type OpenAPIHono, z } from "@hono/zod-openapi";
import type { TypedResponse } from "hono";
import type { RoomSettings } from "../config/schema.ts";
import { recordParts } from "../core/draw-record.ts";
import { askEngine } from "./ask-engine.ts";
import type { OfficeEnv } from "./caller.ts";
import type { Handed } from "./desk.ts";
import { COMMON_REFUSALS, refusals, refuseCall } from "./refusal.ts";
import { refuseRoom, settingsOf } from "./room-names.ts";
import { roomParams } from "./room-routes.ts";

const EVENTS_NAMED_MAX = 20;

const drawRoute = createRoute({
  method: "get",
  path: "/rooms/{room}/draws/{event}",
  summary: "The record of an event's draw",
  description:
    "Before the start it has only the hash of the seed and how many have gathered; afterwards the seed and every ticket, in order of their places. `fairgate audit draw` verifies it.",
  request: {
    params: roomParams.extend({
      event: z
        .string()
        .openapi({ param: { name: "event", in: "path" }, description: "The event's name.", example: "sale" }),
    }),
  },
  responses: {
    200: { description: "The record.", content: { "text/plain": { schema: z.string() } } },
    ...COMMON_REFUSALS,
    ...refusals("no_such_room", "no_such_event", "no_draw", "engine_away"),
  },
});

/** Adds the draws' route. */
export function addDraws(app: OpenAPIHono<OfficeEnv>, { desk, world }: Handed): void {
  app.openapi(drawRoute, async (c) => {
    const { room, event } = c.req.valid("param");
    const settings = settingsOf(desk, room);
    if (!settings) return refuseRoom(c, desk);
    const why = whyNoDraw(settings, event);
    if (why) return refuseCall(c, ...why);
    const record = await askEngine(world, () => desk.engine.draw(room, event));
    if (!record) return refuseCall(c, "no_draw", `Nothing is known of a draw of ${event}.`);
    const answer = c.body(ReadableStream.from(recordParts(room, record)), 200, {
      "Content-Type": "text/plain; charset=utf-8",
      "Content-Disposition": `attachment; filename="draw-${room}-${event}.txt"`,
    });
    // The document has no streams; there it is a text.
    return answer as Response as Response & TypedResponse<string, 200, "text">;
  });
}

/** Only names from the settings are repeated in messages. */
function whyNoDraw(
  { events }: RoomSettings,
  name: string,
): readonly ["no_such_event" | "no_draw", string] | null {
  const event = events.find((known) => known.name === name);
  if (!event) {
    const names = events.slice(0, EVENTS_NAMED_MAX).map((known) => known.name);
    const others = names.length === 0 ? "The room has none." : `There are: ${names.join(", ")}.`;
    return ["no_such_event", `There is no such event. ${others}`];
  }
  if (event.suspended) return ["no_draw", `The event ${name} is suspended, so it has no draw.`];
  if (event.shuffleAtEventStart) return null;
  return ["no_draw", `The event ${name} has no draw: shuffleAtEventStart is not set.`];
}
