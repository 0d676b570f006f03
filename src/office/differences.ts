/**
 * What a change changed, for the log: each setting that differs, with its old and new value. Long texts are cut, since a
 * custom page can have half a million characters. Lists are logged by length only: they are long too, and the bypass list
 * contains values that partners keep secret.
 */
import { isRecord } from "../config/salvage.ts";
import type { RoomInput } from "../config/schema.ts";

/** The most characters of one value in the log. */
export const LOGGED_CHARACTERS_MAX = 200;

export interface Difference {
  readonly from: unknown;
  readonly to: unknown;
}

/** The settings that differ, by name: `page.colour`. */
export function differences(from: RoomInput, to: RoomInput): Record<string, Difference> {
  const before = flat(from);
  const after = flat(to);
  const found: Record<string, Difference> = {};
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const difference = { from: before.get(name), to: after.get(name) };
    if (JSON.stringify(difference.from) === JSON.stringify(difference.to)) continue;
    found[name] = { from: short(difference.from), to: short(difference.to) };
  }
  return found;
}

/** Every single value and list by its dotted name. */
function flat(settings: object, prefix = "", into = new Map<string, unknown>()): Map<string, unknown> {
  for (const [key, value] of Object.entries(settings)) {
    if (isRecord(value)) flat(value, `${prefix}${key}.`, into);
    else into.set(prefix + key, value);
  }
  return into;
}

function short(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? "1 entry" : `${value.length} entries`;
  if (typeof value !== "string" || value.length <= LOGGED_CHARACTERS_MAX) return value;
  return `${value.slice(0, LOGGED_CHARACTERS_MAX)}… (${value.length} characters)`;
}
