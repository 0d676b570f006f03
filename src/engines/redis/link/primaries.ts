/** The common interface of the three ways to run Redis: calls go to the primary that has the key, and there may be a problem. */
import type { Library } from "../library.ts";
import type { RedisCall } from "./call.ts";
import type { Connection, Surroundings } from "./connection.ts";
import type { RedisProblem } from "./problem.ts";
import type { RedisServers, ServerAddress } from "./servers.ts";

export interface PrimariesOptions extends Surroundings {
  readonly servers: RedisServers;
  readonly library: Library;
  /** Called when `problem` may have changed. */
  onChange(): void;
}

/** All primaries, however many. */
export interface Primaries {
  readonly problem: RedisProblem | null;
  /** Connects for the first time. Resolves after success or failure. */
  start(): Promise<void>;
  /** Sends a call to the primary that has its key, or rejects it. */
  send(call: RedisCall): void;
  /** Where to subscribe. Rejects with a RedisProblem. */
  findToHear(): Promise<ServerAddress>;
  /** To be called a few times a second. `ears` is the subscribed connection, if there is one. */
  sweep(now: number, ears: Connection | null): void;
  close(problem: RedisProblem): void;
}
