/**
 * Settings from the command line. Without a file they make one room, `main`, for every host and path. With a file they
 * change what it says: those for the whole of Fairgate always, those for a room only when the file has one room, since
 * it could not be told which one is meant otherwise.
 */
import type { Path, Problem, SettingSources, Source } from "./problem.ts";
import { isRecord } from "./salvage.ts";

export interface FlagDefinition {
  /** As commander takes it: `--listen <address>`. */
  readonly flag: string;
  /** The property of `Flags` that holds its value. */
  readonly name: keyof FlagValues;
  /** The setting it stands for; for a room's flag, inside the room. */
  readonly path: readonly string[];
  readonly scope: "whole" | "origin" | "room";
  readonly isNumber: boolean;
  readonly isRepeatable: boolean;
  /** Takes no value: it only makes the mapping, where there is none. */
  readonly isSwitch?: boolean;
  /** The file may have its value alone, as a text in place of the mapping. */
  readonly isShort?: boolean;
  readonly description: string;
}

export interface FlagValues {
  readonly listen?: string | undefined;
  readonly controlListen?: string | undefined;
  readonly logLevel?: string | undefined;
  readonly accessLog?: string | undefined;
  readonly data?: string | undefined;
  readonly redis?: string | undefined;
  readonly cluster?: boolean | undefined;
  readonly clusterListen?: string | undefined;
  readonly clusterAdvertise?: string | undefined;
  readonly clusterName?: string | undefined;
  readonly join?: readonly string[] | undefined;
  readonly trustedProxy?: readonly string[] | undefined;
  readonly origin?: readonly string[] | undefined;
  readonly hostHeader?: string | undefined;
  readonly host?: string | undefined;
  readonly path?: string | undefined;
  readonly totalActiveUsers?: string | undefined;
  readonly newUsersPerMinute?: string | undefined;
  readonly sessionDuration?: string | undefined;
  readonly queueingMethod?: string | undefined;
}

/** What the command line says. `isDemo`: a secret is not needed, one is made for the run. */
export interface Flags extends FlagValues {
  readonly isDemo?: boolean;
}

const whole = { scope: "whole", isNumber: false, isRepeatable: false } as const;
const room = { scope: "room", isNumber: false, isRepeatable: false } as const;

/** Every flag that stands for a setting. */
export const FLAGS: readonly FlagDefinition[] = [
  {
    ...whole,
    flag: "--listen <address>",
    name: "listen",
    path: ["listen"],
    description: "address for visitors",
  },
  {
    ...whole,
    flag: "--control-listen <address>",
    name: "controlListen",
    path: ["control", "listen"],
    description: "address for operators",
  },
  {
    ...whole,
    flag: "--log-level <level>",
    name: "logLevel",
    path: ["log", "level"],
    description: "debug, info, warn or error",
  },
  {
    ...whole,
    flag: "--access-log <file>",
    name: "accessLog",
    path: ["accessLog", "to"],
    isShort: true,
    description: "a line for every request, to this file, or to stdout",
  },
  {
    ...whole,
    flag: "--data <directory>",
    name: "data",
    path: ["data"],
    description: "directory to keep the line in, so that a crash costs nobody their place",
  },
  {
    ...whole,
    flag: "--redis <url>",
    name: "redis",
    path: ["redis", "url"],
    description: "Redis that holds the line for several gateways; its password is better in the environment",
  },
  {
    ...whole,
    flag: "--cluster",
    name: "cluster",
    path: ["cluster"],
    isSwitch: true,
    description: "keep the line together with other nodes, as one of equals",
  },
  {
    ...whole,
    flag: "--cluster-listen <address>",
    name: "clusterListen",
    path: ["cluster", "listen"],
    description: "address for the other nodes",
  },
  {
    ...whole,
    flag: "--cluster-advertise <address>",
    name: "clusterAdvertise",
    path: ["cluster", "advertise"],
    description: "address under which the other nodes reach this one",
  },
  {
    ...whole,
    flag: "--cluster-name <name>",
    name: "clusterName",
    path: ["cluster", "name"],
    description: "what this node is called, the same after each restart",
  },
  {
    ...whole,
    flag: "--join <address>",
    name: "join",
    path: ["cluster", "join"],
    isRepeatable: true,
    description: "address of a node, or dns:NAME:PORT for all of them; may be repeated",
  },
  {
    ...whole,
    flag: "--trusted-proxy <network>",
    name: "trustedProxy",
    path: ["trustedProxies"],
    isRepeatable: true,
    description: "proxy in front whose forwarded headers are believed; may be repeated",
  },
  {
    ...whole,
    flag: "--origin <url>",
    name: "origin",
    path: ["origin", "addresses"],
    scope: "origin",
    isRepeatable: true,
    description: "address of the site behind; may be repeated",
  },
  {
    ...whole,
    flag: "--host-header <host>",
    name: "hostHeader",
    path: ["origin", "hostHeader"],
    scope: "origin",
    description: "Host header for the origin: preserve, origin, or a name",
  },
  { ...room, flag: "--host <host>", name: "host", path: ["host"], description: "host name the room is for" },
  { ...room, flag: "--path <path>", name: "path", path: ["path"], description: "path the room is for" },
  {
    ...room,
    flag: "--total-active-users <number>",
    name: "totalActiveUsers",
    path: ["totalActiveUsers"],
    isNumber: true,
    description: "the most visitors on the site at once",
  },
  {
    ...room,
    flag: "--new-users-per-minute <number>",
    name: "newUsersPerMinute",
    path: ["newUsersPerMinute"],
    isNumber: true,
    description: "the most visitors let in per minute",
  },
  {
    ...room,
    flag: "--session-duration <time>",
    name: "sessionDuration",
    path: ["sessionDuration"],
    description: "how long a visit lasts without a request, such as 5m",
  },
  {
    ...room,
    flag: "--queueing-method <method>",
    name: "queueingMethod",
    path: ["queueingMethod"],
    description: "who is next: fifo, random, passthrough or reject",
  },
];

/** The room that flags make when there is no other. */
const FLAG_ROOM = "main";

export interface FlagAnswer {
  readonly value: Record<string, unknown>;
  readonly sources: SettingSources;
  readonly problems: readonly Problem[];
}

/** The settings in `input` with the flags' laid over them. `input` itself is not changed. */
export function applyFlags(
  input: Readonly<Record<string, unknown>>,
  flags: Flags,
  sources: SettingSources,
): FlagAnswer {
  const value = structuredClone(input) as Record<string, unknown>;
  const given = FLAGS.filter(({ name }) => flags[name] !== undefined);
  const problems = given.flatMap((definition) => refusal(definition, input));
  const flagSources = new Map<string, Source>();
  if (problems.length > 0) return { value, sources, problems };
  for (const definition of given) {
    const path =
      definition.scope === "room" ? ["rooms", roomFor(input), ...definition.path] : definition.path;
    if (definition.isSwitch) {
      // What the file says of it stays the file's.
      if (value[path[0]!] != null) continue;
      write(value, path, {});
    } else {
      if (definition.isShort && typeof value[path[0]!] === "string") value[path[0]!] = {};
      write(value, path, toInput(definition, flags[definition.name] as string | readonly string[]));
    }
    flagSources.set(keyOf(path), sourceOf(definition));
  }
  const isRoomWanted = given.some(({ scope }) => scope !== "whole") && roomNames(value).length === 0;
  if (isRoomWanted) write(value, ["rooms", FLAG_ROOM], {});
  return {
    value,
    sources: { find: (path, at) => findFlag(flagSources, path) ?? sources.find(path, at) },
    problems,
  };
}

function refusal(definition: FlagDefinition, input: Readonly<Record<string, unknown>>): Problem[] {
  const names = roomNames(input);
  const source = sourceOf(definition);
  if (definition.scope === "room" && names.length > 1) {
    const message = `${source.name} is for one room, and the file has ${names.length}: ${names.slice(0, 10).join(", ")}`;
    return [
      { code: "flag", path: "", message, hint: "Change it in the file, in the room that is meant.", source },
    ];
  }
  const own = names.find((name) => hasOwnOrigin(input, name));
  if (definition.scope !== "origin" || own === undefined) return [];
  const message = `${source.name} is for the origin at the top, and room ${own} has its own`;
  return [{ code: "flag", path: "", message, hint: "Change it in the file.", source }];
}

function hasOwnOrigin(input: Readonly<Record<string, unknown>>, name: string): boolean {
  const room = isRecord(input.rooms) ? input.rooms[name] : null;
  return isRecord(room) && (room.origin ?? null) !== null;
}

function roomFor(input: Readonly<Record<string, unknown>>): string {
  return roomNames(input)[0] ?? FLAG_ROOM;
}

function roomNames(input: Readonly<Record<string, unknown>>): string[] {
  return isRecord(input.rooms) ? Object.keys(input.rooms) : [];
}

/** Text that is not a number stays text, so that the error can quote it. */
function toInput(definition: FlagDefinition, given: string | readonly string[]): unknown {
  return definition.isNumber && /^-?\d{1,15}(?:\.\d+)?$/.test(String(given)) ? Number(given) : given;
}

/** Where the file has something else than a mapping on the way, it stays, and has its own problem. */
function write(value: Record<string, unknown>, path: readonly string[], leaf: unknown): void {
  let inner = value;
  for (const part of path.slice(0, -1)) {
    const next = Object.hasOwn(inner, part) ? (inner[part] ?? {}) : {};
    if (!isRecord(next)) return;
    Object.defineProperty(inner, part, { value: next, enumerable: true, configurable: true, writable: true });
    inner = next;
  }
  inner[path.at(-1)!] = leaf;
}

function findFlag(sources: ReadonlyMap<string, Source>, path: Path): Source | null {
  for (let length = path.length; length > 0; length--) {
    const source = sources.get(keyOf(path.slice(0, length)));
    if (source) return source;
  }
  return null;
}

function keyOf(path: Path): string {
  return JSON.stringify(path);
}

function sourceOf(definition: FlagDefinition): Source {
  return { kind: "flag", name: definition.flag.split(" ")[0]!, spot: null };
}
