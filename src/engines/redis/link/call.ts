/** One call, from its creation to its answer. */
import type { RedisProblem } from "./problem.ts";

/** How many replicas must have it, and within what time; 0 replicas: does not wait for any. */
export interface Kept {
  readonly replicas: number;
  readonly timeoutMs: number;
}

export interface RedisCall {
  /** The function's short name, or the command. */
  readonly name: string;
  /** The key that routes it; null when any node may have it. */
  readonly key: string | null;
  /** What is sent. */
  readonly words: readonly string[];
  readonly kept: Kept | null;
  readonly timeoutMs: number;
  /** The timeout, not including the wait for replicas. */
  readonly dueAt: number;
  /** How often it was sent again because its function was missing. */
  loads: number;
  /** How often it was sent again because its hash slot had moved. */
  moves: number;
  resolve(answer: unknown): void;
  reject(problem: RedisProblem): void;
}
