/**
 * Whether a node of the list may found a cluster, when nobody has answered it. Someone who is silent may be dead, or in a
 * cluster that cannot be reached at the moment, which would then be there twice, with all slots in each. So most of those
 * in the list, the node itself included, must be known to be in none: nothing listens at their address, or they are looking for
 * one themselves. Of those who look, the first in the list founds it, and each gives those before it time to.
 */
/** A node founds a cluster when nobody has answered it for this long; the next in the list when for twice as long, and so on. */
const FOUND_AFTER_MS = 3_000;
/** What was last seen longer ago than this says nothing any more. */
const GOOD_FOR_MS = 2_500;

export class Founding {
  readonly #self: string;
  /** Nothing listened there then, or someone there was looking for a cluster. */
  readonly #refusedAt = new Map<string, number>();
  readonly #lookedAt = new Map<string, number>();

  constructor(self: string) {
    this.#self = self;
  }

  refused(address: string, now: number): void {
    this.#refusedAt.set(address, now);
  }

  looked(address: string, now: number): void {
    this.#lookedAt.set(address, now);
  }

  /** Something else was heard from there. */
  answered(address: string): void {
    this.#refusedAt.delete(address);
    this.#lookedAt.delete(address);
  }

  /** `aloneMs`: for how long nobody has answered. */
  isDue(list: readonly string[], aloneMs: number, now: number): boolean {
    const index = list.indexOf(this.#self);
    if (index < 0 || aloneMs < FOUND_AFTER_MS * (1 + index)) return false;
    const isBehind = list.slice(0, index).some((address) => isRecent(this.#lookedAt.get(address), now));
    return !isBehind && 2 * this.silent(list, now).length < list.length;
  }

  /** Those in the list of whom it is not known that they are in no cluster. */
  silent(list: readonly string[], now: number): string[] {
    return list.filter(
      (address) =>
        address !== this.#self &&
        !isRecent(this.#refusedAt.get(address), now) &&
        !isRecent(this.#lookedAt.get(address), now),
    );
  }
}

function isRecent(at: number | undefined, now: number): boolean {
  return at !== undefined && now - at <= GOOD_FOR_MS;
}
