import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Keyring } from "./keyring.ts";
import { readShopToken, type ShopVisit, shopToken } from "./shop-token.ts";
import { NO_BADGE, passToken, readToken, ticketToken } from "./token.ts";

const keyring = new Keyring({ secret: "a-secret-of-the-tests-long-enough-to-be-one", previousSecrets: [] });
const NOW = 1_750_000_000_000;
const VISIT: ShopVisit = {
  visitor: "ab".repeat(16),
  lane: 7,
  admittedAt: NOW - 1_000,
  expiresAt: NOW + 1_000,
  binding: 0x80000001,
  customer: "customer-42",
};
const reading = { room: "main", keyring, now: NOW };
const PASS = { id: "ab".repeat(16), room: "main", lane: 0, node: 0, joinedAt: NOW, admittedAt: NOW };

test("what is written is read, whoever the customer is", () => {
  const customers = fc.option(fc.string({ minLength: 1, maxLength: 50, unit: "grapheme" }));
  fc.assert(
    fc.property(customers, fc.constantFrom("a", "main", "r".repeat(32)), (customer, room) => {
      const visit = { ...VISIT, customer };
      const token = shopToken(visit, room, keyring);
      assert.deepEqual(readShopToken(token, { ...reading, room }), visit);
    }),
  );
});

test("a token is good in its room, until it runs out, and with its own key", () => {
  const token = shopToken(VISIT, "main", keyring);
  assert.equal(readShopToken(token, { ...reading, room: "mai" }), null);
  assert.equal(readShopToken(token, { ...reading, room: "main2" }), null);
  assert.equal(readShopToken(token, { ...reading, now: VISIT.expiresAt }), null);
  const other = new Keyring({ secret: "another-secret-of-the-tests-that-is-as-long", previousSecrets: [] });
  assert.equal(readShopToken(token, { ...reading, keyring: other }), null);
});

test("no text that is not such a token is taken for one, and none makes reading fail", () => {
  const token = shopToken(VISIT, "main", keyring);
  const bytes = Buffer.from(token, "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const flipped = Buffer.from(bytes);
    flipped[at]! ^= 1;
    assert.equal(readShopToken(flipped.toString("base64url"), reading), null, `byte ${at}`);
  }
  for (let length = 0; length < token.length; length++)
    assert.equal(readShopToken(token.slice(0, length), reading), null);
  for (const text of [`${token}AAAA`, `${token}=`, "A".repeat(10_000), "", "%", token.replace(/.$/, "-")])
    assert.equal(readShopToken(text, reading), null, text.slice(0, 20));
  fc.assert(fc.property(fc.string(), (text) => readShopToken(text, reading) === null));
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (random) => {
      const text = Buffer.from([2, 5, ...random]).toString("base64url");
      return readShopToken(text, reading) === null;
    }),
  );
});

test("a shop token is no pass and no ticket, and neither of them is a shop token", () => {
  const token = shopToken({ ...VISIT, customer: null }, "main", keyring);
  const read = readToken(token, reading);
  assert.deepEqual([read.kind, read.kind === "refused" && read.reason], ["refused", "malformed"]);
  const pass = passToken({ ...PASS, createdAt: NOW, expiresAt: NOW + 1_000 }, NO_BADGE, keyring);
  assert.equal(readToken(pass, reading).kind, "pass");
  assert.equal(readShopToken(pass, reading), null);
  const place = { ...PASS, sequence: 1, issuedAt: NOW, expiresAt: NOW + 1_000, draw: 0 };
  const seen = { aheadShown: 1, aheadAtJoin: 1, missedTurns: 0, missedAt: 0, origin: 1 };
  const ticket = ticketToken({ ...place, ...seen }, NO_BADGE, keyring);
  assert.equal(readToken(ticket, reading).kind, "ticket");
  assert.equal(readShopToken(ticket, reading), null);
});
