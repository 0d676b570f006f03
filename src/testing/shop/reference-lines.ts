/**
 * What stands in a basket of the reference shop, and how a wish becomes that: one line for a ticket, below it one line for each
 * required part of the whole closure, and what was chosen below what offers it.
 */
import type { Product } from "../../shop/rules/catalogue.ts";
import type { HoldView, ShopRefusal, Wish } from "../../shop/rules/commands.ts";
import { needsOf } from "./reference-stock.ts";

export interface PlainLine {
  readonly id: string;
  /** As it was when the line was taken. */
  readonly product: Product;
  readonly units: number;
  readonly price: number;
  readonly kind: "ticket" | "part" | "chosen";
  readonly children: PlainLine[];
  /** Of a ticket: when it is taken back, as an offer of the waiting list. */
  offerEndsAt: number | null;
}

export type RefusalCode = ShopRefusal["code"];

/** Thrown inside a command that is refused, before anything has changed. */
export class PlainRefused extends Error {
  readonly code: RefusalCode;
  constructor(code: RefusalCode) {
    super(code);
    this.code = code;
  }
}

export function refuseWith(code: RefusalCode): never {
  throw new PlainRefused(code);
}

/** A refusal that names no more than its code. */
export interface PlainRefusal {
  readonly kind: "refused";
  readonly code: string;
}

/** What the work returns, or the refusal that it ends in. */
export function answerOf<Answer>(work: () => Answer): Answer | PlainRefusal {
  try {
    return work();
  } catch (thrown) {
    if (thrown instanceof PlainRefused) return { kind: "refused", code: thrown.code };
    throw thrown;
  }
}

/** Where and when something is wished for. */
export interface WishPlace {
  readonly products: ReadonlyMap<string, Product>;
  readonly room: string;
  readonly now: number;
  isShut(product: string): boolean;
  nextId(): string;
}

/** The tickets of a wish, or it is refused. */
export function plainTickets(wish: Wish, place: WishPlace): PlainLine[] {
  const product = offered(wish, place);
  if (!product.isForSale) refuseWith("notOffered");
  return Array.from({ length: wish.count }, () => {
    const ticket = newLine(product, "ticket", place);
    for (const chosen of wish.chosen) choose([ticket, ...ticket.children], chosen, place);
    return ticket;
  });
}

/** Puts what is chosen below the first of these lines that offers it and has space for it, and returns the new lines. */
export function choose(parents: readonly PlainLine[], wish: Wish, place: WishPlace): PlainLine[] {
  const product = offered(wish, place);
  return Array.from({ length: wish.count }, () => {
    const offering = parents.filter((parent) => offers(parent.product, product.id));
    if (offering.length === 0) refuseWith("invalid");
    const parent = offering.find((one) => hasSpace(one, product.id)) ?? refuseWith("limitReached");
    const line = newLine(product, "chosen", place);
    parent.children.push(line);
    for (const chosen of wish.chosen) choose([line, ...line.children], chosen, place);
    return line;
  });
}

function offered({ product: id, count }: Wish, { products, room, now, isShut }: WishPlace): Product {
  const product = products.get(id);
  if (!product || product.isPool || isNotShownYet(product, now)) refuseWith("notOffered");
  if (!isSoldIn(product, room, products)) refuseWith("notOffered");
  if (isBefore(now, product.saleStart)) refuseWith("notOpen");
  if (product.saleEnd !== null && now >= product.saleEnd) refuseWith("notOffered");
  if (count < 1) refuseWith("invalid");
  if (isShut(id)) refuseWith("soldOut");
  return product;
}

/** One unit, with every required part. */
function newLine(product: Product, kind: "ticket" | "chosen", { products, nextId }: WishPlace): PlainLine {
  const children: PlainLine[] = [];
  for (const [part, units] of needsOf(products, product.id))
    if (part !== product.id)
      children.push({
        ...{ id: nextId(), product: products.get(part)!, units, price: 0 },
        ...{ kind: "part", children: [], offerEndsAt: null },
      });
  return { id: nextId(), product, units: 1, price: product.price, kind, children, offerEndsAt: null };
}

function offers({ options, choices }: Product, id: string): boolean {
  return [...options, ...choices.flatMap(({ from }) => from)].some(({ product }) => product === id);
}

/** Whether one more of a product may be chosen with this line. */
function hasSpace(parent: PlainLine, id: string): boolean {
  const { options, choices } = parent.product;
  const option = options.find(({ product }) => product === id);
  if (option) return chosenWith(parent, [option]) < option.max * parent.units;
  return choices.some(({ from, max }) => {
    const member = from.find(({ product }) => product === id);
    return (
      member !== undefined &&
      chosenWith(parent, from) < max * parent.units &&
      chosenWith(parent, [member]) < member.max * parent.units
    );
  });
}

/** Units that are chosen with a line among these. */
function chosenWith(parent: PlainLine, among: readonly { readonly product: string }[]): number {
  const ids = among.map(({ product }) => product);
  return totalOf(
    parent.children.filter(({ kind, product }) => kind === "chosen" && ids.includes(product.id)),
  );
}

/** Every minimum is reached, here and below. */
export function isComplete(line: PlainLine): boolean {
  const isFull = line.product.choices.every(({ from, min }) => chosenWith(line, from) >= min * line.units);
  return isFull && line.children.every(isComplete);
}

/** The lines and all below them. */
export function allLines(lines: readonly PlainLine[]): PlainLine[] {
  return lines.flatMap((line) => [line, ...allLines(line.children)]);
}

export function unitsIn(lines: readonly PlainLine[], product: string): number {
  let units = 0;
  for (const line of lines)
    units += (line.product.id === product ? line.units : 0) + unitsIn(line.children, product);
  return units;
}

export function totalOf(lines: readonly { readonly units: number }[]): number {
  return lines.reduce((sum, { units }) => sum + units, 0);
}

export function plainPrice(lines: readonly PlainLine[]): number {
  return allLines(lines).reduce((sum, { price }) => sum + price, 0);
}

export function isBefore(now: number, at: number | null): boolean {
  return at !== null && now < at;
}

export function isNotShownYet({ isHiddenBefore, saleStart }: Product, now: number): boolean {
  return isHiddenBefore && isBefore(now, saleStart);
}

/** And so are all its required parts. */
export function isSoldIn(
  { rooms, parts }: Product,
  room: string,
  products: ReadonlyMap<string, Product>,
): boolean {
  if (rooms !== null && !rooms.includes(room)) return false;
  return parts.every(({ product }) => isSoldIn(products.get(product)!, room, products));
}

export function viewOfLine(line: PlainLine, isBrowsing: boolean, parent: string | null = null): HoldView {
  return {
    id: line.id,
    product: line.product.id,
    parent,
    units: line.units,
    price: line.price,
    isValid: isComplete(line),
    isModifiable: isBrowsing && line.kind !== "part",
    offerEndsAt: line.offerEndsAt,
    children: line.children.map((child) => viewOfLine(child, isBrowsing, line.id)),
  };
}
