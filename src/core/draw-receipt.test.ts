import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { type DrawRecord, drawOrder, seedHash } from "./draw.ts";
import { DrawPool } from "./draw-pool.ts";
import {
  checkReceipt,
  RECEIPT_CHARACTERS_MAX,
  type Receipt,
  readReceipt,
  receiptOf,
  receiptText,
  ticketKey,
} from "./draw-receipt.ts";
import { toHex } from "./hex.ts";

const SEED = "00112233445566778899aabbccddeeff".repeat(2);
const OTHER_SEED = "ab".repeat(32);
const START = Date.UTC(2026, 5, 1, 10);
const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => toHex(all));
const crowd = (minLength: number) => fc.uniqueArray(hex(16), { minLength, maxLength: 40, size: "max" });
const counted = (count: number) => Array.from({ length: count }, (_, i) => i.toString(16).padStart(32, "0"));

function drawnRecord(ids: readonly string[], seed = SEED): DrawRecord {
  const pool = new DrawPool();
  for (const [sequence, id] of ids.entries()) pool.add(sequence, id);
  const drawn = drawOrder(pool, seed);
  const hash = seedHash(seed);
  const { size } = drawn;
  return { event: "sale", seedHash: hash, seed, startAt: START, drawnAt: START, size, ids: drawn.ids() };
}

function receiptFor(record: DrawRecord, ticket: string): Receipt {
  const receipt = receiptOf("tickets", record, ticket);
  assert.ok(receipt);
  return receipt;
}

test("everyone drawn has a valid receipt, with and without the record, that can be read again", () => {
  fc.assert(
    fc.property(crowd(1), hex(32), (ids, seed) => {
      const record = drawnRecord(ids, seed);
      const places = ids.map((ticket) => {
        const receipt = receiptFor(record, ticket);
        assert.equal(checkReceipt(receipt, { room: "tickets", record }), null);
        assert.equal(checkReceipt(receipt, null), null);
        assert.deepEqual(readReceipt(receiptText(receipt)), { value: receipt });
        assert.equal(toHex(record.ids!, 16 * (receipt.place - 1), 16), ticket);
        return receipt.place;
      });
      assert.deepEqual(
        places.toSorted((a, b) => a - b),
        ids.map((_, i) => i + 1),
      );
    }),
  );
});

test("visitors who were not drawn have no receipt, and nobody has one before the draw", () => {
  const record = drawnRecord(counted(20));
  assert.equal(receiptOf("tickets", record, "f".repeat(32)), null);
  assert.equal(receiptOf("tickets", record, "no id"), null);
  assert.equal(receiptOf("tickets", { ...record, seed: null, ids: null }, counted(1)[0]!), null);
});

test("the record shows a receipt with another place or an unknown ticket to be wrong", () => {
  fc.assert(
    fc.property(crowd(2), hex(16), fc.nat(), (ids, stranger, by) => {
      fc.pre(!ids.includes(stranger));
      const record = drawnRecord(ids);
      const receipt = receiptFor(record, ids[0]!);
      const place = ((receipt.place + (by % (ids.length - 1))) % ids.length) + 1;
      assert.notEqual(place, receipt.place);
      const moved = checkReceipt({ ...receipt, place }, { room: "tickets", record });
      assert.equal(moved?.kind, "place");
      assert.match(moved.reason, new RegExp(`at place ${receipt.place} in the record, not ${place}\\.`));
      const left = checkReceipt({ ...receipt, ticket: stranger }, { room: "tickets", record });
      assert.equal(left?.kind, "place");
      assert.match(left.reason, /not in the record/);
    }),
  );
});

test("a record with a ticket added or removed does not fit the receipts of the others", () => {
  const ids = counted(50);
  const receipt = receiptFor(drawnRecord(ids), ids[0]!);
  for (const rigged of [[...ids, "f".repeat(32)], ids.slice(0, -1)]) {
    const finding = checkReceipt(receipt, { room: "tickets", record: drawnRecord(rigged) });
    assert.equal(finding?.kind, "otherDraw");
  }
});

test("a receipt of another room, event or seed belongs to another draw", () => {
  const ids = counted(5);
  const record = drawnRecord(ids);
  const receipt = receiptFor(record, ids[0]!);
  const otherSeed = receiptFor(drawnRecord(ids, OTHER_SEED), ids[0]!);
  for (const wrong of [{ ...receipt, room: "seats" }, { ...receipt, event: "gala" }, otherSeed])
    assert.equal(checkReceipt(wrong, { room: "tickets", record })?.kind, "otherDraw");
  assert.equal(checkReceipt(receipt, { room: "tickets", record: { ...record, ids: null } })?.kind, "place");
});

test("a seed that does not match its hash is detected even without a record", () => {
  const ids = counted(5);
  const record = drawnRecord(ids);
  const receipt = { ...receiptFor(record, ids[0]!), seed: OTHER_SEED };
  assert.equal(checkReceipt(receipt, null)?.kind, "seed");
  assert.equal(checkReceipt(receipt, { room: "tickets", record })?.kind, "seed");
});

test("a place far from where the key points is detected without a record, and an honest one never", () => {
  const ids = counted(20_000);
  const record = drawnRecord(ids);
  let seen = 0;
  for (let place = 1; place <= ids.length; place += 97) {
    const receipt = receiptFor(record, toHex(record.ids!, 16 * (place - 1), 16));
    assert.equal(receipt.place, place);
    assert.equal(checkReceipt(receipt, null), null);
    const rigged = place > 1_000 ? place - 1_000 : place + 1_000;
    const finding = checkReceipt({ ...receipt, place: rigged }, null);
    seen++;
    assert.equal(finding?.kind, "place", `place ${place} shown as ${rigged}`);
  }
  assert.ok(seen > 200);
  assert.equal(checkReceipt({ ...receiptFor(drawnRecord(ids.slice(0, 1)), ids[0]!) }, null), null);
});

test("a ticket's key is the SHA-256 of seed and ticket", () => {
  fc.assert(
    fc.property(hex(32), hex(16), (seed, ticket) => {
      const expected = createHash("sha256")
        .update(Buffer.from(seed + ticket, "hex"))
        .digest("hex");
      assert.equal(ticketKey(seed, ticket), expected);
    }),
  );
});

test("a text that is not a receipt is refused with the reason", () => {
  const good = receiptFor(drawnRecord(counted(3)), counted(1)[0]!);
  const reasons: readonly (readonly [object, RegExp])[] = [
    [{ room: "\u001b[31m" }, /room/],
    [{ event: undefined }, /event/],
    [{ ticket: "0" }, /ticket is not 32/],
    [{ ticket: ["0".repeat(32)] }, /ticket is not 32/],
    [{ place: 0 }, /place is not between 1 and 3/],
    [{ place: 4 }, /place is not between 1 and 3/],
    [{ place: 1.5 }, /place/],
    [{ place: "1" }, /place/],
    [{ of: 0 }, /of is not how many/],
    [{ of: 1e9 }, /of is not how many/],
    [{ seedHash: "ff" }, /seedHash is not 64/],
    [{ seed: null }, /seed is not 64/],
  ];
  for (const [change, reason] of reasons) {
    const result = readReceipt(JSON.stringify({ ...good, ...change }));
    assert.match("wrong" in result ? result.wrong : "", reason);
  }
  for (const text of ["", "null", "[]", "3", '"text"', "{", "fairgate draw 1\n"]) {
    const result = readReceipt(text);
    assert.match("wrong" in result ? result.wrong : "", /not a JSON object/);
  }
  const long = readReceipt(" ".repeat(RECEIPT_CHARACTERS_MAX) + receiptText(good));
  assert.match("wrong" in long ? long.wrong : "", /longer than any receipt/);
  assert.deepEqual(readReceipt(JSON.stringify({ ...good, note: "mine" })), { value: good });
});
