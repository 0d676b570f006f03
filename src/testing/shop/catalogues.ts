/**
 * Small random catalogues with everything in them: parts that are shared over several paths, options and sets with parts of their
 * own, pools, hold-backs, limits, sale windows, stock without end, over- and undersell, and each way to count.
 *
 * A product is an option or a choice of one parent only, so that it is clear where a wish puts it.
 */
import fc from "fast-check";
import { checkCatalogue } from "../../shop/rules/check-catalogue.ts";
import type {
  WrittenCatalogue,
  WrittenPolicies,
  WrittenProduct,
} from "../../shop/rules/written-catalogue.ts";

/** What limits a customer in time, and the waiting list: the same in all catalogues of one history. */
export interface ShopKind {
  readonly burst: WrittenPolicies["burst"];
  /** With a waiting list there are no limits and no sale windows: offers then depend on the stock alone. */
  readonly offerMs: number | null;
}

/** The instants and durations of a history are multiples of this, plus a small number for each who acts. */
export const HISTORY_TICK_MS = 16;
/** When a history begins. */
export const HISTORY_STARTS_AT = 1_600_000_000_000;

/** Thousands of ticks. */
const long = (count: number) => count * HISTORY_TICK_MS * 1_000;

export const shopKind: fc.Arbitrary<ShopKind> = fc.oneof(
  fc.constant({ burst: null, offerMs: null }),
  fc.constant({ burst: null, offerMs: long(3) }),
  fc
    .record({ items: fc.integer({ min: 4, max: 8 }), everyMs: fc.constantFrom(long(1), long(4)) })
    .map((burst) => ({
      burst,
      offerMs: null,
    })),
);

/** Several catalogues of one kind: the first of a history, and those it is changed to. */
export function cataloguesOf(kind: ShopKind): fc.Arbitrary<readonly WrittenCatalogue[]> {
  return fc.array(catalogueOf(kind), { minLength: 1, maxLength: 3 });
}

const sometimes = <T>(value: fc.Arbitrary<T>) => fc.option(value, { freq: 2, nil: null });
const units = fc.integer({ min: 1, max: 2 });

function catalogueOf({ burst, offerMs }: ShopKind): fc.Arbitrary<WrittenCatalogue> {
  const isPlain = offerMs !== null;
  const unlessPlain = <T>(value: fc.Arbitrary<T>, plain: T) => (isPlain ? fc.constant(plain) : value);
  const basics = fc.record({
    price: fc.integer({ min: 0, max: 5 }),
    stock: fc.oneof(fc.nat(9), fc.nat(30), fc.constant(null)),
    countedBy: unlessPlain(fc.constantFrom("reserved", "reserved", "pending", "sold"), "reserved"),
    oversell: fc.constantFrom(0, 0, 0, 2_500, -2_500),
    staysSoldOut: fc.nat(5).map((dice) => dice === 0),
    limitPerCustomer: unlessPlain(sometimes(fc.integer({ min: 2, max: 5 })), null),
    tieBreak: fc.constantFrom("first", "random", "earliestAdmitted", "latestAdmitted", "highestBasket"),
  });
  const rooms = fc.constantFrom(null, null, ["main"]);
  const product = (links: fc.Arbitrary<Partial<WrittenProduct>>): fc.Arbitrary<WrittenProduct> =>
    fc.tuple(basics, links).map(([one, linked]) => ({ ...one, ...linked }) as WrittenProduct);
  const window = unlessPlain(
    fc.constantFrom(
      {},
      {},
      { saleStart: HISTORY_STARTS_AT + long(4), hiddenBefore: true },
      { saleStart: HISTORY_STARTS_AT + long(2), saleEnd: HISTORY_STARTS_AT + long(16) },
    ),
    {},
  );
  return fc
    .record({
      a: product(
        fc.record({ holdBacks: sometimes(fc.record({ members: fc.nat(2) })).map((kept) => kept ?? {}) }),
      ),
      b: product(fc.constant({ forSale: false })),
      c: product(window),
      cap: product(fc.record({ rooms, parts: fc.constantFrom({}, { c: 1 }) })),
      flag: product(fc.constant({})),
      cola: product(fc.record({ parts: fc.constantFrom({}, { a: 1 }), rooms })),
      beer: product(fc.record({ parts: fc.constantFrom({}, { b: 1 }) })),
      seat: product(
        fc.record({ parts: fc.record({ a: units, b: units }), options: fc.record({ cap: units }) }),
      ),
      menu: product(
        fc.record({
          rooms,
          parts: fc.constantFrom({ c: 1 }, { b: 1, c: 2 }),
          choices: fc.record({
            drinks: fc.record(
              { from: fc.record({ cola: units, beer: units }), min: fc.nat(2), max: fc.constantFrom(2, 3) },
              { requiredKeys: ["from", "min"] },
            ),
          }),
        }),
      ),
      bundle: product(
        fc.record({
          parts: fc.constantFrom({ seat: 1, menu: 1 }, { seat: 2 }, { menu: 2, b: 1 }),
          options: fc.record({ flag: units }),
          rooms,
        }),
      ),
      hall: sometimes(fc.integer({ min: 2, max: 12 })),
      isSmall: fc.nat(3).map((dice) => dice === 0),
      policies: policiesOf({ burst, offerMs }, unlessPlain),
    })
    .map(({ hall, isSmall, policies, ...products }): WrittenCatalogue => {
      const { bundle: _, ...small } = products;
      return {
        currency: "EUR",
        products: isSmall ? small : products,
        ...(hall === null ? {} : { pools: { hall: { stock: hall, products: { seat: 1, menu: 2 } } } }),
        policies,
      };
    })
    .filter((written) => checkCatalogue(written, 1).ok);
}

function policiesOf(
  { burst, offerMs }: ShopKind,
  unlessPlain: <T>(value: fc.Arbitrary<T>, plain: T) => fc.Arbitrary<T>,
): fc.Arbitrary<WrittenPolicies> {
  return fc.record({
    burst: fc.constant(burst ?? null),
    offerMs: fc.constant(offerMs),
    opensAt: fc.constantFrom(null, null, HISTORY_STARTS_AT + long(2)),
    itemsMax: unlessPlain(sometimes(fc.integer({ min: 4, max: 9 })), null),
    limitCounts: fc.constantFrom("tickets", "everything"),
    shoppingWindowMs: fc.constantFrom(long(10), long(30)),
    doneMs: fc.constantFrom(long(4), long(12)),
    payingMs: fc.constantFrom(long(3), long(9)),
    payment: fc.record({
      room: fc.constantFrom(null, "pay"),
      attemptsMax: fc.integer({ min: 1, max: 3 }),
      lateSuccess: fc.constantFrom("retake", "refund"),
    }),
  });
}
