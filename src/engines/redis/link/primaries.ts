/** What the three ways to run Redis have in common: calls go to the primary that has the key, and something may be wrong. */
import type { Library } from "../library.ts";
import type { RedisCall } from "./call.ts";
import type { Connection, Surroundings } from "./connection.ts";
import type { RedisProblem } from "./problem.ts";
import type { RedisServers, ServerAddress } from "./servers.ts";

export interface PrimariesOptions extends Surroundings {
  readonly servers: RedisServers;
  readonly library: Library;
  /** Told when `problem` may have changed. */
  onChange(): void;
}

/** All primaries, however many. */
export interface Primaries {
  readonly problem: RedisProblem | null;
  /** Tries for the first time. Resolves when that went well or failed. */
  start(): Promise<void>;
  /** Sends a call to the primary that has its key, or rejects it. */
  send(call: RedisCall): void;
  /** Where to hear what is published. Rejects with a RedisProblem. */
  findToHear(): Promise<ServerAddress>;
  /** To be called a few times a second. `ears` is the connection that hears, if there is one. */
  sweep(now: number, ears: Connection | null): void;
  close(problem: RedisProblem): void;
}
