/**
 * Refuses what a room's engine cannot do, by its capabilities (core/capabilities.ts). Which settings need which
 * capability is written here once, with the words that say so.
 */
import { CAPABILITIES, type Capability, type EngineKind } from "../core/capabilities.ts";
import { type Finding, formatPath, type Path, safeText } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings, RoomSettings } from "./schema.ts";

const NAME_CHARACTERS_MAX = 60;

type KnownRoom = Known<RoomSettings>;

/** Where the lines of all rooms live. */
export type LineKind = Exclude<EngineKind, "relaxed">;

/** Where the lines live, by settings that say so. */
export function lineKindOf({
  redis,
  cluster,
}: Readonly<Partial<Record<"redis" | "cluster", object | null>>>): LineKind {
  return redis ? "redis" : cluster ? "cluster" : "memory";
}

/** The engine of one room. */
export function engineOf(lineKind: LineKind, { line }: Pick<KnownRoom, "line">): EngineKind {
  return line === "relaxed" ? "relaxed" : lineKind;
}

/** A setting that needs a capability, as written in a room. */
interface Use {
  readonly path: Path;
  readonly at?: "key";
  /** "is true", "has 2 lanes in it". */
  readonly is: string;
}

interface Needs {
  readonly capability: Capability;
  readonly uses: (room: KnownRoom, path: Path) => readonly Use[];
  /** Why such an engine cannot do it, and what to take out. */
  readonly hints: Partial<Readonly<Record<EngineKind, string>>>;
  /** What else to do, where not everything that the engine lacks is in the engine that its words name. */
  readonly instead?: string;
}

type DoorKey = "queueingMethod" | "fillNoShows";

/** What stands in a door's settings, which each event may have for itself. */
const DOOR_NEEDS: readonly (Needs & { readonly key: DoorKey })[] = [
  {
    capability: "turnsOnTop",
    key: "fillNoShows",
    uses: ({ fillNoShows }, path) => (fillNoShows ? [{ path: [...path, "fillNoShows"], is: "is true" }] : []),
    hints: {
      relaxed: "Turns on top can be given only by an exact line. Take fillNoShows out",
      cluster: "Several nodes cannot count turns on top. Take fillNoShows out",
    },
  },
  {
    capability: "randomOrder",
    key: "queueingMethod",
    uses: ({ queueingMethod }, path) =>
      queueingMethod === "random" ? [{ path: [...path, "queueingMethod"], is: "is random" }] : [],
    hints: { relaxed: "A relaxed line has no single order to pick from. Take queueingMethod out" },
  },
];

const ROOM_NEEDS: readonly Needs[] = [
  {
    capability: "lanes",
    uses: ({ lanes }, path) => {
      const number = Object.keys(lanes ?? {}).length;
      const is = `has ${number === 1 ? "a lane" : `${number} lanes`} in it`;
      return number === 0 ? [] : [{ path: [...path, "lanes"], at: "key", is }];
    },
    hints: { relaxed: "A relaxed line has no lanes. Take the lanes out" },
  },
  {
    capability: "budgets",
    uses: ({ budget }, path) =>
      budget == null
        ? []
        : [{ path: [...path, "budget"], is: `is ${safeText(budget, NAME_CHARACTERS_MAX)}` }],
    hints: { relaxed: "A room with such a line has its capacity to itself. Take budget out" },
  },
  {
    capability: "draws",
    uses: ({ events = [] }, path) =>
      events.flatMap(({ shuffleAtEventStart }, index) =>
        shuffleAtEventStart
          ? [{ path: [...path, "events", index, "shuffleAtEventStart"], is: "is true" }]
          : [],
      ),
    hints: { relaxed: "The places of a relaxed line cannot be drawn. Take it out" },
  },
  {
    capability: "shop",
    uses: ({ shop }, path) =>
      shop == null ? [] : [{ path: [...path, "shop"], is: `is ${safeText(shop, NAME_CHARACTERS_MAX)}` }],
    hints: {
      relaxed: "A room with a shop needs an exact line. Take shop out",
      cluster: "Nodes of a cluster have no place in common for a shop's stock. Take shop out",
    },
    instead: "or keep an exact line in memory, with a data directory, or in Redis",
  },
];

const WORDS: Readonly<Record<EngineKind, { readonly is: string; readonly instead: string }>> = {
  memory: { is: "the line is in memory", instead: "or keep the line in Redis" },
  redis: { is: "the line is in Redis", instead: "or keep the line in memory" },
  relaxed: { is: "the line is relaxed", instead: "or set line to exact" },
  cluster: { is: "the line is in a cluster", instead: "or keep the line in Redis" },
};

/** What a room has in it that its engine cannot do, but for what its events may have too. */
export function checkRoomCapabilities(room: KnownRoom, path: Path, engine: EngineKind): Finding[] {
  return ROOM_NEEDS.flatMap((needs) => missing(needs, room, path, engine));
}

/** The same for the settings of one door. */
export function checkDoorCapabilities(
  room: KnownRoom,
  { path, isWritten, lineKind }: { path: Path; isWritten: (key: DoorKey) => boolean; lineKind: LineKind },
): Finding[] {
  const engine = engineOf(lineKind, room);
  return DOOR_NEEDS.filter(({ key }) => isWritten(key)).flatMap((needs) =>
    missing(needs, room, path, engine),
  );
}

function missing(
  { capability, uses, hints, instead: own }: Needs,
  room: KnownRoom,
  path: Path,
  engine: EngineKind,
): Finding[] {
  if (CAPABILITIES[engine][capability]) return [];
  const { is: engineIs, instead } = WORDS[engine];
  const hint = `${hints[engine] ?? "It cannot do that. Take it out"}, ${own ?? instead}.`;
  return uses(room, path).map(({ path: at, at: part = "value" as const, is }): Finding => {
    const message = `${formatPath(at)} ${is}, and ${engineIs}`;
    return { code: "conflict", path: at, at: part, message, hint };
  });
}

/** Rooms whose line needs Redis, where there is none. */
export function checkLineNeedsRedis({ redis, rooms }: Known<FileSettings>): Finding[] {
  if (redis !== null) return [];
  return Object.entries(rooms ?? {})
    .filter(([, room]) => room?.line === "relaxed")
    .map(([name]): Finding => {
      const path = ["rooms", name, "line"];
      const message = `${formatPath(path)} is relaxed, and there is no redis to keep it in`;
      const hint = "Write redis at the top, or set line to exact.";
      return { code: "conflict", path, at: "value", message, hint };
    });
}
