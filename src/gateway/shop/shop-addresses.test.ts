import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { shopAddressAt } from "./shop-addresses.ts";

const at = (rest: string) => shopAddressAt(`/.fairgate/main/shop/${rest}`);
const actions = (rest: string) => at(rest)?.endpoints.map(({ method, action }) => `${method} ${action}`);

test("each address leads to what it does, with what it names", () => {
  assert.deepEqual(actions("holds"), ["POST hold"]);
  assert.deepEqual(actions("holds/a.1/items"), ["POST extend"]);
  assert.deepEqual(actions("waiting-list/seat"), ["POST joinList", "DELETE leaveList"]);
  assert.deepEqual(at("holds/a%2Fb%20c")?.named, "a/b c");
  assert.deepEqual([at("basket")?.named, at("basket")?.room], [null, "main"]);
});

test("there are no other addresses", () => {
  for (const rest of [
    "",
    "/",
    "holds/",
    "holds/a/b",
    "holds/a/items/",
    "basket/a",
    "toString",
    "holds/%",
    "holds/%ff",
    "*",
  ])
    assert.equal(at(rest), null, rest);
  for (const path of [
    "/.fairgate/main/shop",
    "/.fairgate//shop/basket",
    "/.fairgate/A/shop/basket",
    "/x/main/shop/basket",
  ])
    assert.equal(shopAddressAt(path), null, path);
  assert.equal(at(`holds/${"a".repeat(601)}`), null);
});

test("no path makes it fail", () => {
  fc.assert(fc.property(fc.string(), (text) => at(text) === null || true));
  fc.assert(fc.property(fc.webPath(), (text) => at(text) === null || true));
});
