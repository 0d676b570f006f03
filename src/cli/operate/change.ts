/** Changes to a room as they are typed: `totalActiveUsers=400 page.title="The Shop"`. Pure. */
import { safeText } from "../../config/problem.ts";
import { isRecord } from "../../config/salvage.ts";
import { NotDone } from "./not-done.ts";

const SHOWN_CHARACTERS_MAX = 80;
const KEYS_MAX = 8;

/** The change that the pairs make. Throws `NotDone` for what is no pair. */
export function changeFrom(pairs: readonly string[]): Record<string, unknown> {
  const change: Record<string, unknown> = {};
  const named: string[] = [];
  for (const pair of pairs) {
    const match = /^([A-Za-z][\w-]*(?:\.[A-Za-z][\w-]*){0,7})=([\s\S]*)$/.exec(pair);
    if (!match)
      throw new NotDone(`${shown(pair)} is no change; write setting=value, such as totalActiveUsers=400.`, 2);
    const [, name = "", written = ""] = match;
    const other = named.find((one) => one === name || isInside(one, name) || isInside(name, one));
    if (other === name) throw new NotDone(`${name} is set twice; say it once.`, 2);
    if (other !== undefined)
      throw new NotDone(
        `${other} and ${name} are both set, and one is inside the other; set one of them.`,
        2,
      );
    named.push(name);
    put(change, name.split("."), readValue(written));
  }
  return change;
}

function isInside(name: string, other: string): boolean {
  return name.startsWith(`${other}.`);
}

/** Numbers, true, false, null, lists, mappings and texts in quotes as in JSON; everything else is a text. */
function readValue(written: string): unknown {
  try {
    return JSON.parse(written, (_, value: unknown) => {
      // JSON would send it as null, which takes a limit away.
      if (value === Number.POSITIVE_INFINITY || value === Number.NEGATIVE_INFINITY)
        throw new NotDone(`${shown(written)} is too large a number.`, 2);
      return value;
    });
  } catch (cause) {
    if (cause instanceof NotDone) throw cause;
    if (/^[[{"]/.test(written)) throw new NotDone(`${shown(written)} is not well-formed JSON.`, 2);
    return written;
  }
}

function put(change: Record<string, unknown>, [key, ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0 || rest.length > KEYS_MAX) change[key!] = value;
  else {
    const inner = isRecord(change[key!]) ? (change[key!] as Record<string, unknown>) : {};
    change[key!] = inner;
    put(inner, rest, value);
  }
}

/** What became of each setting that was named: `totalActiveUsers: 200 → 400`. */
export function changeLines(pairs: readonly string[], before: unknown, after: unknown): string[] {
  return pairs.map((pair) => {
    const path = pair.slice(0, pair.indexOf("="));
    const [was, is] = [at(before, path), at(after, path)];
    return was === is ? `${path}: ${is}, as it was` : `${path}: ${was} → ${is}`;
  });
}

function at(settings: unknown, path: string): string {
  let value = settings;
  for (const key of path.split("."))
    value = isRecord(value) && Object.hasOwn(value, key) ? value[key] : undefined;
  return value === undefined ? "unset" : safeText(JSON.stringify(value), SHOWN_CHARACTERS_MAX);
}

function shown(text: string): string {
  return `"${safeText(text, SHOWN_CHARACTERS_MAX)}"`;
}
