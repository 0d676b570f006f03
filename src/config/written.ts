/**
 * Settings the way people write them: milliseconds as `5m`, bytes as `16KB`, instants in universal time. For showing a
 * room's settings at the control address, so that what is read there can be sent back as a change.
 */
import { formatHostPort, type HostPort } from "./kinds.ts";
import { isMappingSetting, roomOutline, type Setting } from "./outline.ts";
import { isRecord } from "./salvage.ts";
import type { RoomInput, RoomSettings } from "./schema.ts";
import { formatDuration, formatInstant, formatPercent, formatSize } from "./units.ts";

/** The room's settings as its file would have them, with every default in place. */
export function writtenRoom(room: RoomSettings): RoomInput {
  return written(room, roomOutline()) as RoomInput;
}

function written(value: unknown, setting: Setting): unknown {
  if (value === null) return null;
  if (setting.kind === "duration") return formatDuration(value as number);
  if (setting.kind === "size") return formatSize(value as number);
  if (setting.kind === "percent") return formatPercent(value as number);
  if (setting.kind === "instant") return formatInstant(value as number);
  if (setting.kind === "listen") return formatHostPort(value as HostPort);
  if (Array.isArray(value) && setting.entry) return value.map((item) => written(item, setting.entry!));
  if (!isMappingSetting(setting)) return value;
  const values = value as Record<string, unknown>;
  const { children, entry } = setting;
  const known = children.filter((child) => Object.hasOwn(values, child.key));
  const pairs = entry
    ? Object.entries(values).map(([name, inner]) => [name, written(inner, entry)])
    : known.map((child) => [child.key, written(values[child.key], child)]);
  return Object.fromEntries(pairs);
}

/**
 * What a file says of a room beyond the defaults, as one text. It stays the same when a later version has more settings,
 * and it can be made of a text that had the defaults in it too. `written`: as `writtenRoom` gives it.
 */
export function ownWords(written: unknown): string {
  return JSON.stringify(withoutDefaults(written, roomOutline()));
}

function withoutDefaults(value: unknown, setting: Setting): unknown {
  const { children, entry } = setting;
  if (Array.isArray(value)) return entry ? value.map((item) => withoutDefaults(item, entry)) : value;
  if (!isRecord(value) || !isMappingSetting(setting)) return value;
  if (entry)
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, withoutDefaults(inner, entry)]),
    );
  const own = children.flatMap((child): [string, unknown][] => {
    if (!Object.hasOwn(value, child.key)) return [];
    const inner = withoutDefaults(value[child.key], child);
    const isDefault = JSON.stringify(inner) === JSON.stringify(withoutDefaults(child.default, child));
    return isDefault ? [] : [[child.key, inner]];
  });
  return Object.fromEntries(own);
}
