/** What is wrong with a catalogue, and where: the path leads to what the organiser wrote. */
import type { Product } from "./catalogue.ts";

/** One thing that is wrong: at `products.bundle.parts.seat`, say. */
export interface CatalogueProblem {
  readonly path: string;
  readonly message: string;
}

export type Report = (path: string, message: string) => void;

/** A link from a product to one below it. */
interface Link {
  readonly product: string;
  /** Where it was written. */
  readonly path: string;
  readonly kind: "part" | "option" | "member";
}

export function pathOf({ id, isPool }: Product): string {
  return isPool ? `pools.${id}` : `products.${id}`;
}

/** The links of a product, of all kinds. */
export function linksOf(product: Product, products: ReadonlyMap<string, Product>): Link[] {
  const path = pathOf(product);
  return [
    ...product.parts.map(({ product: part }): Link => {
      const isPool = products.get(part)?.isPool ?? false;
      return {
        product: part,
        kind: "part",
        path: isPool ? `pools.${part}.products.${product.id}` : `${path}.parts.${part}`,
      };
    }),
    ...product.options.map(
      ({ product: option }): Link => ({
        product: option,
        kind: "option",
        path: `${path}.options.${option}`,
      }),
    ),
    ...product.choices.flatMap(({ name, from }) =>
      from.map(
        ({ product: member }): Link => ({
          product: member,
          kind: "member",
          path: `${path}.choices.${name}.from.${member}`,
        }),
      ),
    ),
  ];
}
