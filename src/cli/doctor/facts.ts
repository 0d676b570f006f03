/** What one server says of itself, asked once; the checks only read it. */
import { RedisProblem } from "../../engines/redis/link/problem.ts";
import type { Probe } from "./probe.ts";

const CONFIG = [
  "appendfsync",
  "save",
  "timeout",
  "lua-time-limit",
  "min-replicas-to-write",
  "cluster-require-full-coverage",
] as const;

export type ConfigName = (typeof CONFIG)[number];

export interface ServerFacts {
  readonly where: string;
  /** The fields of INFO by their names. */
  readonly info: ReadonlyMap<string, string>;
  /** Some of its settings, or why they cannot be read: many hosted Redis services do not allow it. */
  readonly config: ReadonlyMap<string, string> | RedisProblem;
  /** Its clock minus ours, or why it could not be read. */
  readonly clockAheadMs: number | RedisProblem;
}

/** Asks everything. Rejects with a RedisProblem when even INFO is not answered. */
export async function factsOfServer(probe: Probe): Promise<ServerFacts> {
  const info = readInfo(String(await probe.ask("INFO")));
  const config = await probe.tryAsk("CONFIG", "GET", ...CONFIG);
  return {
    where: probe.where,
    info,
    config: config instanceof RedisProblem ? config : readPairs(config.value),
    clockAheadMs: await clockAhead(probe),
  };
}

/** A field of INFO as a number; 0 when it is not there. */
export function numberIn(info: ServerFacts["info"], name: string): number {
  return Number(info.get(name) ?? 0);
}

/** One of its settings; null when it cannot be seen. */
export function configOf({ config }: ServerFacts, name: ConfigName): string | null {
  return config instanceof RedisProblem ? null : (config.get(name) ?? null);
}

/** Lines of `name:value`, as INFO and CLUSTER INFO have them. */
export function readInfo(text: string): ReadonlyMap<string, string> {
  const pairs = text.split("\r\n").flatMap((line) => {
    const colon = line.indexOf(":");
    return line.startsWith("#") || colon === -1
      ? []
      : [[line.slice(0, colon), line.slice(colon + 1)] as const];
  });
  return new Map(pairs);
}

/** A flat list of names and values. */
export function readPairs(answer: unknown): ReadonlyMap<string, string> {
  const words = Array.isArray(answer) ? answer.map(String) : [];
  return new Map(words.flatMap((word, i) => (i % 2 === 0 ? [[word, words[i + 1] ?? ""] as const] : [])));
}

async function clockAhead(probe: Probe): Promise<number | RedisProblem> {
  const startedAt = performance.now();
  const answer = await probe.tryAsk("TIME");
  if (answer instanceof RedisProblem) return answer;
  const halfWayMs = (performance.now() - startedAt) / 2;
  const [seconds, microseconds] = answer.value as readonly unknown[];
  return Number(seconds) * 1_000 + Number(microseconds) / 1_000 + halfWayMs - Date.now();
}
