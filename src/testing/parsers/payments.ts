/** Parsers of what payment providers send and answer. What is signed is tried both ways: signed and not. */
import { createHmac } from "node:crypto";
import { PretendProvider } from "../../shop/baskets/providers/pretend.ts";
import { StripeProvider } from "../../shop/baskets/providers/stripe.ts";
import { addressProblem, createSend } from "../../shop/baskets/send.ts";
import {
  readWebhookSecret,
  signWebhook,
  verifyWebhook,
  type WebhookKeys,
} from "../../shop/baskets/standard-webhooks.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { again, type Parser } from "./parser.ts";

const KEYS: WebhookKeys = [Buffer.alloc(24, 1), Buffer.alloc(24, 2)];
const SECRET = "whsec_test";
const world = handWorld();
const now = world.clock.now();
const seconds = now / 1_000;
const EMPTY = new Uint8Array();
const pretend = new PretendProvider({ url: "http://127.0.0.1", keys: KEYS });
const stripe = new StripeProvider({ apiKey: "sk_test", signingSecrets: [SECRET, "whsec_other"] });
const ASK = { action: "refund", attempt: "a", payment: "pi_1", round: 0 } as const;

export const PAYMENT_PARSERS: readonly Parser[] = [
  {
    name: "webhook: id, time and signatures",
    read: (text) =>
      ["id", "timestamp", "signature"].map((name) => {
        const headers: Record<string, string> = {
          ...signWebhook({ id: "a", at: now, body: "" }, KEYS),
          [`webhook-${name}`]: text,
        };
        return verifyWebhook({ header: (one) => headers[one], body: EMPTY, now }, KEYS);
      }),
    worst: [again("v1, "), again(`v1,${"A".repeat(43)}= `), again("1"), again("a.")],
  },
  {
    name: "webhook: secret",
    read: readWebhookSecret,
    worst: [again("A", { before: "whsec_" }), again("=", { before: "whsec_A" }), again("whsec_")],
  },
  {
    name: "callback: signed body",
    read: (text) => {
      const headers = signWebhook({ id: "a", at: now, body: text }, KEYS);
      return pretend.read({ header: (name) => headers[name], body: Buffer.from(text), now });
    },
    worst: [
      again("["),
      again('{"data":'),
      again('"a":1,', { before: '{"type":"payment.failed",', after: '"b":1}' }),
    ],
  },
  {
    name: "Stripe: signature",
    read: (text) => stripe.read({ header: () => text, body: EMPTY, now }),
    worst: [
      again(",v1=0", { before: `t=${seconds}` }),
      again(`,v1=${"0".repeat(64)}`, { before: `t=${seconds}` }),
      again("t="),
      again("="),
    ],
  },
  {
    name: "Stripe: signed body",
    read: (text) => {
      const signature = createHmac("sha256", SECRET).update(`${seconds}.${text}`).digest("hex");
      return stripe.read({
        header: () => `t=${seconds},v1=${signature}`,
        body: Buffer.from(text),
        now,
      });
    },
    worst: [again("["), again('{"data":'), again('"a":1,', { before: '{"id":"evt_1",', after: '"b":1}' })],
  },
  {
    name: "Stripe: answer",
    read: (text) => stripe.judge(ASK, { status: 400, retryAfterMs: null, body: text }),
    worst: [again('{"error":'), again("["), again('"')],
  },
  {
    name: "called address: Retry-After and body",
    read: (text) => {
      const body = new Blob([text]).stream();
      const answer = { status: 503, headers: { get: () => text }, body };
      const send = createSend(async () => answer, { world, timeoutMs: 1_000 });
      return send({ url: "https://shop.example", headers: {}, body: "" });
    },
    worst: [again("9"), again("Mon, "), again(" GMT")],
  },
  {
    name: "called address",
    read: (text) => [addressProblem(text), addressProblem(`https://${text}`)],
    worst: [again("a."), again("@"), again("xn--"), again("127.")],
  },
];
