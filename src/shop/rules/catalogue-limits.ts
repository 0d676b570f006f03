/**
 * The largest numbers that a catalogue may have. They keep every sum and product in the rules a safe integer, and the work for
 * one answer small. Each is far beyond any shop.
 */
export const CATALOGUE_LIMITS = {
  /** Products and pools. */
  products: 20_000,
  /** Parts, options and members of sets, over all products. */
  links: 100_000,
  /** Products below each other, by links of any kind. */
  depth: 50,
  /** Different products that one product needs, over all its parts. */
  needs: 100,
  /** Units of one product in one unit of another. */
  unitsInOne: 1_000_000,
  stock: 1_000_000_000,
  /** In minor units. */
  price: 10_000_000_000,
  /** In hundredths of a percent: a hundred times the stock. */
  oversell: 1_000_000,
  /** Items that a limit for a customer may allow. */
  items: 1_000_000,
  attempts: 100,
  textLength: 200,
  durationMs: 366 * 86_400_000,
  /** Visitors wait for their answer as long. */
  tieWindowMs: 10_000,
} as const;
