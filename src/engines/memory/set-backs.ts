/**
 * Places that missed a turn and moved back in the line. A place keeps its identity, its first sequence (its origin): state,
 * deadline and lane stay there, and old tickets find it. Only its number in the line changes.
 *
 * Few places ever miss a turn, so maps are enough. Ended places are removed here; the state at the origin remains.
 */
import { Gaps } from "../../core/missed-turns.ts";
import type { SetBack } from "../../core/ticket.ts";

export class SetBacks {
  readonly #byOrigin = new Map<number, SetBack>();
  readonly #origins = new Map<number, number>();
  readonly #gaps = new Gaps();
  /** Origins whose place was set back or ended since changes were last taken. */
  readonly #changed = new Set<number>();
  readonly #isKept: boolean;

  /** `isKept`: records changes for `takeChanges`. */
  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  get size(): number {
    return this.#byOrigin.size;
  }

  get(origin: number): SetBack | undefined {
    return this.#byOrigin.get(origin);
  }

  /** The number that a place has in the line. */
  sequenceOf(origin: number): number {
    if (this.#byOrigin.size === 0) return origin;
    return this.#byOrigin.get(origin)?.sequence ?? origin;
  }

  /** The place that has this number in the line. */
  originOf(sequence: number): number {
    if (this.#origins.size === 0) return sequence;
    return this.#origins.get(sequence) ?? sequence;
  }

  /** The next free number behind this one. */
  numberBehind(sequence: number): number {
    return this.#gaps.next(sequence);
  }

  set(origin: number, setBack: SetBack): void {
    const { sequence, missedTurns, missedAt } = setBack;
    this.#origins.delete(this.sequenceOf(origin));
    this.#byOrigin.set(origin, { sequence, missedTurns, missedAt });
    this.#origins.set(sequence, origin);
    this.#note(origin);
  }

  /** Restores a place with a number from an earlier process. */
  restore(origin: number, setBack: SetBack): void {
    this.#gaps.note(setBack.sequence);
    this.set(origin, setBack);
  }

  /** The place has ended. */
  drop(origin: number): void {
    const known = this.#byOrigin.get(origin);
    if (!known) return;
    this.#byOrigin.delete(origin);
    this.#origins.delete(known.sequence);
    if (this.#byOrigin.size === 0) this.#gaps.clear();
    this.#note(origin);
  }

  /** The places that changed since the last call; null for one that ended. */
  takeChanges(): Map<number, SetBack | null> {
    const changes = new Map<number, SetBack | null>();
    for (const origin of this.#changed) changes.set(origin, this.#byOrigin.get(origin) ?? null);
    this.#changed.clear();
    return changes;
  }

  #note(origin: number): void {
    if (this.#isKept) this.#changed.add(origin);
  }
}
