/**
 * Calls about one room. A room that Redis does not know, because it lost its data, is opened there again on the way.
 */
import type { World } from "../../core/world.ts";
import type { IN_SHARDS } from "./library.ts";
import type { Kept } from "./link/call.ts";
import type { RedisLink } from "./link/link.ts";

/** Which clock holds: that of Redis or, for tests, one that is moved by hand. */
export type TimeSource = "redis" | "handed";

export interface RoomCallsParts {
  readonly link: RedisLink;
  readonly world: World;
  readonly time: TimeSource;
  /** What the functions' names begin with: nothing, or for a relaxed line those of its own library. */
  readonly functions: "" | typeof IN_SHARDS;
  /** How many replicas must have what gives or frees a slot before anyone is told. */
  readonly replicas: number;
  readonly timeoutMs: number;
}

export class RoomCalls {
  readonly #parts: RoomCallsParts;
  readonly #reopen: () => Promise<void>;
  #reopening: Promise<void> | null = null;
  readonly key: string;
  /** For what gives or frees a slot. */
  readonly kept: Kept;

  /** `reopen` opens the room in a Redis that does not know it. */
  constructor(key: string, parts: RoomCallsParts, reopen: () => Promise<void>) {
    this.key = key;
    this.#parts = parts;
    this.#reopen = reopen;
    this.kept = { replicas: parts.replicas, timeoutMs: parts.timeoutMs };
  }

  /** The time argument of a call made now. */
  now(): string {
    return this.#parts.time === "redis" ? "" : String(this.#parts.world.clock.now());
  }

  /** `kept`: what gives or frees a slot is told once enough replicas have it. */
  async call(name: string, args: readonly string[], kept?: Kept): Promise<readonly unknown[]> {
    const { link, functions } = this.#parts;
    const answer = await link.call(functions + name, this.key, args, kept);
    if (answer[0] !== "unknownRoom") return answer;
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = null;
    });
    await this.#reopening;
    return link.call(functions + name, this.key, args, kept);
  }

  /** A call about a room that Redis need not know. */
  callUnknown(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    const { link, functions } = this.#parts;
    return link.call(functions + name, this.key, args);
  }

  /** A plain command about one of the room's keys. */
  command(...words: readonly string[]): Promise<unknown> {
    return this.#parts.link.command(this.key, words);
  }
}

/** Opens a room in Redis, or puts other orders in force there. */
export async function openInRedis(
  calls: RoomCalls,
  { orders, budget, awayMs }: { orders: string; budget: string; awayMs: number },
): Promise<void> {
  const [done, format] = await calls.callUnknown("configure", [calls.now(), orders, budget, String(awayMs)]);
  if (done === "format")
    throw new Error(
      `"${calls.key}" is kept in Redis in form ${String(format)}, which this version does not know; use another prefix`,
    );
}
