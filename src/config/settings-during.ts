/** A room's settings while one of its events is on: its own, with the event's in their place. */
import { isRecord, type Known } from "./salvage.ts";
import type { EventSettings, RoomSettings } from "./schema.ts";

/** What an event says of itself, not of the room. */
const OF_EVENT = new Set([
  "name",
  "prequeueStartTime",
  "eventStartTime",
  "eventEndTime",
  "shuffleAtEventStart",
  "suspended",
]);

/** The room as it is while `event` is on, from the opening of its prequeue to its end. */
export function settingsDuring(room: RoomSettings, event: EventSettings): RoomSettings;
export function settingsDuring(room: Known<RoomSettings>, event: EventSettings): Known<RoomSettings>;
export function settingsDuring(room: Known<RoomSettings>, event: EventSettings): Known<RoomSettings> {
  const overrides = Object.entries(event).filter(([key]) => !OF_EVENT.has(key));
  return laidOver(withoutReplacedPage(room, event), Object.fromEntries(overrides));
}

/** Mappings are merged, everything else is replaced. */
function laidOver<T extends object>(base: T, overrides: Readonly<Record<string, unknown>>): T {
  const merged = { ...base } as Record<string, unknown>;
  for (const [key, value] of Object.entries(overrides)) {
    const before = merged[key];
    merged[key] = isRecord(before) && isRecord(value) ? laidOver(before, value) : value;
  }
  return merged as T;
}

/** A page is a text or a file; an event that brings one brings both, or the room's would stand beside it. */
function withoutReplacedPage(room: Known<RoomSettings>, { page }: EventSettings): Known<RoomSettings> {
  const isReplaced = page?.customPageHtml !== undefined || page?.customPageFile !== undefined;
  if (!isReplaced || !room.page) return room;
  return { ...room, page: { ...room.page, customPageHtml: null, customPageFile: null } };
}
