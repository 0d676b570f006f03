/**
 * What a change changed, for the log: each setting that is not as it was, from what to what. Long texts are cut, since
 * a custom page can have half a million characters. Of lists only the length is told: they are long as well, and what
 * partners must send to go past the line stands in one.
 */
import type { RoomInput } from "../config/schema.ts";

/** Characters of one value that go into the log. */
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
    const isMapping = typeof value === "object" && value !== null && !Array.isArray(value);
    if (isMapping) flat(value, `${prefix}${key}.`, into);
    else into.set(prefix + key, value);
  }
  return into;
}

function short(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 1 ? "1 entry" : `${value.length} entries`;
  if (typeof value !== "string" || value.length <= LOGGED_CHARACTERS_MAX) return value;
  return `${value.slice(0, LOGGED_CHARACTERS_MAX)}… (${value.length} characters)`;
}
