/**
 * Hides the values in a room's bypass rules: what a header, cookie or query must be to skip the line. They may be secrets
 * that partners were given, so each is shown as a stand-in, and a change that sends the stand-in back keeps the value.
 *
 *   X-Hook-Key: a-long-text-nobody-guesses  ──hide──▶  hidden:8c1f…  ──restore──▶  a-long-text-nobody-guesses
 *
 * A stand-in is derived from the value, not from its index in the list, so rules may be moved, added and removed. It is
 * keyed with a key that lives as long as the process, so values cannot be guessed against it elsewhere. A stand-in for no
 * value of the room is refused; stored as a value, it would lock partners out.
 */
import { createHmac } from "node:crypto";
import { formatPath, type Path } from "../config/problem.ts";
import { isRecord } from "../config/salvage.ts";
import type { RoomInput } from "../config/schema.ts";
import type { SettingProblem } from "./desk.ts";

export const HIDING_KEY_BYTES = 32;
const SIGN = "hidden:";
const SIGN_DIGITS = 16;
/** `SIGN` and its digits. */
const HIDDEN = /^hidden:[0-9a-f]{16}$/;
/** The conditions of a bypass rule that have such values. */
const CONDITIONS = ["header", "cookie", "query"] as const;

export type Restored =
  | { readonly ok: true; readonly change: unknown }
  | { readonly ok: false; readonly problems: readonly SettingProblem[] };

export interface Hiding {
  /** The settings without the values. */
  hide(room: RoomInput): RoomInput;
  /** The change with stand-ins replaced by the values of `room` as it is now. */
  restore(room: RoomInput, change: unknown): Restored;
}

/** Hides values with `key`, which must be secret. */
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
    message: `${formatPath(path)} stands for a hidden value that the room does not have`,
    hint: "Read the room again, or write the value itself.",
  };
}

type Replace = (value: string, path: Path) => string;

/** Settings, or a change to them, with every such value replaced. Malformed parts are left to the checks. */
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
