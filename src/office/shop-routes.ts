/** The routes for shops at the control address, with all their responses. */
import { createRoute, z } from "@hono/zod-openapi";
import { answered, COMMON_REFUSALS, jsonContent, problemsSchema, refusals } from "./refusal.ts";
import {
  adjustSchema,
  cancelSchema,
  catalogueShape,
  figuresSchema,
  listedShopSchema,
  orderSchema,
  productStockSchema,
  setCatalogueSchema,
  shortfallQuery,
  stockSchema,
  verifiedSchema,
} from "./shop-shapes.ts";

const ORDERS_MAX = 1_000;
const ORDERS_USUAL = 100;
const ETAG = {
  ETag: z.string().openapi({ description: "The catalogue's version, for `If-Match`." }),
};

const inPath = (name: string, description: string, example: string) =>
  z.string().openapi({ param: { name, in: "path" }, description, example });
const shopParams = z.object({ shop: inPath("shop", "The shop's name.", "tickets") });
const productParams = shopParams.extend({ product: inPath("product", "The product's id.", "seat") });
const orderParams = shopParams.extend({ order: inPath("order", "The order's id.", "0f3a5c…") });
const noShop = refusals("no_such_shop", "shop_away");

export const listShopsRoute = createRoute({
  method: "get",
  path: "/shops",
  summary: "Every shop with its figures",
  responses: {
    200: answered("The shops.", z.object({ shops: z.array(listedShopSchema) })),
    ...COMMON_REFUSALS,
  },
});

export const showShopRoute = createRoute({
  method: "get",
  path: "/shops/{shop}",
  summary: "The catalogue of a shop, as it can be sent back",
  request: { params: shopParams },
  responses: {
    200: { ...answered("The catalogue.", catalogueShape), headers: z.object(ETAG) },
    ...COMMON_REFUSALS,
    ...refusals("no_such_shop", "shop_away", "no_catalogue"),
  },
});

export const setShopRoute = createRoute({
  method: "put",
  path: "/shops/{shop}",
  summary: "Set the whole catalogue of a shop, or nothing",
  description:
    "Needs `If-Match` with the `ETag` of the catalogue that it replaces, or `If-None-Match: *` for the first. Holds that are there keep their price and rules; the stock of a product changes by the difference to what the catalogue before said.",
  request: {
    params: shopParams,
    query: shortfallQuery,
    body: { required: true, content: jsonContent(catalogueShape) },
  },
  responses: {
    200: { ...answered("It is set.", setCatalogueSchema), headers: z.object(ETAG) },
    ...COMMON_REFUSALS,
    ...refusals(
      "no_such_shop",
      "shop_away",
      "bad_request",
      "too_large",
      "not_json",
      "version_mismatch",
      "precondition_needed",
    ),
    422: answered("Every problem with the catalogue. Nothing was changed.", problemsSchema),
  },
});

export const stockRoute = createRoute({
  method: "get",
  path: "/shops/{shop}/stock",
  summary: "The stock of every product, by where its units are",
  request: { params: shopParams },
  responses: {
    200: answered("The products.", z.object({ products: z.array(productStockSchema) })),
    ...COMMON_REFUSALS,
    ...noShop,
  },
});

export const figuresRoute = createRoute({
  method: "get",
  path: "/shops/{shop}/figures",
  summary: "People and tickets by phase, and how many came and went",
  request: { params: shopParams },
  responses: { 200: answered("The figures.", figuresSchema), ...COMMON_REFUSALS, ...noShop },
});

const stockAnswers = {
  200: answered("The product's stock as it is now.", stockSchema),
  ...COMMON_REFUSALS,
  ...refusals(
    "no_such_shop",
    "shop_away",
    "no_such_product",
    "stock_held",
    "bad_request",
    "too_large",
    "not_json",
  ),
  422: answered("What is wrong with the request. Nothing was changed.", problemsSchema),
};

export const adjustRoute = createRoute({
  method: "post",
  path: "/shops/{shop}/products/{product}/adjust",
  summary: "Change the stock of a product by a number of units",
  description: "With an `Idempotency-Key` it is done once in a day, however often it is sent.",
  request: { params: productParams, body: { required: true, content: jsonContent(adjustSchema) } },
  responses: stockAnswers,
});

export const reopenRoute = createRoute({
  method: "post",
  path: "/shops/{shop}/products/{product}/reopen",
  summary: "Sell a product again that stays sold out",
  request: { params: productParams },
  responses: stockAnswers,
});

export const closeShopRoute = createRoute({
  method: "post",
  path: "/shops/{shop}/close",
  summary: "Let nobody take anything more; what is in baskets can still be paid for",
  request: { params: shopParams },
  responses: { 200: answered("The figures.", figuresSchema), ...COMMON_REFUSALS, ...noShop },
});

export const openShopRoute = createRoute({
  method: "post",
  path: "/shops/{shop}/open",
  summary: "Sell again",
  request: { params: shopParams },
  responses: { 200: answered("The figures.", figuresSchema), ...COMMON_REFUSALS, ...noShop },
});

export const ordersRoute = createRoute({
  method: "get",
  path: "/shops/{shop}/orders",
  summary: "Orders in the order of their numbers",
  request: {
    params: shopParams,
    query: z.object({
      after: z.coerce
        .number()
        .int()
        .min(0)
        .default(0)
        .openapi({ description: "Only orders with a higher number.", type: "integer" }),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(ORDERS_MAX)
        .default(ORDERS_USUAL)
        .openapi({ description: "The most that are given.", type: "integer" }),
    }),
  },
  responses: {
    200: answered("The orders.", z.object({ orders: z.array(orderSchema) })),
    ...COMMON_REFUSALS,
    ...noShop,
    422: answered("What is wrong with the request.", problemsSchema),
  },
});

export const orderRoute = createRoute({
  method: "get",
  path: "/shops/{shop}/orders/{order}",
  summary: "One order",
  request: { params: orderParams },
  responses: {
    200: answered("The order.", orderSchema),
    ...COMMON_REFUSALS,
    ...refusals("no_such_shop", "shop_away", "no_such_order"),
  },
});

export const cancelRoute = createRoute({
  method: "post",
  path: "/shops/{shop}/orders/{order}/cancel",
  summary: "Cancel tickets of an order, or note that they were refunded: their stock comes back, once",
  request: { params: orderParams, body: { required: false, content: jsonContent(cancelSchema) } },
  responses: {
    200: answered(
      "The order as it is now, and the tickets that changed.",
      z.object({ order: orderSchema, changed: z.array(z.string()) }),
    ),
    ...COMMON_REFUSALS,
    ...refusals("no_such_shop", "shop_away", "no_such_order", "bad_request", "too_large", "not_json"),
    422: answered("What is wrong with the request. Nothing was changed.", problemsSchema),
  },
});

export const exportRoute = createRoute({
  method: "get",
  path: "/shops/{shop}/export",
  summary: "All orders, as CSV with a row for each ticket, or as lines of JSON with one for each order",
  request: {
    params: shopParams,
    query: z.object({
      format: z.enum(["csv", "json"]).default("csv").openapi({ description: "The form." }),
    }),
  },
  responses: {
    200: {
      description: "The orders, sent part by part.",
      content: { "text/csv": { schema: z.string() }, "application/jsonl": { schema: z.string() } },
    },
    ...COMMON_REFUSALS,
    ...noShop,
    422: answered("What is wrong with the request.", problemsSchema),
  },
});

export const verifyRoute = createRoute({
  method: "post",
  path: "/shops/{shop}/verify",
  summary: "Recount the shop from its log, and compare",
  request: { params: shopParams },
  responses: { 200: answered("What came of it.", verifiedSchema), ...COMMON_REFUSALS, ...noShop },
});
