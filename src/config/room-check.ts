/**
 * Checks between the settings of one room, and between rooms. The first kind also guards changes made while the room
 * runs, so that nothing can be set that way which the file would refuse.
 */
import { checkRoomCapabilities, engineOf, type LineKind } from "./capability-check.ts";
import { checkLanes } from "./check-lanes.ts";
import { checkCookieDomain } from "./cookie-check.ts";
import { checkDoor, type KnownRoom } from "./door-check.ts";
import { checkEvents } from "./event-check.ts";
import { checkLine } from "./line-schema.ts";
import { isName, NAME_SHAPE } from "./name.ts";
import { readPlainPath } from "./plain-path.ts";
import { type Finding, formatPath, type Path, safeText } from "./problem.ts";
import type { Known } from "./salvage.ts";
import { type FileSettings, type PageSettings, ROOMS_MAX, type Route } from "./schema.ts";

/** What is wrong with a custom waiting page, or null. */
export type CheckPage = (html: string) => string | null;

/** What a room is checked against besides itself. */
export interface RoomSurroundings {
  /** Undefined where they are not known. */
  readonly trustedProxies: readonly string[] | undefined;
  /** Where the lines of all rooms live. */
  readonly lineKind: LineKind;
}

/** Problems inside one room, but for its pages' texts. */
export function checkRoom(room: KnownRoom, path: Path, around: RoomSurroundings): Finding[] {
  const { trustedProxies, lineKind } = around;
  return [
    ...checkDoor(room, {
      path,
      who: path.length > 1 ? `room ${path[1]}` : "the room",
      isWritten: () => true,
      lineKind,
    }),
    ...checkLanes(room, path, trustedProxies),
    ...checkCookie(room, path),
    ...checkCookieDomain(room, path),
    ...checkGuaranteed(room, path),
    ...checkLine(room, path),
    ...checkRoomCapabilities(room, path, engineOf(lineKind, room)),
    ...checkEvents(room, path, lineKind),
  ];
}

/** Every page of a room, its own and its events', with its path. */
export function* pagesOf(room: KnownRoom, path: Path): Generator<[Path, Known<PageSettings>]> {
  if (room.page) yield [[...path, "page"], room.page];
  for (const [index, { page }] of (room.events ?? []).entries())
    if (page) yield [[...path, "events", index, "page"], page];
}

/** Problems with the text of one page; `path` is where it was written. */
export function checkPageText(html: string, path: Path, checkPage: CheckPage): Finding[] {
  const wrong = checkPage(html);
  if (wrong === null) return [];
  return [{ code: "invalid", path, at: "key", message: `${formatPath(path)}: ${wrong}`, hint: "" }];
}

function checkCookie({ cookieAttributes: cookie }: KnownRoom, path: Path): Finding[] {
  if (cookie?.sameSite !== "none" || cookie.secure !== "never") return [];
  const at = [...path, "cookieAttributes", "secure"];
  const message = `${at.join(".")} is never while sameSite is none`;
  const hint = "Browsers throw such a cookie away. It should be auto or always.";
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}

function checkGuaranteed({ budget, guaranteed }: KnownRoom, path: Path): Finding[] {
  if (budget !== null || !guaranteed) return [];
  const at = [...path, "guaranteed"];
  const message = `${at.join(".")} is ${guaranteed}, and the room has no budget to have them from`;
  const hint = "Name one of the budgets at the top as its budget, or take guaranteed out.";
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}

/** Problems between rooms: their names, number, origins and routes. */
export function checkRooms(settings: Known<FileSettings>): Finding[] {
  const rooms = settings.rooms;
  if (!rooms) return [];
  const names = Object.keys(rooms);
  return [...checkNumber(names.length), ...checkOrigins(settings), ...checkRoutes(rooms)];
}

/** Problems with rooms' names, which the schema leaves to this. */
export function checkNames(rooms: object): Finding[] {
  return Object.keys(rooms)
    .filter((name) => !isName(name))
    .map((name) => ({
      code: "invalid",
      path: ["rooms", name],
      at: "key",
      message: `"${safeText(name, 60)}" cannot be a room's name`,
      hint: `A name is ${NAME_SHAPE}.`,
    }));
}

function checkNumber(rooms: number): Finding[] {
  const at = { path: ["rooms"], at: "key" } as const;
  if (rooms > ROOMS_MAX) {
    return [
      { ...at, code: "too-large", message: `there are ${rooms} rooms`, hint: `There can be ${ROOMS_MAX}.` },
    ];
  }
  if (rooms > 0) return [];
  return [{ ...at, code: "missing", message: "there is no room", hint: "Write at least one under rooms." }];
}

function checkOrigins(settings: Known<FileSettings>): Finding[] {
  if (settings.origin !== null || settings.forwardAuth === true) return [];
  return Object.entries(settings.rooms ?? {})
    .filter(([, room]) => room?.origin === null)
    .map(([name]) => ({
      code: "no-origin",
      path: ["rooms", name],
      at: "key",
      message: `room ${name} has no origin, and there is none at the top`,
      hint: "Write origin at the top, or in the room.",
    }));
}

interface Claim {
  readonly room: string;
  readonly path: Path;
}

/** No two rooms, and no room twice, may have the same host and path. */
function checkRoutes(rooms: Known<FileSettings["rooms"]>): Finding[] {
  const claims = new Map<string, Claim>();
  const found: Finding[] = [];
  for (const [name, room] of Object.entries(rooms)) {
    for (const [route, path] of routesOf(name, room ?? {})) {
      const text = `${route.host ?? "(every host)"}${route.path.toLowerCase()}`;
      // The gateway compares paths without regard to case or accents, so that no spelling slips past.
      const claimed = `${route.host ?? ""}${keyOf(route.path)}`;
      const first = claims.get(claimed);
      if (!first) claims.set(claimed, { room: name, path });
      else found.push(sameRoute(text, first, { room: name, path }));
    }
  }
  return found;
}

function keyOf(path: string): string {
  const plain = readPlainPath(path);
  return "wrong" in plain ? path : plain.key;
}

/** The routes of a room, with where they are written. */
export function* routesOf(name: string, room: KnownRoom): Generator<[Route, Path]> {
  if (room.host !== undefined && room.path !== undefined) {
    const written = room.host !== null ? "host" : "path";
    yield [{ host: room.host, path: room.path }, ["rooms", name, written]];
  }
  for (const [index, route] of (room.additionalRoutes ?? []).entries()) {
    yield [route, ["rooms", name, "additionalRoutes", index]];
  }
}

function sameRoute(route: string, first: Claim, second: Claim): Finding {
  const who =
    first.room === second.room
      ? `room ${first.room} has`
      : `rooms ${first.room} and ${second.room} both have`;
  const hint = "Give one of them another host or path, or take it out.";
  const twice = first.room === second.room ? " twice" : "";
  return {
    code: "conflict",
    path: second.path,
    at: "value",
    message: `${who} the route ${route}${twice}`,
    hint,
  };
}
