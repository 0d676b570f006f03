/** An organiser's calls as commands of the ledger, in the organiser's own form. */
import { type CheckedRooms, catalogueCautions, catalogueProblems } from "../../config/catalogue-check.ts";
import { readCatalogue, showCatalogue } from "../../config/catalogue-form.ts";
import type { Clock } from "../../core/world.ts";
import { ordersAsCsv, ordersAsJsonLines } from "../baskets/export.ts";
import { checkCatalogue } from "../rules/check-catalogue.ts";
import type { ProductView, ShopOrder } from "../rules/commands.ts";
import { completeCatalogue } from "../rules/written-catalogue.ts";
import type {
  CatalogueSetAnswer,
  CatalogueWish,
  OrganiserShop,
  ProductStockShown,
  ShownCatalogueVersion,
} from "./organiser-shop.ts";
import type { ShopDesk } from "./shop-desk.ts";

/** Orders that are read at once for an export. */
const EXPORT_PAGE = 500;

export interface OrganiserCallsParts {
  readonly name: string;
  readonly desk: ShopDesk;
  readonly clock: Clock;
  /** The rooms as they are set now. */
  readonly rooms: () => CheckedRooms;
  /** The catalogue is another, or something else was changed. */
  readonly onChange: () => Promise<void>;
}

export class OrganiserCalls implements OrganiserShop {
  readonly name: string;
  readonly #parts: OrganiserCallsParts;

  constructor(parts: OrganiserCallsParts) {
    this.name = parts.name;
    this.#parts = parts;
  }

  async catalogue(): Promise<ShownCatalogueVersion | null> {
    const kept = await this.#parts.desk.catalogue();
    return kept && { version: kept.version, catalogue: showCatalogue(kept.written) };
  }

  async setCatalogue(input: unknown, { ifVersion, shortfall }: CatalogueWish): Promise<CatalogueSetAnswer> {
    const { name, desk, clock, rooms, onChange } = this.#parts;
    const reading = readCatalogue(input);
    if (!reading.ok) return { kind: "problems", problems: reading.problems };
    const { written } = reading;
    const problems = catalogueProblems(written, { shop: name, rooms: rooms(), check: catalogueFaults });
    if (problems.length > 0) return { kind: "problems", problems };
    const answer = await desk.setCatalogue(written, { ifVersion, shortfall, now: clock.now() });
    if (answer.kind === "set") {
      await onChange();
      return { ...answer, cautions: catalogueCautions(written, rooms()) };
    }
    if (answer.code === "versionMismatch") return { kind: "versionMismatch", version: answer.version };
    return { kind: "problems", problems: answer.problems.map((problem) => ({ ...problem, hint: "" })) };
  }

  async stock(): Promise<ProductStockShown[]> {
    const { desk, clock } = this.#parts;
    const kept = await desk.catalogue();
    if (kept === null) return [];
    const { products } = completeCatalogue(kept.written, kept.version);
    const shown = await this.#shown(clock.now());
    const stocks = await Promise.all([...products.keys()].map((id) => desk.stock(id)));
    return [...products.values()].flatMap(({ id, name, isForSale, isPool }, at) => {
      const stock = stocks[at];
      if (!stock) return [];
      const { available = null, state = null } = shown.get(id) ?? {};
      return [{ id, name, isForSale, isPool, available, state, ...stock }];
    });
  }

  async adjust(...[product, change]: Parameters<OrganiserShop["adjust"]>) {
    const { delta, shortfall, key } = change;
    const keyed: [key?: string] = key === null ? [] : [key];
    const { desk, clock } = this.#parts;
    return this.#done(await desk.adjust(product, delta, shortfall, clock.now(), ...keyed));
  }

  async reopen(product: string) {
    const { desk, clock } = this.#parts;
    return this.#done(await desk.reopen(product, clock.now()));
  }

  async close(): Promise<void> {
    const { desk, clock } = this.#parts;
    await this.#done(await desk.close(clock.now()));
  }

  async open(): Promise<void> {
    const { desk, clock } = this.#parts;
    await this.#done(await desk.open(clock.now()));
  }

  orders(after: number, limit: number) {
    return this.#parts.desk.orders(after, limit);
  }

  order(id: string) {
    return this.#parts.desk.order(id);
  }

  export(form: "csv" | "json"): AsyncIterable<string> {
    return form === "csv" ? ordersAsCsv(this.#allOrders()) : ordersAsJsonLines(this.#allOrders());
  }

  async cancel(...[order, { tickets, kind }]: Parameters<OrganiserShop["cancel"]>) {
    const { desk, clock } = this.#parts;
    return this.#done(await desk.cancel(order, tickets, kind, clock.now()));
  }

  figures() {
    const { desk, clock } = this.#parts;
    return desk.figures(clock.now());
  }

  verify() {
    return this.#parts.desk.verify();
  }

  async *#allOrders(): AsyncGenerator<ShopOrder> {
    for (let after = 0; ; ) {
      const orders = await this.#parts.desk.orders(after, EXPORT_PAGE);
      yield* orders;
      const last = orders.at(-1);
      if (last === undefined) return;
      after = last.number;
    }
  }

  /** Products of all rooms, as everyone without a hold-back sees them. */
  async #shown(now: number): Promise<ReadonlyMap<string, ProductView>> {
    const { name, desk, rooms } = this.#parts;
    const sellers = Object.entries(rooms()).filter(([, room]) => room?.shop === name);
    const views = await Promise.all(sellers.map(([room]) => desk.products(room, null, now)));
    return new Map(views.flatMap(({ products }) => products).map((product) => [product.id, product]));
  }

  async #done<Answer>(answer: Answer): Promise<Answer> {
    await this.#parts.onChange();
    return answer;
  }
}

function catalogueFaults(written: Parameters<typeof checkCatalogue>[0]) {
  const checked = checkCatalogue(written, 1);
  return checked.ok ? [] : checked.problems;
}
