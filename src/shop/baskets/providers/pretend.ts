/**
 * A provider for the demo and for tests, in the form that a new provider would have today: callbacks and requests are signed as
 * Standard Webhooks, both with one secret.
 *
 *   callback   {"type":"payment.authorised","timestamp":"…","data":{"attempt":"…","payment":"…","amount":9500,"currency":"EUR"}}
 *   request    POST {url}/payments/{payment}/capture | void | refund
 *
 * `webhook-id` is the event's id; in requests it is the idempotency key. An answer of 409 means that the payment is in a state in
 * which this cannot be done any more.
 */
import type { PaymentEvent } from "../../rules/commands.ts";
import type { OutgoingAnswer, OutgoingRequest } from "../send.ts";
import { signWebhook, verifyWebhook, type WebhookKeys } from "../standard-webhooks.ts";
import {
  CALLBACK_BYTES_MAX,
  type CallbackReading,
  idempotencyKey,
  ignoredCallback,
  isAttemptId,
  isJsonObject,
  type Judgement,
  type PaymentAsk,
  type PaymentProvider,
  type ProviderCallback,
  readJsonObject,
  readPayment,
  refusedCallback,
} from "./provider.ts";

const KINDS: ReadonlyMap<unknown, PaymentEvent["kind"]> = new Map([
  ["payment.authorised", "authorised"],
  ["payment.succeeded", "succeeded"],
  ["payment.failed", "failed"],
  ["payment.refunded", "refunded"],
]);

export interface PretendSettings {
  /** Where the provider is. */
  readonly url: string;
  readonly keys: WebhookKeys;
}

export class PretendProvider implements PaymentProvider {
  readonly name = "pretend";
  readonly #settings: PretendSettings;

  constructor(settings: PretendSettings) {
    this.#settings = settings;
  }

  read(callback: ProviderCallback): CallbackReading {
    if (callback.body.length > CALLBACK_BYTES_MAX) return refusedCallback("tooLarge");
    const verified = verifyWebhook(callback, this.#settings.keys);
    if (verified.kind === "refused") return verified;
    const told = readJsonObject(callback.body);
    if (!told) return refusedCallback("unreadable");
    const kind = KINDS.get(told.type);
    if (!kind) return ignoredCallback("another type");
    const { data } = told;
    if (!isJsonObject(data) || !isAttemptId(data.attempt)) return refusedCallback("unreadable");
    const payment = readPayment(data.payment, data.amount, data.currency);
    if (!payment) return refusedCallback("unreadable");
    return { kind: "event", event: { id: verified.id, attempt: data.attempt, kind, payment } };
  }

  request(ask: PaymentAsk, at: number): OutgoingRequest {
    const { url, keys } = this.#settings;
    const body = JSON.stringify({ attempt: ask.attempt });
    const signed = signWebhook({ id: idempotencyKey(ask), at, body }, keys);
    return {
      url: `${url}/payments/${encodeURIComponent(ask.payment)}/${ask.action}`,
      headers: { "content-type": "application/json", ...signed },
      body,
    };
  }

  judge(_ask: PaymentAsk, { status }: OutgoingAnswer): Judgement {
    if (status >= 200 && status < 300) return { kind: "done" };
    if (status === 409 || status === 404) return { kind: "refused", reason: `HTTP ${status}` };
    return { kind: "again", isNewRound: false };
  }
}
