import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { CODE_CHARACTERS, type CodeKeys, codeKeys, type LaneCode, readCode, writeCode } from "./code.ts";

const NOW = Date.UTC(2026, 5, 1);
const SECRET = "a secret of at least thirty-two characters";
const OTHER = "quite another secret, as long as it must be";
const keys = codeKeys("main", { secret: SECRET, previousSecrets: [] });
const code: LaneCode = { kind: "once", lane: 4_711, id: "00112233445566ff", expiresAt: NOW + 60_000 };
const text = writeCode(code, keys);
const read = (written: string, options: Partial<{ keys: CodeKeys; now: number }> = {}) =>
  readCode(written, { keys, now: NOW, ...options });
const reasonOf = (reading: ReturnType<typeof read>) =>
  reading.kind === "refused" ? reading.reason : reading.kind;

const anyCode: fc.Arbitrary<LaneCode> = fc.record(
  {
    kind: fc.constantFrom("many", "once"),
    lane: fc.integer({ min: 0, max: 0xffff }),
    id: fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes) => Buffer.from(bytes).toString("hex")),
    expiresAt: fc.integer({ min: NOW / 1_000 + 1, max: 0xffff_ffff }).map((seconds) => seconds * 1_000),
  },
  { noNullPrototype: true },
);

const anyUnit = fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit));

test("a code comes back as it went out", () => {
  fc.assert(
    fc.property(anyCode, (any) => {
      assert.deepEqual(read(writeCode(any, keys)), { kind: "code", code: any });
    }),
  );
});

test("a code is short and needs no escape in a link", () => {
  fc.assert(
    fc.property(anyCode, (any) => {
      const written = writeCode(any, keys);
      assert.equal(written.length, CODE_CHARACTERS);
      assert.equal(encodeURIComponent(written), written);
    }),
  );
  assert.equal(CODE_CHARACTERS, 48);
});

test("a code is good until the second in which it runs out, and not in it", () => {
  const half = writeCode({ ...code, expiresAt: NOW + 500 }, keys);
  assert.equal(reasonOf(read(half, { now: NOW + 999 })), "code");
  assert.equal(reasonOf(read(half, { now: NOW + 1_000 })), "expired");
});

test("a code that should last for ever lasts as long as its bytes can say", () => {
  const reading = read(writeCode({ ...code, expiresAt: Number.MAX_SAFE_INTEGER }, keys));
  assert.equal(reading.kind === "code" && reading.code.expiresAt, 0xffff_ffff * 1_000);
});

test("a code of another room, or made with another secret, is forged", () => {
  const secrets = { secret: SECRET, previousSecrets: [] };
  assert.equal(reasonOf(read(text, { keys: codeKeys("other", secrets) })), "forged");
  assert.equal(reasonOf(read(text, { keys: codeKeys("main", { ...secrets, secret: OTHER }) })), "forged");
});

test("a code that has run out is called so only when it is genuine", () => {
  const late = { now: code.expiresAt };
  assert.equal(reasonOf(read(text, late)), "expired");
  assert.equal(
    reasonOf(read(text, { ...late, keys: codeKeys("other", { secret: SECRET, previousSecrets: [] }) })),
    "forged",
  );
});

test("a new secret leaves codes of the one before good, and signs new ones itself", () => {
  const turned = codeKeys("main", { secret: OTHER, previousSecrets: [SECRET] });
  assert.equal(reasonOf(read(text, { keys: turned })), "code");
  assert.equal(reasonOf(read(writeCode(code, turned))), "forged");
  assert.equal(reasonOf(read(writeCode(code, turned), { keys: turned })), "code");
});

test("a code that is shown again is the same code, with the same id", () => {
  assert.deepEqual(read(text), read(text));
});

test("no change of any byte is accepted", () => {
  const change = fc.record({
    at: fc.nat({ max: Buffer.from(text, "base64url").length - 1 }),
    by: fc.integer({ min: 1, max: 255 }),
  });
  fc.assert(
    fc.property(anyCode, fc.array(change, { minLength: 1, maxLength: 4 }), (any, changes) => {
      const genuine = Buffer.from(writeCode(any, keys), "base64url");
      const bytes = Buffer.from(genuine);
      for (const { at, by } of changes) bytes[at] = bytes[at]! ^ by;
      fc.pre(!bytes.equals(genuine));
      assert.equal(read(bytes.toString("base64url"), { now: 0 }).kind, "refused");
    }),
    { numRuns: 2_000 },
  );
});

test("no change of any character is accepted, nor another way to write the same bytes", () => {
  for (let at = 0; at < text.length; at++) {
    for (const other of ["A", "B", "g", "_", "-", "+", "/", "=", " ", "\n", "é", "\0"]) {
      if (text[at] === other) continue;
      const changed = text.slice(0, at) + other + text.slice(at + 1);
      assert.equal(read(changed).kind, "refused", `${at} ${other}`);
    }
  }
  const dashed = writeCode({ ...code, id: "fbfffbfffbfffbff" }, keys);
  const otherAlphabet = dashed.replaceAll("-", "+").replaceAll("_", "/");
  assert.notEqual(otherAlphabet, dashed);
  assert.equal(reasonOf(read(otherAlphabet)), "malformed");
});

test("a part of a code, or a code with something added, is malformed", () => {
  for (let length = 0; length < text.length; length++)
    assert.equal(reasonOf(read(text.slice(0, length))), "malformed");
  for (const added of ["A", "=", "\0", " ", text, "A".repeat(1_000_000)])
    assert.equal(reasonOf(read(text + added)), "malformed");
});

test("one code's proof does not serve another", () => {
  fc.assert(
    fc.property(anyCode, anyCode, (one, two) => {
      const [a, b] = [writeCode(one, keys), writeCode(two, keys)];
      fc.pre(a !== b);
      const mixed = Buffer.from(a, "base64url");
      Buffer.from(b, "base64url").copy(mixed, 16, 16);
      assert.equal(read(mixed.toString("base64url"), { now: 0 }).kind, "refused");
    }),
  );
});

test("no text whatever makes reading throw, and none is taken for a code", () => {
  const long = fc.string({ maxLength: 60, size: "max", unit: anyUnit });
  fc.assert(fc.property(long, (any) => read(any).kind === "refused"));
  const bytes = fc.uint8Array({ minLength: 36, maxLength: 36 });
  fc.assert(
    fc.property(bytes, (any) => {
      any[0] = 1;
      any[1] = 1 + (any[1]! % 2);
      return reasonOf(read(Buffer.from(any).toString("base64url"))) === "forged";
    }),
  );
});
