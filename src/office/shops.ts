/**
 * Shops at the control address: their catalogue, stock, orders and figures. A catalogue is set whole and says which version it
 * replaces, so that two who change it at once do not undo each other. Every change is logged with the caller's address.
 */
import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context, TypedResponse } from "hono";
import type { OrganiserShop, StockAnswer } from "../shop/api/organiser-shop.ts";
import { addressOf, type OfficeEnv } from "./caller.ts";
import type { Desk, Handed } from "./desk.ts";
import { errorBody, refuseCall, statusOfRefusal } from "./refusal.ts";
import {
  adjustRoute,
  cancelRoute,
  closeShopRoute,
  exportRoute,
  figuresRoute,
  listShopsRoute,
  openShopRoute,
  orderRoute,
  ordersRoute,
  reopenRoute,
  setShopRoute,
  showShopRoute,
  stockRoute,
  verifyRoute,
} from "./shop-routes.ts";

const SHOPS_NAMED_MAX = 20;
const ENTITY_TAG = /^(?:W\/)?"(\d{1,15})"$/;
const KEY = /^[\x21-\x7e]{1,200}$/;
const EXPORTS = {
  csv: { type: "text/csv; charset=utf-8", ending: "csv" },
  json: { type: "application/jsonl; charset=utf-8", ending: "jsonl" },
} as const;

/** Adds the shops' routes. */
export function addShops(app: OpenAPIHono<OfficeEnv>, handed: Handed): void {
  addCatalogue(app, handed);
  addStock(app, handed);
  addOrders(app, handed);
}

function addCatalogue(app: OpenAPIHono<OfficeEnv>, { desk, world }: Handed): void {
  app.openapi(listShopsRoute, async (c) => {
    const shops = await Promise.all(
      desk.shops().flatMap((name) => {
        const shop = desk.shop(name);
        return shop ? [listed(desk, shop)] : [];
      }),
    );
    return c.json({ shops }, 200);
  });
  app.openapi(showShopRoute, async (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    if (!shop) return refuseShop(c, desk);
    const shown = await shop.catalogue();
    if (!shown) return refuseCall(c, "no_catalogue", "The shop has no catalogue yet.");
    return c.json(shown.catalogue, 200, { ETag: tagOf(shown.version) });
  });
  app.openapi(setShopRoute, async (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    if (!shop) return refuseShop(c, desk);
    const ifVersion = replacedVersion(c);
    if (ifVersion === undefined) {
      const message =
        "Say which catalogue is replaced: If-Match with its ETag, or If-None-Match: * for the first.";
      return refuseCall(c, "precondition_needed", message);
    }
    const { shortfall = "refuse" } = c.req.valid("query");
    const answer = await shop.setCatalogue(c.req.valid("json"), { ifVersion, shortfall });
    if (answer.kind === "versionMismatch") {
      const message = `The catalogue is at version ${answer.version} now. Get it again, and change that.`;
      return refuseCall(c, "version_mismatch", message);
    }
    if (answer.kind === "problems") return refuseCatalogue(c, answer.problems);
    const { version } = answer;
    world.log.info(
      { shop: shop.name, version, by: addressOf(c) },
      "a catalogue was set from the control address",
    );
    const cautions = answer.cautions.map(withoutEmptyHint);
    return c.json({ version, cautions }, 200, { ETag: tagOf(version) });
  });
}

function addStock(app: OpenAPIHono<OfficeEnv>, { desk, world }: Handed): void {
  app.openapi(stockRoute, async (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    return shop ? c.json({ products: [...(await shop.stock())] }, 200) : refuseShop(c, desk);
  });
  app.openapi(figuresRoute, async (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    return shop ? c.json(await shop.figures(), 200) : refuseShop(c, desk);
  });
  app.openapi(adjustRoute, async (c) => {
    const { shop: name, product } = c.req.valid("param");
    const shop = desk.shop(name);
    if (!shop) return refuseShop(c, desk);
    const { delta, shortfall } = c.req.valid("json");
    const key = c.req.header("idempotency-key") ?? null;
    if (key !== null && !KEY.test(key))
      return refuseCall(c, "bad_request", "Idempotency-Key is 1 to 200 printable characters.");
    const answer = await shop.adjust(product, { delta, shortfall, key });
    if (answer.kind === "refused") return refuseStock(c, answer);
    world.log.info(
      { shop: name, product, delta, by: addressOf(c) },
      "stock was changed from the control address",
    );
    return c.json(answer.stock, 200);
  });
  app.openapi(reopenRoute, async (c) => {
    const { shop: name, product } = c.req.valid("param");
    const shop = desk.shop(name);
    if (!shop) return refuseShop(c, desk);
    const answer = await shop.reopen(product);
    if (answer.kind === "refused") return refuseStock(c, answer);
    world.log.info({ shop: name, product, by: addressOf(c) }, "a product is sold again");
    return c.json(answer.stock, 200);
  });
  app.openapi(closeShopRoute, async (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    if (!shop) return refuseShop(c, desk);
    await shop.close();
    world.log.info({ shop: shop.name, by: addressOf(c) }, "a shop was closed from the control address");
    return c.json(await shop.figures(), 200);
  });
  app.openapi(openShopRoute, async (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    if (!shop) return refuseShop(c, desk);
    await shop.open();
    world.log.info({ shop: shop.name, by: addressOf(c) }, "a shop was opened from the control address");
    return c.json(await shop.figures(), 200);
  });
  app.openapi(verifyRoute, async (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    if (!shop) return refuseShop(c, desk);
    const verified = await shop.verify();
    return verified.kind === "clean"
      ? c.json(
          { isClean: true, difference: null, products: verified.products, entries: verified.entries },
          200,
        )
      : c.json({ isClean: false, difference: verified.difference, products: null, entries: null }, 200);
  });
}

function addOrders(app: OpenAPIHono<OfficeEnv>, { desk, world }: Handed): void {
  app.openapi(ordersRoute, async (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    if (!shop) return refuseShop(c, desk);
    const { after, limit } = c.req.valid("query");
    return c.json({ orders: [...(await shop.orders(after, limit))] }, 200);
  });
  app.openapi(orderRoute, async (c) => {
    const { shop: name, order: id } = c.req.valid("param");
    const shop = desk.shop(name);
    if (!shop) return refuseShop(c, desk);
    const order = await shop.order(id);
    return order ? c.json(order, 200) : refuseCall(c, "no_such_order", "There is no such order.");
  });
  app.openapi(cancelRoute, async (c) => {
    const { shop: name, order: id } = c.req.valid("param");
    const shop = desk.shop(name);
    if (!shop) return refuseShop(c, desk);
    const { tickets = null, kind = "cancelled" } = c.req.valid("json") ?? {};
    const answer = await shop.cancel(id, { tickets, kind });
    if (answer.kind === "refused") {
      const what = answer.code === "unknownOrder" ? "order" : "ticket in this order";
      return refuseCall(c, "no_such_order", `There is no such ${what}.`);
    }
    const changed = [...answer.changed];
    world.log.info(
      { shop: name, order: id, changed, kind, by: addressOf(c) },
      "tickets were cancelled or refunded",
    );
    return c.json({ order: answer.order, changed }, 200);
  });
  app.openapi(exportRoute, (c) => {
    const shop = desk.shop(c.req.valid("param").shop);
    if (!shop) return refuseShop(c, desk);
    const { format } = c.req.valid("query");
    const { type, ending } = EXPORTS[format];
    const answer = c.body(ReadableStream.from(encoded(shop.export(format))), 200, {
      "Content-Type": type,
      "Content-Disposition": `attachment; filename="orders-${shop.name}.${ending}"`,
    });
    // The document has no streams; there it is a text.
    return answer as Response as Response & TypedResponse<string, 200, "text">;
  });
}

async function listed(desk: Desk, shop: OrganiserShop) {
  const [shown, figures] = await Promise.all([shop.catalogue(), shop.figures()]);
  const rooms = desk.rooms().filter((room) => desk.room(room)?.shop === shop.name);
  return { name: shop.name, version: shown?.version ?? 0, rooms, figures };
}

/** The version that a request says it replaces; null: any. Undefined: it does not say, or not as it should. */
function replacedVersion(c: Context): number | null | undefined {
  const match = c.req.header("if-match")?.trim();
  if (match === "*") return null;
  if (match !== undefined) {
    const version = ENTITY_TAG.exec(match)?.[1];
    // A tag that is not ours is of no version that there is.
    return version === undefined ? -1 : Number(version);
  }
  return c.req.header("if-none-match")?.trim() === "*" ? 0 : undefined;
}

function tagOf(version: number): string {
  return `"${version}"`;
}

function refuseShop(c: Context, desk: Desk) {
  const names = desk.shops();
  const others =
    names.length === 0 ? "There is none." : `There are: ${names.slice(0, SHOPS_NAMED_MAX).join(", ")}.`;
  return refuseCall(c, "no_such_shop", `There is no such shop. ${others}`);
}

function refuseStock(c: Context, { code }: Extract<StockAnswer, { kind: "refused" }>) {
  switch (code) {
    case "unknownProduct":
      return refuseCall(c, "no_such_product", "The catalogue has no such product.");
    case "endless":
      return refuseCall(c, "stock_held", "The stock is without end, so there is nothing to change.");
    case "belowZero":
      return refuseCall(c, "stock_held", "That would leave less than nothing.");
    case "belowHeld":
      return refuseCall(c, "stock_held", "That would leave less than is held and sold.");
    case "invalid":
      return refuseCall(
        c,
        "bad_request",
        "The change is too large, or its Idempotency-Key was used for another.",
      );
  }
}

type Shown = { readonly path: string; readonly message: string; readonly hint: string };

function refuseCatalogue(c: Context, problems: readonly Shown[]) {
  const summary = problems.length === 1 ? "There is 1 problem" : `There are ${problems.length} problems`;
  return c.json(
    {
      ...errorBody("bad_catalogue", `${summary}. Nothing was changed.`),
      problems: problems.map(withoutEmptyHint),
    },
    statusOfRefusal("bad_catalogue"),
  );
}

function withoutEmptyHint({ path, message, hint }: Shown) {
  return { path, message, ...(hint !== "" && { hint }) };
}

async function* encoded(parts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for await (const part of parts) yield encoder.encode(part);
}
