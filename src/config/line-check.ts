/**
 * What goes with a relaxed line, and what does not. Such a line is cut into pieces that know nothing of each other, and
 * who is next is the best of the few that were looked at. There is no one order to draw from or to change, none for
 * each lane, and no one place where several rooms, or turns that will not be used, could be counted.
 */
import { DEFAULT_PEEK, DEFAULT_SHARDS } from "./line-schema.ts";
import { type Finding, formatPath, type Path, safeText } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings, RoomSettings } from "./schema.ts";

const NAME_CHARACTERS_MAX = 60;

type KnownRoom = Known<RoomSettings>;

/** Problems of one room with its line, but for those that its events may have too. */
export function checkLine(room: KnownRoom, path: Path): Finding[] {
  if (room.line === undefined) return [];
  if (room.line === "exact") return checkUnused(room, path);
  return [
    ...checkPeek(room, path),
    ...checkLanes(room, path),
    ...checkBudget(room, path),
    ...checkDraws(room, path),
  ];
}

/** Rooms whose line needs Redis, where there is none. */
export function checkLineNeedsRedis({ redis, rooms }: Known<FileSettings>): Finding[] {
  if (redis !== null) return [];
  return Object.entries(rooms ?? {})
    .filter(([, room]) => room?.line === "relaxed")
    .map(([name]) => {
      const path = ["rooms", name, "line"];
      const message = `${formatPath(path)} is relaxed, and there is no redis to keep it in`;
      return {
        code: "conflict",
        path,
        at: "value",
        message,
        hint: "Write redis at the top, or set line to exact.",
      };
    });
}

/** Nobody is picked at random from a line in pieces. */
export function checkMethodOfLine({ line, queueingMethod }: KnownRoom, { path }: { path: Path }): Finding[] {
  if (line !== "relaxed" || queueingMethod !== "random") return [];
  const hint =
    "A line in pieces has no one order to pick from. Set queueingMethod to fifo, or line to exact.";
  return [withRelaxed([...path, "queueingMethod"], "is random", hint)];
}

/** How many turns will not be used is not known of a line in pieces. */
export function checkNoShowsOfLine({ line, fillNoShows }: KnownRoom, { path }: { path: Path }): Finding[] {
  if (line !== "relaxed" || !fillNoShows) return [];
  const hint = "Turns on top can be given only by an exact line. Take fillNoShows out, or set line to exact.";
  return [withRelaxed([...path, "fillNoShows"], "is true", hint)];
}

function checkUnused(room: KnownRoom, path: Path): Finding[] {
  const defaults = { shards: DEFAULT_SHARDS, peek: DEFAULT_PEEK } as const;
  return (["shards", "peek"] as const).flatMap((key): Finding[] => {
    const value = room[key];
    if (value === undefined || value === defaults[key]) return [];
    const at = [...path, key];
    const message = `${formatPath(at)} is ${value}, and the line is exact`;
    const hint = `Only a relaxed line is in pieces. Set line to relaxed, or take ${key} out.`;
    return [{ code: "conflict", path: at, at: "value", message, hint }];
  });
}

function checkPeek({ shards, peek }: KnownRoom, path: Path): Finding[] {
  if (shards === undefined || peek === undefined || peek <= shards) return [];
  const at = [...path, "peek"];
  const message = `${formatPath(at)} is ${peek}, which is more than shards, ${shards}`;
  return [{ code: "conflict", path: at, at: "value", message, hint: "Set peek to at most shards." }];
}

function checkLanes({ lanes }: KnownRoom, path: Path): Finding[] {
  const number = Object.keys(lanes ?? {}).length;
  if (number === 0) return [];
  const has = `has ${number === 1 ? "a lane" : `${number} lanes`} in it`;
  const hint = "A line in pieces has none. Take the lanes out, or set line to exact.";
  return [{ ...withRelaxed([...path, "lanes"], has, hint), at: "key" }];
}

function checkBudget({ budget }: KnownRoom, path: Path): Finding[] {
  if (budget == null) return [];
  const hint = "A room with such a line has its capacity to itself. Take budget out, or set line to exact.";
  return [withRelaxed([...path, "budget"], `is ${safeText(budget, NAME_CHARACTERS_MAX)}`, hint)];
}

function checkDraws({ events }: KnownRoom, path: Path): Finding[] {
  return (events ?? []).flatMap(({ shuffleAtEventStart }, index) => {
    if (!shuffleAtEventStart) return [];
    const hint = "The places of a line in pieces cannot be drawn. Take it out, or set line to exact.";
    return [withRelaxed([...path, "events", index, "shuffleAtEventStart"], "is true", hint)];
  });
}

function withRelaxed(path: Path, is: string, hint: string): Finding {
  const message = `${formatPath(path)} ${is}, and the line is relaxed`;
  return { code: "conflict", path, at: "value", message, hint };
}
