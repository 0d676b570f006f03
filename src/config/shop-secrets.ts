/** The secrets that the settings of shops name, read: kept beside the settings, and in no message. */
import { readNamedSecret } from "./named-secret.ts";
import type { Finding, Path } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { SecretSources } from "./secrets.ts";
import type { ShopSettings } from "./shop-schema.ts";

/** A provider's or webhook's secret, and those before it, which are good for a while after a new one. */
const SECRETS_MAX = 4;

export interface ShopSecrets {
  /** What customers' JWTs are signed with; null where a public key checks them. */
  readonly customer: string | null;
  /** What the payment provider signs with, the newest first. */
  readonly payment: readonly string[];
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
    settings: Parameters<typeof readNamedSecret>[0] | null | undefined,
    path: Path,
    linesMax = 1,
  ) => {
    if (!settings) return [];
    const answer = readNamedSecret(settings, path, sources, linesMax);
    problems.push(...answer.problems);
    return answer.secrets;
  };
  for (const [name, shop] of Object.entries(shops)) {
    const [customer = null] = read(shop?.customer, ["shops", name, "customer"]);
    const payment = read(shop?.payment, ["shops", name, "payment"], SECRETS_MAX);
    const orders = read(shop?.orders, ["shops", name, "orders"], SECRETS_MAX);
    secrets.set(name, { customer, payment, orders });
  }
  return { secrets, problems };
}
