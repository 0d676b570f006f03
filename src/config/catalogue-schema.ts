/**
 * The catalogue of a shop as an organiser writes it, in a file or at the control address: durations as `10m`, instants as
 * `2026-12-01T10:00:00Z`, percentages as `5%`. From this schema come the checks, the words of the messages and the description in
 * the OpenAPI document. What the values mean for each other is checked by the shop itself (`src/shop/rules`), which also has the
 * defaults.
 */
import { z } from "zod";
import { choice, count, duration, instant, isTrue, listOf, readable, text } from "./kinds.ts";
import type { Read } from "./route.ts";

/** As the rules of the shop have it. */
const STOCK_MAX = 1_000_000_000;
const PRICE_MAX = 10_000_000_000;
const UNITS_MAX = 1_000_000;
const ITEMS_MAX = 1_000_000;
const ATTEMPTS_MAX = 100;
const ROOMS_MAX = 1_000;
const TEXT_MAX = 200;
const OVERSELL_MIN = -10_000;
const OVERSELL_MAX = 1_000_000;

const units = (description: string) =>
  z
    .record(z.string(), count({ min: 1, max: UNITS_MAX }))
    .optional()
    .describe(description);
const window = (description: string) => duration({ min: "1s", max: "366d" }).optional().describe(description);
const stock = () =>
  count({ min: 0, max: STOCK_MAX })
    .nullable()
    .describe(
      "Units to sell when the shop begins; null: without end. Later it is changed by `fairgate shop adjust`.",
    );
const oversell = () =>
  readable(readOversell, {
    kind: "percent",
    max: 20,
    shape: "a percentage such as 5% or -2.5%, from -100% to 10000%",
  })
    .optional()
    .describe("More is sold than the stock, by this much of it; or less, where it is negative. Default: 0%.");
const countedBy = () =>
  choice(["sold", "pending", "reserved"])
    .optional()
    .describe(
      "Which units count against the stock: only those `sold`, also those in finished baskets (`pending`), or all in baskets (`reserved`). Default: reserved.",
    );
const holdBacks = () =>
  z
    .record(z.string(), count({ min: 0, max: STOCK_MAX }))
    .optional()
    .describe("Units kept for visitors of a lane, by lane. Default: none.");

const choiceSetSchema = z.strictObject({
  from: z
    .record(z.string(), count({ min: 1, max: UNITS_MAX }))
    .describe("Products to choose from, each with the most of it."),
  min: count({ min: 0, max: UNITS_MAX })
    .optional()
    .describe("At least this many, for each unit. Default: 0."),
  max: count({ min: 1, max: UNITS_MAX * ROOMS_MAX })
    .optional()
    .describe("At most this many, for each unit. Default: all that can be chosen."),
});

const productSchema = z.strictObject({
  name: text({ max: TEXT_MAX }).min(1).optional().describe("What visitors read. Default: its id."),
  price: count({ min: 0, max: PRICE_MAX })
    .optional()
    .describe(
      "In minor units of the currency, such as cents. Required parts are in it; options and choices add theirs. Default: 0.",
    ),
  stock: stock(),
  forSale: isTrue()
    .optional()
    .describe(
      "false: it is not sold by itself, only as a part, an option or a choice of others. Default: true.",
    ),
  rooms: listOf(text({ max: TEXT_MAX }), { min: 1, max: ROOMS_MAX, of: "names of rooms" })
    .nullable()
    .optional()
    .describe(
      "Rooms in which it is offered, of those that also offer all its parts. Default, and null: every room of the shop.",
    ),
  parts: units("Products that come with each unit, with how many of them. Default: none."),
  options: units("Products that may be added to a unit, with the most of each. Default: none."),
  choices: z
    .record(z.string(), choiceSetSchema)
    .optional()
    .describe("Sets from which something is chosen for each unit, by name. Default: none."),
  limitPerCustomer: count({ min: 1, max: ITEMS_MAX })
    .nullable()
    .optional()
    .describe("The most units of one customer. Default, and null: no limit."),
  saleStart: instant()
    .nullable()
    .optional()
    .describe("Not sold before. Default, and null: from the beginning."),
  saleEnd: instant().nullable().optional().describe("Not sold from then on. Default, and null: no end."),
  hiddenBefore: isTrue().optional().describe("true: not shown before `saleStart`. Default: false."),
  countedBy: countedBy(),
  oversell: oversell(),
  staysSoldOut: isTrue()
    .optional()
    .describe(
      "true: once it was shown as sold out it stays so, until `fairgate shop reopen`. Default: false.",
    ),
  holdBacks: holdBacks(),
  tieBreak: choice(["first", "random", "earliestAdmitted", "latestAdmitted", "highestBasket"])
    .optional()
    .describe("Who gets the last units when more are asked for at once than are left. Default: first."),
  tieWindow: duration({ min: "0ms", max: "10s" })
    .optional()
    .describe(
      "How long such requests are gathered before they are decided. Default: 50ms; 0ms with `first`.",
    ),
});

const poolSchema = z.strictObject({
  stock: stock(),
  products: z
    .record(z.string(), count({ min: 1, max: UNITS_MAX }))
    .describe("Products that draw on the pool, with what one unit of each takes of it."),
  countedBy: countedBy(),
  oversell: oversell(),
  holdBacks: holdBacks(),
});

const policiesSchema = z.strictObject({
  opensAt: instant().nullable().optional().describe("Nothing is sold before. Default, and null: it is open."),
  closed: isTrue().optional().describe("true: nobody takes anything more. Default: false."),
  itemsMax: count({ min: 1, max: ITEMS_MAX })
    .nullable()
    .optional()
    .describe("The most items of one customer, over all products. Default, and null: no limit."),
  burst: z
    .strictObject({
      items: count({ min: 1, max: ITEMS_MAX }).describe("At most this many."),
      every: duration({ min: "1s", max: "366d" }).describe("In any window of this length."),
    })
    .meta({ shape: "a mapping such as {items: 4, every: 10s}" })
    .nullable()
    .optional()
    .describe(
      "How fast a customer may add items; what is put back gives nothing back. Default, and null: no limit.",
    ),
  limitCounts: choice(["tickets", "everything"])
    .optional()
    .describe(
      "What limits count: products `tickets` are sold by, or their parts and options too (`everything`). Default: tickets.",
    ),
  shoppingWindow: window("From a visitor's admission to the end of their shopping. Default: 15m."),
  doneWindow: window("How long a finished basket waits for the payment room. Default: 30m."),
  payingWindow: window("How long a visitor has to pay, once they may. Default: 15m."),
  offerWindow: duration({ min: "1s", max: "366d" })
    .nullable()
    .optional()
    .describe(
      "How long someone on the waiting list has to take what they are offered. Default, and null: there is no waiting list.",
    ),
  payment: z
    .strictObject({
      room: text({ max: TEXT_MAX, shape: "the name of a room" })
        .nullable()
        .optional()
        .describe(
          "The room in front of payment: only visitors with its pass may pay. Default, and null: there is no second line.",
        ),
      attemptsMax: count({ min: 1, max: ATTEMPTS_MAX })
        .optional()
        .describe("The most attempts to pay for one basket. Default: 3."),
      lateSuccess: choice(["retake", "refund"])
        .optional()
        .describe(
          "A payment that succeeds after the basket has ended: everything is taken again if it can be (`retake`), or refunded. Default: retake.",
        ),
    })
    .optional()
    .describe("How is paid."),
});

export const catalogueSchema = z.strictObject({
  currency: text({ max: 3, shape: "a code of ISO 4217 such as EUR" }).describe("Of all prices."),
  products: z
    .record(z.string(), productSchema)
    .describe("What is sold, by id: letters, digits, hyphens and underscores."),
  pools: z
    .record(z.string(), poolSchema)
    .optional()
    .describe("Stock that several products share, by name. Default: none."),
  policies: policiesSchema.optional().describe("What holds for the whole shop."),
});

export type CatalogueInput = z.input<typeof catalogueSchema>;
export type CatalogueAsRead = z.output<typeof catalogueSchema>;

/** Hundredths of a percent. */
function readOversell(written: string): Read<number> {
  const match = /^(-?\d{1,5}(?:\.\d{1,2})?)\s?%$/.exec(written.trim());
  if (!match) return { wrong: "is not a percentage" };
  const hundredths = Math.round(Number(match[1]) * 100);
  if (hundredths < OVERSELL_MIN) return { wrong: "is too small" };
  return hundredths > OVERSELL_MAX ? { wrong: "is too large" } : { value: hundredths };
}
