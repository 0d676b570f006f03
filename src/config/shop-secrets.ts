/** The secrets that the settings of shops name, read: kept beside the settings, and in no message. */
import { type NamedSecret, type NamedSecretForm, readNamedSecret } from "./named-secret.ts";
import type { Finding, Path } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { SecretName, SecretSources } from "./secrets.ts";
import type { ShopSettings } from "./shop-schema.ts";

/** A provider's or webhook's secret, and those before it, which are good for a while after a new one. */
const SECRETS_MAX = 4;
const API_KEY: NamedSecretForm = { names: ["apiKeyVariable", "apiKeyFile"] };
/** Standard Webhooks: 24 to 64 bytes in base64. */
const WEBHOOK_SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;

export interface ShopSecrets {
  /** What customers' JWTs are signed with; null where a public key checks them. */
  readonly customer: string | null;
  /** What the payment provider signs with, the newest first. */
  readonly payment: readonly string[];
  /** The provider's API key; null where none is named. */
  readonly apiKey: string | null;
  /** What calls of the orders' webhook are signed with, the newest first. */
  readonly orders: readonly string[];
}

/** By shop. A map, since JSON.stringify shows nothing of it. */
export type SecretsOfShops = ReadonlyMap<string, ShopSecrets>;

export interface ShopSecretsAnswer {
  readonly secrets: SecretsOfShops;
  readonly problems: readonly Finding[];
}

/** The secrets of all shops, or what is wrong with them. */
export function readShopSecrets(
  shops: Known<Readonly<Record<string, ShopSettings>>>,
  sources: SecretSources,
): ShopSecretsAnswer {
  const secrets = new Map<string, ShopSecrets>();
  const problems: Finding[] = [];
  const read = (
    settings: Known<NamedSecret> | null | undefined,
    path: Path,
    form: NamedSecretForm = {},
  ): readonly string[] => {
    if (!settings) return [];
    const answer = readNamedSecret(settings, path, sources, form);
    problems.push(...answer.problems);
    return answer.secrets;
  };
  const webhook = { linesMax: SECRETS_MAX, check: checkWebhookSecret };
  for (const [name, shop] of Object.entries(shops)) {
    const [customer = null] = read(shop?.customer, ["shops", name, "customer"]);
    const isStripe = shop?.payment?.callbacks === "stripe";
    const paying = ["shops", name, "payment"];
    const payment = read(shop?.payment, paying, isStripe ? { linesMax: SECRETS_MAX } : webhook);
    const [apiKey = null] = read(apiKeyOf(shop?.payment), paying, API_KEY);
    const orders = read(shop?.orders, ["shops", name, "orders"], webhook);
    secrets.set(name, { customer, payment, apiKey, orders });
  }
  return { secrets, problems };
}

function apiKeyOf(payment: Known<ShopSettings["payment"]> | undefined): Known<NamedSecret> | null {
  if (!payment) return null;
  const { apiKeyVariable = null, apiKeyFile = null } = payment;
  return { secretVariable: apiKeyVariable, secretFile: apiKeyFile };
}

function checkWebhookSecret(secret: string, { name, path, source }: SecretName): Finding[] {
  if (WEBHOOK_SECRET.test(secret)) return [];
  const message = `${name} is not a secret for webhooks`;
  const hint = "It should be whsec_ and 24 to 64 random bytes in base64. `fairgate keys webhook` prints one.";
  return [{ code: "weak-secret", path, at: "value", message, hint, ...(source && { source }) }];
}
