import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import {
  readWebhookSecret,
  signWebhook,
  verifyWebhook,
  WEBHOOK_TOLERANCE_MS,
  type WebhookKeys,
} from "./standard-webhooks.ts";

/** What the libraries of the specification are tested with. */
const VECTOR = {
  secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
  id: "msg_p5jXN8AQM9LWM0D4loKWxJek",
  at: 1_614_265_330_000,
  body: '{"test": 2432232314}',
  signature: "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
};
const OTHERS = "Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc=";

function keyOf(secret: string): Buffer {
  const reading = readWebhookSecret(secret);
  assert.ok(reading.kind === "key", JSON.stringify(reading));
  return reading.key;
}

const key = keyOf(VECTOR.secret);
const old = keyOf(`whsec_${Buffer.alloc(24, 7).toString("base64")}`);

function verify(
  change: {
    headers?: Record<string, string | undefined>;
    body?: string | Uint8Array;
    now?: number;
    keys?: WebhookKeys;
  } = {},
): string {
  const headers: Record<string, string | undefined> = {
    ...signWebhook(VECTOR, [key]),
    ...change.headers,
  };
  const body = Buffer.from(change.body ?? VECTOR.body);
  const message = { header: (name: string) => headers[name], body, now: change.now ?? VECTOR.at };
  const reading = verifyWebhook(message, change.keys ?? [key]);
  return reading.kind === "refused" ? reading.reason : `${reading.kind} ${reading.id} ${reading.sentAt}`;
}

const GOOD = `verified ${VECTOR.id} ${VECTOR.at}`;

test("the specification's own message is signed as it is there", () => {
  assert.deepEqual(signWebhook(VECTOR, [key]), {
    "webhook-id": VECTOR.id,
    "webhook-timestamp": "1614265330",
    "webhook-signature": VECTOR.signature,
  });
});

test("a message that was signed is verified, as text and as bytes", () => {
  assert.equal(verify(), GOOD);
  const body = Buffer.from([0xff, 0x00, 0xfe]);
  const headers = signWebhook({ ...VECTOR, body }, [key]);
  assert.equal(verify({ headers, body }), GOOD);
  assert.equal(verify({ headers, body: Buffer.from([0xff, 0x00, 0xfd]) }), "forged");
});

test("one good signature among many is enough, whatever the others are", () => {
  const shown = [`v1,${OTHERS}`, `v2,${OTHERS}`, VECTOR.signature, `v1,${OTHERS}`].join(" ");
  assert.equal(verify({ headers: { "webhook-signature": shown } }), GOOD);
  assert.equal(verify({ headers: { "webhook-signature": `v1,${OTHERS} v1,` } }), "forged");
});

test("while a secret is changed both keys sign, and who knows either believes the message", () => {
  const headers = signWebhook(VECTOR, [key, old]);
  assert.equal(headers["webhook-signature"]!.split(" ").length, 2);
  assert.equal(verify({ headers, keys: [key] }), GOOD);
  assert.equal(verify({ headers, keys: [old] }), GOOD);
  assert.equal(verify({ keys: [old, key] }), GOOD);
  assert.equal(verify({ keys: [old] }), "forged");
});

test("a signature holds for one id, one time and one body", () => {
  assert.equal(verify({ headers: { "webhook-id": "msg_other" } }), "forged");
  assert.equal(verify({ headers: { "webhook-timestamp": "1614265331" } }), "forged");
  assert.equal(verify({ body: '{"test":2432232314}' }), "forged");
  assert.equal(verify({ body: `${VECTOR.body}\n` }), "forged");
});

test("a message from long ago or far ahead is refused, at the tolerance itself it is good", () => {
  assert.equal(verify({ now: VECTOR.at + WEBHOOK_TOLERANCE_MS }), GOOD);
  assert.equal(verify({ now: VECTOR.at + WEBHOOK_TOLERANCE_MS + 1 }), "tooOld");
  assert.equal(verify({ now: VECTOR.at - WEBHOOK_TOLERANCE_MS }), GOOD);
  assert.equal(verify({ now: VECTOR.at - WEBHOOK_TOLERANCE_MS - 1 }), "tooNew");
});

test("each missing header makes a message unsigned", () => {
  for (const name of ["webhook-id", "webhook-timestamp", "webhook-signature"])
    for (const value of [undefined, ""])
      assert.equal(verify({ headers: { [name]: value } }), "unsigned", name);
});

test("signatures that are cut, longer, of another version or in another alphabet are forged", () => {
  const [, base64 = ""] = VECTOR.signature.split(",");
  for (const shown of [
    VECTOR.signature.slice(0, 8),
    "v1,",
    ",",
    base64,
    `v1,${base64}=`,
    `v1 ${base64}`,
    `v1a,${base64}`,
    `V1,${base64}`,
    `v1,${Buffer.from(base64, "base64").toString("base64url")}=`,
    `v1,${base64.toLowerCase()}`,
    `v1,${"é".repeat(44)}`,
    `\tv1,${base64}`,
  ])
    assert.equal(verify({ headers: { "webhook-signature": shown } }), "forged", shown);
});

test("signatures after the sixteenth are not looked at", () => {
  const rest = Array.from({ length: 15 }, () => `v1,${OTHERS}`);
  assert.equal(verify({ headers: { "webhook-signature": [...rest, VECTOR.signature].join(" ") } }), GOOD);
  const behind = [...rest, `v1,${OTHERS}`, VECTOR.signature].join(" ");
  assert.equal(verify({ headers: { "webhook-signature": behind } }), "forged");
});

test("a time has one spelling, so that no other text is the same time", () => {
  for (const time of [
    "hello",
    "+1614265330",
    "01614265330",
    "1614265330.0",
    "1.6e9",
    " 1614265330",
    "٣",
    "9".repeat(13),
  ])
    assert.equal(verify({ headers: { "webhook-timestamp": time } }), "malformed", time);
});

test("an id with a full stop is refused, since another cut of the same text would be signed, too", () => {
  // `a.1614265330.{…}` is signed for id `a`. The same signature would hold for id `a.1614265330` with less of a body.
  const body = '1614265330.{"test":1}';
  const signature = createHmac("sha256", key).update(`a.1614265330.${body}`).digest("base64");
  const headers = { "webhook-signature": `v1,${signature}`, "webhook-id": "a" };
  assert.equal(verify({ headers, body }), `verified a ${VECTOR.at}`);
  const moved = { ...headers, "webhook-id": "a.1614265330" };
  assert.equal(verify({ headers: moved, body: '{"test":1}' }), "malformed");
  for (const id of ["a b", "a\n", "é", "x".repeat(257)])
    assert.equal(verify({ headers: { "webhook-id": id } }), "malformed", id);
  assert.throws(() => signWebhook({ ...VECTOR, id: "a.b" }, [key]), /a\.b/);
});

test("a header that came twice, as Node joins it, is refused", () => {
  assert.equal(verify({ headers: { "webhook-id": `${VECTOR.id}, ${VECTOR.id}` } }), "malformed");
});

test("a secret is whsec_ and 24 to 64 bytes in base64, with padding or without", () => {
  const read = (secret: string) => {
    const reading = readWebhookSecret(secret);
    return reading.kind === "key" ? reading.key.length : reading.reason;
  };
  const bytes = (length: number) => `whsec_${Buffer.alloc(length, 0xfb).toString("base64")}`;
  assert.equal(read(bytes(24)), 24);
  assert.equal(read(bytes(64)), 64);
  assert.equal(read(bytes(25)), 25);
  assert.equal(read(bytes(25).replaceAll("=", "")), 25);
  assert.match(String(read(bytes(23))), /has 23 bytes/);
  assert.match(String(read(bytes(65))), /has 65 bytes/);
  assert.match(String(read("whsec_")), /is not base64/);
  assert.match(String(read("secret")), /does not begin with whsec_/);
  assert.match(String(read(VECTOR.secret.replace("whsec_", ""))), /does not begin/);
  for (const wrong of ["whsec_a b", "whsec_-_-_", `${bytes(24)}====`, `${bytes(24)}!`, "whsec_AB="])
    assert.match(String(read(wrong)), /is not base64/, wrong);
});

test("what is wrong with a secret is said without the secret", () => {
  for (const secret of ["hunter2", "whsec_hunter2", "whsec_aHVudGVyMg=="]) {
    const reading = readWebhookSecret(secret);
    assert.ok(reading.kind === "refused" && !/hunter2|aHVudGVyMg/.test(reading.reason));
  }
});
