/**
 * What the schema found wrong, in words for people: the setting, the value as it was written, and what it should be.
 * The words come from the setting's own `shape`, so that they are the same in the messages and in the documentation.
 * Values of secrets are never shown.
 */
import type { z } from "zod";
import { longerNames, nearest } from "./nearest.ts";
import { isMappingSetting, pathsOf, type Setting, settingAt } from "./outline.ts";
import { type Finding, formatPath, type Path, safeText } from "./problem.ts";

type Issue = z.core.$ZodIssue;

const VALUE_CHARACTERS_MAX = 60;
/** A list of more names than this helps nobody. */
const KNOWN_KEYS_SHOWN_MAX = 30;
export const UNKNOWN_KEYS_MAX = 50;
/** Beyond this, only the number of further problems is shown. */
const ISSUES_MAX = 200;

/** The findings for everything zod reported about `input`. */
export function toFindings(issues: readonly Issue[], input: unknown, root: Setting): Finding[] {
  const found = issues.slice(0, ISSUES_MAX).flatMap((issue) => {
    const path = issue.path as Path;
    if (issue.code === "unrecognized_keys") return unknownKeys(path, issue.keys, root);
    return [invalidValue(issue, path, valueAt(input, path), settingAt(root, path))];
  });
  if (issues.length <= ISSUES_MAX) return found;
  const path = issues[ISSUES_MAX]!.path as Path;
  const message = `there are ${issues.length - ISSUES_MAX} more values that are not right`;
  return [...found, finding("invalid", path, message, "")];
}

function unknownKeys(path: Path, keys: readonly string[], root: Setting): Finding[] {
  const shown = keys.slice(0, UNKNOWN_KEYS_MAX).map((key) => unknownKey(path, key, root));
  return [...shown, ...furtherKeys(path, keys.length)];
}

/** That there are more unknown keys at this place than are shown, if so. */
export function furtherKeys(path: Path, count: number): Finding[] {
  if (count <= UNKNOWN_KEYS_MAX) return [];
  const message = `there are ${count - UNKNOWN_KEYS_MAX} more settings here that do not exist`;
  return [{ code: "unknown-key", path, at: "key", message, hint: "" }];
}

/** A key that no setting has at this place. */
export function unknownKey(path: Path, key: string, root: Setting): Finding {
  const known = settingAt(root, path)?.children.map((child) => child.key) ?? [];
  const where = path.length > 0 ? ` in ${formatPath(path)}` : "";
  const message = `there is no setting "${safeText(key, VALUE_CHARACTERS_MAX)}"${where}`;
  return {
    code: "unknown-key",
    path: [...path, key],
    at: "key",
    message,
    hint: unknownKeyHint(key, known, root),
  };
}

function unknownKeyHint(key: string, known: readonly string[], root: Setting): string {
  const near = nearest(key, known);
  const meant = near ? [near] : longerNames(key, known);
  if (meant.length > 0) return `Did you mean ${meant.join(" or ")}?`;
  const elsewhere = pathsOf(root, key);
  if (elsewhere.length > 0) return `It belongs ${elsewhere.map(parentOf).join(" or ")}.`;
  if (known.length > KNOWN_KEYS_SHOWN_MAX) return "fairgate.example.yaml shows every setting there is.";
  return `Known here: ${known.join(", ")}.`;
}

function parentOf(path: string): string {
  const parent = path.slice(0, Math.max(0, path.lastIndexOf(".")));
  return parent ? `in ${parent}` : "at the top";
}

function invalidValue(issue: Issue, path: Path, value: unknown, setting: Setting | null): Finding {
  const name = formatPath(path) || "the file";
  if (value === undefined) return finding("missing", path, `${name} is missing`, shouldBe(setting));
  if (value === null) return finding("missing", path, `${name} is empty`, orLeaveOut(setting));
  const reason = reasonOf(issue, value, setting);
  const shown = setting?.isSecret ? "" : ` is ${showValue(value)}`;
  const message = shown
    ? name + shown + (reason && `, which ${reason}`)
    : `${name} ${reason || "is not text"}`;
  return finding("invalid", path, message, shouldBe(setting) + advice(value, setting));
}

function finding(code: "missing" | "invalid", path: Path, message: string, hint: string): Finding {
  return { code, path, at: "value", message, hint };
}

function reasonOf(issue: Issue, value: unknown, setting: Setting | null): string {
  if (issue.code === "custom") return issue.message;
  if (typeof value === "number" && isWithUnit(setting)) return "has no unit";
  if (typeof value === "number" && setting?.kind === "percent") return "has no percent sign";
  if (issue.code === "too_big" && typeof value === "string") return `has ${value.length} characters`;
  if (Array.isArray(value) && (issue.code === "too_big" || issue.code === "too_small"))
    return `has ${value.length} entries`;
  return "";
}

function isWithUnit(setting: Setting | null): boolean {
  return setting?.kind === "duration" || setting?.kind === "size";
}

/** The value as the user would recognise it. */
function showValue(value: unknown): string {
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "a mapping";
  if (typeof value !== "string") return String(value);
  return `"${safeText(value, VALUE_CHARACTERS_MAX)}"`;
}

/** "It should be …" in the setting's own words. */
function shouldBe(setting: Setting | null): string {
  if (!setting) return "";
  if (setting.shape) return `It should be ${setting.shape}.`;
  const keys = setting.children.map((child) => child.key).join(", ");
  return keys ? `It should be a mapping with ${keys}.` : "It should be a mapping with a name for each entry.";
}

function orLeaveOut(setting: Setting | null): string {
  if (setting?.default === undefined || isMappingSetting(setting)) return shouldBe(setting);
  return `${shouldBe(setting)} Leave the line out for the default, ${JSON.stringify(setting.default)}.`;
}

/** The very thing to write, where it is easy to guess. */
function advice(value: unknown, setting: Setting | null): string {
  const kind = setting?.kind;
  if (typeof value !== "object" && /^\d{1,12}$/.test(String(value))) {
    if (kind === "duration") return ` Write ${value}s for seconds.`;
    if (kind === "size") return ` Write ${value}B for bytes.`;
  }
  if (kind === "percent" && /^\d{1,3}(?:\.\d{1,2})?$/.test(String(value))) return ` Write ${value}%.`;
  if (typeof value === "number" && (kind === "text" || kind === "secret")) return " Write it in quotes.";
  if (typeof value !== "string") return "";
  if (kind === "count" && /^\d[\d_, ]*$/.test(value))
    return ` Write ${value.replace(/\D/g, "")}, without quotes.`;
  if (kind === "number" && /^\d+(?:\.\d+)?$/.test(value)) return ` Write ${value}, without quotes.`;
  if (kind === "instant" && /^[^T ]*[T ]\d{2}:\d{2}(?::\d{2})?$/i.test(value))
    return " Write Z or an offset such as +02:00 at its end.";
  if (kind === "boolean" && /^(?:yes|on|true)$/i.test(value)) return " Write true.";
  if (kind === "boolean" && /^(?:no|off|false)$/i.test(value)) return " Write false.";
  if (kind === "choice" && /^\d+$/.test(value)) return " Write it without quotes.";
  return "";
}

function valueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const part of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, part)) return undefined;
    value = (value as Record<string | number, unknown>)[part];
  }
  return value;
}
