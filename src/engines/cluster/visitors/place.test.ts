import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  ADMITTED,
  addClaim,
  addVoid,
  type Claim,
  claimBy,
  claimOf,
  dropClaim,
  LAPSED,
  ON_SITE,
  type Place,
  type PlaceState,
  settleClaims,
  WAITING,
} from "./place.ts";

function claim(owner: string, state: PlaceState, more: Partial<Claim> = {}): Claim {
  return {
    origin: owner.charCodeAt(0),
    owner,
    epoch: 0,
    at: 0,
    state,
    until: 0,
    admittedAt: 0,
    firmUntil: 0,
    isBorrowed: false,
    ...more,
  };
}

function placeOf(first: Claim, ...others: Claim[]): Place {
  const place: Place = {
    ...{ key: 1, lane: 0, id: "", joinedAt: 0, lookAt: null, wasLate: false },
    ...{ sequence: 1, behind: 1, missedTurns: 0, missedAt: 0, hasReturned: false },
    ...{ claim: first, others: null, voids: null },
  };
  for (const other of others) addClaim(place, other);
  settleClaims(place);
  return place;
}

/** Owners of all claims, the best first. */
const ranked = (place: Place) => [place.claim, ...(place.others ?? [])].map(({ owner }) => owner).join("");

test("the claim that got further wins: waiting, turn, borrowed visit, visit, gone", () => {
  const place = placeOf(
    claim("a", WAITING, { epoch: 9 }),
    claim("b", ADMITTED, { epoch: 8 }),
    claim("c", ON_SITE, { epoch: 7, isBorrowed: true }),
    claim("d", ON_SITE),
  );
  assert.equal(ranked(place), "dcba");
});

test("having lapsed is no further than waiting", () => {
  assert.equal(placeOf(claim("a", LAPSED), claim("b", WAITING, { epoch: 1 })).claim.owner, "b");
  assert.equal(placeOf(claim("a", LAPSED, { epoch: 1 }), claim("b", WAITING)).claim.owner, "a");
});

test("among equals the later owner wins, then the lower name", () => {
  assert.equal(ranked(placeOf(claim("a", ADMITTED, { epoch: 2 }), claim("b", ADMITTED, { epoch: 3 }))), "ba");
  assert.equal(ranked(placeOf(claim("b", ADMITTED), claim("a", ADMITTED))), "ab");
});

const anyClaim = fc.record({
  state: fc.constantFrom<PlaceState>(WAITING, LAPSED, ADMITTED, ON_SITE),
  epoch: fc.nat({ max: 3 }),
  isBorrowed: fc.boolean(),
});

test("the same claim wins on every node, in whatever order claims were heard of", () => {
  const claims = fc
    .array(anyClaim, { minLength: 1, maxLength: 6 })
    .map((list) => list.map(({ state, ...more }, i) => claim("abcdef"[i]!, state, more)));
  const orders = claims.chain((list) =>
    fc.tuple(fc.constant(list), fc.shuffledSubarray(list, { minLength: list.length })),
  );
  fc.assert(
    fc.property(orders, ([[first, ...others], [firstToo, ...othersToo]]) => {
      assert.equal(ranked(placeOf(first!, ...others)), ranked(placeOf(firstToo!, ...othersToo)));
    }),
  );
});

test("a claim is found by its log and by its owner", () => {
  const place = placeOf(claim("a", WAITING), claim("b", ADMITTED));
  assert.equal(claimOf(place, "a".charCodeAt(0))?.owner, "a");
  assert.equal(claimBy(place, "b")?.state, ADMITTED);
  assert.equal(claimOf(place, 1), undefined);
  assert.equal(claimBy(place, "c"), undefined);
});

test("a claim that is taken back leaves the others; the only one leaves nothing", () => {
  const place = placeOf(claim("a", WAITING), claim("b", ADMITTED));
  assert.equal(dropClaim(place, "b".charCodeAt(0)), true);
  assert.equal(ranked(place), "a");
  assert.equal(dropClaim(place, "a".charCodeAt(0)), false);
});

test("what was taken over from an owner stays void, up to the longest log that was told", () => {
  const place = placeOf(claim("a", WAITING));
  addVoid(place, { owner: "b", head: 5 });
  addVoid(place, { owner: "c", head: 1 });
  addVoid(place, { owner: "b", head: 3 });
  assert.deepEqual(
    place.voids?.toSorted((a, b) => (a.owner < b.owner ? -1 : 1)),
    [
      { owner: "b", head: 5 },
      { owner: "c", head: 1 },
    ],
  );
});
