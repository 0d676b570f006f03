/**
 * The shops of one process: each with its ledger in the data directory, the counter that visitors meet, and what ties it to rooms
 * (`shop-rooms.ts`). A shop that the settings name for the first time begins with the catalogue of its file.
 *
 * Shops are opened when settings name them and stay open until the end: a ledger without rooms still ends its baskets in time.
 */
import type { Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { OrganiserCalls } from "../shop/api/organiser-calls.ts";
import { ShopCounter } from "../shop/api/shop-counter.ts";
import type { ShopDesk } from "../shop/api/shop-desk.ts";
import type { PaymentCallback } from "../shop/api/visitor-shop.ts";
import type { WrittenCatalogue } from "../shop/rules/written-catalogue.ts";
import { providerOf } from "./shop-provider.ts";

export interface OpenShop {
  readonly name: string;
  readonly desk: ShopDesk;
  readonly counter: ShopCounter;
  readonly organiser: OrganiserCalls;
}

export interface ShopsParts {
  readonly world: World;
  /** The ledger of a shop, as these settings have it. */
  readonly deskOf: (name: string, settings: Settings) => ShopDesk;
  readonly endVisit: (room: string, visit: string) => void;
  /** The rooms as they are set now. */
  readonly rooms: () => Settings["rooms"];
}

export class Shops {
  readonly #parts: ShopsParts;
  readonly #open = new Map<string, OpenShop>();
  /** Those that were changed while they were opened. */
  readonly #changed = new Set<string>();

  constructor(parts: ShopsParts) {
    this.#parts = parts;
  }

  get(name: string): OpenShop | undefined {
    return this.#open.get(name);
  }

  /** Opens the shops that are not open yet, at the same time: with Redis each may have to wait for its ledger. */
  async follow(settings: Settings): Promise<void> {
    const fresh = Object.keys(settings.shops).filter((name) => !this.#open.has(name));
    const opened = await Promise.all(fresh.map((name) => this.#openOne(name, settings)));
    for (const shop of opened) {
      this.#open.set(shop.name, shop);
      if (this.#changed.delete(shop.name)) this.learn(shop.name);
    }
  }

  /** Another gateway has changed the catalogue, or opened or closed the shop. */
  learn(name: string): void {
    const shop = this.#open.get(name);
    if (shop) shop.counter.learnSoon();
    else this.#changed.add(name);
  }

  close(): void {
    for (const { counter } of this.#open.values()) counter.close();
  }

  async #openOne(name: string, settings: Settings): Promise<OpenShop> {
    const { world, deskOf, endVisit, rooms } = this.#parts;
    const desk = deskOf(name, settings);
    await this.#begin(name, desk, settings);
    const provider = providerOf(name, settings);
    const readCallback = provider && ((callback: PaymentCallback) => provider.read(callback));
    const counter = await ShopCounter.open({ desk, world, endVisit, readCallback });
    const { clock } = world;
    const organiser = new OrganiserCalls({ name, desk, clock, rooms, onChange: () => counter.learn() });
    return { name, desk, counter, organiser };
  }

  /** The catalogue of the shop's file, for one that has none. */
  async #begin(name: string, desk: ShopDesk, { firstCatalogues }: Settings): Promise<void> {
    const first = firstCatalogues.get(name);
    if (!first) return;
    const { clock, log } = this.#parts.world;
    const answer = await beginWith(desk, first, clock.now()).catch((cause: unknown) => {
      // Visitors of this shop are told, and everything else goes on.
      log.error({ err: cause, shop: name }, "a shop's ledger does not answer");
      return null;
    });
    if (answer === null) return;
    // Another gateway has begun with it.
    if (answer.kind === "refused" && answer.code === "versionMismatch") return;
    if (answer.kind === "refused")
      throw new Error(`the shop ${name} cannot begin with its catalogueFile: ${JSON.stringify(answer)}`);
    log.info({ shop: name, products: Object.keys(first.products).length }, "a shop began with its catalogue");
  }
}

/** Null: it has a catalogue already. */
async function beginWith(desk: ShopDesk, first: WrittenCatalogue, now: number) {
  if ((await desk.catalogue()) !== null) return null;
  return desk.setCatalogue(first, { ifVersion: null, now });
}
