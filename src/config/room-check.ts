/**
 * Checks between the settings of one room, and between rooms. The first kind also guards changes made while the room
 * runs, so that nothing can be set that way which the file would refuse.
 */
import { type Finding, type Path, safeText } from "./problem.ts";
import type { Known } from "./salvage.ts";
import {
  type FileSettings,
  ROOM_NAME,
  ROOM_NAME_SHAPE,
  ROOMS_MAX,
  type RoomSettings,
  type Route,
} from "./schema.ts";
import { formatDuration } from "./units.ts";

type KnownRoom = Known<RoomSettings>;

/** Problems inside one room. */
export function checkRoom(room: KnownRoom, path: Path): Finding[] {
  return [
    ...checkLimits(room, path),
    ...checkAtMostTicketTtl(room, path, "claimWindow"),
    ...checkAtMostTicketTtl(room, path, "lapseAfter"),
    ...checkCookie(room, path),
    ...checkPage(room, path),
  ];
}

function checkLimits(room: KnownRoom, path: Path): Finding[] {
  if (room.totalActiveUsers !== null || room.newUsersPerMinute !== null) return [];
  const message = `${roomName(path)} has neither totalActiveUsers nor newUsersPerMinute, so it would never make anyone wait`;
  return [{ code: "no-limit", path, at: "key", message, hint: "Set one of them, or both." }];
}

function checkAtMostTicketTtl(room: KnownRoom, path: Path, key: "claimWindow" | "lapseAfter"): Finding[] {
  const ttl = room.ticketTtl;
  const value = room[key];
  if (ttl === undefined || value === undefined || value <= ttl) return [];
  const at = [...path, key];
  const message = `${at.join(".")} is ${formatDuration(value)}, which is longer than ticketTtl, ${formatDuration(ttl)}`;
  return [{ code: "conflict", path: at, at: "value", message, hint: "It should be at most ticketTtl." }];
}

function checkCookie({ cookieAttributes: cookie }: KnownRoom, path: Path): Finding[] {
  if (cookie?.sameSite !== "none" || cookie.secure !== "never") return [];
  const at = [...path, "cookieAttributes", "secure"];
  const message = `${at.join(".")} is never while sameSite is none`;
  const hint = "Browsers throw such a cookie away. It should be auto or always.";
  return [{ code: "conflict", path: at, at: "value", message, hint }];
}

function checkPage({ page }: KnownRoom, path: Path): Finding[] {
  if (!page?.customPageHtml || !page.customPageFile) return [];
  const at = [...path, "page", "customPageFile"];
  const message = `${[...path, "page"].join(".")} has both customPageHtml and customPageFile`;
  return [{ code: "conflict", path: at, at: "key", message, hint: "Keep one of them." }];
}

/** "room main", or "the room" where a change names none. */
function roomName(path: Path): string {
  return path.length > 1 ? `room ${path[1]}` : "the room";
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
    .filter((name) => !ROOM_NAME.test(name))
    .map((name) => ({
      code: "invalid",
      path: ["rooms", name],
      at: "key",
      message: `"${safeText(name, 60)}" cannot be a room's name`,
      hint: `A name is ${ROOM_NAME_SHAPE}.`,
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
  if (settings.origin !== null) return [];
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
      // The gateway compares paths without regard to case, so that no spelling slips past.
      const text = `${route.host ?? "(every host)"}${route.path.toLowerCase()}`;
      const first = claims.get(text);
      if (!first) claims.set(text, { room: name, path });
      else found.push(sameRoute(text, first, { room: name, path }));
    }
  }
  return found;
}

function* routesOf(name: string, room: KnownRoom): Generator<[Route, Path]> {
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
