import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { recordText } from "../testing/record-text.ts";
import { type DrawRecord, drawOrder, seedHash } from "./draw.ts";
import { DrawPool } from "./draw-pool.ts";
import { checkRecord, RECORD_SIZE_MAX, readRecord, recordParts } from "./draw-record.ts";
import { toHex } from "./hex.ts";

const SEED = "00112233445566778899aabbccddeeff".repeat(2);
const START = Date.UTC(2026, 5, 1, 10);
const hex = (bytes: number) => fc.uint8Array({ minLength: bytes, maxLength: bytes }).map((all) => toHex(all));
const crowd = (minLength: number) => fc.uniqueArray(hex(16), { minLength, maxLength: 40, size: "max" });

function drawnRecord(ids: readonly string[], seed = SEED): DrawRecord {
  const pool = new DrawPool();
  for (const [sequence, id] of ids.entries()) pool.add(sequence, id);
  const drawn = drawOrder(pool, seed);
  const hash = seedHash(seed);
  const { size } = drawn;
  return { event: "sale", seedHash: hash, seed, startAt: START, drawnAt: START + 7, size, ids: drawn.ids() };
}

const nobody = drawnRecord([]);
const undrawn: DrawRecord = { ...nobody, seed: null, drawnAt: null, ids: null, size: 12 };

function withIds(record: DrawRecord, ids: readonly Uint8Array[]): DrawRecord {
  return { ...record, ids: new Uint8Array(Buffer.concat(ids)) };
}

function eachId({ ids }: DrawRecord): Uint8Array[] {
  return Array.from({ length: ids!.length / 16 }, (_, i) => ids!.slice(16 * i, 16 * i + 16));
}

function read(text: string) {
  const result = readRecord(text);
  assert.ok("value" in result, "wrong" in result ? result.wrong : "");
  return result.value;
}

function whyNot(text: string): string {
  const result = readRecord(text);
  assert.ok("wrong" in result, "it was read");
  return result.wrong;
}

test("a record drawn as promised passes, and survives being written and read", () => {
  fc.assert(
    fc.property(crowd(0), hex(32), (ids, seed) => {
      const record = drawnRecord(ids, seed);
      assert.equal(checkRecord(record), null);
      const text = recordText("tickets", record);
      assert.deepEqual(read(text), { room: "tickets", record });
      assert.deepEqual(read(text.replaceAll("\n", "\r\n")), { room: "tickets", record });
      assert.equal(Buffer.concat([...recordParts("tickets", record)]).toString(), text);
    }),
  );
});

test("a record from before its draw has the hash and no seed, and the check says that it cannot be checked yet", () => {
  const text = recordText("tickets", undrawn);
  assert.doesNotMatch(text, /^(seed|drawnAt):/m);
  assert.deepEqual(read(text), { room: "tickets", record: undrawn });
  assert.deepEqual(read(text.trimEnd()), { room: "tickets", record: undrawn });
  assert.equal(checkRecord(undrawn)?.kind, "notDrawn");
});

test("the record's own explanation is enough to recompute its order", () => {
  const text = recordText("tickets", drawnRecord(["a", "b", "c", "d", "e"].map((digit) => digit.repeat(32))));
  const [head = "", body = ""] = text.split("\n\n");
  const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(head)?.[1] ?? "";
  const hash = (digits: string) => createHash("sha256").update(Buffer.from(digits, "hex")).digest("hex");
  const tickets = body.trimEnd().split("\n");
  assert.equal(hash(field("seed")), field("seedHash"));
  assert.equal(tickets.length, Number(field("size")));
  const keys = tickets.map((ticket) => hash(field("seed") + ticket));
  assert.deepEqual(keys, keys.toSorted());
  assert.match(head, /printf '%s%s' SEED TICKET \| xxd -r -p \| sha256sum/);
});

test("two swapped tickets are detected, wherever they are", () => {
  fc.assert(
    fc.property(crowd(2), fc.nat(), fc.nat(), (ids, a, b) => {
      const record = drawnRecord(ids);
      const rigged = eachId(record);
      const [i, j] = [a % ids.length, b % ids.length];
      fc.pre(i !== j);
      [rigged[i], rigged[j]] = [rigged[j]!, rigged[i]!];
      const finding = checkRecord(withIds(record, rigged));
      assert.equal(finding?.kind, "order");
      assert.match(
        finding.reason,
        new RegExp(`at place ${Math.min(i, j) + 1}|at place ${Math.min(i, j) + 2}`),
      );
    }),
  );
});

test("a missing, added or repeated ticket is detected", () => {
  fc.assert(
    fc.property(crowd(1), hex(16), fc.nat(), (ids, stranger, at) => {
      fc.pre(!ids.includes(stranger));
      const record = drawnRecord(ids);
      const more = drawnRecord([...ids, stranger]);
      assert.equal(checkRecord({ ...more, size: ids.length })?.kind, "size");
      assert.equal(checkRecord({ ...record, size: ids.length + 1 })?.kind, "size");
      const part = { ...record, ids: record.ids!.slice(1) };
      assert.equal(checkRecord(part)?.kind, "size");
      const doubled = eachId(record).toSpliced(at % ids.length, 0, eachId(record)[at % ids.length]!);
      const twice = checkRecord({ ...withIds(record, doubled), size: doubled.length });
      assert.equal(twice?.kind, "twice");
      assert.match(twice.reason, new RegExp(toHex(eachId(record)[at % ids.length]!)));
    }),
  );
});

test("another seed than the published one is detected, even if everything was drawn by it", () => {
  fc.assert(
    fc.property(crowd(0), hex(32), (ids, other) => {
      fc.pre(other !== SEED);
      const finding = checkRecord({ ...drawnRecord(ids, other), seedHash: seedHash(SEED) });
      assert.equal(finding?.kind, "seed");
    }),
  );
  assert.equal(checkRecord({ ...nobody, seed: "no seed" })?.kind, "seed");
});

test("an order drawn by another seed is detected, though the seed shown is the published one", () => {
  const ids = Array.from({ length: 40 }, (_, i) => i.toString(16).padStart(32, "0"));
  const other = drawnRecord(ids, "ab".repeat(32));
  assert.equal(checkRecord({ ...drawnRecord(ids), ids: other.ids })?.kind, "order");
});

test("a text that is not a record is refused with the reason", () => {
  const text = recordText("tickets", drawnRecord(["1".repeat(32), "2".repeat(32)]));
  const lines = text.split("\n").length - 1;
  const reasons: readonly (readonly [string, RegExp])[] = [
    ["", /does not begin with "fairgate draw 1"/],
    ["fairgate draw 2\n", /does not begin/],
    [`\ufeff${text}`, /does not begin/],
    [text.replace("room: tickets", "room: \u001b[31mred"), /room is not a room's name/],
    [text.replace("room: tickets\n", ""), /room is not a room's name/],
    [text.replace("event: sale", `event: ${"a".repeat(65)}`), /event is not/],
    [text.replace("event: sale", `event: ${"a".repeat(300)}`), /^line 8 is too long$/],
    [text.replace("event: sale", "event: sale\nevent: sale"), /^line 9 gives event a second time$/],
    [text.replace("event: sale", "event: sale\nprice: 3"), /^line 9 is not one a record has$/],
    [text.replace("event: sale", "event: sale\n__proto__: 3"), /^line 9 is not one a record has$/],
    [text.replace(/startAt: .*/, "startAt: tomorrow"), /startAt is not a time/],
    [text.replace(/drawnAt: .*/, "drawnAt: 2026-13-01T00:00:00.000Z"), /drawnAt is not a time/],
    [text.replace(/seedHash: ./, "seedHash: "), /seedHash is not 64/],
    [text.replace(/seed: ../, "seed: "), /seed is not 64/],
    [text.replace(/^seed: .*\n/m, ""), /no seed they were drawn by/],
    [text.replace("size: 2", "size: -2"), /size is not a number up to 10,000,000/],
    [text.replace("size: 2", `size: ${RECORD_SIZE_MAX + 1}`), /size is not/],
    [text.replace("size: 2", "size: 1e3"), /size is not/],
    [text.replace("room: tickets", "#\n".repeat(40)), /no end to the lines/],
    [`${text}${"A".repeat(32)}\n`, new RegExp(`^line ${lines + 1} is not a ticket`)],
    [`${text}\n`, new RegExp(`^line ${lines + 1} is not a ticket`)],
    [text.slice(0, -2), new RegExp(`^line ${lines} is not a ticket`)],
    [`${text.trimEnd()}0\n`, new RegExp(`^line ${lines} is not a ticket`)],
  ];
  for (const [wrong, reason] of reasons) assert.match(whyNot(wrong), reason);
});

test("no text makes reading or checking throw", () => {
  const good = recordText("tickets", drawnRecord(["1".repeat(32), "2".repeat(32)]));
  const change = fc.record({ at: fc.nat(good.length), drop: fc.nat(40), put: fc.string({ maxLength: 40 }) });
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), (changes) => {
      let text = good;
      for (const { at, drop, put } of changes) text = text.slice(0, at) + put + text.slice(at + drop);
      const result = readRecord(text);
      if ("value" in result) checkRecord(result.value.record);
    }),
    { numRuns: 1_000 },
  );
});

test("reading and checking a long record report their progress", () => {
  const ids = Array.from({ length: 10_000 }, (_, i) => i.toString(16).padStart(32, "0"));
  const record = drawnRecord(ids);
  const heard: number[] = [];
  readRecord(recordText("tickets", record), (done) => heard.push(done));
  checkRecord(record, (done) => heard.push(done));
  assert.deepEqual(heard, [0, 4_096, 8_192, 0, 4_096, 8_192]);
  assert.equal([...recordParts("tickets", record)].length, 4);
});
