/**
 * Rooms at the control address: show, change, pause, open, and end one visitor's visit. The desk checks a change by the
 * rules of the settings file. Every change is logged with old and new values and the caller's address. The values in
 * bypass rules are neither shown nor logged.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import type { RoomSettings } from "../config/schema.ts";
import { writtenRoom } from "../config/written.ts";
import { isId } from "../core/id.ts";
import { askEngine } from "./ask-engine.ts";
import { addressOf, type OfficeEnv } from "./caller.ts";
import type { Handed, SettingProblem } from "./desk.ts";
import { differences } from "./differences.ts";
import { createHiding, HIDING_KEY_BYTES, type Hiding } from "./hidden-values.ts";
import { newcomerWait } from "./newcomer-wait.ts";
import { errorBody, refuseCall, statusOfRefusal } from "./refusal.ts";
import { shownCounts } from "./room-counts.ts";
import { refuseRoom, settingsOf } from "./room-names.ts";
import { changeRoute, listRoute, openRoute, pauseRoute, revokeRoute, showRoute } from "./room-routes.ts";

/** Adds the rooms' routes. */
export function addRooms(app: OpenAPIHono<OfficeEnv>, handed: Handed): void {
  const { desk, world } = handed;
  const hiding = createHiding(world.random.bytes(HIDING_KEY_BYTES));
  const countsOf = async (name: string, settings: RoomSettings) =>
    shownCounts(settings, await askEngine(world, () => desk.engine.counts(name)));

  app.openapi(listRoute, async (c) => {
    const rooms = desk.rooms().map(async (name) => {
      const settings = desk.room(name)!;
      const counts = await countsOf(name, settings);
      const wait = await newcomerWait(handed, name, counts);
      const { state, event } = counts;
      return { name, state, event, paused: settings.paused, newcomerWait: wait, counts };
    });
    return c.json(
      { version: desk.version, rooms: await Promise.all(rooms), origins: [...desk.origins()] },
      200,
    );
  });
  app.openapi(showRoute, async (c) => {
    const { room: name } = c.req.valid("param");
    const settings = settingsOf(desk, name);
    if (!settings) return refuseRoom(c, desk);
    const counts = await countsOf(name, settings);
    const wait = await newcomerWait(handed, name, counts);
    return c.json({ name, newcomerWait: wait, counts, settings: hiding.hide(writtenRoom(settings)) }, 200);
  });
  const change = (c: Context<OfficeEnv>, name: string, wanted: unknown) =>
    changeRoom(c, { ...handed, hiding }, { name, wanted });
  app.openapi(changeRoute, (c) => change(c, c.req.valid("param").room, c.req.valid("json")));
  app.openapi(pauseRoute, (c) =>
    change(c, c.req.valid("param").room, { ...c.req.valid("json"), paused: true }),
  );
  app.openapi(openRoute, (c) =>
    change(c, c.req.valid("param").room, { ...c.req.valid("json"), paused: false }),
  );
  app.openapi(revokeRoute, async (c) => {
    const { room: name, id } = c.req.valid("param");
    if (!settingsOf(desk, name)) return refuseRoom(c, desk);
    if (!isId(id)) return refuseCall(c, "bad_id", "An id is 32 hexadecimal digits, in lower case.");
    const isRevoked = await askEngine(world, () => desk.engine.revoke(name, id));
    if (!isRevoked) return refuseCall(c, "not_on_site", "No visitor with that id is on the site.");
    world.log.info({ room: name, id, by: addressOf(c) }, "a visit was ended from the control address");
    return c.body(null, 204);
  });
}

async function changeRoom(
  c: Context<OfficeEnv>,
  { desk, world, hiding }: Handed & { readonly hiding: Hiding },
  { name, wanted }: { readonly name: string; readonly wanted: unknown },
) {
  const room = settingsOf(desk, name);
  if (!room) return refuseRoom(c, desk);
  const before = writtenRoom(room);
  const restored = hiding.restore(before, wanted);
  if (!restored.ok) return refuseChange(c, restored.problems);
  const answer = await desk.change(name, restored.change);
  if (!answer.ok) return refuseChange(c, answer.problems);
  const after = writtenRoom(answer.room);
  const changed = differences(before, after);
  if (Object.keys(changed).length > 0) {
    world.log.info({ room: name, changed, by: addressOf(c) }, "a room was changed from the control address");
  }
  return c.json({ name, settings: hiding.hide(after) }, 200);
}

/** The response with every problem of a change. */
export function refuseChange(c: Context, problems: readonly SettingProblem[]) {
  const summary = problems.length === 1 ? "There is 1 problem" : `There are ${problems.length} problems`;
  const shown = problems.map(({ path, message, hint }) => ({ path, message, ...(hint ? { hint } : {}) }));
  return c.json(
    { ...errorBody("bad_change", `${summary}. Nothing was changed.`), problems: shown },
    statusOfRefusal("bad_change"),
  );
}
