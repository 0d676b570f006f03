/** A shop as the gateway has it in force: the shop itself, who its customers are, and how much each may ask. */
import type { ShopSettings } from "../../config/shop-schema.ts";
import type { VisitorShop } from "../../shop/api/visitor-shop.ts";
import type { KeySets } from "../lanes/key-sets.ts";
import { CallBudget } from "./call-budget.ts";
import { CustomerClaims } from "./customer-claims.ts";

export interface ShopFrontParts {
  readonly shop: VisitorShop;
  readonly settings: ShopSettings;
  readonly customerSecret: string | null;
  readonly keySets: KeySets;
  readonly now: number;
  /** The same under the settings before. What it counts goes on. */
  readonly before: ShopFront | undefined;
}

export class ShopFront {
  readonly shop: VisitorShop;
  readonly customers: CustomerClaims;
  readonly budget: CallBudget;

  constructor({ shop, settings, customerSecret, keySets, now, before }: ShopFrontParts) {
    this.shop = shop;
    this.customers = new CustomerClaims(settings.customer, { secret: customerSecret, keySets });
    this.budget = before?.budget.isFor(settings) ? before.budget : new CallBudget(settings, now);
  }
}
