/**
 * What carries a ledger's facts to others: orders to the organiser's webhooks, and what is to become of a payment to its provider.
 * The ledger stores the records of both with the change that they tell of, so nothing is told that did not happen, and what
 * happened is told at least once.
 */
import type { World } from "../../core/world.ts";
import type { CourierParts, LedgerCourier } from "../ledger/ledger.ts";
import type { ShopFact } from "../rules/commands.ts";
import type { OutboxRecord } from "./outbox.ts";
import { OutgoingWebhooks, type WebhookEndpoint, type WebhookRecords } from "./outgoing-webhooks.ts";
import { askRecords, isAskKey, openPaymentAsks, type PaymentAsks } from "./payment-asks.ts";
import type { PaymentAsk, PaymentProvider } from "./providers/provider.ts";
import type { OutgoingSend } from "./send.ts";

export interface CourierSettings {
  readonly endpoints: readonly WebhookEndpoint[];
  /** Null: there is none to ask, so the book's wishes for payments are only in its answers to callbacks. */
  readonly provider: PaymentProvider | null;
  readonly world: Pick<World, "clock" | "random" | "log">;
  readonly send: OutgoingSend;
}

/** As a ledger's env has it. */
export async function openCourier(settings: CourierSettings, parts: CourierParts): Promise<Courier> {
  const { endpoints, provider, world, send } = settings;
  const shared = { ...parts, world, send };
  return new Courier(
    await OutgoingWebhooks.open({ ...shared, endpoints }),
    provider && (await openPaymentAsks({ ...shared, provider })),
  );
}

export class Courier implements LedgerCourier {
  readonly webhooks: OutgoingWebhooks;
  readonly asks: PaymentAsks | null;

  constructor(webhooks: OutgoingWebhooks, asks: PaymentAsks | null) {
    this.webhooks = webhooks;
    this.asks = asks;
  }

  records(facts: readonly ShopFact[]): Record<string, unknown> {
    return Object.assign({}, ...facts.map((fact) => this.#recordsOf(fact)));
  }

  take(records: Record<string, unknown>): void {
    const all = Object.entries(records);
    const asked = all.filter(([key]) => isAskKey(key));
    const told = all.filter(([key]) => !isAskKey(key));
    this.asks?.take(Object.fromEntries(asked) as Record<string, OutboxRecord<PaymentAsk>>);
    this.webhooks.take(Object.fromEntries(told) as WebhookRecords);
  }

  run(): void {
    this.webhooks.run();
    this.asks?.run();
  }

  /** Ends when what is under way has ended. What is not done stays stored. */
  async close(): Promise<void> {
    await Promise.all([this.webhooks.close(), this.asks?.close()]);
  }

  #recordsOf(fact: ShopFact): Record<string, unknown> {
    if (fact.type !== "payment.asked") return this.webhooks.records(fact);
    const { payment, attempt } = fact.event;
    // Without its name at the provider a payment cannot be asked about. Callbacks that were read have it.
    if (!this.asks || !payment) return {};
    return askRecords(this.asks, { action: fact.action, attempt, payment: payment.id });
  }
}
