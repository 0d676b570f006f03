/** Visits that were ended before their passes ran out, at any gateway: known here so that every gateway refuses them. */

export class EndedVisits {
  readonly #until = new Map<string, number>();
  readonly #onEnded: (id: string, until: number) => void;

  /** `onEnded` hears of each once. */
  constructor(onEnded: (id: string, until: number) => void) {
    this.#onEnded = onEnded;
  }

  /** `until`: when the last pass with this id runs out by itself; 0 for no visit. */
  add(id: string, until: number): void {
    if (until === 0 || this.#until.has(id)) return;
    this.#until.set(id, until);
    this.#onEnded(id, until);
  }

  all(): Iterable<[id: string, until: number]> {
    return this.#until;
  }

  /** Drops those whose passes have run out. */
  forget(now: number): void {
    for (const [id, until] of this.#until) if (until <= now) this.#until.delete(id);
  }
}
