import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { test } from "node:test";
import { WEBHOOK_TOLERANCE_MS } from "../standard-webhooks.ts";
import { CALLBACK_BYTES_MAX, type CallbackReading, type PaymentAsk } from "./provider.ts";
import { StripeProvider } from "./stripe.ts";

const SECRET = "whsec_test_secret";
/** 2025-01-01T00:00:00Z */
const AT = 1_735_689_600_000;
const ATTEMPT = "attempt_1";
const INTENT = "pi_3MtwBwLkdIwHu7ix28a3tqPa";

const stripe = new StripeProvider({ apiKey: "sk_test_key", signingSecrets: [SECRET] });

function signature(body: string | Uint8Array, { secret = SECRET, at = AT } = {}): string {
  const seconds = at / 1_000;
  return `t=${seconds},v1=${createHmac("sha256", secret).update(`${seconds}.`).update(body).digest("hex")}`;
}

function read(
  body: string | Uint8Array,
  header: string | undefined = signature(body),
  now = AT,
): CallbackReading {
  const bytes = Buffer.from(body);
  return stripe.read({
    header: (name) => (name === "stripe-signature" ? header : undefined),
    body: bytes,
    now,
  });
}

const said = (reading: CallbackReading) =>
  reading.kind === "event" ? "event" : `${reading.kind} ${reading.reason}`;

/** A PaymentIntent as Stripe's events have it, shortened. */
const paymentIntent = (change: object = {}) => ({
  id: INTENT,
  object: "payment_intent",
  amount: 9_500,
  amount_capturable: 0,
  amount_received: 0,
  capture_method: "manual",
  client_secret: `${INTENT}_secret_xyz`,
  currency: "eur",
  latest_charge: "ch_3MtwBwLkdIwHu7ix28a3tqPa",
  livemode: false,
  metadata: { fairgate_attempt: ATTEMPT },
  status: "requires_payment_method",
  ...change,
});

const charge = (change: object = {}) => ({
  id: "ch_3MtwBwLkdIwHu7ix28a3tqPa",
  object: "charge",
  amount: 9_500,
  amount_captured: 9_500,
  amount_refunded: 9_500,
  currency: "eur",
  metadata: { fairgate_attempt: ATTEMPT },
  payment_intent: INTENT,
  refunded: true,
  ...change,
});

const event = (type: string, object: unknown, change: object = {}) =>
  JSON.stringify({
    id: "evt_1NG8Du2eZvKYlo2CUI79vXWy",
    object: "event",
    api_version: "2024-06-20",
    created: AT / 1_000,
    data: { object },
    livemode: false,
    pending_webhooks: 1,
    request: { id: null, idempotency_key: null },
    type,
    ...change,
  });

test("Stripe's scheme: a header that another program made is believed", () => {
  // printf '1735689600.{"id":"evt_1"}' | openssl dgst -sha256 -hmac whsec_test_secret
  const header = "t=1735689600,v1=055e0acd1a05f0049c1862e9e7c1d3d3a524158081c530f7d3f9b9caa91c3bca";
  assert.equal(said(read('{"id":"evt_1"}', header)), "refused unreadable");
  assert.equal(said(read('{"id":"evt_2"}', header)), "refused forged");
});

test("each event that is ours has its meaning, with the payment as Stripe names it", () => {
  const cases: [type: string, object: object, kind: string, amount: number][] = [
    [
      "payment_intent.amount_capturable_updated",
      paymentIntent({ status: "requires_capture", amount_capturable: 9_500 }),
      "authorised",
      9_500,
    ],
    [
      "payment_intent.succeeded",
      paymentIntent({ status: "succeeded", amount_received: 9_500 }),
      "succeeded",
      9_500,
    ],
    ["payment_intent.payment_failed", paymentIntent(), "failed", 9_500],
    ["payment_intent.canceled", paymentIntent({ status: "canceled" }), "failed", 9_500],
    ["charge.refunded", charge(), "refunded", 9_500],
  ];
  for (const [type, object, kind, amount] of cases)
    assert.deepEqual(
      read(event(type, object)),
      {
        kind: "event",
        event: {
          id: "evt_1NG8Du2eZvKYlo2CUI79vXWy",
          attempt: ATTEMPT,
          kind,
          payment: { id: INTENT, amount, currency: "EUR" },
        },
      },
      type,
    );
});

test("what was captured in part is told with what was received", () => {
  const reading = read(event("payment_intent.succeeded", paymentIntent({ amount_received: 100 })));
  assert.ok(reading.kind === "event");
  assert.equal(reading.event.payment.amount, 100);
});

test("what is of no interest is ignored, so that Stripe does not send it again", () => {
  const cases: [string, unknown][] = [
    ["customer.created", { id: "cus_1" }],
    ["payment_intent.created", paymentIntent()],
    ["constructor", paymentIntent()],
    ["payment_intent.succeeded", paymentIntent({ metadata: {} })],
    ["payment_intent.succeeded", paymentIntent({ metadata: null })],
    ["payment_intent.amount_capturable_updated", paymentIntent({ status: "succeeded" })],
    ["charge.refunded", charge({ refunded: false, amount_refunded: 100 })],
  ];
  for (const [type, object] of cases) assert.equal(read(event(type, object)).kind, "ignored", type);
});

test("what is signed and not as Stripe writes it is refused", () => {
  const good = paymentIntent({ amount_received: 9_500 });
  for (const body of [
    "",
    "null",
    "[]",
    "{",
    event("payment_intent.succeeded", good, { id: undefined }),
    event("payment_intent.succeeded", good, { id: 7 }),
    event("payment_intent.succeeded", good, { data: null }),
    event("payment_intent.succeeded", null),
    event("payment_intent.succeeded", { ...good, id: "../refunds" }),
    event("payment_intent.succeeded", { ...good, id: `pi_${"a".repeat(300)}` }),
    event("payment_intent.succeeded", { ...good, amount_received: 95.5 }),
    event("payment_intent.succeeded", { ...good, amount_received: -1 }),
    event("payment_intent.succeeded", { ...good, amount_received: "9500" }),
    event("payment_intent.succeeded", { ...good, currency: "euros" }),
    event("payment_intent.succeeded", { ...good, metadata: { fairgate_attempt: 1 } }),
    event("payment_intent.succeeded", { ...good, metadata: { fairgate_attempt: "a.b" } }),
    event("charge.refunded", charge({ payment_intent: null })),
    new Uint8Array([0x22, 0xff, 0x22]),
    `"${"[".repeat(100_000)}`,
    "[".repeat(100_000),
  ])
    assert.equal(said(read(body)), "refused unreadable", String(body).slice(0, 80));
  assert.equal(said(read(" ".repeat(CALLBACK_BYTES_MAX + 1))), "refused tooLarge");
});

test("a body that nobody signed, or another body than was signed, is refused before it is read", () => {
  const body = event("payment_intent.succeeded", paymentIntent({ amount_received: 9_500 }));
  const good = signature(body);
  const [time = "", v1 = ""] = good.split(",");
  assert.equal(said(read(body, good)), "event");
  const refusals: [header: string, reason: string][] = [
    ["", "unsigned"],
    ["hello", "malformed"],
    [v1, "malformed"],
    [`t=,${v1}`, "malformed"],
    [`t=-1,${v1}`, "malformed"],
    [`t=01735689600,${v1}`, "malformed"],
    [`${time},${time},${v1}`, "malformed"],
    [time, "forged"],
    [`${time},v1=`, "forged"],
    [`${time},${v1.toUpperCase().replace("V1", "v1")}`, "forged"],
    [`${time},${v1}0`, "forged"],
    [`${time},v0=${v1.slice(3)}`, "forged"],
    [`${time}, ${v1}`, "forged"],
    [signature(body, { secret: "whsec_other" }), "forged"],
    [signature(`${body} `), "forged"],
    [`t=1735689601,${v1}`, "forged"],
    [",".repeat(60_000), "malformed"],
  ];
  for (const [header, reason] of refusals)
    assert.equal(said(read(body, header)), `refused ${reason}`, header.slice(0, 80));
});

test("while a secret is rolled either is good, on their side and on ours", () => {
  const body = event("payment_intent.succeeded", paymentIntent({ amount_received: 9_500 }));
  const both = `${signature(body, { secret: "whsec_new" })},${signature(body).split(",")[1]}`;
  assert.equal(said(read(body, both)), "event");
  const rolled = new StripeProvider({ apiKey: "sk", signingSecrets: ["whsec_new", SECRET] });
  const header = () => signature(body);
  assert.equal(rolled.read({ header, body: Buffer.from(body), now: AT }).kind, "event");
});

test("a callback from long ago or far ahead is refused", () => {
  const body = event("payment_intent.succeeded", paymentIntent({ amount_received: 9_500 }));
  const at = (now: number) => said(read(body, signature(body), now));
  assert.equal(at(AT + WEBHOOK_TOLERANCE_MS), "event");
  assert.equal(at(AT + WEBHOOK_TOLERANCE_MS + 1), "refused tooOld");
  assert.equal(at(AT - WEBHOOK_TOLERANCE_MS - 1), "refused tooNew");
});

const ask = (action: PaymentAsk["action"], round = 0): PaymentAsk => ({
  action,
  attempt: ATTEMPT,
  payment: INTENT,
  round,
});

test("capture, void and refund are requests of Stripe's interface, each with its own key", () => {
  const shown = (["capture", "void", "refund"] as const).map((action) => {
    const { url, body, headers } = stripe.request(ask(action));
    return [url.replace("https://api.stripe.com/v1/", ""), body, headers["idempotency-key"]];
  });
  assert.deepEqual(shown, [
    [`payment_intents/${INTENT}/capture`, "", `capture-${ATTEMPT}`],
    [`payment_intents/${INTENT}/cancel`, "", `void-${ATTEMPT}`],
    ["refunds", `payment_intent=${INTENT}&metadata%5Bfairgate_attempt%5D=${ATTEMPT}`, `refund-${ATTEMPT}`],
  ]);
  const { headers } = stripe.request(ask("capture"));
  assert.equal(headers.authorization, "Bearer sk_test_key");
  assert.match(headers["stripe-version"]!, /^\d{4}-\d\d-\d\d$/);
  assert.throws(() => stripe.request({ ...ask("capture"), payment: "pi_1/../../charges" }), /PaymentIntent/);
});

const judged = (action: PaymentAsk["action"], status: number, body: unknown = "") => {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  const judgement = stripe.judge(ask(action), { status, retryAfterMs: null, body: text });
  return judgement.kind === "again"
    ? `again${judgement.isNewRound ? " anew" : ""}`
    : judgement.kind === "refused"
      ? `refused: ${judgement.reason}`
      : "done";
};

test("after a failure of Stripe's own the next request has another key, since the old one repeats the failure", () => {
  for (const status of [500, 502, 503, 504]) assert.equal(judged("refund", status), "again anew");
  assert.equal(stripe.request(ask("refund", 1)).headers["idempotency-key"], `refund-${ATTEMPT}-1`);
});

test("what was not even tried is repeated as it is", () => {
  for (const status of [401, 403, 408, 409, 429]) assert.equal(judged("capture", status), "again");
});

test("what Stripe says is done already is done", () => {
  const state = (status: string) => ({
    error: {
      code: "payment_intent_unexpected_state",
      type: "invalid_request_error",
      payment_intent: { status },
    },
  });
  assert.equal(judged("capture", 200, {}), "done");
  assert.equal(judged("capture", 400, state("succeeded")), "done");
  assert.equal(judged("void", 400, state("canceled")), "done");
  assert.equal(judged("refund", 400, { error: { code: "charge_already_refunded" } }), "done");
  assert.equal(
    judged("capture", 400, state("canceled")),
    "refused: HTTP 400, payment_intent_unexpected_state, canceled",
  );
  assert.equal(
    judged("void", 400, state("succeeded")),
    "refused: HTTP 400, payment_intent_unexpected_state, succeeded",
  );
  assert.equal(
    judged("capture", 400, { error: { code: "charge_already_refunded" } }),
    "refused: HTTP 400, charge_already_refunded",
  );
});

test("an answer that is not Stripe's, of whatever form, is a refusal and no accident", () => {
  for (const body of ["", "null", "<html>", "{", '{"error":null}', '{"error":{"code":7,"payment_intent":3}}'])
    assert.equal(judged("refund", 404, body), "refused: HTTP 404");
  assert.equal(judged("refund", 302), "refused: HTTP 302");
});
