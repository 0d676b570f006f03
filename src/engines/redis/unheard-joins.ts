/**
 * Joins that failed with an unknown outcome. Their senders were told that the line is away; a visit that began all the same
 * would hold a slot for a whole session, so it is ended once Redis answers again. A place that came of such a join lapses by
 * itself.
 */
import { RedisProblem } from "./link/problem.ts";

/** Beyond this, visits of such joins last until their sessions run out. */
const REMEMBERED_MAX = 10_000;

export class UnheardJoins {
  readonly #endVisit: (id: string) => Promise<unknown>;
  readonly #ids = new Set<string>();

  constructor(endVisit: (id: string) => Promise<unknown>) {
    this.#endVisit = endVisit;
  }

  /** Takes note of a join that failed. */
  note(id: string, cause: unknown): void {
    const isInDoubt = cause instanceof RedisProblem && !cause.wasRefused;
    if (isInDoubt && this.#ids.size < REMEMBERED_MAX) this.#ids.add(id);
  }

  /** Ends what came of them. Rejects when some could not be ended; they are kept for the next time. */
  async end(): Promise<void> {
    const ended = [...this.#ids].map(async (id) => {
      await this.#endVisit(id);
      this.#ids.delete(id);
    });
    await Promise.all(ended);
  }
}
