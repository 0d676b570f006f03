/** The routes for rooms at the control address, with all their responses. */
import { createRoute, z } from "@hono/zod-openapi";
import { ORIGIN_TROUBLES } from "./desk.ts";
import { answered, COMMON_REFUSALS, jsonContent, problemsSchema, refusals } from "./refusal.ts";
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
      .openapi({ description: "Your message to everyone waiting. Left out: it stays as it is." }),
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

const changeAnswers = {
  200: answered("The room as it is now.", roomSchemas.changed),
  ...COMMON_REFUSALS,
  ...refusals("no_such_room", "bad_request", "too_large", "not_json", "not_kept"),
  422: answered("Every problem with the change. Nothing was changed.", problemsSchema),
};

export const listRoute = createRoute({
  method: "get",
  path: "/rooms",
  summary: "Every room with its counts, and the origins",
  responses: {
    200: answered(
      "The rooms, and every address of an origin.",
      z.object({ version: z.string(), rooms: z.array(roomSchemas.listed), origins: z.array(originSchema) }),
    ),
    ...COMMON_REFUSALS,
    ...refusals("engine_away"),
  },
});
export const showRoute = createRoute({
  method: "get",
  path: "/rooms/{room}",
  summary: "One room: counts and settings",
  description:
    "The values of headers, cookies and queries in bypass rules are not shown: a text such as hidden:8c1f6a0d92be4471 stands for each, and keeps the value when it is sent back in a change.",
  request: { params: roomParams },
  responses: {
    200: answered("The room.", roomSchemas.whole),
    ...COMMON_REFUSALS,
    ...refusals("no_such_room", "engine_away"),
  },
});
export const changeRoute = createRoute({
  method: "patch",
  path: "/rooms/{room}",
  summary: "Change settings while the room runs",
  description:
    "Names and values as in the settings file. Settings that are left out stay as they are; every place is kept.",
  request: { params: roomParams, body: { required: true, content: jsonContent(changeSchema) } },
  responses: changeAnswers,
});
export const pauseRoute = createRoute({
  method: "post",
  path: "/rooms/{room}/pause",
  summary: "Admit nobody; everybody keeps their place",
  request: { params: roomParams, body: { required: false, content: jsonContent(noteSchema) } },
  responses: changeAnswers,
});
export const openRoute = createRoute({
  method: "post",
  path: "/rooms/{room}/open",
  summary: "Admit visitors again",
  request: { params: roomParams, body: { required: false, content: jsonContent(noteSchema) } },
  responses: changeAnswers,
});
export const revokeRoute = createRoute({
  method: "delete",
  path: "/rooms/{room}/sessions/{id}",
  summary: "End one visitor's visit",
  request: { params: sessionParams },
  responses: {
    204: { description: "The visit is over and its pass is no longer valid." },
    ...COMMON_REFUSALS,
    ...refusals("bad_id", "no_such_room", "not_on_site", "engine_away"),
  },
});
