/** Checks of a relaxed line. What goes with such a line is in `capability-check.ts`. */
import type { KnownRoom } from "./door-check.ts";
import { DEFAULT_PEEK, DEFAULT_SHARDS } from "./line-schema.ts";
import { type Finding, formatPath, type Path } from "./problem.ts";

/** Problems of one room with its shards. */
export function checkLine(room: KnownRoom, path: Path): Finding[] {
  if (room.line === undefined) return [];
  return room.line === "exact" ? checkUnused(room, path) : checkPeek(room, path);
}

function checkUnused(room: KnownRoom, path: Path): Finding[] {
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

function checkPeek({ shards, peek }: KnownRoom, path: Path): Finding[] {
  if (shards === undefined || peek === undefined || peek <= shards) return [];
  const at = [...path, "peek"];
  const message = `${formatPath(at)} is ${peek}, which is more than shards, ${shards}`;
  return [{ code: "conflict", path: at, at: "value", message, hint: "Set peek to at most shards." }];
}
