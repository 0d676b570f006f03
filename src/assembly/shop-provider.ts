/** The payment provider of a shop, as its settings have it. */
import type { Settings } from "../config/schema.ts";
import { PretendProvider } from "../shop/baskets/providers/pretend.ts";
import type { PaymentProvider } from "../shop/baskets/providers/provider.ts";
import { StripeProvider } from "../shop/baskets/providers/stripe.ts";
import { readWebhookSecret, type WebhookKeys } from "../shop/baskets/standard-webhooks.ts";

/** Null: there is none, and what is paid for is sold at once. Throws for a secret that signs nothing. */
export function providerOf(
  shop: string,
  { shops, shopSecrets }: Pick<Settings, "shops" | "shopSecrets">,
): PaymentProvider | null {
  const payment = shops[shop]?.payment;
  const [first, ...before] = shopSecrets.get(shop)?.payment ?? [];
  if (!payment || first === undefined) return null;
  switch (payment.callbacks) {
    case "standard":
      return new PretendProvider({ url: payment.url ?? "", keys: webhookKeys([first, ...before], shop) });
    case "stripe": {
      const apiKey = shopSecrets.get(shop)?.apiKey ?? "";
      const signingSecrets = [first, ...before] as const;
      return new StripeProvider({
        apiKey,
        signingSecrets,
        ...(payment.url !== null && { url: payment.url }),
      });
    }
  }
}

/** Whether the provider can be asked for anything. Otherwise the answers to its callbacks say what is to be done. */
export function canAsk(shop: string, { shops }: Pick<Settings, "shops">): boolean {
  const payment = shops[shop]?.payment;
  return payment != null && (payment.callbacks === "stripe" || payment.url !== null);
}

/** The keys in secrets of the form of Standard Webhooks. */
export function webhookKeys(secrets: readonly [string, ...string[]], shop: string): WebhookKeys {
  const [first, ...others] = secrets.map((secret) => {
    const reading = readWebhookSecret(secret);
    if (reading.kind === "key") return reading.key;
    throw new Error(`A secret for payments of the shop "${shop}" ${reading.reason}.`);
  });
  return [first!, ...others];
}
