/**
 * Calls about one room. A room that Redis does not know, because it lost its data, is opened there again on the way.
 */
import type { World } from "../../core/world.ts";
import type { IN_PIECES } from "./library.ts";
import type { RedisLink } from "./link/link.ts";

/** Whose time holds: Redis's own, or, for tests, one that is moved by hand. */
export type TimeSource = "redis" | "handed";

export interface RoomCallsParts {
  readonly link: RedisLink;
  readonly world: World;
  readonly time: TimeSource;
  /** What the functions' names begin with: nothing, or for a line in pieces those of its own library. */
  readonly functions: "" | typeof IN_PIECES;
  /** So many replicas must have what gives or frees a slot before anyone is told. */
  readonly replicas: number;
  readonly timeoutMs: number;
}

export class RoomCalls {
  readonly #parts: RoomCallsParts;
  readonly #reopen: () => Promise<void>;
  #reopening: Promise<void> | null = null;
  readonly key: string;

  /** `reopen` opens the room in a Redis that does not know it. */
  constructor(key: string, parts: RoomCallsParts, reopen: () => Promise<void>) {
    this.key = key;
    this.#parts = parts;
    this.#reopen = reopen;
  }

  /** The instant of a call that is made now, as the functions take it. */
  now(): string {
    return this.#parts.time === "redis" ? "" : String(this.#parts.world.clock.now());
  }

  call(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    return this.#knowing(() => this.#call(name, args));
  }

  /** The same for what gives or frees a slot: told once enough replicas have it. */
  callKept(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    const { link, replicas, timeoutMs, functions } = this.#parts;
    if (replicas === 0) return this.call(name, args);
    return this.#knowing(() => link.callKept(functions + name, this.key, args, replicas, timeoutMs));
  }

  /** A call that may be about a room which Redis does not know. */
  callUnknown(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    return this.#call(name, args);
  }

  /** A plain command about one of the room's keys. */
  command(...words: readonly string[]): Promise<unknown> {
    return this.#parts.link.command(this.key, words);
  }

  #call(name: string, args: readonly string[]): Promise<readonly unknown[]> {
    const { link, functions } = this.#parts;
    return link.call(functions + name, this.key, args);
  }

  async #knowing(ask: () => Promise<readonly unknown[]>): Promise<readonly unknown[]> {
    const answer = await ask();
    if (answer[0] !== "unknownRoom") return answer;
    this.#reopening ??= this.#reopen().finally(() => {
      this.#reopening = null;
    });
    await this.#reopening;
    return ask();
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
