/** Rooms by the names that callers give, which may be anything. */
import type { Context } from "hono";
import type { RoomSettings } from "../config/schema.ts";
import type { OfficeEnv } from "./caller.ts";
import type { Desk } from "./desk.ts";
import { refuseCall } from "./refusal.ts";

const ROOMS_NAMED_MAX = 20;

/** Only names on the desk's own list are asked for: a name from outside may be one that every object has. */
export function settingsOf(desk: Desk, name: string): RoomSettings | undefined {
  return desk.rooms().includes(name) ? desk.room(name) : undefined;
}

/** The answer where there is no such room. */
export function refuseRoom(c: Context<OfficeEnv>, desk: Desk) {
  const message = `There is no such room. There are: ${desk.rooms().slice(0, ROOMS_NAMED_MAX).join(", ")}.`;
  return refuseCall(c, "no_such_room", message);
}
