/**
 * A change to a room while it runs: JSON with the names and values of the settings file, containing only what is to change.
 * The resulting room is written out as in a file and passes the file's checks, so anything the file would refuse is
 * refused here.
 *
 * Some settings cannot be changed this way: routes, origins and budgets, since they concern other rooms too; file names,
 * since permission to change a room must not give access to the disk; the set of lanes and the keys for their members.
 * Events are changed as one list. How the line is kept is fixed at the start, since visitors wait in it.
 */
import { z } from "zod";
import { noSuchLane } from "./check-lanes.ts";
import { furtherKeys, toFindings, UNKNOWN_KEYS_MAX, unknownKey } from "./issues.ts";
import { roomOutline } from "./outline.ts";
import {
  type Finding,
  formatPath,
  type Path,
  type Problem,
  type SettingSources,
  toProblem,
} from "./problem.ts";
import { type CheckPage, checkPageText, checkRoom, pagesOf, type RoomSurroundings } from "./room-check.ts";
import { isRecord, withoutWrapping } from "./salvage.ts";
import { type EventSettings, type RoomSettings, roomSchema } from "./schema.ts";
import { writtenRoom } from "./written.ts";

export type RoomChangeResult =
  | { readonly ok: true; readonly room: RoomSettings }
  | { readonly ok: false; readonly problems: readonly Problem[] };

/** Settings that only the file can change; a star stands for any name. */
const FILE_ONLY = new Set([
  "host",
  "path",
  "additionalRoutes",
  "origin",
  "budget",
  "guaranteed",
  "shop",
  "lanes.*.members.jwt",
  "page.customPageFile",
]);
/** Settings that hold from one start to the next. */
const SET_AT_START = new Set(["line", "shards", "peek"]);
const REQUEST: SettingSources = { find: () => ({ kind: "request", name: "request", spot: null }) };

/** What the checks of a room need besides it. */
export interface RoomContext extends RoomSurroundings {
  readonly checkPage: CheckPage;
}

/** The room with the change in it, or why it cannot be made. `current` itself is not changed. */
export function checkRoomChange(
  current: RoomSettings,
  change: unknown,
  context: RoomContext,
): RoomChangeResult {
  const findings: Finding[] = [];
  const changed = merge(roomSchema, current, change, { path: [], findings }) as RoomSettings;
  const room = { ...withOwnPage(current, changed), events: withOwnPages(current.events, changed.events) };
  if (findings.length === 0) findings.push(...fileNames(current, room));
  if (findings.length === 0) findings.push(...checkAsFile(withoutFiles(room), context));
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
  if (object instanceof z.ZodRecord && isRecord(current) && isRecord(change))
    return mergeLanes(object, current, change, { path, findings });
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
  let unknown = 0;
  for (const [key, value] of Object.entries(change)) {
    const at = [...path, key];
    if (!Object.hasOwn(object.shape, key)) {
      if (++unknown <= UNKNOWN_KEYS_MAX) findings.push(unknownKey(path, key, roomOutline()));
    } else if (isFileOnly(at)) findings.push(fileOnly(at));
    else if (isSetAtStart(at)) findings.push(setAtStart(at));
    else merged[key] = merge(object.shape[key] as z.ZodType, current[key], value, { path: at, findings });
  }
  findings.push(...furtherKeys(path, unknown));
  return merged;
}

/** Lanes are the one setting with free names. Which there are stays as it is. */
function mergeLanes(
  schema: z.ZodRecord,
  current: Readonly<Record<string, unknown>>,
  change: Readonly<Record<string, unknown>>,
  { path, findings }: Merging,
): unknown {
  const merged: Record<string, unknown> = { ...current };
  let unknown = 0;
  for (const [name, value] of Object.entries(change)) {
    const at = [...path, name];
    if (Object.hasOwn(current, name))
      merged[name] = merge(schema.valueType as z.ZodType, current[name], value, { path: at, findings });
    else if (++unknown <= UNKNOWN_KEYS_MAX) findings.push(unknownLane(at, name, Object.keys(current)));
  }
  findings.push(...furtherKeys(path, unknown));
  return merged;
}

function unknownLane(path: Path, name: string, lanes: readonly string[]): Finding {
  const { message, hint } = noSuchLane(name, lanes);
  const more = "A new lane is written in the settings file.";
  return {
    code: "conflict",
    path,
    at: "key",
    message: `${formatPath(path)}: ${message}`,
    hint: `${hint} ${more}`,
  };
}

function isFileOnly(path: Path): boolean {
  const [first, name, ...rest] = path;
  const pattern = first === "lanes" && name !== undefined ? [first, "*", ...rest] : path;
  return FILE_ONLY.has(pattern.join("."));
}

function isSetAtStart(path: Path): boolean {
  return SET_AT_START.has(path.join("."));
}

function setAtStart(path: Path): Finding {
  const message = `${formatPath(path)} cannot be changed while the room runs`;
  const hint = "Change it in the settings file; it holds from the next start on.";
  return { code: "invalid", path, at: "key", message, hint };
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

/** The checks that the room would have to pass in a file. */
function checkAsFile(room: RoomSettings, { checkPage, ...around }: RoomContext): Finding[] {
  const written = writtenRoom(room);
  const parsed = roomSchema.safeParse(written);
  if (!parsed.success) return toFindings(parsed.error.issues, written, roomOutline());
  const pages = [...pagesOf(room, [])].flatMap(([path, { customPageHtml }]) =>
    customPageHtml == null ? [] : checkPageText(customPageHtml, [...path, "customPageHtml"], checkPage),
  );
  return [...checkRoom(room, [], around), ...pages];
}

/** A page handed in takes the place of one that came from a file. */
function withOwnPage(current: RoomSettings, changed: RoomSettings): RoomSettings {
  const isReplaced = changed.page.customPageHtml !== current.page.customPageHtml;
  return isReplaced ? { ...changed, page: { ...changed.page, customPageFile: null } } : changed;
}

/** The same for events, which come as a whole list: one that still names its file has the text that was read from it. */
function withOwnPages(current: readonly EventSettings[], changed: readonly EventSettings[]): EventSettings[] {
  return changed.map((event) => {
    const before = current.find(({ name }) => name === event.name)?.page;
    const { page } = event;
    if (page?.customPageFile == null || page.customPageFile !== before?.customPageFile) return event;
    const customPageHtml = page.customPageHtml ?? before.customPageHtml ?? null;
    const isReplaced = customPageHtml !== (before.customPageHtml ?? null);
    return {
      ...event,
      page: { ...page, customPageHtml, customPageFile: isReplaced ? null : page.customPageFile },
    };
  });
}

/** Events may not name a file that their namesakes have not named before. */
function fileNames(current: RoomSettings, { events }: RoomSettings): Finding[] {
  return events.flatMap((event, index) => {
    const fileName = event.page?.customPageFile;
    const before = current.events.find(({ name }) => name === event.name);
    if (fileName == null || fileName === before?.page?.customPageFile) return [];
    return [fileOnly(["events", index, "page", "customPageFile"])];
  });
}

/** A page's text that was read from its file is no conflict with the file's name. */
function withoutFiles(room: RoomSettings): RoomSettings {
  const events = room.events.map((event) =>
    event.page ? { ...event, page: { ...event.page, customPageFile: null } } : event,
  );
  return { ...room, page: { ...room.page, customPageFile: null }, events };
}
