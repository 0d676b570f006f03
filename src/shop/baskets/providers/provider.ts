/**
 * A payment provider, as the shop knows it: what its callbacks say, and how it is asked to capture, to void or to refund. It does
 * nothing itself: it reads what came and writes what is to be sent, so that each is tested as a function.
 *
 *   visitor ──pays──▶ provider ──callback──▶ read ──PaymentEvent──▶ the shop's book
 *                        ▲                                               │ capture, void or refund
 *                        └────── request, until judge says done ◀────────┘   (payment-asks.ts)
 *
 * The attempt's id, which `pay` gave, travels with the payment (as metadata) and comes back in each callback. Callbacks come at
 * least once, late and in any order; the book tells repetitions by the event's id.
 */
import type { PaymentEvent, PaymentReply } from "../../rules/commands.ts";
import type { OutgoingAnswer, OutgoingRequest } from "../send.ts";
import type { HeaderLookup, WebhookRefusal } from "../standard-webhooks.ts";

/** The largest callback that is read; providers send some kilobytes. */
export const CALLBACK_BYTES_MAX = 262_144;
/** What the provider names: an event, a payment. Visible ASCII. */
const PROVIDER_ID = /^[!-~]{1,256}$/;
/** What we name: it becomes part of idempotency keys, which are ids of webhooks, too. */
const ATTEMPT_ID = /^[A-Za-z0-9_-]{1,200}$/;

export interface PaymentProvider {
  readonly name: string;
  read(callback: ProviderCallback): CallbackReading;
  /** The request for what is asked. `at` is when it is sent. */
  request(ask: PaymentAsk, at: number): OutgoingRequest;
  judge(ask: PaymentAsk, answer: OutgoingAnswer): Judgement;
}

export interface ProviderCallback {
  readonly header: HeaderLookup;
  /** The bytes as they came: signatures are over these. */
  readonly body: Uint8Array;
  readonly now: number;
}

export type CallbackReading =
  | { readonly kind: "event"; readonly event: Required<PaymentEvent> }
  /** Genuine, and of no interest here. It is acknowledged like an event, or it would come again and again. */
  | { readonly kind: "ignored"; readonly reason: string }
  | { readonly kind: "refused"; readonly reason: CallbackRefusal };

/** `unreadable` is signed and is not what this provider sends. */
export type CallbackRefusal = WebhookRefusal | "tooLarge" | "unreadable";

/** The payment as the provider has it, by its own name: in minor units, and ISO 4217 in capitals. */
export type ProviderPayment = Required<PaymentEvent>["payment"];

/** What the provider is to do with a payment. */
export interface PaymentAsk {
  readonly action: Exclude<PaymentReply["action"], "none">;
  readonly attempt: string;
  readonly payment: string;
  /** Rises when an answer was a failure that the provider would repeat for the same idempotency key. */
  readonly round: number;
}

/** What an answer means: as an attempt of the outbox ends. */
export type Judgement =
  | { readonly kind: "done" }
  | { readonly kind: "again"; readonly isNewRound: boolean }
  | { readonly kind: "refused"; readonly reason: string };

/** The same for each repetition, and another for each round. */
export function idempotencyKey({ attempt, action, round }: PaymentAsk): string {
  return round === 0 ? `${action}-${attempt}` : `${action}-${attempt}-${round}`;
}

export function isProviderId(value: unknown): value is string {
  return typeof value === "string" && PROVIDER_ID.test(value);
}

export function isAttemptId(value: unknown): value is string {
  return typeof value === "string" && ATTEMPT_ID.test(value);
}

/** A body that is one JSON object in UTF-8; null for anything else. */
export function readJsonObject(body: Uint8Array): JsonObject | null {
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
    return isJsonObject(value) ? value : null;
  } catch {
    return null;
  }
}

export type JsonObject = { readonly [name: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A payment out of what a provider wrote; null if anything of it is not as it should be. */
export function readPayment(id: unknown, amount: unknown, currency: unknown): ProviderPayment | null {
  if (!isProviderId(id) || !Number.isSafeInteger(amount) || (amount as number) < 0) return null;
  if (typeof currency !== "string" || !/^[A-Za-z]{3}$/.test(currency)) return null;
  return { id, amount: amount as number, currency: currency.toUpperCase() };
}

export function refusedCallback(reason: CallbackRefusal): CallbackReading {
  return { kind: "refused", reason };
}

export function ignoredCallback(reason: string): CallbackReading {
  return { kind: "ignored", reason };
}
