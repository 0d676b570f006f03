/**
 * A sample of the visits on the site, small enough to be looked at every two seconds however many there are. Ids are
 * random, so the sample is those whose id begins with some zero bits; the more visits, the more bits.
 */
/** With more than this in the sample it is halved; with fewer than a quarter it is doubled. */
export const SAMPLE_MAX = 1_000;
const DIGITS = 4;
const BITS_MAX = 4 * DIGITS;

export class VisitSample<Visit extends { readonly id: string }> {
  #bits = 0;
  #mask = 0;
  readonly #visits = new Map<string, Visit>();
  readonly #all: () => Iterable<Visit>;

  /** `all`: every visit on the site, for when the sample has to grow. */
  constructor(all: () => Iterable<Visit>) {
    this.#all = all;
  }

  add(visit: Visit): void {
    if (!this.#isIn(visit.id)) return;
    this.#visits.set(visit.id, visit);
    if (this.#visits.size > SAMPLE_MAX && this.#bits < BITS_MAX) this.#setBits(this.#bits + 1);
  }

  delete(id: string): void {
    if (!this.#visits.delete(id)) return;
    if (this.#bits === 0 || this.#visits.size * 4 >= SAMPLE_MAX) return;
    this.#setBits(this.#bits - 1);
    for (const visit of this.#all())
      if (visit.id !== id && this.#isIn(visit.id)) this.#visits.set(visit.id, visit);
  }

  values(): Iterable<Visit> {
    return this.#visits.values();
  }

  #setBits(bits: number): void {
    this.#bits = bits;
    this.#mask = 2 ** bits - 1;
    for (const id of this.#visits.keys()) if (!this.#isIn(id)) this.#visits.delete(id);
  }

  #isIn(id: string): boolean {
    return this.#mask === 0 || (Number.parseInt(id.slice(0, DIGITS), 16) & this.#mask) === 0;
  }
}
