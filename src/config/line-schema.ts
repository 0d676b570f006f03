/**
 * How a room's line is kept: exactly, in one place, or relaxed, divided into shards so that one very long line can be
 * spread over the nodes of a Redis cluster. What a relaxed line excludes is in `capability-check.ts`.
 */
import { choice, count, setting } from "./kinds.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";

export const SHARDS_MAX = 64;
const DEFAULT_SHARDS = 8;
const DEFAULT_PEEK = 2;

/** The settings of a room that are about its line. */
export const lineSettings = {
  line: setting(choice(["exact", "relaxed"]), "exact").describe(
    "`exact`: visitors are admitted in the order they came. `relaxed`: nearly so, with one line divided into `shards` that live on different nodes of a Redis cluster; needs `redis`, and excludes `lanes`, `budget`, `fillNoShows`, `random` and a draw.",
  ),
  shards: setting(count({ min: 1, max: SHARDS_MAX }), DEFAULT_SHARDS).describe(
    "With `line: relaxed`: how many shards the line has. More shards make it faster and its order less exact.",
  ),
  peek: setting(count({ min: 1, max: SHARDS_MAX }), DEFAULT_PEEK).describe(
    "With `line: relaxed`: how many shards are looked at to find who is next. A higher number makes the order more exact and costs more work. At most `shards`.",
  ),
};

interface KnownLine {
  readonly line?: "exact" | "relaxed";
  readonly shards?: number;
  readonly peek?: number;
}

/** Problems between the settings of a room's line. */
export function checkLine(room: KnownLine, path: Path): Finding[] {
  if (room.line === undefined) return [];
  return room.line === "exact" ? checkUnused(room, path) : checkPeek(room, path);
}

function checkUnused(room: KnownLine, path: Path): Finding[] {
  const defaults = { shards: DEFAULT_SHARDS, peek: DEFAULT_PEEK } as const;
  return (["shards", "peek"] as const).flatMap((key): Finding[] => {
    const value = room[key];
    if (value === undefined || value === defaults[key]) return [];
    const at = [...path, key];
    const message = `${formatPath(at)} is ${value}, and the line is exact`;
    const hint = `Only a relaxed line has shards. Set line to relaxed, or take ${key} out.`;
    return [{ code: "conflict", path: at, at: "value", message, hint }];
  });
}

function checkPeek({ shards, peek }: KnownLine, path: Path): Finding[] {
  if (shards === undefined || peek === undefined || peek <= shards) return [];
  const at = [...path, "peek"];
  const message = `${formatPath(at)} is ${peek}, which is more than shards, ${shards}`;
  return [{ code: "conflict", path: at, at: "value", message, hint: "Set peek to at most shards." }];
}
