/**
 * A hold: one ticket in a basket, as a tree of lines. The ticket's required parts are its first children, one line for each
 * product of the whole closure, however deep: a product that is needed over many paths is one line with all its units. What
 * was chosen stands below the line it is an option or choice of, and has its own parts below itself.
 *
 *   ticket ─┬─ part, part, …                 taken and released with the ticket
 *           ├─ option ─── part, …            may be undone by itself
 *           └─ part ───── choice ─── part    a choice of a required part
 *
 * A line remembers its price and the edition of its product, so what changes in the catalogue later does not change a hold.
 */
import type { Product } from "../catalogue.ts";
import type { HoldView } from "../commands.ts";
import type { TakenUnits } from "../limits.ts";
import type { RecordShape } from "./stored-records.ts";

export interface HeldLine {
  /** Its number in the basket. */
  readonly id: string;
  readonly product: string;
  readonly edition: number;
  readonly units: number;
  /** Of all its units. */
  readonly price: number;
  readonly kind: "ticket" | "part" | "option" | "choice";
  /** The set that it was chosen from; null where it was not. */
  readonly set: string | null;
  readonly children: HeldLine[];
}

export interface Hold {
  readonly line: HeldLine;
  /** When an offer of the waiting list ends; null for any other hold. */
  readonly offerEndsAt: number | null;
}

/** The definition under which a line was taken. */
export type DefinitionOf = (line: HeldLine) => Product;

/** The line and all below it, parents first. */
export function* linesOf(line: HeldLine): Generator<HeldLine> {
  yield line;
  for (const child of line.children) yield* linesOf(child);
}

/** Units by product, of these lines and all below them. */
export function unitsOf(lines: readonly HeldLine[], units = new Map<string, number>()): Map<string, number> {
  for (const { product, units: count, children } of lines) {
    units.set(product, (units.get(product) ?? 0) + count);
    if (children.length > 0) unitsOf(children, units);
  }
  return units;
}

export function priceOf(lines: readonly HeldLine[]): number {
  let price = 0;
  for (const line of lines) price += line.price + (line.children.length > 0 ? priceOf(line.children) : 0);
  return price;
}

export function countLines(lines: readonly HeldLine[]): number {
  let count = lines.length;
  for (const { children } of lines) if (children.length > 0) count += countLines(children);
  return count;
}

/** The lines as limits see them. */
export function takenUnits(lines: readonly HeldLine[], taken: TakenUnits[] = []): TakenUnits[] {
  for (const { product, units, kind, children } of lines) {
    taken.push({ product, units, isTicket: kind === "ticket" });
    if (children.length > 0) takenUnits(children, taken);
  }
  return taken;
}

/** Every set with a minimum is filled, here and below. */
export function isValid(line: HeldLine, definitionOf: DefinitionOf): boolean {
  for (const { name, min } of definitionOf(line).choices)
    if (min > 0 && chosenFrom(line, name) < min * line.units) return false;
  return line.children.every((child) => isValid(child, definitionOf));
}

/** Units chosen from one of the line's sets; with a product: of that product alone. */
export function chosenFrom(line: HeldLine, set: string | null, product?: string): number {
  let units = 0;
  for (const child of line.children)
    if (child.set === set && child.kind !== "part" && (product === undefined || child.product === product))
      units += child.units;
  return units;
}

/** A line by its id, with the one above it; null: none of these has it. */
export function findLine(
  lines: readonly HeldLine[],
  id: string,
  parent: HeldLine | null = null,
): { readonly line: HeldLine; readonly parent: HeldLine | null } | null {
  for (const line of lines) {
    if (line.id === id) return { line, parent };
    const found = findLine(line.children, id, line);
    if (found) return found;
  }
  return null;
}

/** How a hold is shown to its owner. `definitionOf`: null when it is sold, and so was valid; former definitions may be gone then. */
export function viewOfHold(hold: Hold, definitionOf: DefinitionOf | null, isBrowsing: boolean): HoldView {
  const view = (line: HeldLine, parent: string | null): HoldView => ({
    id: line.id,
    product: line.product,
    parent,
    units: line.units,
    price: line.price,
    isValid: definitionOf === null || isValid(line, definitionOf),
    isModifiable: isBrowsing && line.kind !== "part",
    offerEndsAt: parent === null ? hold.offerEndsAt : null,
    children: line.children.map((child) => view(child, line.id)),
  });
  return view(hold.line, null);
}

const LINE_FIELDS: Record<string, RecordShape> = {
  id: "text",
  product: "text",
  edition: "count",
  units: "count",
  price: "count",
  kind: "text",
  set: { orNull: "text" },
};
const LINE_SHAPE: RecordShape = { fields: LINE_FIELDS };
LINE_FIELDS.children = { listOf: LINE_SHAPE };

export const HOLD_SHAPE: RecordShape = { fields: { line: LINE_SHAPE, offerEndsAt: { orNull: "count" } } };
