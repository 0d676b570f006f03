import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { proves } from "../../testing/requirements/proves.ts";
import type { TieBreak } from "./catalogue.ts";
import { decideTie, inTieOrder, type TieRequest } from "./ties.ts";

const SEED = "5eed".repeat(16);

interface Asking extends TieRequest {
  readonly units: number;
}

function asking(id: string, changes: Partial<Asking> = {}): Asking {
  return { id, arrival: 0, admittedAt: 0, basketValue: 0, units: 1, ...changes };
}

/** Grants out of a stock, all that is asked for or nothing. */
function from(stock: number) {
  return ({ units }: Asking) => {
    if (units > stock) return false;
    stock -= units;
    return true;
  };
}

const ids = (requests: readonly TieRequest[]) => requests.map(({ id }) => id).join("");

test(proves(["tb1"], "each gets all it asked for or nothing, and what does not fit is passed over"), () => {
  const requests = [
    asking("a", { arrival: 1, units: 3 }),
    asking("b", { arrival: 2, units: 3 }),
    asking("c", { arrival: 3, units: 2 }),
  ];
  assert.equal(ids(decideTie(requests, from(5), "first", SEED)), "ac");
});

test(
  proves(
    ["tb3", "tb4", "tb5"],
    "the first, the earliest admitted, the latest admitted or the highest basket is served first",
  ),
  () => {
    const requests = [
      asking("a", { arrival: 3, admittedAt: 20, basketValue: 500 }),
      asking("b", { arrival: 1, admittedAt: 30, basketValue: 100 }),
      asking("c", { arrival: 2, admittedAt: 10, basketValue: 300 }),
    ];
    const order = (tieBreak: TieBreak) => ids(inTieOrder(requests, tieBreak, SEED));
    assert.equal(order("first"), "bca");
    assert.equal(order("earliestAdmitted"), "cab");
    assert.equal(order("latestAdmitted"), "bac");
    assert.equal(order("highestBasket"), "acb");
  },
);

test("equal ones are served by admission, then by id", () => {
  const requests = [
    asking("c", { admittedAt: 5 }),
    asking("b", { admittedAt: 5 }),
    asking("d", { admittedAt: 1 }),
  ];
  for (const tieBreak of ["first", "highestBasket"] as const)
    assert.equal(ids(inTieOrder(requests, tieBreak, SEED)), "dbc");
  assert.equal(ids(inTieOrder(requests, "latestAdmitted", SEED)), "bcd");
});

test(proves(["tb2"], "at random the seed decides, and with the seed it can be repeated"), () => {
  const requests = [..."abcdefgh"].map((id, arrival) => asking(id, { arrival }));
  const orders = new Set<string>();
  for (let i = 0; i < 50; i++) orders.add(ids(inTieOrder(requests, "random", `${i}`)));
  assert.ok(orders.size > 45);
  assert.equal(ids(inTieOrder(requests, "random", SEED)), ids(inTieOrder(requests, "random", SEED)));
});

test(proves(["tb2"], "at random everybody wins about equally often"), () => {
  const requests = [..."abcd"].map((id, arrival) => asking(id, { arrival }));
  const wins = new Map<string, number>();
  for (let i = 0; i < 4_000; i++) {
    const [winner] = decideTie(requests, from(1), "random", `seed ${i}`);
    wins.set(winner!.id, (wins.get(winner!.id) ?? 0) + 1);
  }
  for (const [id, won] of wins) assert.ok(Math.abs(won - 1_000) < 150, `${id} won ${won} of 4000`);
});

test("the order in which requests are handed in makes no difference", () => {
  const request = fc.record({
    arrival: fc.nat(5),
    admittedAt: fc.nat(3),
    basketValue: fc.nat(3),
    units: fc.integer({ min: 1, max: 3 }),
  });
  const tieBreaks = ["first", "random", "earliestAdmitted", "latestAdmitted", "highestBasket"] as const;
  fc.assert(
    fc.property(
      fc.array(request, { maxLength: 12 }),
      fc.constantFrom(...tieBreaks),
      fc.nat(12),
      (made, tieBreak, stock) => {
        const requests = made.map((one, i) => asking(String.fromCharCode(97 + i), one));
        const granted = decideTie(requests, from(stock), tieBreak, SEED);
        assert.equal(ids(decideTie(requests.toReversed(), from(stock), tieBreak, SEED)), ids(granted));
        const left = stock - granted.reduce((sum, { units }) => sum + units, 0);
        const passedOver = requests.filter((one) => !granted.includes(one));
        assert.ok(left >= 0);
        assert.ok(
          passedOver.every(({ units }) => units > left),
          "nobody who fits goes without",
        );
      },
    ),
  );
});
