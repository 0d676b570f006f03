/**
 * Rooms at the control address: look, change, pause, open, and end one visitor's visit. A change is checked by the
 * desk with the rules of the settings file. Whatever was changed is logged, from what to what, and by whom.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { writtenRoom } from "../config/written.ts";
import { isId } from "../core/id.ts";
import { askEngine } from "./ask-engine.ts";
import { addressOf, type OfficeEnv } from "./caller.ts";
import type { Desk, Handed, SettingProblem } from "./desk.ts";
import { differences } from "./differences.ts";
import { errorBody, refuse } from "./refusal.ts";
import { changeRoute, listRoute, openRoute, pauseRoute, revokeRoute, showRoute } from "./room-routes.ts";

const ROOMS_NAMED_MAX = 20;

/** Adds the rooms' routes. */
export function addRooms(app: OpenAPIHono<OfficeEnv>, handed: Handed): void {
  const { desk, world } = handed;
  const countsOf = (name: string) => askEngine(world, () => desk.engine.counts(name));

  app.openapi(listRoute, async (c) => {
    const rooms = desk.rooms().map(async (name) => {
      const counts = await countsOf(name);
      return { name, paused: desk.room(name)?.paused ?? false, counts };
    });
    return c.json({ rooms: await Promise.all(rooms) }, 200);
  });
  app.openapi(showRoute, async (c) => {
    const { room: name } = c.req.valid("param");
    const settings = settingsOf(desk, name);
    if (!settings) return refuseRoom(c, desk);
    return c.json({ name, counts: await countsOf(name), settings: writtenRoom(settings) }, 200);
  });
  app.openapi(changeRoute, (c) => change(c, handed, c.req.valid("param").room, c.req.valid("json")));
  app.openapi(pauseRoute, (c) =>
    change(c, handed, c.req.valid("param").room, { ...c.req.valid("json"), paused: true }),
  );
  app.openapi(openRoute, (c) =>
    change(c, handed, c.req.valid("param").room, { ...c.req.valid("json"), paused: false }),
  );
  app.openapi(revokeRoute, async (c) => {
    const { room: name, id } = c.req.valid("param");
    if (!settingsOf(desk, name)) return refuseRoom(c, desk);
    if (!isId(id))
      return refuse(c, 400, { code: "bad_id", message: "An id is 32 hexadecimal digits, in lower case." });
    const isRevoked = await askEngine(world, () => desk.engine.revoke(name, id));
    if (!isRevoked)
      return refuse(c, 404, { code: "not_on_site", message: "Nobody by that id is on the site." });
    world.log.info({ room: name, id, by: addressOf(c) }, "a visit was ended from the control address");
    return c.body(null, 204);
  });
}

async function change(c: Context<OfficeEnv>, { desk, world }: Handed, name: string, wanted: unknown) {
  const before = settingsOf(desk, name);
  if (!before) return refuseRoom(c, desk);
  const answer = await desk.change(name, wanted);
  if (!answer.ok) return refuseChange(c, answer.problems);
  const settings = writtenRoom(answer.room);
  const changed = differences(writtenRoom(before), settings);
  if (Object.keys(changed).length > 0) {
    world.log.info({ room: name, changed, by: addressOf(c) }, "a room was changed from the control address");
  }
  return c.json({ name, settings }, 200);
}

/** Only names on the desk's own list are asked for: a name from outside may be one that every object has. */
function settingsOf(desk: Desk, name: string) {
  return desk.rooms().includes(name) ? desk.room(name) : undefined;
}

function refuseRoom(c: Context<OfficeEnv>, desk: Desk) {
  const message = `There is no such room. There are: ${desk.rooms().slice(0, ROOMS_NAMED_MAX).join(", ")}.`;
  return refuse(c, 404, { code: "no_such_room", message });
}

/** All that is wrong with a change at once. */
export function refuseChange(c: Context, problems: readonly SettingProblem[]) {
  const summary = problems.length === 1 ? "There is 1 problem" : `There are ${problems.length} problems`;
  const shown = problems.map(({ path, message, hint }) => ({ path, message, ...(hint ? { hint } : {}) }));
  return c.json({ ...errorBody("bad_change", `${summary}. Nothing was changed.`), problems: shown }, 422);
}
