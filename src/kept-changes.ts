/** Changes made to rooms at run time, put on top of each other and of what the settings file says. */
import { checkRoomChange } from "./config/room-change.ts";
import type { RoomSettings, Settings } from "./config/schema.ts";
import { writtenRoom } from "./config/written.ts";

export interface KeptChange {
  /** What the file said of the room when it was changed. */
  readonly file: string;
  readonly change: unknown;
}

export interface Changed {
  readonly settings: Settings;
  /** Rooms of which the file says something else than when they were changed; their changes no longer hold. */
  readonly outdated: readonly string[];
}

/** The settings with the kept changes in them. */
export function withChanges(
  settings: Settings,
  kept: Iterable<readonly [room: string, KeptChange]>,
): Changed {
  const rooms = { ...settings.rooms };
  const outdated: string[] = [];
  for (const [name, { file, change }] of kept) {
    const room = rooms[name];
    const result = room && file === fileTextOf(room) ? checkRoomChange(room, change) : null;
    if (result?.ok) rooms[name] = result.room;
    else outdated.push(name);
  }
  return { settings: { ...settings, rooms }, outdated };
}

/** A change on top of what was kept before, to a room as the file has it. */
export function changeOnTop(
  before: KeptChange | undefined,
  fileRoom: RoomSettings,
  change: unknown,
): KeptChange {
  const file = fileTextOf(fileRoom);
  return { file, change: merged(before?.file === file ? before.change : {}, change) };
}

/** What the file says of a room, as one text. */
export function fileTextOf(room: RoomSettings): string {
  return JSON.stringify(writtenRoom(room));
}

/** One change after another: mappings are merged, everything else is replaced. */
function merged(before: unknown, change: unknown): unknown {
  if (!isMapping(before) || !isMapping(change)) return change;
  const result: Record<string, unknown> = { ...before };
  for (const [key, value] of Object.entries(change)) result[key] = merged(result[key], value);
  return result;
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
