/**
 * The ledgers of shops in the data directory: one durable object each. What happens there is carried to others by the ledger's
 * courier (orders to the organiser's webhook, wishes to the payment provider), which is made here from the settings.
 */
import type { Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import type { DurableHost } from "../durable/host.ts";
import type { ShopDesk } from "../shop/api/shop-desk.ts";
import { type Courier, openCourier } from "../shop/baskets/courier.ts";
import type { WebhookEndpoint } from "../shop/baskets/outgoing-webhooks.ts";
import { createSend, type FetchLike } from "../shop/baskets/send.ts";
import { type CourierParts, Ledger, ledgerEnv } from "../shop/ledger/ledger.ts";
import type { ShopNews } from "../shop/rules/shop-book.ts";
import { canAsk, providerOf, webhookKeys } from "./shop-provider.ts";

export const SHOP_CLASS = "shop";
/** How long a provider or a webhook may take to answer. */
const SEND_TIMEOUT_MS = 15_000;
/** The name of the webhook for orders, in keys and in the log. */
const ORDERS = "orders";

/** The ledgers of shops, wherever they are kept. */
export interface Ledgers {
  /** The ledger of a shop. Its provider and webhook are those of these settings until the process ends. */
  open(shop: string, settings: Settings): ShopDesk;
  close(): Promise<void>;
}

export interface LedgersParts {
  readonly world: World;
  readonly tell: (shop: string, news: ShopNews) => void;
  /** The catalogue is another, or was opened or closed, by another gateway. */
  readonly learn: (shop: string) => void;
}

export interface ShopLedgersParts extends Omit<LedgersParts, "learn"> {
  readonly host: DurableHost;
  /** Where this process must not stand still while a ledger is read. */
  readonly breathe?: () => Promise<void>;
}

export class ShopLedgers implements Ledgers {
  readonly #world: World;
  readonly #ledgers: ReturnType<DurableHost["objects"]>;
  /** The settings with which each shop was opened. */
  readonly #settings = new Map<string, Settings>();
  readonly #couriers = new Set<Courier>();

  constructor({ host, world, tell, breathe }: ShopLedgersParts) {
    this.#world = world;
    const openCourier = (courier: CourierParts) => this.#openCourier(courier);
    const env = ledgerEnv(world, { tell, openCourier, ...(breathe && { breathe }) });
    this.#ledgers = host.objects(SHOP_CLASS, Ledger, env) as unknown as ReturnType<DurableHost["objects"]>;
  }

  open(shop: string, settings: Settings): ShopDesk {
    this.#settings.set(shop, settings);
    return this.#ledgers.get(shop) as unknown as ShopDesk;
  }

  /** Waits for what is being sent. What is not done stays stored. */
  async close(): Promise<void> {
    await Promise.all([...this.#couriers].map((courier) => courier.close()));
  }

  async #openCourier(parts: CourierParts): Promise<Courier> {
    const { shop } = parts;
    const settings = this.#settings.get(shop);
    const world = this.#world;
    const send = createSend(fetch as FetchLike, { world, timeoutMs: SEND_TIMEOUT_MS });
    const provider = settings && canAsk(shop, settings) ? providerOf(shop, settings) : null;
    const endpoints = settings ? endpointsOf(shop, settings) : [];
    const courier = await openCourier({ endpoints, provider, world, send }, parts);
    this.#couriers.add(courier);
    return courier;
  }
}

function endpointsOf(shop: string, { shops, shopSecrets }: Settings): WebhookEndpoint[] {
  const orders = shops[shop]?.orders;
  const [first, ...before] = shopSecrets.get(shop)?.orders ?? [];
  if (!orders || first === undefined) return [];
  return [{ name: ORDERS, url: orders.webhook, keys: webhookKeys([first, ...before], shop) }];
}
