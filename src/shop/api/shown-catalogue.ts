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
  return JSON.stringify({
    status: "catalogue",
    version: shown.version,
    catalogueVersion: shown.catalogueVersion,
    currency,
    ...{ opensAt, isClosed, itemsMax, shoppingWindowMs },
    paymentRoom: payment.room,
    products: shown.products.flatMap(({ id, state, available }) => {
      const product = products.get(id);
      return product ? [{ ...shownProduct(product, products), state, available }] : [];
    }),
  });
}

function shownProduct(product: Product, all: Catalogue["products"]): object {
  const { id, name, price, isForSale, options, choices, limitPerCustomer, saleStart, saleEnd } = product;
  // A pool is the organiser's way to count, and nothing that anybody gets.
  const parts = product.parts.filter((part) => all.get(part.product)?.isPool !== true);
  return { id, name, price, isForSale, parts, options, choices, limitPerCustomer, saleStart, saleEnd };
}
