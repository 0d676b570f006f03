/** Rooms by the names in requests, which may be anything. */
import type { Context } from "hono";
import type { RoomSettings } from "../config/schema.ts";
import type { OfficeEnv } from "./caller.ts";
import type { Desk } from "./desk.ts";
import { refuseCall } from "./refusal.ts";

const ROOMS_NAMED_MAX = 20;

/** A room's settings. The name is looked up in the desk's list first: it may be a property that every object inherits. */
export function settingsOf(desk: Desk, name: string): RoomSettings | undefined {
  return desk.rooms().includes(name) ? desk.room(name) : undefined;
}

/** The response when there is no such room. */
export function refuseRoom(c: Context<OfficeEnv>, desk: Desk) {
  const message = `There is no such room. There are: ${desk.rooms().slice(0, ROOMS_NAMED_MAX).join(", ")}.`;
  return refuseCall(c, "no_such_room", message);
}
