import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import fc from "fast-check";
import { toHex } from "./hex.ts";
import { SeededHash, sha256 } from "./sha256.ts";

const text = (of: string) => new TextEncoder().encode(of);
const nodesOwn = (...parts: readonly Uint8Array[]) => {
  const hash = createHash("sha256");
  for (const part of parts) hash.update(part);
  return hash.digest("hex");
};
const wordsText = (words: Uint32Array) =>
  Array.from(words, (word) => word.toString(16).padStart(8, "0")).join("");

test("the examples of the standard give its results", () => {
  const examples: readonly (readonly [Uint8Array, string])[] = [
    [text(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    [text("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      text("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
    [text("a".repeat(1_000_000)), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"],
  ];
  for (const [bytes, hash] of examples) assert.equal(toHex(sha256(bytes)), hash);
});

test("every length around the ends of blocks hashes as Node's own does", () => {
  for (let length = 0; length <= 260; length++) {
    const bytes = Uint8Array.from({ length }, (_, i) => (i * 151 + length) & 0xff);
    assert.equal(toHex(sha256(bytes)), nodesOwn(bytes), `${length} bytes`);
  }
});

test("any bytes hash as Node's own does", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600, size: "max" }), (bytes) => {
      assert.equal(toHex(sha256(bytes)), nodesOwn(bytes));
    }),
  );
});

test("messages that begin with one seed hash as if each were hashed alone, in any order", () => {
  const seed = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const ids = fc.uint8Array({ minLength: 16, maxLength: 16 * 8, size: "max" });
  fc.assert(
    fc.property(seed, ids, (seedBytes, bytes) => {
      const hash = new SeededHash(seedBytes);
      for (let offset = bytes.length - 16; offset >= 0; offset -= 5) {
        hash.hash(bytes, offset);
        assert.equal(wordsText(hash.words), nodesOwn(seedBytes, bytes.subarray(offset, offset + 16)));
      }
    }),
  );
});

test("a seed of another length is refused", () => {
  for (const length of [0, 31, 33]) assert.throws(() => new SeededHash(new Uint8Array(length)), /32 bytes/);
});
