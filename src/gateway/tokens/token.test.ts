import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Pass } from "../../core/pass.ts";
import { NONE_MISSED, type Ticket } from "../../core/ticket.ts";
import { Keyring } from "./keyring.ts";
import { type Badge, NO_BADGE, passToken, readToken, TOKEN_CHARACTERS_MAX, ticketToken } from "./token.ts";

const NOW = Date.UTC(2026, 5, 1);
const secrets = (secret = "a secret of at least thirty-two characters", previousSecrets: string[] = []) => ({
  secret,
  previousSecrets,
});
const keyring = new Keyring(secrets());
const ticket: Ticket = {
  id: "00112233445566778899aabbccddeeff",
  room: "main",
  lane: 65_535,
  joinedAt: NOW - 5_000,
  sequence: 44_000_000_000_123,
  draw: 4_000_000_000,
  issuedAt: NOW,
  expiresAt: NOW + 60_000,
  node: 7,
  aheadShown: 321,
  aheadAtJoin: 1_234,
  ...NONE_MISSED,
};
const setBack: Ticket = {
  ...ticket,
  sequence: 44_000_000_000_150 + 15 / 16,
  missedTurns: 2,
  missedAt: NOW - 120_000,
  origin: ticket.sequence,
};
const pass: Pass = {
  id: ticket.id,
  room: "main",
  lane: 0,
  joinedAt: NOW - 9_000,
  admittedAt: NOW - 1_000,
  createdAt: NOW,
  expiresAt: NOW + 300_000,
  node: 0,
};
const badge: Badge = { binding: 0xfedcba98, visits: 3, since: NOW - 70_000 };
const read = (text: string, options: Partial<{ room: string; keyring: Keyring; now: number }> = {}) =>
  readToken(text, { room: "main", keyring, now: NOW, ...options });
const reasonOf = (reading: ReturnType<typeof read>) =>
  reading.kind === "refused" ? reading.reason : reading.kind;

test("a ticket and a pass come back as they went out", () => {
  for (const one of [ticket, setBack])
    assert.deepEqual(read(ticketToken(one, badge, keyring)), { kind: "ticket", ticket: one, badge });
  assert.deepEqual(read(passToken(pass, badge, keyring)), { kind: "pass", pass, badge });
});

test("a token fits a cookie even with the longest room name", () => {
  const room = "r".repeat(32);
  assert.ok(ticketToken({ ...setBack, room }, NO_BADGE, keyring).length <= TOKEN_CHARACTERS_MAX);
});

test("expired, wrong-room, over-long and empty tokens are refused with their reason", () => {
  const text = ticketToken(ticket, NO_BADGE, keyring);
  assert.equal(reasonOf(read(text, { now: ticket.expiresAt })), "expired");
  assert.equal(reasonOf(read(text, { room: "other" })), "wrongRoom");
  const runOut = read(passToken(pass, badge, keyring), { now: pass.expiresAt });
  assert.deepEqual(runOut, { kind: "refused", reason: "expired", badge, expiredPass: pass });
  assert.equal(reasonOf(read("A".repeat(TOKEN_CHARACTERS_MAX + 1))), "overlong");
  assert.equal(reasonOf(read("")), "malformed");
  assert.equal(
    reasonOf(read(text, { keyring: new Keyring(secrets("quite another secret, as long as it must be")) })),
    "unknownKey",
  );
});

test("any change of any character is refused", () => {
  for (const text of [ticketToken(ticket, NO_BADGE, keyring), passToken(pass, NO_BADGE, keyring)]) {
    for (let i = 0; i < text.length; i++) {
      for (const other of ["A", "B", "_", "=", " ", "é"]) {
        if (text[i] === other) continue;
        const changed = text.slice(0, i) + other + text.slice(i + 1);
        assert.equal(read(changed).kind, "refused", `${i} ${other}`);
      }
    }
  }
});

test("any cut is refused, and anything added too", () => {
  const text = ticketToken(ticket, NO_BADGE, keyring);
  for (let length = 0; length < text.length; length++)
    assert.equal(read(text.slice(0, length)).kind, "refused");
  for (const added of ["A", "=", "\0", " "]) assert.equal(read(text + added).kind, "refused");
});

test("no text whatever makes reading throw", () => {
  fc.assert(
    fc.property(
      fc.string({ maxLength: 300, size: "max", unit: "binary" }),
      (text) => read(text).kind === "refused",
    ),
  );
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 150, size: "max" }), (bytes) => {
      bytes[0] = 1;
      return read(Buffer.from(bytes).toString("base64url")).kind === "refused";
    }),
  );
});

test("turning the ring keeps old tokens good, and signs new ones with the new key", () => {
  const ring = new Keyring(secrets());
  const old = ticketToken(ticket, NO_BADGE, ring);
  ring.restore(ring.turned({ now: NOW, tokenLifeMs: 60_000 }));
  const fresh = ticketToken(ticket, NO_BADGE, ring);
  assert.notEqual(fresh, old);
  assert.equal(read(old, { keyring: ring }).kind, "ticket");
  assert.equal(read(fresh, { keyring: ring }).kind, "ticket");
  const longTicket = ticketToken({ ...ticket, expiresAt: NOW + 999_999 }, NO_BADGE, new Keyring(secrets()));
  assert.equal(reasonOf(read(longTicket, { keyring: ring, now: NOW + 60_000 })), "unknownKey");
});

test("a restarted ring accepts tokens of later generations and goes on from there", () => {
  const ring = new Keyring(secrets());
  for (let i = 0; i < 3; i++) ring.restore(ring.turned({ now: NOW, tokenLifeMs: 60_000 }));
  const restarted = new Keyring(secrets());
  assert.equal(read(ticketToken(ticket, NO_BADGE, ring), { keyring: restarted }).kind, "ticket");
  assert.equal(restarted.signingId, ring.signingId);
});

test("a forged generation does not turn the ring", () => {
  const restarted = new Keyring(secrets());
  const before = restarted.signingId;
  const bytes = Buffer.from(ticketToken(ticket, NO_BADGE, restarted), "base64url");
  bytes.writeUInt32BE(restarted.signingId + 5, 2);
  assert.equal(reasonOf(read(bytes.toString("base64url"), { keyring: restarted })), "forged");
  assert.equal(restarted.signingId, before);
});

test("a new secret in front of the old one keeps everyone's place", () => {
  const old = new Keyring(secrets("the old secret, thirty-two characters"));
  const ring = new Keyring(
    secrets("the new secret, thirty-two characters", ["the old secret, thirty-two characters"]),
  );
  assert.equal(read(ticketToken(ticket, NO_BADGE, old), { keyring: ring }).kind, "ticket");
  assert.equal(read(ticketToken(ticket, NO_BADGE, ring), { keyring: ring }).kind, "ticket");
  assert.equal(reasonOf(read(ticketToken(ticket, NO_BADGE, ring), { keyring: old })), "unknownKey");
});

test("a ring that was turned is as far in the next life; under another secret it is not", () => {
  const first = new Keyring(secrets());
  first.restore(first.turned({ now: 0, tokenLifeMs: 1_000 }));
  first.restore(first.turned({ now: 500, tokenLifeMs: 1_000 }));
  const next = new Keyring(secrets());
  next.restore(structuredClone(first.memo()));
  assert.deepEqual(next.states(), first.states());
  assert.equal(next.signingId, first.signingId);
  const other = new Keyring(secrets("quite another secret of thirty-two characters"));
  const before = other.signingId;
  other.restore(first.memo());
  assert.equal(other.signingId, before);
});
