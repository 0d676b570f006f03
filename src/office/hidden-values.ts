/**
 * Values of a room's bypass rules that visitors must know to go past the line: what a header, cookie or query must be.
 * They may be secrets that partners were given, so nobody is shown them here, and whoever sends back what they were
 * shown changes nothing.
 *
 *   X-Hook-Key: a-long-text-nobody-guesses  ──hide──▶  hidden:8c1f…  ──restore──▶  a-long-text-nobody-guesses
 *
 * What is shown stands for the value itself, not for its place in the list, so rules may be moved, added and taken out
 * in between. It is made with a key that lives as long as the process: nobody can try values against it elsewhere. One
 * that stands for no value of the room is refused; taken as a value, it would lock partners out.
 */
import { createHmac } from "node:crypto";
import { formatPath, type Path } from "../config/problem.ts";
import { isRecord } from "../config/salvage.ts";
import type { RoomInput } from "../config/schema.ts";
import type { SettingProblem } from "./desk.ts";

export const HIDING_KEY_BYTES = 32;
const SIGN = "hidden:";
const SIGN_DIGITS = 16;
/** Both of these. */
const HIDDEN = /^hidden:[0-9a-f]{16}$/;
/** The conditions of a bypass rule that have such values. */
const CONDITIONS = ["header", "cookie", "query"] as const;

export type Restored =
  | { readonly ok: true; readonly change: unknown }
  | { readonly ok: false; readonly problems: readonly SettingProblem[] };

export interface Hiding {
  /** The settings without the values. */
  hide(room: RoomInput): RoomInput;
  /** The change with the values that it was not shown, out of `room` as it is now. */
  restore(room: RoomInput, change: unknown): Restored;
}

/** Hides with `key`, which nobody else may know. */
export function createHiding(key: Uint8Array): Hiding {
  const hidden = (value: string) => {
    const digits = createHmac("sha256", key).update(value).digest("hex");
    return SIGN + digits.slice(0, SIGN_DIGITS);
  };
  return {
    hide: (room) => withValues(room, hidden) as RoomInput,
    restore(room, change) {
      const known = new Map<string, string>();
      withValues(room, (value) => {
        known.set(hidden(value), value);
        return value;
      });
      const problems: SettingProblem[] = [];
      const restored = withValues(change, (value, path) => {
        const found = known.get(value);
        if (found === undefined && HIDDEN.test(value)) problems.push(unknownValue(path));
        return found ?? value;
      });
      return problems.length === 0 ? { ok: true, change: restored } : { ok: false, problems };
    },
  };
}

function unknownValue(path: Path): SettingProblem {
  return {
    path: formatPath(path),
    message: `${formatPath(path)} stands for a hidden value that the room does not have now`,
    hint: "Look at the room again, or write the value itself.",
  };
}

type Replace = (value: string, path: Path) => string;

/** Settings, or a change to them, with every such value replaced. What has another form is left to the checks. */
function withValues(settings: unknown, replace: Replace): unknown {
  if (!isRecord(settings)) return settings;
  const { bypass, events } = settings;
  const inEvent = (event: unknown, path: Path) =>
    isRecord(event) && event.bypass !== undefined
      ? { ...event, bypass: inRules(event.bypass, [...path, "bypass"], replace) }
      : event;
  return {
    ...settings,
    ...(bypass === undefined ? {} : { bypass: inRules(bypass, ["bypass"], replace) }),
    ...(events === undefined ? {} : { events: mapped(events, ["events"], inEvent) }),
  };
}

function inRules(rules: unknown, at: Path, replace: Replace): unknown {
  return mapped(rules, at, (rule, path) => {
    if (!isRecord(rule)) return rule;
    const conditions = CONDITIONS.filter((key) => isRecord(rule[key])).map((key) => {
      const names = Object.entries(rule[key] as object).map(([name, wanted]) => {
        return [name, inWanted(wanted, [...path, key, name], replace)];
      });
      return [key, Object.fromEntries(names)];
    });
    return { ...rule, ...Object.fromEntries(conditions) };
  });
}

function inWanted(wanted: unknown, path: Path, replace: Replace): unknown {
  if (typeof wanted === "string") return replace(wanted, path);
  return mapped(wanted, path, (value) => (typeof value === "string" ? replace(value, path) : value));
}

function mapped(list: unknown, at: Path, change: (entry: unknown, path: Path) => unknown): unknown {
  return Array.isArray(list) ? list.map((entry, index) => change(entry, [...at, index])) : list;
}
