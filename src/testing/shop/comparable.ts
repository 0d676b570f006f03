/** Answers and views without what may differ between two shops that do the same. */
import type { BasketView, HoldView } from "../../shop/rules/commands.ts";

/** All lines of a basket, in an order that does not depend on their ids. */
export function linesOfView(basket: BasketView | null): HoldView[] {
  const all = (holds: readonly HoldView[]): HoldView[] =>
    holds.flatMap((hold) => [hold, ...all(inOrder(hold.children))]);
  return all(basket?.holds ?? []);
}

function inOrder(lines: readonly HoldView[]): HoldView[] {
  const text = (line: HoldView) => JSON.stringify(comparable(line));
  return [...lines].sort((a, b) => (text(a) < text(b) ? -1 : 1));
}

/** A value without what may differ: ids of lines, their order below one line, and what a refusal says besides its code. */
export function comparable(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(comparable);
  if (typeof value !== "object" || value === null) return value;
  if ("code" in value)
    return { kind: "refused", code: value.code === "soldOut" ? "insufficientStock" : value.code };
  if ("stock" in value && "kind" in value) return { kind: "stock" };
  const entries = Object.entries(value).map(([name, part]): [string, unknown] => {
    if (name === "made") return [name, (part as readonly string[]).length];
    if (name === "children") return [name, inOrder(part as readonly HoldView[]).map(comparable)];
    if (name === "released" || name === "staysSoldOutIn")
      return [name, [...(part as readonly string[])].sort()];
    return [name, comparable(part)];
  });
  return Object.fromEntries(
    entries.filter(([name]) => name !== "parent" && !(name === "id" && "children" in value)),
  );
}
