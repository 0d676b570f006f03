import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { proves } from "../../testing/requirements/proves.ts";
import { checkCatalogue, type WrittenCatalogue } from "./check-catalogue.ts";
import { type CustomerRecord, limitedUnits, limitReached, NEW_CUSTOMER, withAddition } from "./limits.ts";

const PRODUCTS: WrittenCatalogue["products"] = {
  seat: { stock: 100, limitPerCustomer: 4, parts: { cushion: 2 } },
  drink: { stock: 100 },
  cushion: { stock: 100, limitPerCustomer: 6 },
};

function shop(policies: WrittenCatalogue["policies"] = {}) {
  const checked = checkCatalogue(
    { currency: "EUR", products: PRODUCTS, pools: { hall: { stock: 100, products: { seat: 1 } } }, policies },
    1,
  );
  assert.ok(checked.ok);
  return checked.catalogue;
}

const having = (units: Record<string, number>): CustomerRecord => ({
  ...NEW_CUSTOMER,
  units: new Map(Object.entries(units)),
});
const units = (of: Record<string, number>) => new Map(Object.entries(of));

test(proves(["cs1"], "without limits everything is allowed"), () => {
  assert.equal(limitReached(having({ drink: 5_000 }), units({ drink: 5_000 }), shop(), 0), null);
});

test(proves(["cs3"], "a customer has at most so many items in all"), () => {
  const catalogue = shop({ itemsMax: 5 });
  assert.equal(limitReached(having({ seat: 2, drink: 2 }), units({ drink: 1 }), catalogue, 0), null);
  assert.deepEqual(limitReached(having({ seat: 2, drink: 2 }), units({ seat: 1, drink: 1 }), catalogue, 0), {
    kind: "refused",
    code: "limitReached",
    limit: "items",
    product: null,
    max: 5,
  });
});

test(proves(["cs4"], "a customer has at most so many units of one product"), () => {
  assert.equal(limitReached(having({ seat: 3 }), units({ seat: 1 }), shop(), 0), null);
  assert.deepEqual(limitReached(having({ seat: 3 }), units({ seat: 2 }), shop(), 0), {
    kind: "refused",
    code: "limitReached",
    limit: "product",
    product: "seat",
    max: 4,
  });
});

test("limits count tickets, or everything but pools", () => {
  const lines = [
    { product: "seat", units: 1, isTicket: true },
    { product: "cushion", units: 2, isTicket: false },
    { product: "hall", units: 1, isTicket: false },
    { product: "seat", units: 1, isTicket: true },
  ];
  assert.deepEqual(limitedUnits(lines, shop()), units({ seat: 2 }));
  assert.deepEqual(limitedUnits(lines, shop({ limitCounts: "everything" })), units({ seat: 2, cushion: 2 }));
});

test("what was lowered below what a customer has is not held against a wish for other things", () => {
  assert.equal(limitReached(having({ seat: 9 }), units({ drink: 1 }), shop(), 0), null);
  assert.equal(limitReached(having({ seat: 9 }), units({}), shop({ itemsMax: 5 }), 0), null);
});

const burst = { items: 3, everyMs: 1_000 };

test(
  proves(
    ["cs2"],
    "in any window of a length at most so many items are added, and it is told when the next is possible",
  ),
  () => {
    const catalogue = shop({ burst });
    let { additions } = NEW_CUSTOMER;
    additions = withAddition(additions, 2, burst, 10_000);
    additions = withAddition(additions, 1, burst, 10_400);
    const ask = (items: number, now: number) =>
      limitReached({ ...NEW_CUSTOMER, additions }, units({ drink: items }), catalogue, now);
    const tooFast = (retryAt: number) => ({ kind: "refused", code: "tooFast", retryAt });
    assert.deepEqual(ask(1, 10_500), tooFast(11_000));
    assert.deepEqual(ask(3, 10_500), tooFast(11_400));
    assert.deepEqual(ask(1, 10_999), tooFast(11_000));
    assert.equal(ask(2, 11_000), null);
    assert.deepEqual(ask(3, 11_000), tooFast(11_400));
  },
);

test(proves(["cs2"], "releases give nothing back to the window"), () => {
  const additions = withAddition([], 3, burst, 10_000);
  const afterRelease: CustomerRecord = { units: new Map(), additions };
  assert.equal(limitReached(afterRelease, units({ drink: 1 }), shop({ burst }), 10_001)?.code, "tooFast");
});

test("what is more than a whole window allows is a limit and no matter of time", () => {
  assert.deepEqual(limitReached(NEW_CUSTOMER, units({ drink: 4 }), shop({ burst }), 0), {
    kind: "refused",
    code: "limitReached",
    limit: "items",
    product: null,
    max: 3,
  });
});

test("as many additions are remembered as the window holds, and none without a window", () => {
  let { additions } = NEW_CUSTOMER;
  for (let now = 0; now < 100_000; now += 400) additions = withAddition(additions, 1, burst, now);
  assert.equal(additions.length, 3);
  assert.deepEqual(withAddition(additions, 1, null, 100_000), []);
  assert.equal(withAddition(additions, 0, burst, 100_000).length, 2);
});

test("no window of the length ever has more, whatever is tried when", () => {
  const attempt = fc.record({ after: fc.nat(500), items: fc.integer({ min: 1, max: 4 }) });
  fc.assert(
    fc.property(fc.array(attempt, { maxLength: 60 }), (attempts) => {
      const catalogue = shop({ burst });
      const added: { at: number; items: number }[] = [];
      let customer = NEW_CUSTOMER;
      let now = 0;
      for (const { after, items } of attempts) {
        now += after;
        const refusal = limitReached(customer, units({ drink: items }), catalogue, now);
        if (refusal?.code === "tooFast") {
          assert.ok(refusal.retryAt > now);
          assert.equal(limitReached(customer, units({ drink: items }), catalogue, refusal.retryAt), null);
          assert.notEqual(
            limitReached(customer, units({ drink: items }), catalogue, refusal.retryAt - 1),
            null,
          );
        }
        if (refusal) continue;
        added.push({ at: now, items });
        customer = { ...customer, additions: withAddition(customer.additions, items, burst, now) };
      }
      for (const { at: end } of added) {
        const within = added.filter(({ at }) => at > end - burst.everyMs && at <= end);
        assert.ok(within.reduce((sum, { items }) => sum + items, 0) <= burst.items);
      }
    }),
  );
});
