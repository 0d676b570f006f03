/** Visits that ended before their passes expired, at any gateway: shared so that every gateway refuses these passes. */

export class EndedVisits {
  readonly #until = new Map<string, number>();
  readonly #onEnded: (id: string, until: number) => void;

  /** Calls `onEnded` once for each. */
  constructor(onEnded: (id: string, until: number) => void) {
    this.#onEnded = onEnded;
  }

  /** `until`: when the last pass with this id expires; 0 for no visit. */
  add(id: string, until: number): void {
    if (until === 0 || this.#until.has(id)) return;
    this.#until.set(id, until);
    this.#onEnded(id, until);
  }

  all(): Iterable<[id: string, until: number]> {
    return this.#until;
  }

  /** Drops those whose passes have expired. */
  forget(now: number): void {
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
  }
}
