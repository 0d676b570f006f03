/** One-time codes that were used, remembered until they expire. */
import { Deadlines } from "../../core/deadlines.ts";
import type { Invite } from "../../core/engine.ts";

export class Invites {
  readonly #used = new Map<string, number>();
  readonly #due = new Deadlines<string>();
  readonly #changed = new Set<string>();
  readonly #isKept: boolean;

  /** `isKept`: records changes for `takeChanges`. */
  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  isUsed(id: string): boolean {
    return this.#used.has(id);
  }

  use({ id, expiresAt }: Invite): void {
    this.#remember(id, expiresAt);
    if (this.#isKept) this.#changed.add(id);
  }

  forget(now: number): void {
    for (let id = this.#due.takeDue(now); id; id = this.#due.takeDue(now)) {
      this.#used.delete(id);
      if (this.#isKept) this.#changed.add(id);
    }
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0;
  }

  /** The codes used or forgotten since the last call, with their expiry; null for a forgotten one. */
  takeChanges(): Map<string, number | null> {
    const changes = new Map<string, number | null>();
    for (const id of this.#changed) changes.set(id, this.#used.get(id) ?? null);
    this.#changed.clear();
    return changes;
  }

  restore(used: Iterable<readonly [id: string, expiresAt: number]>): void {
    for (const [id, expiresAt] of used) this.#remember(id, expiresAt);
  }

  #remember(id: string, expiresAt: number): void {
    this.#used.set(id, expiresAt);
    this.#due.add(expiresAt, id);
  }
}
