/**
 * Orders as text, for spreadsheets and for programs, made part by part so that any number of them takes little memory.
 *
 * CSV is that of RFC 4180, in UTF-8: one row for each ticket, with what its order has repeated. A text that a spreadsheet would take
 * for a formula gets an apostrophe in front: names of customers and products come from others. JSON lines are the orders as they
 * are, one in each line.
 */
import type { ShopOrder, SoldTicket } from "../rules/commands.ts";

/** A part is sent when it has so many characters; what one order adds comes on top. */
const PART_CHARACTERS = 16_384;
const LINE_END = "\r\n";
/** How spreadsheets begin formulas and commands (OWASP, CSV injection), also in full width. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;
const NEEDS_QUOTES = /[",\r\n]/;

type Cell = string | number;
type Orders = AsyncIterable<ShopOrder> | Iterable<ShopOrder>;

/** The columns, in order. Amounts are in minor units, times are UTC. */
const COLUMNS: Readonly<Record<string, (order: ShopOrder, ticket: SoldTicket) => Cell>> = {
  order: ({ number }) => number,
  orderId: ({ id }) => id,
  at: ({ at }) => new Date(at).toISOString(),
  room: ({ room }) => room,
  lane: ({ lane }) => lane,
  customer: ({ customer }) => customer,
  visitor: ({ visitor }) => visitor,
  attempt: ({ attempt }) => attempt,
  orderTotal: ({ total }) => total,
  currency: ({ currency }) => currency,
  ticket: (_order, { id }) => id,
  product: (_order, { product }) => product,
  price: (_order, { lines }) => lines.reduce((sum, { price }) => sum + price, 0),
  state: (_order, { state }) => state,
  secret: (_order, { secret }) => secret,
  contents: (_order, { lines }) => lines.map(({ product, units }) => `${units} × ${product}`).join("; "),
};

/** A row for each ticket, after a row with the columns' names. */
export function ordersAsCsv(orders: Orders): AsyncGenerator<string, void> {
  return inParts(rowsOf(orders));
}

export function ordersAsJsonLines(orders: Orders): AsyncGenerator<string, void> {
  return inParts(linesOf(orders));
}

async function* rowsOf(orders: Orders): AsyncGenerator<string, void> {
  yield row(Object.keys(COLUMNS));
  const columns = Object.values(COLUMNS);
  for await (const order of orders)
    for (const ticket of order.tickets) yield row(columns.map((column) => column(order, ticket)));
}

async function* linesOf(orders: Orders): AsyncGenerator<string, void> {
  for await (const order of orders) yield `${JSON.stringify(order)}\n`;
}

async function* inParts(texts: AsyncIterable<string>): AsyncGenerator<string, void> {
  let part = "";
  for await (const text of texts) {
    part += text;
    if (part.length < PART_CHARACTERS) continue;
    yield part;
    part = "";
  }
  if (part !== "") yield part;
}

function row(cells: readonly Cell[]): string {
  return cells.map(cellText).join(",") + LINE_END;
}

function cellText(cell: Cell): string {
  if (typeof cell === "number") return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
