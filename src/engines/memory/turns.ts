/**
 * Turns given and not used yet: when each was given, and when it is lost. A turn whose process died begins anew, but it
 * was given when it was given.
 */
import { Deadlines } from "../../core/deadlines.ts";

export class Turns {
  readonly #givenAt = new Map<number, number>();
  readonly #due = new Deadlines<number>();
  /** Sequences whose turns were given or ended since changes were last taken. */
  readonly #changed = new Set<number>();
  readonly #isKept: boolean;

  /** `isKept`: someone takes the changes. */
  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  get size(): number {
    return this.#givenAt.size;
  }

  give(sequence: number, givenAt: number, claimBy: number): void {
    this.#givenAt.set(sequence, givenAt);
    this.#due.add(claimBy, sequence);
    this.#note(sequence);
  }

  /** A turn that is there lasts until then. */
  lengthen(sequence: number, claimBy: number): void {
    if (this.#givenAt.has(sequence)) this.#due.add(claimBy, sequence);
  }

  /** Ends a turn, used or not. The instant returned is when it was given; null when there is none. */
  end(sequence: number): number | null {
    const givenAt = this.#givenAt.get(sequence);
    if (givenAt === undefined) return null;
    this.#givenAt.delete(sequence);
    this.#note(sequence);
    return givenAt;
  }

  /** Those who have a turn. */
  sequences(): IterableIterator<number> {
    return this.#givenAt.keys();
  }

  /** One whose time to be used may be over; the caller knows. */
  takeDue(now: number): number | undefined {
    return this.#due.takeDue(now);
  }

  /** When each turn was given that began or ended since this was last asked; null for one that ended. */
  takeChanges(): Map<number, number | null> {
    const changes = new Map<number, number | null>();
    for (const sequence of this.#changed) changes.set(sequence, this.#givenAt.get(sequence) ?? null);
    this.#changed.clear();
    return changes;
  }

  #note(sequence: number): void {
    if (this.#isKept) this.#changed.add(sequence);
  }
}
