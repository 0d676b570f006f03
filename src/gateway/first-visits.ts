/**
 * Visitors who went straight through and have not come back with their cookie yet, counted by address. Each holds a slot for
 * `newcomerDuration`. A program without cookies never comes back, so it could hold as many slots as it makes requests in that
 * time. Once many such visits are under way, an address must show a cookie before it gets another.
 *
 * All last equally long unless settings change, so the first in the list ends first. A visit that is prolonged by traffic on its
 * first connection moves to the end.
 */
interface FirstVisit {
  readonly id: string;
  readonly address: string;
  readonly until: number;
}

export class FirstVisits {
  readonly #visits = new Map<string, FirstVisit>();
  readonly #byAddress = new Map<string, number>();

  add(visit: FirstVisit): void {
    this.#visits.set(visit.id, visit);
    this.#byAddress.set(visit.address, (this.#byAddress.get(visit.address) ?? 0) + 1);
  }

  prolong(id: string, until: number): void {
    const visit = this.#visits.get(id);
    if (visit === undefined) return;
    this.#visits.delete(id);
    this.#visits.set(id, { ...visit, until });
  }

  /** The visitor came back, or the visit is over. */
  remove(id: string): void {
    const visit = this.#visits.get(id);
    if (visit === undefined) return;
    this.#visits.delete(id);
    const left = this.#byAddress.get(visit.address)! - 1;
    if (left > 0) this.#byAddress.set(visit.address, left);
    else this.#byAddress.delete(visit.address);
  }

  /** How many an address has under way. */
  count(address: string, now: number): number {
    for (const visit of this.#visits.values()) {
      if (visit.until > now) break;
      this.remove(visit.id);
    }
    return this.#byAddress.get(address) ?? 0;
  }
}
