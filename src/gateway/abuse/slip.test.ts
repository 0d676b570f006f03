import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { NONE_MISSED } from "../../core/ticket.ts";
import { Keyring } from "../tokens/keyring.ts";
import { NO_BADGE, passToken, readToken, ticketToken } from "../tokens/token.ts";
import { isCurrent, isSlip, readSlip, SLIP_LIFE_MS, type Slip, type SlipReading, slipToken } from "./slip.ts";

const NOW = Date.UTC(2026, 5, 1);
const keyring = new Keyring({ secret: "a secret of at least thirty-two characters", previousSecrets: [] });
const slip: Slip = { id: 0x0123456789ab, givenAt: NOW, bits: 14, past: { visits: 3, since: NOW - 5_000 } };
const text = slipToken(slip, "main", keyring);
const read = (written: string, about: Partial<SlipReading> = {}) =>
  readSlip(written, { room: "main", keyring, now: NOW, ...about });

test("a slip comes back as it went out", () => {
  assert.deepEqual(read(text), slip);
  fc.assert(
    fc.property(
      fc.record({
        id: fc.maxSafeNat().map((id) => id % 2 ** 48),
        bits: fc.nat({ max: 255 }),
        past: fc
          .tuple(fc.nat({ max: 255 }), fc.nat({ max: NOW }))
          .map(([visits, since]) => ({ visits, since })),
      }),
      fc.stringMatching(/^[a-z0-9]{1,32}$/),
      (some, room) => {
        const given = { ...some, givenAt: NOW };
        const written = slipToken(given, room, keyring);
        assert.ok(isSlip(written));
        assert.deepEqual(read(written, { room }), given);
      },
    ),
  );
});

test("a slip is good in its own room, for its time, and under its own secret", () => {
  assert.equal(read(text, { room: "other" }), null);
  assert.equal(read(text, { room: "mai" }), null);
  assert.equal(isCurrent(slip, NOW + SLIP_LIFE_MS - 1), true);
  assert.equal(isCurrent(slip, NOW + SLIP_LIFE_MS), false);
  const stranger = new Keyring({
    secret: "quite another secret, as long as it must be",
    previousSecrets: [],
  });
  assert.equal(read(text, { keyring: stranger }), null);
});

test("a slip from a gateway whose clock is a little ahead is good; one from far ahead is not waited for", () => {
  assert.equal(isCurrent(slip, NOW - 2_000), true);
  assert.equal(isCurrent(slip, NOW - 60_000), false);
});

test("a slip that has run out still says what it knows of earlier visits", () => {
  assert.deepEqual(read(text, { now: NOW + 2 * SLIP_LIFE_MS })?.past, slip.past);
});

test("slips outlive a turn of the ring and a new secret", () => {
  const secret = "a secret of at least thirty-two characters";
  const ring = new Keyring({ secret, previousSecrets: [] });
  ring.restore(ring.turned({ now: NOW, tokenLifeMs: 60_000 }));
  assert.deepEqual(read(text, { keyring: ring }), slip);
  const renewed = new Keyring({ secret: "the new secret, thirty-two characters", previousSecrets: [secret] });
  assert.deepEqual(read(text, { keyring: renewed }), slip);
});

test("any change of any character is refused", () => {
  for (let i = 0; i < text.length; i++) {
    for (const other of ["A", "B", "M", "_", "=", " ", "é"]) {
      if (text[i] === other) continue;
      assert.equal(read(text.slice(0, i) + other + text.slice(i + 1)), null, `${i} ${other}`);
    }
  }
});

test("any change of any bit is refused", () => {
  const bytes = Buffer.from(text, "base64url");
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = Buffer.from(bytes);
    changed[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(read(changed.toString("base64url")), null, `bit ${bit}`);
  }
});

test("any cut is refused, and anything added too", () => {
  for (let length = 0; length < text.length; length++) assert.equal(read(text.slice(0, length)), null);
  for (const added of ["A", "=", "\0", " "]) assert.equal(read(text + added), null);
});

test("no text whatever makes reading throw", () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 300, size: "max", unit: "binary" }), (any) => read(any) === null),
  );
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 58, maxLength: 58 }), (bytes) => {
      bytes.set([2, 3]);
      return read(Buffer.from(bytes).toString("base64url")) === null;
    }),
  );
});

test("a slip is told from a ticket and a pass by its first characters, and none is taken for another", () => {
  const room = "main";
  const who = { id: "00112233445566778899aabbccddeeff", room, lane: 0, joinedAt: NOW, node: 0 };
  const place = { sequence: 5, draw: 0, issuedAt: NOW, aheadShown: 3, aheadAtJoin: 3, ...NONE_MISSED };
  const visit = { admittedAt: NOW, createdAt: NOW };
  const others = [
    ticketToken({ ...who, ...place, expiresAt: NOW + 1_000 }, NO_BADGE, keyring),
    passToken({ ...who, ...visit, expiresAt: NOW + 1_000 }, NO_BADGE, keyring),
  ];
  for (const other of others) {
    assert.equal(isSlip(other), false);
    assert.equal(read(other), null);
  }
  assert.ok(isSlip(text));
  assert.equal(readToken(text, { room, keyring, now: NOW }).kind, "refused");
});

test("a slip is short enough for a cookie and for a header", () => {
  assert.equal(text.length, 78);
});
