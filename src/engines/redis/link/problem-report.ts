/**
 * Logs problems with Redis for the operator: one line when a problem has lasted for a moment, since the first symptom, a closed
 * connection, is seldom the cause; another line when the problem changes; and one when it is over. Connections that fail again
 * and again are logged at most once in that time.
 */
import type { World } from "../../../core/world.ts";
import type { RedisLink } from "./link.ts";
import type { RedisProblem } from "./problem.ts";

const SETTLED_AFTER_MS = 500;

export class ProblemReport {
  readonly #link: RedisLink;
  readonly #world: World;
  readonly #stopHearing: () => void;
  /** What was logged last; null: no problem. */
  #told: RedisProblem | null = null;
  #stopWaiting: (() => void) | null = null;

  constructor(link: RedisLink, world: World) {
    this.#link = link;
    this.#world = world;
    this.#stopHearing = link.onProblem((problem) => this.#hear(problem));
    this.#hear(link.problem);
  }

  close(): void {
    this.#stopHearing();
    this.#forget();
  }

  #hear(problem: RedisProblem | null): void {
    if (problem === null) return this.#tellWell();
    this.#stopWaiting ??= this.#world.timers.after(SETTLED_AFTER_MS, () => this.#tell());
  }

  #tell(): void {
    this.#stopWaiting = null;
    const { problem } = this.#link;
    if (!problem || problem.message === this.#told?.message) return;
    this.#told = problem;
    this.#world.log.error({ kind: problem.kind }, problem.message);
  }

  #tellWell(): void {
    this.#forget();
    if (this.#told === null) return;
    this.#told = null;
    this.#world.log.info({}, "Redis can be used again");
  }

  #forget(): void {
    this.#stopWaiting?.();
    this.#stopWaiting = null;
  }
}
