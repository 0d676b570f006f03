/**
 * What everyone in the shop is shown of each product, and the sold-out latch (cs6): a product that stays sold out does so from
 * the command on after which none of it is left, so nobody can have been shown otherwise in between.
 *
 * After a command only the products that it touched are looked at, and those above them only where they may have run out. With
 * `most` units of the touched product at most in one of the product above, that one is still there while at least as many are left;
 * so a pool below ten thousand products costs nothing until it is nearly empty. Views are made anew when they are asked for.
 *
 * Visitors in lanes with hold-backs see other numbers than the rest. All lanes without one are a single class, written "".
 */
import { available, own, shownState } from "../availability.ts";
import type { Catalogue, Product } from "../catalogue.ts";
import type { ProductView } from "../commands.ts";
import type { Stock } from "./stock.ts";

/** Every lane without a hold-back. */
const EVERYONE = "";

interface Above {
  readonly product: string;
  readonly most: number;
}

interface LaneViews {
  readonly views: Map<string, ProductView>;
  /** Products whose units have moved since. */
  readonly stale: Set<string>;
}

export class ShownProducts {
  readonly #stock: () => Stock;
  readonly #onSoldOut: (product: string, now: number) => void;
  #catalogue: Catalogue;
  /** Lanes with a hold-back of any product, and `EVERYONE`. */
  #lanes: readonly string[] = [EVERYONE];
  readonly #touched = new Set<string>();
  readonly #begun = new Set<string>();
  readonly #untold = new Set<string>();
  /** By touched product: those above that may run out with it and then stay so, the hungriest first. */
  readonly #above = new Map<string, Above[]>();
  readonly #views = new Map<string, LaneViews>();

  /** `onSoldOut`: a product stays sold out for visitors without a hold-back. */
  constructor(stock: () => Stock, catalogue: Catalogue, onSoldOut: (product: string, now: number) => void) {
    this.#stock = stock;
    this.#onSoldOut = onSoldOut;
    this.#catalogue = catalogue;
  }

  /** Another catalogue: everything is looked at again. */
  define(catalogue: Catalogue): void {
    this.#catalogue = catalogue;
    const lanes = [...catalogue.products.values()].flatMap(({ holdBacks }) =>
      holdBacks.map(({ lane }) => lane),
    );
    this.#lanes = [EVERYONE, ...new Set(lanes)];
    this.#above.clear();
    this.#views.clear();
    this.#touched.clear();
    this.#begun.clear();
    this.#untold.clear();
    this.touchAll();
  }

  touchAll(): void {
    for (const product of this.#catalogue.products.keys()) this.touch(product);
  }

  readonly touch = (product: string): void => {
    if (!this.#catalogue.products.has(product)) return;
    this.#touched.add(product);
    this.#untold.add(product);
    for (const { stale } of this.#views.values()) stale.add(product);
  };

  /** The products touched since the last call, after a look at whether anything above them has run out. */
  settle(now: number): readonly string[] {
    const touched = [...this.#touched];
    for (const product of touched) this.#latchAbove(product, now);
    for (const product of this.#begun) this.#latchStaying(this.#catalogue.products.get(product)!, now);
    this.#touched.clear();
    this.#begun.clear();
    return touched;
  }

  /** Whether a product stays sold out for this lane. */
  isShut(product: string, lane: string | null): boolean {
    return this.#stock().find(product)?.soldOutIn.has(this.#classOf(lane)) ?? false;
  }

  /** A product as it is shown in this lane; of one that was taken out of the catalogue there is no more. */
  look(product: string, lane: string | null): ProductView {
    if (!this.#catalogue.products.has(product)) return { id: product, state: "soldOut", available: 0 };
    return this.#look(product, this.#classOf(lane));
  }

  /** All products, pools included, as they are shown in this lane. */
  views(lane: string | null): ReadonlyMap<string, ProductView> {
    return this.#viewsOf(this.#classOf(lane));
  }

  /** The sale of this product begins: it may have run out before. */
  begin(product: string): void {
    this.#begun.add(product);
    this.touch(product);
  }

  /** The organiser sells it again. Where none is left at that moment it stays sold out. */
  reopen(product: string): void {
    this.#stock().stateOf(product).soldOutIn.clear();
    this.#above.clear();
    this.#begun.add(product);
    this.#stock().touch(product);
  }

  /** The products that may be shown otherwise than when this was asked the last time. */
  takeUntold(): string[] {
    const { needs } = this.#stock();
    const changed = new Set<string>();
    for (const product of this.#untold) for (const above of needs.affectedBy(product)) changed.add(above);
    this.#untold.clear();
    return [...changed];
  }

  #classOf(lane: string | null): string {
    return lane !== null && this.#lanes.includes(lane) ? lane : EVERYONE;
  }

  #viewsOf(laneClass: string): ReadonlyMap<string, ProductView> {
    const { needs } = this.#stock();
    let lane = this.#views.get(laneClass);
    if (!lane) {
      lane = { views: new Map(), stale: new Set(this.#catalogue.products.keys()) };
      this.#views.set(laneClass, lane);
    }
    const stale = new Set<string>();
    for (const product of lane.stale) for (const above of needs.affectedBy(product)) stale.add(above);
    lane.stale.clear();
    for (const product of stale) lane.views.set(product, this.#look(product, laneClass));
    return lane.views;
  }

  #look(id: string, laneClass: string): ProductView {
    if (this.#stock().stateOf(id).soldOutIn.has(laneClass)) return { id, state: "soldOut", available: 0 };
    const lane = laneOf(laneClass);
    const left = available(id, this.#stock(), lane);
    return { id, state: left === 0 ? shownState(id, this.#stock(), lane) : "available", available: left };
  }

  #latchAbove(product: string, now: number): void {
    const above = this.#aboveOf(product);
    if (above.length === 0) return;
    const stock = this.#stock();
    const left = own(stock.products.get(product)!, stock.stateOf(product), null);
    if (left === null) return;
    const isThrough = (one: Above) =>
      one.most > left && this.#latch(this.#catalogue.products.get(one.product)!, now);
    for (let i = 0; i < above.length && above[i]!.most > left; )
      if (isThrough(above[i]!)) above.splice(i, 1);
      else i++;
  }

  #latchStaying(product: Product, now: number): void {
    if (product.staysSoldOut) this.#latch(product, now);
  }

  /** Notes in which lanes a product has run out. True: in all. */
  #latch(product: Product, now: number): boolean {
    const { soldOutIn } = this.#stock().stateOf(product.id);
    if (!this.#isOnSale(product, now)) return false;
    for (const laneClass of this.#lanes) {
      if (soldOutIn.has(laneClass) || available(product.id, this.#stock(), laneOf(laneClass)) !== 0) continue;
      soldOutIn.add(laneClass);
      if (laneClass === EVERYONE) this.#onSoldOut(product.id, now);
      this.#stock().touch(product.id);
    }
    return soldOutIn.size === this.#lanes.length;
  }

  #isOnSale({ saleStart }: Product, now: number): boolean {
    const { opensAt } = this.#catalogue.policies;
    return (opensAt === null || opensAt <= now) && (saleStart === null || saleStart <= now);
  }

  #aboveOf(product: string): Above[] {
    let above = this.#above.get(product);
    if (!above) {
      above = this.#findAbove(product);
      this.#above.set(product, above);
    }
    return above;
  }

  #findAbove(product: string): Above[] {
    const stock = this.#stock();
    const most = new Map([[product, 1]]);
    const found: Above[] = [];
    for (const id of stock.needs.affectedBy(product)) {
      const one = this.#catalogue.products.get(id)!;
      const { soldOutIn } = stock.stateOf(id);
      if (one.staysSoldOut && soldOutIn.size < this.#lanes.length)
        found.push({ product: id, most: this.#mostOf(one, most) });
    }
    return found.sort((a, b) => b.most - a.most);
  }

  /** The most units of one product, for which `known` has 1, in one valid unit of another. */
  #mostOf(product: Product, known: Map<string, number>): number {
    const before = known.get(product.id);
    if (before !== undefined) return before;
    const times = (id: string, count: number) =>
      count * this.#mostOf(this.#catalogue.products.get(id)!, known);
    let most = 0;
    for (const part of product.parts) most += times(part.product, part.count);
    for (const { from, min } of product.choices)
      if (min > 0) for (const member of from) most += times(member.product, member.max);
    known.set(product.id, most);
    return most;
  }
}

function laneOf(laneClass: string): string | null {
  return laneClass === EVERYONE ? null : laneClass;
}
