/**
 * Webhooks to the organiser: what became of orders, and what is sold out. Each is a POST in the form of Standard Webhooks, kept in
 * an outbox of its endpoint until it is answered with a status from 200 to 299, for two days or more.
 *
 *   {"type":"order.made","timestamp":"2026-06-01T10:00:00.000Z","data":{"shop":"tickets","order":{…}}}
 *   order.cancelled, order.refunded   data: shop, order, and the ids of the tickets it is about
 *   product.sold_out                  data: shop, product
 *
 * It comes at least once: `webhook-id` tells repetitions. The order of webhooks is not promised, not even those of one order. Every
 * endpoint has an outbox of its own, so one that is away does not hold up the others. One that answers 410 is sent nothing more
 * until the organiser has a webhook sent again. Tickets' secrets are in the orders, so addresses are https or this machine itself, redirects are
 * not followed, and the log has the endpoint's name and not its address.
 */
import { hash } from "node:crypto";
import type { World } from "../../core/world.ts";
import type { KeyValues } from "../../durable/storage.ts";
import type { ShopFact } from "../rules/commands.ts";
import { type Attempted, Outbox, type OutboxRecord, type RetryPlan } from "./outbox.ts";
import { addressProblem, type OutgoingSend } from "./send.ts";
import { signWebhook, type WebhookKeys } from "./standard-webhooks.ts";

/** From five seconds to half a day: more than two days in all. */
const WEBHOOK_RETRIES: RetryPlan = { firstMs: 5_000, mostMs: 43_200_000, attemptsMax: 20 };
const UNDER_WAY_MAX = 4;
const WAITING_MAX = 100_000;
const DEAD_MAX = 10_000;
const GONE = 410;
/** Enough of a hash to tell a shop's products apart. */
const NAME_DIGITS = 16;

export interface WebhookEndpoint {
  /** As the settings call it; in keys and in the log. */
  readonly name: string;
  readonly url: string;
  readonly keys: WebhookKeys;
}

/** What an organiser is told. */
export type ToldFact = Exclude<ShopFact, { readonly type: "payment.asked" }>;

/** What is kept: the text that is sent, the same each time. */
export interface WebhookWork {
  readonly endpoint: string;
  readonly body: string;
}

export type WebhookRecords = Record<string, OutboxRecord<WebhookWork>>;

export interface WebhookParts {
  readonly shop: string;
  readonly endpoints: readonly WebhookEndpoint[];
  readonly storage: KeyValues;
  readonly world: Pick<World, "clock" | "random" | "log">;
  readonly send: OutgoingSend;
  wakeAt(at: number): void;
}

export class OutgoingWebhooks {
  readonly #parts: WebhookParts;
  readonly #outboxes = new Map<string, Outbox<WebhookWork>>();
  /** Endpoints that want no more. */
  readonly #gone = new Set<string>();

  /** Takes up what is stored. Throws for an address that nothing is sent to. */
  static async open(parts: WebhookParts): Promise<OutgoingWebhooks> {
    for (const { name, url } of parts.endpoints) {
      const problem = addressProblem(url);
      if (problem !== null) throw new Error(`The address of the webhook "${name}" ${problem}.`);
    }
    const webhooks = new OutgoingWebhooks(parts);
    for (const endpoint of parts.endpoints) await webhooks.#add(endpoint);
    return webhooks;
  }

  private constructor(parts: WebhookParts) {
    this.#parts = parts;
  }

  /** What the owner stores in the same write as the change it tells of, and then hands to `take`. */
  records(fact: ToldFact): WebhookRecords {
    const id = idOf(fact);
    const body = bodyOf(this.#parts.shop, fact);
    const records: WebhookRecords = {};
    for (const [endpoint, outbox] of this.#outboxes)
      Object.assign(records, outbox.record(id, { endpoint, body }));
    return records;
  }

  take(records: WebhookRecords): void {
    for (const [key, record] of Object.entries(records))
      this.#outboxes.get(record.work.endpoint)?.take({ [key]: record });
  }

  /** Sends what is due. */
  run(): void {
    for (const outbox of this.#outboxes.values()) outbox.run();
  }

  get counts(): Readonly<Record<string, { readonly waiting: number; readonly dead: number }>> {
    return Object.fromEntries(Array.from(this.#outboxes, ([name, { counts }]) => [name, counts]));
  }

  /** Those that were given up, the oldest first. */
  async dead(endpoint: string, limit: number): Promise<OutboxRecord<WebhookWork>[]> {
    return (await this.#outboxes.get(endpoint)?.dead(limit)) ?? [];
  }

  /** Sends one that was given up again. False: there is none with this id. */
  async again(endpoint: string, id: string): Promise<boolean> {
    this.#gone.delete(endpoint);
    return (await this.#outboxes.get(endpoint)?.again(id)) ?? false;
  }

  async close(): Promise<void> {
    await Promise.all(Array.from(this.#outboxes.values(), (outbox) => outbox.close()));
  }

  async #add(endpoint: WebhookEndpoint): Promise<void> {
    const { storage, world, wakeAt } = this.#parts;
    const outbox = await Outbox.open<WebhookWork>({
      ...{ storage, world, wakeAt, plan: WEBHOOK_RETRIES },
      attempt: (record) => this.#attempt(endpoint, record),
      prefix: `webhook/${endpoint.name}/`,
      underWayMax: UNDER_WAY_MAX,
      waitingMax: WAITING_MAX,
      deadMax: DEAD_MAX,
    });
    this.#outboxes.set(endpoint.name, outbox);
  }

  async #attempt(
    { name, url, keys }: WebhookEndpoint,
    { id, work: { body }, attempts }: OutboxRecord<WebhookWork>,
  ): Promise<Attempted<WebhookWork>> {
    const { world, send } = this.#parts;
    if (this.#gone.has(name)) return { kind: "refused", problem: "the endpoint wants no more" };
    const signed = signWebhook({ id, at: world.clock.now(), body }, keys);
    const headers = { "content-type": "application/json", "user-agent": "Fairgate", ...signed };
    const { status, retryAfterMs } = await send({ url, headers, body });
    if (status >= 200 && status < 300) return { kind: "done" };
    const problem = `HTTP ${status}`;
    world.log.debug({ webhook: name, id, attempts, problem }, "A webhook was not taken.");
    if (status !== GONE) return { kind: "again", problem, afterMs: retryAfterMs ?? 0 };
    this.#gone.add(name);
    return { kind: "refused", problem };
  }
}

/** One for each event, made of what it is about: a ticket is cancelled once and refunded once. */
function idOf(fact: ToldFact): string {
  switch (fact.type) {
    case "order.made":
      return `made-${fact.order.id}`;
    case "product.sold_out":
      // Products may have any name; an id may not.
      return `sold_out-${hash("sha256", fact.product).slice(0, NAME_DIGITS)}-${fact.at}`;
    default:
      return `${fact.type.slice("order.".length)}-${fact.tickets[0] ?? fact.order.id}`;
  }
}

function bodyOf(shop: string, { type, at, ...data }: ToldFact): string {
  return JSON.stringify({ type, timestamp: new Date(at).toISOString(), data: { shop, ...data } });
}
