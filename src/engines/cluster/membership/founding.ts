/**
 * Decides whether a listed node may create a cluster when no other node has answered. A silent node may be dead, or in a cluster
 * that cannot be reached at the moment; a second cluster would then have all slots once more. So a majority of the listed nodes,
 * this one included, must be known to belong to none: the connection is refused, or they are looking for a cluster themselves.
 * The first of those in the list creates it; each waits for the ones before it.
 */
/** The first node in the list creates a cluster after this long without an answer, the second after twice as long, and so on. */
const FOUND_AFTER_MS = 3_000;
const GOOD_FOR_MS = 2_500;

export class Founding {
  readonly #self: string;
  /** When an address refused the connection, and when a node there was looking for a cluster. */
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

  /** Anything else was heard from there. */
  answered(address: string): void {
    this.#refusedAt.delete(address);
    this.#lookedAt.delete(address);
  }

  /** `aloneMs`: how long no node has answered. */
  isDue(list: readonly string[], aloneMs: number, now: number): boolean {
    const index = list.indexOf(this.#self);
    if (index < 0 || aloneMs < FOUND_AFTER_MS * (1 + index)) return false;
    const isBehind = list.slice(0, index).some((address) => isRecent(this.#lookedAt.get(address), now));
    return !isBehind && 2 * this.silent(list, now).length < list.length;
  }

  /** The listed nodes that may belong to a cluster. */
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
