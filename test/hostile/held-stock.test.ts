/** Someone who takes all they may, leaves the room and comes anew as somebody else, again and again, holds nothing by that. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessShopper } from "../../src/testing/shop/process-shopper.ts";

const SEATS = 20;
const EACH = 4;

interface Stock {
  readonly counts: { readonly reserved: number; readonly pending: number };
}

test("what was taken and not finished goes back when its visitor leaves the room, or is sent away", async () => {
  await using origin = await TestOrigin.open();
  using folder = ownFolder({
    "catalogue.yaml": `currency: EUR\nproducts:\n  seat: {price: 4500, stock: ${SEATS}, limitPerCustomer: ${EACH}}\n`,
    "fairgate.yaml": JSON.stringify({
      data: "./kept",
      origin: { addresses: [origin.address] },
      shops: { tickets: { catalogueFile: "catalogue.yaml" } },
      rooms: { main: { totalActiveUsers: 2, shop: "tickets" } },
    }),
  });
  await using run = await startRun([], { cwd: folder.path });
  const take = async () => {
    const visitor = new ProcessShopper(run.address);
    await eventually("they are in", () => visitor.isIn());
    const { status } = await visitor.shop("POST holds", { product: "seat", count: EACH });
    assert.equal(status, 201);
    return visitor;
  };
  const counts = async () => {
    const { body } = await run.control.ask<{ products: Stock[] }>("GET", "/shops/tickets/stock");
    return body.products[0]!.counts;
  };
  for (let visit = 0; visit < (2 * SEATS) / EACH; visit++) await (await take()).leave();
  await eventually("all is there again", async () => (await counts()).reserved === 0);

  const finished = await take();
  assert.equal((await finished.shop("POST finish")).status, 200);
  await finished.leave();
  const sentAway = await take();
  const { text } = await sentAway.ask("/", { headers: { accept: "application/json" } });
  assert.ok(text);
  const id = String(origin.arrived.at(-1)?.headers["fairgate-visitor"]);
  assert.equal((await run.control.ask("DELETE", `/rooms/main/sessions/${id}`)).status, 204);
  await eventually("what was finished stays", async () => {
    const { reserved, pending } = await counts();
    return reserved === 0 && pending === EACH;
  });
  assert.equal((await finished.shop("POST pay")).status, 200, "and can be paid for");
});
