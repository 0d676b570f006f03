/**
 * Stripe: payments that are authorised first and captured by us (`capture_method: manual`), or captured at once.
 *
 * The organiser's own server makes one PaymentIntent for each attempt, over what the basket costs, with the attempt's id as
 * `metadata.fairgate_attempt`. Stripe copies it to the charge.
 *
 *   payment_intent.amount_capturable_updated   authorised
 *   payment_intent.succeeded                   succeeded
 *   payment_intent.payment_failed, .canceled   failed
 *   charge.refunded, all of it                 refunded        (a part of it is the organiser's affair)
 *
 * Callbacks are signed in `Stripe-Signature`, as `t=SECONDS,v1=HEX`: the HMAC-SHA-256 over `t.body` with the endpoint's secret as
 * text. While a secret is rolled there is one `v1` for each. Their age may be as much as that of Standard Webhooks.
 *
 * Stripe answers a repeated idempotency key with what it answered first, failures of its own included. So after a 5xx the next
 * request has another key. That is safe, since a payment is captured, cancelled or wholly refunded once at most, and Stripe then
 * says that it was.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { PaymentEvent } from "../../rules/commands.ts";
import type { OutgoingAnswer, OutgoingRequest } from "../send.ts";
import { WEBHOOK_TOLERANCE_MS, type WebhookRefusal } from "../standard-webhooks.ts";
import {
  CALLBACK_BYTES_MAX,
  type CallbackReading,
  idempotencyKey,
  ignoredCallback,
  isAttemptId,
  isJsonObject,
  isProviderId,
  type JsonObject,
  type Judgement,
  type PaymentAsk,
  type PaymentProvider,
  type ProviderCallback,
  type ProviderPayment,
  readJsonObject,
  readPayment,
  refusedCallback,
} from "./provider.ts";

export const STRIPE_URL = "https://api.stripe.com";
/** The version of the interface that requests are written for; answers are read alike in all. */
const STRIPE_VERSION = "2024-06-20";
const ATTEMPT_FIELD = "fairgate_attempt";
const SIGNATURES_MAX = 16;
const TIMESTAMP = /^[1-9]\d{0,11}$/;
const SIGNATURE = /^[0-9a-f]{64}$/;
/** It becomes part of an address. */
const INTENT = /^pi_[A-Za-z0-9_]{1,250}$/;
const STILL_BUSY: readonly number[] = [401, 403, 408, 409, 425, 429];

export interface StripeSettings {
  /** The secret key, or a restricted one that may write PaymentIntents and refunds. */
  readonly apiKey: string;
  /** The endpoint's signing secrets, as Stripe shows them: two while one is rolled. */
  readonly signingSecrets: readonly [string, ...string[]];
  readonly url?: string;
}

export class StripeProvider implements PaymentProvider {
  readonly name = "stripe";
  readonly #settings: StripeSettings;

  constructor(settings: StripeSettings) {
    this.#settings = settings;
  }

  read({ header, body, now }: ProviderCallback): CallbackReading {
    if (body.length > CALLBACK_BYTES_MAX) return refusedCallback("tooLarge");
    const { signingSecrets } = this.#settings;
    const refusal = signatureProblem(header("stripe-signature"), { body, now, secrets: signingSecrets });
    if (refusal) return refusedCallback(refusal);
    const told = readJsonObject(body);
    if (!told || !isProviderId(told.id)) return refusedCallback("unreadable");
    const object = isJsonObject(told.data) ? told.data.object : null;
    if (!isJsonObject(object)) return refusedCallback("unreadable");
    const meaning = MEANINGS.get(told.type);
    if (!meaning) return ignoredCallback("another type");
    const metadata = isJsonObject(object.metadata) ? object.metadata : {};
    const attempt = metadata[ATTEMPT_FIELD];
    if (attempt === undefined) return ignoredCallback("no payment of ours");
    if (!meaning.holds(object)) return ignoredCallback("not the whole payment");
    const payment = meaning.payment(object);
    if (!payment || !isAttemptId(attempt)) return refusedCallback("unreadable");
    return { kind: "event", event: { id: told.id, attempt, kind: meaning.kind, payment } };
  }

  request(ask: PaymentAsk): OutgoingRequest {
    const { apiKey, url = STRIPE_URL } = this.#settings;
    if (!INTENT.test(ask.payment)) throw new Error(`"${ask.payment}" is no PaymentIntent.`);
    const [path, fields] = pathOf(ask);
    return {
      url: `${url}/v1/${path}`,
      headers: {
        authorization: `Bearer ${apiKey}`,
        "content-type": "application/x-www-form-urlencoded",
        "idempotency-key": idempotencyKey(ask),
        "stripe-version": STRIPE_VERSION,
      },
      body: new URLSearchParams(fields).toString(),
    };
  }

  judge(ask: PaymentAsk, { status, body }: OutgoingAnswer): Judgement {
    if (status >= 200 && status < 300) return { kind: "done" };
    if (status >= 500) return { kind: "again", isNewRound: true };
    if (STILL_BUSY.includes(status)) return { kind: "again", isNewRound: false };
    const { code, state } = problemIn(body);
    if (ask.action === "refund" && code === "charge_already_refunded") return { kind: "done" };
    if (code === "payment_intent_unexpected_state" && state === STATE_AFTER[ask.action])
      return { kind: "done" };
    return { kind: "refused", reason: [`HTTP ${status}`, code, state].filter(Boolean).join(", ") };
  }
}

/** What an event of one type is about. */
interface Meaning {
  readonly kind: PaymentEvent["kind"];
  /** Whether it has come to all of the payment. */
  holds(object: JsonObject): boolean;
  payment(object: JsonObject): ProviderPayment | null;
}

function intent(kind: PaymentEvent["kind"], amount: string, holds: Meaning["holds"] = () => true): Meaning {
  return {
    kind,
    holds,
    payment: ({ id, currency, [amount]: units }) => (isIntent(id) ? readPayment(id, units, currency) : null),
  };
}

const MEANINGS: ReadonlyMap<unknown, Meaning> = new Map([
  [
    "payment_intent.amount_capturable_updated",
    intent("authorised", "amount_capturable", ({ status }) => status === "requires_capture"),
  ],
  ["payment_intent.succeeded", intent("succeeded", "amount_received")],
  ["payment_intent.payment_failed", intent("failed", "amount")],
  ["payment_intent.canceled", intent("failed", "amount")],
  [
    "charge.refunded",
    {
      kind: "refunded",
      holds: ({ refunded }) => refunded === true,
      payment: ({ payment_intent: id, amount_refunded: amount, currency }) =>
        isIntent(id) ? readPayment(id, amount, currency) : null,
    },
  ],
]);

/** Where the payment is once it was done; a refund has an error of its own. */
const STATE_AFTER: Readonly<Record<PaymentAsk["action"], string | null>> = {
  capture: "succeeded",
  void: "canceled",
  refund: null,
};

function pathOf({ action, attempt, payment }: PaymentAsk): [path: string, fields: Record<string, string>] {
  switch (action) {
    case "capture":
      return [`payment_intents/${payment}/capture`, {}];
    case "void":
      return [`payment_intents/${payment}/cancel`, {}];
    case "refund":
      return ["refunds", { payment_intent: payment, [`metadata[${ATTEMPT_FIELD}]`]: attempt }];
  }
}

function isIntent(value: unknown): value is string {
  return typeof value === "string" && INTENT.test(value);
}

/** Stripe's code for what is wrong, and the state of the payment, where the answer has them. */
function problemIn(body: string): { readonly code?: string; readonly state?: string } {
  const error = readJsonObject(Buffer.from(body))?.error;
  if (!isJsonObject(error)) return {};
  const { code, payment_intent: payment } = error;
  const state = isJsonObject(payment) ? payment.status : undefined;
  return { ...(isProviderId(code) && { code }), ...(isProviderId(state) && { state }) };
}

/** Null for a body that one of the secrets signed, within the tolerance. */
function signatureProblem(
  header: string | undefined,
  { body, now, secrets }: { body: Uint8Array; now: number; secrets: readonly string[] },
): WebhookRefusal | null {
  if (!header) return "unsigned";
  const parts = header.split(",", SIGNATURES_MAX + 1).map((part) => part.split("=", 3));
  const valuesOf = (scheme: string) =>
    parts.flatMap(([name, value]) => (name === scheme ? [value ?? ""] : []));
  const [timestamp = "", another] = valuesOf("t");
  if (!TIMESTAMP.test(timestamp) || another !== undefined) return "malformed";
  const sentAt = Number(timestamp) * 1_000;
  if (sentAt < now - WEBHOOK_TOLERANCE_MS) return "tooOld";
  if (sentAt > now + WEBHOOK_TOLERANCE_MS) return "tooNew";
  const shown = valuesOf("v1")
    .filter((text) => SIGNATURE.test(text))
    .map((text) => Buffer.from(text, "hex"));
  const isGood = secrets.some((secret) => {
    const expected = createHmac("sha256", secret).update(`${timestamp}.`).update(body).digest();
    return shown.some((signature) => timingSafeEqual(expected, signature));
  });
  return isGood ? null : "forged";
}
