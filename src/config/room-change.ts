/**
 * A change to a room while it runs. It is JSON with the names and the ways of writing of the settings file, holds only
 * what is to change, and passes the same checks: what the file would refuse is refused here.
 *
 * Routes and origins are not changed this way, since they concern other rooms too; nor are names of files, since
 * whoever may change a room must not thereby read the machine's disk.
 */
import { z } from "zod";
import type { CheckPage } from "./check.ts";
import { toFindings, unknownKey } from "./issues.ts";
import { roomOutline } from "./outline.ts";
import { type Finding, formatPath, type Path, type Places, type Problem, toProblem } from "./problem.ts";
import { checkRoom } from "./room-check.ts";
import { isRecord, withoutWrapping } from "./salvage.ts";
import { type RoomSettings, roomSchema } from "./schema.ts";

export type RoomChangeResult =
  | { readonly ok: true; readonly room: RoomSettings }
  | { readonly ok: false; readonly problems: readonly Problem[] };

const FILE_ONLY = new Set(["host", "path", "additionalRoutes", "origin", "page.customPageFile"]);
const REQUEST: Places = { find: () => ({ kind: "request", name: "request", spot: null }) };

/** The room with the change in it, or why it cannot be made. `current` itself is not changed. */
export function checkRoomChange(
  current: RoomSettings,
  change: unknown,
  checkPage: CheckPage = () => null,
): RoomChangeResult {
  const findings: Finding[] = [];
  const changed = merge(roomSchema, current, change, { path: [], findings }) as RoomSettings;
  const room = withOwnPage(current, changed);
  if (findings.length === 0)
    findings.push(...checkRoom(withoutFile(room), []), ...checkHtml(current, room, checkPage));
  if (findings.length === 0) return { ok: true, room };
  return { ok: false, problems: findings.map((finding) => toProblem(finding, REQUEST)) };
}

interface Merging {
  readonly path: Path;
  readonly findings: Finding[];
}

/** `current` with the keys of `change` parsed into it; mappings are merged, everything else is replaced. */
function merge(schema: z.ZodType, current: unknown, change: unknown, { path, findings }: Merging): unknown {
  const object = withoutWrapping(schema);
  if (!(object instanceof z.ZodObject) || !isRecord(current) || (!isRecord(change) && path.length > 0)) {
    const parsed = schema.safeParse(change);
    if (parsed.success) return parsed.data;
    const issues = parsed.error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] }));
    findings.push(...toFindings(issues, nest(path, change), roomOutline()));
    return current;
  }
  if (!isRecord(change)) {
    findings.push(notAMapping());
    return current;
  }
  const merged: Record<string, unknown> = { ...current };
  for (const [key, value] of Object.entries(change)) {
    const at = [...path, key];
    if (!Object.hasOwn(object.shape, key)) findings.push(unknownKey(path, key, roomOutline()));
    else if (FILE_ONLY.has(at.join("."))) findings.push(fileOnly(at));
    else merged[key] = merge(object.shape[key] as z.ZodType, current[key], value, { path: at, findings });
  }
  return merged;
}

function notAMapping(): Finding {
  const hint = 'It should be an object with the settings to change, such as {"paused": true}.';
  return { code: "invalid", path: [], at: "value", message: "the change is not an object", hint };
}

function fileOnly(path: Path): Finding {
  const message = `${formatPath(path)} cannot be changed while the room runs`;
  return { code: "invalid", path, at: "key", message, hint: "Change it in the settings file and reload." };
}

function nest(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, part) => ({ [part]: inner }), value);
}

function checkHtml(current: RoomSettings, { page }: RoomSettings, checkPage: CheckPage): Finding[] {
  const html = page.customPageHtml;
  const wrong = html !== null && html !== current.page.customPageHtml ? checkPage(html) : null;
  if (!wrong) return [];
  const path = ["page", "customPageHtml"];
  return [{ code: "invalid", path, at: "key", message: `${path.join(".")}: ${wrong}`, hint: "" }];
}

/** A page handed in takes the place of one that came from a file. */
function withOwnPage(current: RoomSettings, changed: RoomSettings): RoomSettings {
  const isReplaced = changed.page.customPageHtml !== current.page.customPageHtml;
  return isReplaced ? { ...changed, page: { ...changed.page, customPageFile: null } } : changed;
}

/** A page's text that was read from its file is no conflict with the file's name. */
function withoutFile(room: RoomSettings): RoomSettings {
  return { ...room, page: { ...room.page, customPageFile: null } };
}
