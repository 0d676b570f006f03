/**
 * What a wish would take: the lines of new tickets, or of options and choices below a line that is held already. Nothing is taken here.
 *
 * A wish is whole: what it chooses is looked for first among the options and choices of its own product, then of its required
 * parts in their order. A set whose minimum is missing is filled before others, and an option is taken last.
 */
import { isNotYetShown } from "../availability.ts";
import type { Product } from "../catalogue.ts";
import type { ShopRefusal, Wish } from "../commands.ts";
import { chosenFrom, type HeldLine } from "./holds.ts";
import type { ShopState } from "./shop-state.ts";

/** Lines in one basket, with all parts. */
export const LINES_MAX = 2_000;

/** Where and when something is wished for. */
export interface PlanContext {
  readonly shop: ShopState;
  readonly room: string;
  readonly lane: string;
  readonly now: number;
  /** The id of the first new line. */
  readonly firstLine: number;
  /** How many more lines the basket may have. */
  readonly linesLeft: number;
  /** Offers of the waiting list: also of what stays sold out for everyone else. */
  readonly isOffer?: boolean;
}

export interface Planned {
  readonly lines: HeldLine[];
  /** The id of the next line after these. */
  readonly nextLine: number;
}

/** The tickets that a wish asks for. */
export function planTickets(context: PlanContext, wish: Wish): Planned | ShopRefusal {
  const planner = new Planner(context);
  return planner.run(() => planner.tickets(wish));
}

/**
 * What a wish adds below a line that is held. The line itself is not changed, and what was planned for it before
 * in the same call is not seen: `parent` is a copy whose children the plan may extend.
 */
export function planChosen(context: PlanContext, parent: HeldLine, wish: Wish): Planned | ShopRefusal {
  const planner = new Planner(context);
  return planner.run(() => planner.chosen([{ ...parent, children: [...parent.children] }], wish));
}

type Slot = Pick<HeldLine, "kind" | "set"> & { readonly parent: HeldLine };

class Planner {
  readonly #context: PlanContext;
  #nextLine: number;
  #refusal: ShopRefusal | null = null;

  constructor(context: PlanContext) {
    this.#context = context;
    this.#nextLine = context.firstLine;
  }

  run(plan: () => HeldLine[]): Planned | ShopRefusal {
    const lines = plan();
    return this.#refusal ?? { lines, nextLine: this.#nextLine };
  }

  tickets(wish: Wish): HeldLine[] {
    const product = this.#offered(wish);
    if (product && !product.isForSale) this.#refuse("notOffered", product.id, "it is not sold by itself");
    const tickets: HeldLine[] = [];
    for (let n = 0; product && n < wish.count && !this.#refusal; n++) {
      const ticket = this.#line(product, { kind: "ticket", set: null });
      tickets.push(ticket);
      this.#fill(ticket, wish);
    }
    return tickets;
  }

  /** Adds what a wish chooses to the first of these lines that it is an option or choice of. */
  chosen(parents: readonly HeldLine[], wish: Wish): HeldLine[] {
    const product = this.#offered(wish);
    const lines: HeldLine[] = [];
    for (let n = 0; product && n < wish.count && !this.#refusal; n++) {
      const slot = this.#slotFor(product, parents);
      if (!slot) break;
      const line = this.#line(product, slot);
      slot.parent.children.push(line);
      lines.push(line);
      this.#fill(line, wish);
    }
    return lines;
  }

  #fill(line: HeldLine, { chosen }: Wish): void {
    const parents = [line, ...line.children];
    for (const wish of chosen) if (!this.#refusal) this.chosen(parents, wish);
  }

  /** A unit of a product with all its required parts. */
  #line(product: Product, { kind, set }: Pick<HeldLine, "kind" | "set">): HeldLine {
    const { stock } = this.#context.shop;
    const children: HeldLine[] = [];
    const line = this.#newLine(product, { units: 1, price: product.price, kind, set, children });
    for (const [part, units] of stock.needs.of(product.id))
      if (part !== product.id)
        children.push(
          this.#newLine(stock.products.get(part)!, {
            units,
            price: 0,
            kind: "part",
            set: null,
            children: [],
          }),
        );
    return line;
  }

  #newLine(product: Product, rest: Omit<HeldLine, "id" | "product" | "edition">): HeldLine {
    const { shop, firstLine, linesLeft } = this.#context;
    if (this.#nextLine - firstLine >= linesLeft) this.#refusal ??= limit("items", null, LINES_MAX);
    const { edition } = shop.stock.stateOf(product.id);
    return { id: String(this.#nextLine++), product: product.id, edition, ...rest };
  }

  /** The product of a wish; null, with a refusal, where it cannot be had here and now. */
  #offered({ product: id, count }: Wish): Product | null {
    const { shop, room, now, lane, isOffer } = this.#context;
    const product = shop.catalogue.products.get(id);
    if (!product || product.isPool || isNotYetShown(product, now))
      return this.#refuse("notOffered", id, "there is no such product");
    if (product.rooms !== null && !product.rooms.includes(room))
      return this.#refuse("notOffered", id, "it is not sold in this room");
    if (product.saleStart !== null && now < product.saleStart)
      return this.#refuse("notOpen", id, "its sale has not begun");
    if (product.saleEnd !== null && now >= product.saleEnd)
      return this.#refuse("notOffered", id, "its sale is over");
    if (!Number.isSafeInteger(count) || count < 1)
      return this.#refuse("invalid", id, `the count must be a whole number from 1, not ${String(count)}`);
    if (!isOffer && shop.shown.isShut(id, lane)) {
      this.#refusal ??= { kind: "refused", code: "soldOut", product: id };
      return null;
    }
    return product;
  }

  /** Where a product is chosen; null, with a refusal, where there is no place for it. */
  #slotFor(product: Product, parents: readonly HeldLine[]): Slot | null {
    let full: ShopRefusal | null = null;
    for (const parent of parents) {
      const found = this.#slotBelow(parent, product.id);
      if (found !== null && !("code" in found)) return found;
      full ??= found;
    }
    if (full) this.#refusal ??= full;
    else this.#refuse("invalid", product.id, "it is no option or choice of what it is wished for with");
    return null;
  }

  /** A refusal where it would be one too many; null where it is no option or choice of this line at all. */
  #slotBelow(parent: HeldLine, product: string): Slot | ShopRefusal | null {
    const { choices, options } = this.#context.shop.editions.of(parent);
    let full: ShopRefusal | null = null;
    let open: Slot | null = null;
    for (const { name, from, min, max } of choices) {
      const member = from.find((one) => one.product === product);
      if (!member) continue;
      const chosen = chosenFrom(parent, name);
      if (chosen >= max * parent.units) full ??= limit("choice", product, max);
      else if (chosenFrom(parent, name, product) >= member.max * parent.units)
        full ??= limit("choice", product, member.max);
      else if (chosen < min * parent.units) return { parent, kind: "choice", set: name };
      else open ??= { parent, kind: "choice", set: name };
    }
    if (open) return open;
    const option = options.find((one) => one.product === product);
    if (!option) return full;
    if (chosenFrom(parent, null, product) >= option.max * parent.units)
      return limit("option", product, option.max);
    return { parent, kind: "option", set: null };
  }

  #refuse(code: "notOffered" | "notOpen" | "invalid", product: string, reason: string): null {
    this.#refusal ??= { kind: "refused", code, product, reason };
    return null;
  }
}

function limit(kind: "items" | "choice" | "option", product: string | null, max: number): ShopRefusal {
  return { kind: "refused", code: "limitReached", limit: kind, product, max };
}
