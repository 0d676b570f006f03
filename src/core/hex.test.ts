import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { fromHex, readHex, toHex, writeHex } from "./hex.ts";

test("bytes as hexadecimal are what Node writes, and come back", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80, size: "max" }), (bytes) => {
      assert.equal(toHex(bytes), Buffer.from(bytes).toString("hex"));
      assert.deepEqual(fromHex(toHex(bytes)), bytes);
    }),
  );
});

test("a text that is not pairs of lower-case digits stands for nothing", () => {
  for (const text of ["0", "0g", "AB", "é0", "ab ", "0x12", "１２", "\u0130\u0130", "a\u0000"])
    assert.equal(fromHex(text), null, text);
  assert.deepEqual(fromHex(""), new Uint8Array());
});

test("a part can be read and written in its place, and not beyond the end of the text", () => {
  const bytes = new Uint8Array(6);
  assert.equal(readHex("--0badcafe--", 2, bytes, 1, 4), true);
  assert.deepEqual([...bytes], [0, 0x0b, 0xad, 0xca, 0xfe, 0]);
  assert.equal(toHex(bytes, 2, 3), "adcafe");
  assert.equal(toHex(bytes, 4), "fe00");
  assert.equal(readHex("0badcafe", 2, bytes, 0, 4), false);
});

test("bytes are written into a longer text as the codes of their digits", () => {
  const all = Uint8Array.from({ length: 256 }, (_, i) => i);
  const text = new Uint8Array(514).fill("-".charCodeAt(0));
  writeHex(all, 1, 255, text, 2);
  assert.equal(Buffer.from(text).toString("latin1"), `--${toHex(all, 1)}--`);
});
