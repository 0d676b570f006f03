/**
 * `fairgate shop …`: a running Fairgate's shops, by its control address. With one shop its name may be left out.
 *
 * Exit codes are those of the other commands (`commands.ts`); `verify` ends with 1 where the counts differ from the log.
 */

import { once } from "node:events";
import { createWriteStream, readFileSync } from "node:fs";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { stringify } from "yaml";
import { parseCatalogueFile } from "../../config/catalogue-form.ts";
import { safeText } from "../../config/problem.ts";
import { isRecord } from "../../config/salvage.ts";
import { askControl, askTagged, noFairgate, passAnswer } from "./ask-control.ts";
import { operate, type Printed, withControl } from "./commands.ts";
import type { ControlFlags, ControlPlace } from "./find-control.ts";
import { NotDone } from "./not-done.ts";
import { ordersText, shopText } from "./shop-text.ts";

const SHOWN_CHARACTERS_MAX = 300;
/** A whole recount, or an export, of a large shop. */
const LONG_MS = 600_000;
const SHOPS_NAMED_MAX = 20;

interface ShopFlags extends ControlFlags {
  readonly shop?: string;
  readonly recordShortfall?: boolean;
  readonly after?: number;
  readonly limit?: number;
  readonly format?: string;
  readonly out?: string;
  readonly refunded?: boolean;
}

/** The commands, under one that the program has made for them. */
export function shopCommands(shop: Command): Command {
  shop.description("Operate the shops of a running Fairgate.");
  withShop(shop.command("status"))
    .description("Print each shop with its people and products; or one.")
    .action((flags: ShopFlags) => operate(flags, (place) => status(place, flags)));
  withShop(shop.command("catalogue"))
    .description("Print the catalogue, as `set` takes it.")
    .action((flags: ShopFlags) => operate(flags, (place) => catalogue(place, flags)));
  withShortfall(withShop(shop.command("set")))
    .description(
      "Set the whole catalogue from a file, or nothing. Holds that are there keep their price and rules.",
    )
    .argument("<file>", "the catalogue, in YAML or JSON")
    .action((file: string, flags: ShopFlags) => operate(flags, (place) => set(place, file, flags)));
  withShortfall(withShop(shop.command("adjust")))
    .description("Change the stock of a product by a number of units, such as 50 or -5.")
    .argument("<product>", "the product's id")
    .argument("<units>", "how many more; with a minus, how many fewer", wholeNumber)
    .action((product: string, units: number, flags: ShopFlags) =>
      operate(flags, (place) => adjust(place, product, units, flags)),
    );
  withShop(shop.command("reopen"))
    .description("Sell a product again that stays sold out.")
    .argument("<product>", "the product's id")
    .action((product: string, flags: ShopFlags) => operate(flags, (place) => reopen(place, product, flags)));
  for (const [name, description] of Object.entries(DOORS))
    withShop(shop.command(name))
      .description(description)
      .action((flags: ShopFlags) => operate(flags, (place) => turn(place, name as Door, flags)));
  withShop(shop.command("orders"))
    .description("Print orders, in the order of their numbers.")
    .option("--after <number>", "only orders with a higher number", wholeNumber)
    .option("--limit <number>", "the most that are printed (default: 100)", wholeNumber)
    .action((flags: ShopFlags) => operate(flags, (place) => orders(place, flags)));
  withShop(shop.command("cancel"))
    .description("Cancel an order, or some of its tickets: their stock comes back.")
    .argument("<order>", "the order's id")
    .argument("[tickets...]", "ids of tickets; all when left out")
    .option(
      "--refunded",
      "note that they were refunded instead; the money is given back at the payment provider",
    )
    .action((order: string, tickets: string[], flags: ShopFlags) =>
      operate(flags, (place) => cancel(place, order, tickets, flags)),
    );
  withShop(shop.command("export"))
    .description("Write all orders as CSV, a row for each ticket, or as lines of JSON.")
    .option("--format <form>", "csv or json (default: csv)")
    .option("--out <file>", "write to this file instead of standard output")
    .action((flags: ShopFlags) => operate(flags, (place) => exportOrders(place, flags)));
  withShop(shop.command("verify"))
    .description("Recount the shop from its log, and compare.")
    .action((flags: ShopFlags) => operate(flags, (place) => verify(place, flags)));
  return shop;
}

type Door = "open" | "close";

const DOORS: Readonly<Record<Door, string>> = {
  close: "Let nobody take anything more; what is in baskets can still be paid for.",
  open: "Sell again.",
};

function withShop(command: Command): Command {
  return withControl(command).option("--shop <name>", "the shop; may be left out when there is one");
}

function withShortfall(command: Command): Command {
  return command.option(
    "--record-shortfall",
    "do it even if less is left than is held and sold, and record the difference",
  );
}

async function status(place: ControlPlace, { shop }: ShopFlags): Promise<Printed> {
  const shops = await askShops(place);
  const wanted = shop === undefined ? shops : shops.filter(({ name }) => name === shop);
  if (wanted.length === 0 && shop !== undefined) throw noShop(shop, shops);
  if (wanted.length === 0) return { text: "There is no shop.\n", value: { shops: [] } };
  const all = await Promise.all(
    wanted.map(async ({ name, version, figures }) => {
      const stock = listIn(
        await askControl(place, { method: "GET", path: `${pathOf(name)}/stock` }),
        "products",
      );
      return { name, version, figures, stock };
    }),
  );
  const text = all.map(({ name, version, figures, stock }) => shopText(name, figures, stock, version));
  return { text: text.join("\n"), value: { shops: all } };
}

async function catalogue(place: ControlPlace, flags: ShopFlags): Promise<Printed> {
  const name = await shopMeant(place, flags);
  const value = await askControl(place, { method: "GET", path: pathOf(name) });
  return { text: stringify(value, { lineWidth: 0 }), value };
}

async function set(place: ControlPlace, file: string, flags: ShopFlags): Promise<Printed> {
  const body = readInput(file);
  const name = await shopMeant(place, flags);
  const tag = await tagOf(place, name);
  const { value } = await askTagged(place, {
    method: "PUT",
    path: `${pathOf(name)}${flags.recordShortfall ? "?shortfall=record" : ""}`,
    headers: tag === null ? { "if-none-match": "*" } : { "if-match": tag },
    body,
  });
  const { version, cautions } = value as { version?: unknown; cautions?: unknown };
  const told = (Array.isArray(cautions) ? cautions : []).filter(isRecord).map(({ message, hint }) => {
    return `  ${safeText([message, hint].filter(Boolean).join(". "), SHOWN_CHARACTERS_MAX)}\n`;
  });
  return { text: `${name} has catalogue ${String(version)} now.\n${told.join("")}`, value };
}

async function adjust(
  place: ControlPlace,
  product: string,
  delta: number,
  flags: ShopFlags,
): Promise<Printed> {
  const name = await shopMeant(place, flags);
  const value = await askControl(place, {
    method: "POST",
    path: `${productPath(name, product)}/adjust`,
    body: { delta, shortfall: flags.recordShortfall ? "record" : "refuse" },
  });
  const { stock } = value as { stock?: unknown };
  return { text: `${shown(product)} has a stock of ${String(stock)} now.\n`, value };
}

async function reopen(place: ControlPlace, product: string, flags: ShopFlags): Promise<Printed> {
  const name = await shopMeant(place, flags);
  const value = await askControl(place, { method: "POST", path: `${productPath(name, product)}/reopen` });
  return { text: `${shown(product)} is sold again.\n`, value };
}

async function turn(place: ControlPlace, door: Door, flags: ShopFlags): Promise<Printed> {
  const name = await shopMeant(place, flags);
  const value = await askControl(place, { method: "POST", path: `${pathOf(name)}/${door}` });
  const is = door === "close" ? "is closed: nobody takes anything more" : "sells again";
  return { text: `${name} ${is}.\n`, value };
}

async function orders(place: ControlPlace, flags: ShopFlags): Promise<Printed> {
  const name = await shopMeant(place, flags);
  const query = new URLSearchParams();
  if (flags.after !== undefined) query.set("after", String(flags.after));
  if (flags.limit !== undefined) query.set("limit", String(flags.limit));
  const value = await askControl(place, { method: "GET", path: `${pathOf(name)}/orders?${query}` });
  return { text: ordersText(listIn(value, "orders")), value };
}

async function cancel(
  place: ControlPlace,
  order: string,
  tickets: readonly string[],
  flags: ShopFlags,
): Promise<Printed> {
  const name = await shopMeant(place, flags);
  const kind = flags.refunded ? "refunded" : "cancelled";
  const value = await askControl(place, {
    method: "POST",
    path: `${pathOf(name)}/orders/${encodeURIComponent(order)}/cancel`,
    body: { tickets: tickets.length === 0 ? null : tickets, kind },
  });
  const { length } = listIn(value, "changed");
  const text = length === 0 ? "Nothing was left to give back.\n" : `${length} given back (${kind}).\n`;
  return { text, value };
}

async function exportOrders(place: ControlPlace, flags: ShopFlags): Promise<Printed | null> {
  const { format = "csv", out } = flags;
  if (format !== "csv" && format !== "json") throw new NotDone("The format is csv or json.", 2);
  const name = await shopMeant(place, flags);
  const file = out === undefined ? null : createWriteStream(out);
  const sink = file ?? process.stdout;
  await passAnswer(
    place,
    { method: "GET", path: `${pathOf(name)}/export?format=${format}`, answerMaxMs: LONG_MS },
    async (chunk) => {
      if (!sink.write(chunk)) await once(sink, "drain");
    },
  );
  if (file === null) return null;
  file.end();
  await once(file, "close");
  return { text: `The orders are in ${shown(out!)}.\n`, value: { ok: true, file: out } };
}

async function verify(place: ControlPlace, flags: ShopFlags): Promise<Printed> {
  const name = await shopMeant(place, flags);
  const value = await askControl(place, {
    method: "POST",
    path: `${pathOf(name)}/verify`,
    answerMaxMs: LONG_MS,
  });
  const { isClean, difference, products, entries } = value as Record<string, unknown>;
  if (isClean === true)
    return {
      text: `All is right: ${String(products)} products, recounted from ${String(entries)} entries.\n`,
      value,
    };
  return { text: `NOT RIGHT: ${safeText(String(difference), SHOWN_CHARACTERS_MAX)}\n`, value, exitCode: 1 };
}

/** The version of a shop's catalogue; null where it has none. */
async function tagOf(place: ControlPlace, name: string): Promise<string | null> {
  try {
    return (await askTagged(place, { method: "GET", path: pathOf(name) })).tag;
  } catch (cause) {
    if (cause instanceof NotDone && cause.code === "no_catalogue") return null;
    throw cause;
  }
}

/** What a file holds, as it is sent. Whether it is a catalogue is for the other side to say. */
function readInput(file: string): object {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new NotDone(`${shown(file)} cannot be read: ${(cause as Error).message}.`, 2);
  }
  const parsed = parseCatalogueFile(text, file);
  if (parsed.ok) return parsed.input;
  const lines = parsed.problems.map(({ message, hint }) =>
    safeText([message, hint].filter(Boolean).join(". "), SHOWN_CHARACTERS_MAX),
  );
  throw new NotDone(lines.join("\n"), 2);
}

interface ListedShop {
  readonly name: string;
  readonly version: number;
  readonly figures: unknown;
}

async function askShops(place: ControlPlace): Promise<ListedShop[]> {
  const shops = listIn(await askControl(place, { method: "GET", path: "/shops" }), "shops", place);
  return shops.filter(isRecord).map(({ name, version, figures }) => {
    if (typeof name !== "string" || typeof version !== "number")
      throw new NotDone(noFairgate(place.at, "it says something else"), 1);
    return { name: safeText(name, SHOWN_CHARACTERS_MAX), version, figures };
  });
}

/** The shop that is named, or the only one. */
async function shopMeant(place: ControlPlace, { shop }: ShopFlags): Promise<string> {
  if (shop !== undefined) return shop;
  const shops = await askShops(place);
  const [first] = shops;
  if (first && shops.length === 1) return first.name;
  if (!first) throw new NotDone("This Fairgate has no shop: write one under shops in its settings.", 2);
  throw new NotDone(`There are ${shops.length} shops: ${namesOf(shops)}. Name one with --shop.`, 2);
}

function noShop(name: string, shops: readonly ListedShop[]): NotDone {
  return new NotDone(`There is no shop ${shown(name)}. There are: ${namesOf(shops)}.`, 2);
}

function namesOf(shops: readonly ListedShop[]): string {
  return shops
    .slice(0, SHOPS_NAMED_MAX)
    .map(({ name }) => name)
    .join(", ");
}

function listIn(value: unknown, key: string, place?: ControlPlace): unknown[] {
  const list = isRecord(value) ? value[key] : undefined;
  if (Array.isArray(list)) return list;
  throw new NotDone(noFairgate(place?.at ?? "the control address", "it says something else"), 1);
}

function pathOf(shop: string): string {
  return `/shops/${encodeURIComponent(shop)}`;
}

function productPath(shop: string, product: string): string {
  return `${pathOf(shop)}/products/${encodeURIComponent(product)}`;
}

function shown(text: string): string {
  return `"${safeText(text, SHOWN_CHARACTERS_MAX)}"`;
}

function wholeNumber(written: string): number {
  if (!/^[+-]?\d{1,10}$/.test(written)) throw new InvalidArgumentError("It should be a whole number.");
  return Number(written);
}
