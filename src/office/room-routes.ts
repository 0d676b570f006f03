/** What can be asked of rooms at the control address, and every answer there is. */
import { createRoute, z } from "@hono/zod-openapi";
import { ORIGIN_TROUBLES } from "./desk.ts";
import { COMMON_REFUSALS, problemsSchema, refusals } from "./refusal.ts";
import { changeSchema, roomSchemas } from "./room-shapes.ts";

export const roomParams = z.object({
  room: z
    .string()
    .openapi({ param: { name: "room", in: "path" }, description: "The room's name.", example: "main" }),
});
const sessionParams = roomParams.extend({
  id: z.string().openapi({
    param: { name: "id", in: "path" },
    description: "The visitor's id: 32 hexadecimal digits.",
    pattern: "^[0-9a-f]{32}$",
  }),
});
const noteSchema = z
  .strictObject({
    message: z
      .string()
      .optional()
      .openapi({ description: "Your words to everyone waiting. Left out: as they were." }),
  })
  .openapi("Note");

const originSchema = z
  .object({
    origin: z.string().openapi({ description: "The room that has it to itself, or `(default)`." }),
    address: z.string(),
    isUp: z.boolean(),
    trouble: z.enum(ORIGIN_TROUBLES).nullable().openapi({ description: "Why it is not up." }),
    inFlight: z.int().openapi({ description: "Requests under way." }),
  })
  .openapi("Origin");

const json = <T extends z.ZodType>(schema: T) => ({ "application/json": { schema } });
const changeAnswers = {
  200: { description: "The room as it is now.", content: json(roomSchemas.changed) },
  ...COMMON_REFUSALS,
  ...refusals("no_such_room", "bad_request", "too_large", "not_json", "not_kept"),
  422: {
    description: "What is wrong with the change, all of it. Nothing was changed.",
    content: json(problemsSchema),
  },
};

export const listRoute = createRoute({
  method: "get",
  path: "/rooms",
  summary: "Every room with its counts, and the origins",
  responses: {
    200: {
      description: "The rooms, and every address of an origin.",
      content: json(
        z.object({ version: z.string(), rooms: z.array(roomSchemas.listed), origins: z.array(originSchema) }),
      ),
    },
    ...COMMON_REFUSALS,
    ...refusals("engine_away"),
  },
});
export const showRoute = createRoute({
  method: "get",
  path: "/rooms/{room}",
  summary: "One room: counts and settings",
  description:
    "What a header, cookie or query of a bypass rule must be is not shown: a text such as hidden:8c1f6a0d92be4471 stands for it, and keeps it where it is sent back in a change.",
  request: { params: roomParams },
  responses: {
    200: { description: "The room.", content: json(roomSchemas.whole) },
    ...COMMON_REFUSALS,
    ...refusals("no_such_room", "engine_away"),
  },
});
export const changeRoute = createRoute({
  method: "patch",
  path: "/rooms/{room}",
  summary: "Change settings while the room runs",
  description:
    "Names and values as in the settings file. What is left out stays as it is; every place is kept.",
  request: { params: roomParams, body: { required: true, content: json(changeSchema) } },
  responses: changeAnswers,
});
export const pauseRoute = createRoute({
  method: "post",
  path: "/rooms/{room}/pause",
  summary: "Let nobody in; everybody keeps their place",
  request: { params: roomParams, body: { required: false, content: json(noteSchema) } },
  responses: changeAnswers,
});
export const openRoute = createRoute({
  method: "post",
  path: "/rooms/{room}/open",
  summary: "Let people in again",
  request: { params: roomParams, body: { required: false, content: json(noteSchema) } },
  responses: changeAnswers,
});
export const revokeRoute = createRoute({
  method: "delete",
  path: "/rooms/{room}/sessions/{id}",
  summary: "End one visitor's visit",
  request: { params: sessionParams },
  responses: {
    204: { description: "The visit is over and its pass is worth nothing." },
    ...COMMON_REFUSALS,
    ...refusals("bad_id", "no_such_room", "not_on_site", "engine_away"),
  },
});
