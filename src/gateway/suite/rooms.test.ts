/** Several rooms side by side: which one an address belongs to, and that no spelling of it slips past. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { SettingsInput } from "../../config/schema.ts";
import { openOrigin, openStage } from "../../testing/gateway/stage.ts";
import { assertWaitingPage, talk } from "../../testing/gateway/visitor.ts";
import { proves } from "../../testing/requirements/proves.ts";

const ROOMS: SettingsInput["rooms"] = {
  shop: { host: "shop.example", path: "/", totalActiveUsers: 1 },
  sale: { host: "shop.example", path: "/sale", totalActiveUsers: 1 },
  drop: { path: "/drop", totalActiveUsers: 1, additionalRoutes: [{ host: "drop.example", path: "/" }] },
  wild: { host: "*.wild.example", path: "/", totalActiveUsers: 1 },
  park: { host: "park.example", path: "/in", totalActiveUsers: 1 },
};

test("a request belongs to the room of its host and its longest path, and to that one alone", async (t) => {
  const stage = await openStage(t, { settings: { rooms: ROOMS } });
  for (const [host, path, room] of [
    ["shop.example", "/", "shop"],
    ["SHOP.example:8080", "/any/where", "shop"],
    ["shop.example", "/sale", "sale"],
    ["shop.example", "/sale/shoes?size=42", "sale"],
    ["shop.example", "/sales", "shop"],
    ["elsewhere.example", "/drop/1", "drop"],
    ["drop.example", "/", "drop"],
    ["a.b.wild.example", "/", "wild"],
    ["park.example", "/in", "park"],
    ["park.example", "/", undefined],
  ] as const) {
    const before = stage.origin.seen.length;
    const pass = stage.visitor();
    await pass.open(path, { host });
    const seen = stage.origin.seen.at(-1)!;
    assert.equal(stage.origin.seen.length, before + 1);
    assert.equal(seen.headers["fairgate-room"], room, `${host}${path}`);
    if (room !== undefined) await pass.call("leave", { room });
  }
});

test(
  proves(["mt2"], "each room has a line of its own, and a pass for one is no pass for another"),
  async (t) => {
    const stage = await openStage(t, { settings: { rooms: ROOMS } });
    const at = (path: string) => [path, { host: "shop.example" }] as const;
    const visitor = stage.visitor();
    assert.equal((await visitor.open(...at("/"))).text, "the site");
    assert.equal((await visitor.open(...at("/sale"))).text, "the site");
    assert.deepEqual([...visitor.cookies.keys()].sort(), ["fairgate_sale", "fairgate_shop"]);
    const other = stage.visitor();
    assertWaitingPage(await other.open(...at("/")));
    assert.equal((await stage.engine.counts("shop")).waiting, 1);
    assert.equal((await stage.engine.counts("sale")).waiting, 0);
    other.cookies.set("fairgate_sale", visitor.token("shop")!);
    assertWaitingPage(await other.open(...at("/sale")));
    assert.deepEqual(stage.refusals(), ["wrongRoom"]);
  },
);

test("an address outside every room goes straight to the default origin and costs the engine nothing", async (t) => {
  const stage = await openStage(t, { settings: { rooms: ROOMS } });
  const visitor = stage.visitor();
  const forged = { host: "park.example", "fairgate-visitor": "x", cookie: "fairgate_shop=abc; own=1" };
  const answer = await visitor.open("/about", forged);
  assert.equal(answer.text, "the site");
  assert.equal(answer.headers["set-cookie"], undefined);
  const { headers } = stage.origin.seen[0]!;
  assert.equal(headers["fairgate-visitor"], undefined);
  assert.equal(headers.cookie, "own=1");
  assert.equal(stage.engine.asked, 0);
});

test("a room with an origin of its own is served by it", async (t) => {
  const own = await openOrigin(t, (_request, response) => response.end("the drop"));
  const rooms = {
    ...ROOMS,
    drop: { path: "/drop", totalActiveUsers: 1, origin: { addresses: [own.address] } },
  };
  const stage = await openStage(t, { settings: { rooms, otherHosts: "pass" } });
  assert.equal((await stage.visitor().open("/drop")).text, "the drop");
  assert.equal((await stage.visitor().open("/other")).text, "the site");
});

test("no spelling of a guarded path slips past the line", async (t) => {
  const stage = await openStage(t, { settings: { rooms: { main: { path: "/drop", totalActiveUsers: 1 } } } });
  await stage.visitor().open("/drop");
  const before = stage.origin.seen.length;
  for (const path of [
    "/drop/",
    "/DROP",
    "/Drop/1",
    "//drop",
    "/./drop",
    "/x/../drop",
    "/x/%2e%2e/drop",
    "/x\\..\\drop",
    "/%64rop",
    "/%64%72op/1",
    "/drop;v=1",
    "/drop%2f1",
    "/drop?x=1",
    "///x//..//drop",
  ]) {
    const head = `GET ${path} HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n\r\n`;
    assert.match(await talk(stage.port, head), /fairgate-data/, path);
  }
  const absolute = "GET http://a/drop HTTP/1.1\r\nHost: a\r\nAccept: text/html\r\nConnection: close\r\n\r\n";
  assert.match(await talk(stage.port, absolute), /fairgate-data/);
  assert.equal(stage.origin.seen.length, before);
});

test("an upgrade spelled as a whole address does not slip past either", async (t) => {
  const stage = await openStage(t, { settings: { rooms: { main: { path: "/drop", totalActiveUsers: 1 } } } });
  await stage.visitor().open("/drop");
  const before = stage.origin.seen.length;
  for (const target of ["/drop/ws", "http://a/drop/ws", "//drop"]) {
    const head = `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`;
    assert.match(await talk(stage.port, head), /^HTTP\/1\.1 429 /, target);
  }
  assert.equal(stage.origin.seen.length, before);
});
