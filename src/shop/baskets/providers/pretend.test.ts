import assert from "node:assert/strict";
import { test } from "node:test";
import { signWebhook, type WebhookKeys } from "../standard-webhooks.ts";
import { PretendProvider } from "./pretend.ts";
import { CALLBACK_BYTES_MAX, type PaymentAsk } from "./provider.ts";

const KEYS: WebhookKeys = [Buffer.alloc(24, 1)];
const AT = Date.UTC(2026, 5, 1);
const pretend = new PretendProvider({ url: "http://127.0.0.1:1", keys: KEYS });
const DATA = { attempt: "attempt_1", payment: "pay_1", amount: 9_500, currency: "EUR" };

function read(body: string, at = AT) {
  const headers = signWebhook({ id: "evt_1", at, body }, KEYS);
  return pretend.read({ header: (name) => headers[name], body: Buffer.from(body), now: AT });
}

const said = (body: unknown) => {
  const reading = read(typeof body === "string" ? body : JSON.stringify(body));
  return reading.kind === "event" ? reading.event.kind : `${reading.kind} ${reading.reason}`;
};

test("each type of event is read, with the id of the message as its id", () => {
  for (const kind of ["authorised", "succeeded", "failed", "refunded"])
    assert.deepEqual(read(JSON.stringify({ type: `payment.${kind}`, data: DATA })), {
      kind: "event",
      event: {
        id: "evt_1",
        attempt: "attempt_1",
        kind,
        payment: { id: "pay_1", amount: 9_500, currency: "EUR" },
      },
    });
});

test("other types are ignored, and what cannot be read is refused", () => {
  assert.equal(said({ type: "payment.noticed", data: DATA }), "ignored another type");
  assert.equal(said({ data: DATA }), "ignored another type");
  for (const body of [
    "",
    "{",
    "[]",
    { type: "payment.succeeded" },
    { type: "payment.succeeded", data: [] },
    { type: "payment.succeeded", data: { ...DATA, attempt: "a b" } },
    { type: "payment.succeeded", data: { ...DATA, payment: "" } },
    { type: "payment.succeeded", data: { ...DATA, amount: 1e300 } },
    { type: "payment.succeeded", data: { ...DATA, currency: "€" } },
    '{"type":"payment.succeeded","__proto__":{"data":{}}}',
  ])
    assert.equal(said(body), "refused unreadable", JSON.stringify(body));
  assert.equal(said(" ".repeat(CALLBACK_BYTES_MAX + 1)), "refused tooLarge");
});

test("a message that is not signed is not read", () => {
  const reading = pretend.read({ header: () => undefined, body: Buffer.from("{"), now: AT });
  assert.deepEqual(reading, { kind: "refused", reason: "unsigned" });
  assert.deepEqual(read("{", AT - 3_600_000), { kind: "refused", reason: "tooOld" });
});

test("a request is signed, and the same for each repetition", () => {
  const ask: PaymentAsk = { action: "refund", attempt: "attempt_1", payment: "pay/1", round: 0 };
  const { url, body, headers } = pretend.request(ask, AT);
  assert.equal(url, "http://127.0.0.1:1/payments/pay%2F1/refund");
  assert.equal(body, '{"attempt":"attempt_1"}');
  assert.equal(headers["webhook-id"], "refund-attempt_1");
  assert.equal(pretend.request(ask, AT + 60_000).headers["webhook-id"], "refund-attempt_1");
  const judge = (status: number) => pretend.judge(ask, { status, retryAfterMs: null, body: "" }).kind;
  assert.deepEqual([200, 204, 404, 409, 302, 429, 500].map(judge), [
    ...["done", "done", "refused", "refused"],
    ...["again", "again", "again"],
  ]);
});
