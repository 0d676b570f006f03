/** One call, from its making to its answer. */
import type { RedisProblem } from "./problem.ts";

/** How many replicas must have it, and within what time; with 0 replicas none is waited for. */
export interface Kept {
  readonly replicas: number;
  readonly timeoutMs: number;
}

export interface RedisCall {
  /** The function's short name, or the command. */
  readonly name: string;
  /** The key by which it is routed; null when anyone may have it. */
  readonly key: string | null;
  /** What is sent. */
  readonly words: readonly string[];
  readonly kept: Kept | null;
  readonly timeoutMs: number;
  /** When to stop waiting, without the wait for replicas. */
  readonly dueAt: number;
  /** How often it was sent again since its function was missing. */
  loads: number;
  /** How often it was sent again since its hash slot had moved. */
  moves: number;
  resolve(answer: unknown): void;
  reject(problem: RedisProblem): void;
}
