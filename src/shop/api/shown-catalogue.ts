/** The catalogue as visitors get it: what is offered in their room, with what is left of each product. */
import type { Catalogue, Product } from "../rules/catalogue.ts";
import type { ProductsShown } from "./visitor-shop.ts";

/** JSON. `isClosed`: by the organiser, whatever the catalogue says. Instants are milliseconds since 1970, amounts minor units. */
export function catalogueJson(
  { currency, policies, products }: Catalogue,
  shown: ProductsShown,
  isClosed: boolean,
): string {
  const { opensAt, itemsMax, shoppingWindowMs, payment } = policies;
  const ids = new Set(shown.products.map(({ id }) => id));
  const isKnown = ({ product: id }: { readonly product: string }) => {
    const product = products.get(id)!;
    // A pool is the organiser's way to count, and nothing that anybody gets.
    return !product.isPool && (!product.isHiddenBefore || ids.has(id));
  };
  return JSON.stringify({
    status: "catalogue",
    version: shown.version,
    catalogueVersion: shown.catalogueVersion,
    currency,
    ...{ opensAt, isClosed, itemsMax, shoppingWindowMs },
    paymentRoom: payment.room,
    products: shown.products.flatMap(({ id, state, available }) => {
      const product = products.get(id);
      return product ? [{ ...shownProduct(product, isKnown), state, available }] : [];
    }),
  });
}

/** `isKnown`: what may be named; nobody is told of what is not shown yet. */
function shownProduct(product: Product, isKnown: (one: { readonly product: string }) => boolean): object {
  const { id, name, price, isForSale, limitPerCustomer, saleStart, saleEnd } = product;
  const parts = product.parts.filter(isKnown);
  const options = product.options.filter(isKnown);
  const choices = product.choices.map((set) => ({ ...set, from: set.from.filter(isKnown) }));
  return { id, name, price, isForSale, parts, options, choices, limitPerCustomer, saleStart, saleEnd };
}
