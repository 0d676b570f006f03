/**
 * The shapes of shops at the control address. The catalogue's shape comes from its schema; it is only documented here, and checked
 * by the shop. Amounts are minor units, instants in orders milliseconds since 1970.
 */
import { z } from "@hono/zod-openapi";
import { catalogueSchema } from "../config/catalogue-schema.ts";
import { documented } from "./documented.ts";
import { problemsSchema } from "./refusal.ts";

const DELTA_MAX = 1_000_000_000;

const count = (description: string) => z.int().min(0).openapi({ description });
const text = (description: string) => z.string().openapi({ description });

export const catalogueShape = z
  .unknown()
  .openapi("Catalogue", documented(catalogueSchema, { hasDefaults: false }));

const unitCounts = z
  .object({
    reserved: count("In baskets that are being filled."),
    pending: count("In finished baskets."),
    sold: count("Paid for."),
  })
  .openapi("UnitCounts");

export const stockSchema = z
  .object({
    stock: count("Units in all, with every change so far. null: without end.").nullable(),
    counts: unitCounts,
    shortfall: count("Units promised beyond the stock, recorded by the organiser."),
    staysSoldOutIn: z.array(z.string()).readonly().openapi({
      description:
        "Lanes in which it stays sold out until it is reopened; an empty name stands for the rest.",
    }),
  })
  .openapi("Stock");

export const productStockSchema = stockSchema
  .extend({
    id: z.string(),
    name: z.string(),
    isForSale: z.boolean().openapi({ description: "false: only a part, an option or a choice of others." }),
    isPool: z.boolean(),
    available: count(
      "How many more of it visitors could have. null: without end, or they are not shown it.",
    ).nullable(),
    state: z
      .enum(["available", "inBaskets", "inPayment", "soldOut"])
      .nullable()
      .openapi({ description: "What visitors are shown. null: they are not." }),
  })
  .openapi("ProductStock");

const roomFigures = z
  .object({
    customers: z
      .object({
        browsing: count("Filling a basket."),
        done: count("Waiting to pay."),
        paying: count("Paying."),
      })
      .openapi({ description: "People with a basket, by phase." }),
    tickets: unitCounts.openapi({ description: "Holds, by where their units are." }),
    arrived: count("Baskets begun."),
    departed: count("Baskets that have ended."),
    bought: count("Of those, with an order."),
  })
  .openapi("RoomFigures");

export const figuresSchema = z
  .object({
    total: roomFigures,
    rooms: z.record(z.string(), roomFigures).readonly(),
    waiting: count("People on waiting lists."),
    isClosed: z.boolean().openapi({ description: "true: nobody takes anything more." }),
  })
  .openapi("ShopFigures");

export const listedShopSchema = z
  .object({
    name: z.string(),
    version: count("Of the catalogue; 0: there is none yet."),
    rooms: z.array(z.string()).openapi({ description: "Rooms that sell from it." }),
    figures: figuresSchema,
  })
  .openapi("ListedShop");

const ticketSchema = z
  .object({
    id: z.string(),
    product: z.string(),
    secret: text("What opens the door on the day."),
    lines: z
      .array(z.object({ product: z.string(), units: count("How many."), price: count("For all of them.") }))
      .readonly(),
    state: z.enum(["sold", "cancelled", "refunded"]),
  })
  .openapi("SoldTicket");

export const orderSchema = z
  .object({
    id: z.string(),
    number: count("1 for the shop's first order, and one more for each."),
    visitor: text("The id of the visit."),
    customer: text("The claim in the customer's JWT, or `visit:` and the id of the visit."),
    room: z.string(),
    lane: z.string(),
    at: count("When it was paid for, in milliseconds since 1970."),
    total: count("In minor units."),
    currency: z.string(),
    attempt: text("The attempt to pay that succeeded."),
    tickets: z.array(ticketSchema).readonly(),
  })
  .openapi("Order");

const shortfall = z.enum(["refuse", "record"]).default("refuse").openapi({
  description:
    "What happens when less is left than is held and sold: it is refused, or done and recorded as a shortfall.",
});

export const shortfallQuery = z.object({ shortfall: shortfall.optional() });

export const adjustSchema = z
  .strictObject({
    delta: z
      .int()
      .min(-DELTA_MAX)
      .max(DELTA_MAX)
      .openapi({ description: "By how many units the stock changes; negative: it becomes less." }),
    shortfall,
  })
  .openapi("StockChange");

export const cancelSchema = z
  .strictObject({
    tickets: z
      .array(z.string())
      .nullable()
      .default(null)
      .openapi({ description: "Ids of tickets. null: all of the order." }),
    kind: z
      .enum(["cancelled", "refunded"])
      .default("cancelled")
      .openapi({ description: "What they are from then on. Money is given back at the payment provider." }),
  })
  .openapi("OrderChange");

export const verifiedSchema = z
  .object({
    isClean: z.boolean(),
    difference: z
      .string()
      .nullable()
      .openapi({ description: "The first difference between the counts and the log, in words." }),
    products: count("Products that were recounted.").nullable(),
    entries: count("Entries of the log that were read.").nullable(),
  })
  .openapi("Verified");

export const setCatalogueSchema = z
  .object({
    version: count("Of the catalogue as it is now."),
    cautions: problemsSchema.shape.problems.openapi({ description: "What is allowed, but seldom meant." }),
  })
  .openapi("SetCatalogue");
