/**
 * Whether the first in the list of nodes may found a cluster, when nobody has answered it. Someone who is silent may be
 * dead, or in a cluster that cannot be reached at the moment, which would then be there twice, with all slots in each. So
 * most of those in the list, the first included, must be known to have no cluster: nothing listens at their address, or
 * they are looking for one themselves.
 */
/** What was last seen longer ago than this says nothing any more. */
const GOOD_FOR_MS = 2_500;

export class Founding {
  readonly #withoutAt = new Map<string, number>();

  /** At that address nobody is in a cluster. */
  seenWithout(address: string, now: number): void {
    this.#withoutAt.set(address, now);
  }

  /** Something else was heard from there. */
  seenWith(address: string): void {
    this.#withoutAt.delete(address);
  }

  /** `others`: all in the list but the first itself. */
  isAllowed(others: readonly string[], now: number): boolean {
    return 2 * this.silent(others, now).length < 1 + others.length;
  }

  /** Of whom it is not known that they are in no cluster. */
  silent(others: readonly string[], now: number): string[] {
    return others.filter(
      (address) => now - (this.#withoutAt.get(address) ?? Number.NEGATIVE_INFINITY) > GOOD_FOR_MS,
    );
  }
}
