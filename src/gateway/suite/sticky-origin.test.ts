/** With a sticky origin, what a visitor asks for goes to one address: by their pass, or by their own address without. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openOrigin, openStage } from "../../testing/gateway/stage.ts";

test("a visitor's first page, later ones, and upgrades go to the same address", async (t) => {
  const origins = [await openOrigin(t), await openOrigin(t)];
  const upgrades: unknown[] = [];
  for (const [n, { server }] of origins.entries())
    server.on("upgrade", (request, socket) => {
      upgrades.push([request.headers["fairgate-visitor"], n]);
      socket.end("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
    });
  const stage = await openStage(t, {
    settings: { origin: { addresses: origins.map(({ address }) => address), sticky: "visitor" } },
    room: { totalActiveUsers: 100, path: "/shop" },
    origin: origins[0]!,
  });
  for (let n = 0; n < 24; n++) {
    const visitor = stage.visitor();
    for (let pages = 0; pages < 3; pages++) await visitor.open("/shop");
    await visitor.ask("/shop", { headers: { connection: "upgrade", upgrade: "echo" } });
  }
  const homes = origins.map(({ seen }) => new Set(seen.map(({ headers }) => headers["fairgate-visitor"])));
  assert.ok(homes.every(({ size }) => size > 0));
  assert.equal(homes[0]!.size + homes[1]!.size, 24);
  assert.equal(upgrades.length, 24);
  for (const [visitor, n] of upgrades as [string, number][]) assert.ok(homes[n]!.has(visitor));
});

test("without a pass it goes by the visitor's own address", async (t) => {
  const origins = [await openOrigin(t), await openOrigin(t)];
  const stage = await openStage(t, {
    settings: { origin: { addresses: origins.map(({ address }) => address), sticky: "visitor" } },
    room: { path: "/shop" },
    origin: origins[0]!,
  });
  for (let n = 0; n < 8; n++) await stage.visitor().open("/outside");
  assert.deepEqual(origins.map(({ seen }) => seen.length).sort(), [0, 8]);
});
