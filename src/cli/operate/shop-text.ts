/** What `fairgate shop` prints: a shop with its products as a table, and its orders. Pure; what comes in is read with care. */
import { isRecord } from "../../config/salvage.ts";
import { countText } from "../../sim/what-if/words.ts";
import { fitted } from "./columns.ts";

const NAME_CHARACTERS_MAX = 60;
const PRODUCTS_SHOWN_MAX = 500;
const NAME_COLUMNS = 24;
const NUMBER_COLUMNS = 10;

type Fields = Readonly<Record<string, unknown>>;

/** A shop: its state, people and products. */
export function shopText(name: string, figures: unknown, stock: readonly unknown[], version: number): string {
  const all = isRecord(figures) ? figures : {};
  const total = fieldsIn(all, "total");
  const customers = fieldsIn(total, "customers");
  const tickets = fieldsIn(total, "tickets");
  const is = version === 0 ? "has no catalogue yet" : all.isClosed === true ? "is closed" : "sells";
  const lines = [
    `shop ${printable(name)} ${is}${version === 0 ? "" : `, catalogue ${version}`}`,
    `  people     ${count(customers.browsing)} choose, ${count(customers.done)} wait to pay, ${count(customers.paying)} pay, ${count(all.waiting)} on waiting lists`,
    `  tickets    ${count(tickets.reserved)} in baskets, ${count(tickets.pending)} in finished ones, ${count(tickets.sold)} sold`,
    `  so far     ${count(total.arrived)} came, ${count(total.departed)} left, ${count(total.bought)} of them with an order`,
  ];
  return `${[...lines, ...productLines(stock)].join("\n")}\n`;
}

function productLines(stock: readonly unknown[]): string[] {
  const products = stock.filter(isRecord);
  if (products.length === 0) return [];
  const rows = products.slice(0, PRODUCTS_SHOWN_MAX).map(productRow);
  const more = products.length - rows.length;
  const head = cells(["product", "stock", "left", "reserved", "pending", "sold", ""]);
  return ["", head, ...rows, ...(more > 0 ? [`and ${countText(more)} more`] : [])];
}

function productRow(product: Fields): string {
  const counts = fieldsIn(product, "counts");
  const numbers = [product.stock, product.available, counts.reserved, counts.pending, counts.sold].map(count);
  const shortfall = typeof product.shortfall === "number" ? product.shortfall : 0;
  const notes = [
    product.isPool === true ? "a pool" : product.isForSale === false ? "a part" : "",
    product.state === "soldOut" ? "sold out" : "",
    shortfall > 0 ? `${countText(shortfall)} too many promised` : "",
  ];
  return cells([printable(product.id), ...numbers, notes.filter(Boolean).join(", ")]);
}

/** A line for each order. */
export function ordersText(orders: readonly unknown[]): string {
  if (orders.length === 0) return "No orders.\n";
  return orders.filter(isRecord).map(orderLine).join("");
}

function orderLine({ number, id, at, total, currency, tickets, customer }: Fields): string {
  const list = Array.isArray(tickets) ? tickets.filter(isRecord) : [];
  const sold = list.filter(({ state }) => state === "sold").length;
  const others = list.length - sold;
  const when = typeof at === "number" ? new Date(at).toISOString().slice(0, 19).replace("T", " ") : "?";
  const what = `${countText(sold)} ticket${sold === 1 ? "" : "s"}${others > 0 ? `, ${countText(others)} given back` : ""}`;
  return `${fitted(String(number), 7, "right")}  ${when}  ${printable(id)}  ${amount(total)} ${printable(currency)}  ${what}  ${printable(customer)}\n`;
}

function cells([name, ...rest]: readonly string[]): string {
  const notes = rest.at(-1)!;
  const numbers = rest.slice(0, -1).map((text) => fitted(text, NUMBER_COLUMNS, "right"));
  return `${fitted(name!, NAME_COLUMNS)}${numbers.join("")}${notes === "" ? "" : `  ${notes}`}`;
}

/** Minor units with two digits, as most currencies have them. */
function amount(value: unknown): string {
  return typeof value === "number" ? (value / 100).toFixed(2) : "?";
}

function count(value: unknown): string {
  return typeof value === "number" ? countText(value) : value === null ? "∞" : "?";
}

/** Without what moves a cursor. Ids look like secrets and are none, so they are shown. */
function printable(value: unknown): string {
  return String(value)
    .slice(0, NAME_CHARACTERS_MAX)
    .replace(/[\p{Cc}\p{Cf}]/gu, " ");
}

function fieldsIn(value: Fields, key: string): Fields {
  const inner = value[key];
  return isRecord(inner) ? inner : {};
}
