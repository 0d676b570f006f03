import assert from "node:assert/strict";
import { test } from "node:test";
import type { RoomInput } from "../config/schema.ts";
import { checkRecord, readRecord } from "../core/draw-record.ts";
import { read, type Scene, scene } from "../testing/office/scene.ts";
import { STRICT_HEADERS } from "./guard.ts";

/** The scene begins at ten on the first of June. */
const SALE = {
  name: "sale",
  prequeueStartTime: "2026-06-01T10:00:00Z",
  eventStartTime: "2026-06-01T10:10:00Z",
  eventEndTime: "2026-06-01T11:00:00Z",
  shuffleAtEventStart: true,
};
const PLAIN = {
  name: "plain",
  eventStartTime: "2026-06-02T10:00:00Z",
  eventEndTime: "2026-06-02T11:00:00Z",
};
const OFF = { ...SALE, name: "off", suspended: true };

function drawScene(events: RoomInput["events"] = [SALE, PLAIN, OFF]): Promise<Scene> {
  return scene({ rooms: { main: { totalActiveUsers: 1, events } } });
}

async function recordOf({ ask }: Scene) {
  const response = await ask("/rooms/main/draws/sale");
  assert.equal(response.status, 200);
  const text = await response.text();
  const found = readRecord(text);
  assert.ok("value" in found, "wrong" in found ? found.wrong : "");
  return { text, response, ...found.value };
}

test("before the draw the record has the hash and how many gathered, and no seed", async () => {
  const on = await drawScene();
  for (let i = 0; i < 3; i++) assert.equal((await on.engine.join("main")).kind, "waiting");
  const { text, room, record } = await recordOf(on);
  assert.deepEqual([room, record.event, record.size, record.drawnAt], ["main", "sale", 3, null]);
  assert.equal(record.seedHash, on.engine.draw("main", "sale")!.seedHash);
  assert.equal(record.seed, null);
  assert.doesNotMatch(text, /^seed:/m);
  assert.equal(checkRecord(record)?.kind, "notDrawn");
});

test("after the draw the record has everything to check it by", async () => {
  const on = await drawScene();
  const ids: string[] = [];
  // More than are written at once.
  for (let i = 0; i < 5_000; i++) {
    const answer = await on.engine.join("main");
    assert.ok(answer.kind === "waiting");
    ids.push(answer.ticket.id);
  }
  on.world.pass(600_000 + 1_000);
  const { text, record } = await recordOf(on);
  assert.equal(checkRecord(record), null);
  assert.equal(record.size, ids.length);
  const drawn = text.split("\n\n")[1]!.trimEnd().split("\n");
  assert.deepEqual(drawn.toSorted(), ids.toSorted());
  assert.notDeepEqual(drawn, ids);
});

test("a browser saves the record under a name of its own, and keeps it nowhere else", async () => {
  const { response } = await recordOf(await drawScene());
  assert.equal(response.headers.get("content-disposition"), 'attachment; filename="draw-main-sale.txt"');
  assert.equal(response.headers.get("content-type"), "text/plain; charset=utf-8");
  for (const [name, value] of Object.entries(STRICT_HEADERS)) assert.equal(response.headers.get(name), value);
});

test("the record needs the token", async () => {
  const response = await (await drawScene()).ask("/rooms/main/draws/sale", {
    headers: { authorization: "" },
  });
  assert.equal(response.status, 401);
});

test("where there is no draw the reason is told", async () => {
  const { ask } = await drawScene();
  const reasonFor = async (path: string) => {
    const response = await ask(path);
    assert.equal(response.status, 404, path);
    const { code, message } = (await read(response)).error;
    return `${code}: ${message}`;
  };
  assert.match(await reasonFor("/rooms/other/draws/sale"), /^no_such_room/);
  assert.equal(
    await reasonFor("/rooms/main/draws/gala"),
    "no_such_event: There is no such event. There are: sale, plain, off.",
  );
  assert.match(await reasonFor("/rooms/main/draws/plain"), /^no_draw: .*shuffleAtEventStart is not set/);
  assert.match(await reasonFor("/rooms/main/draws/off"), /^no_draw: .*suspended/);
  for (const name of ["constructor", "__proto__", "..%2f", "%00", "%0d%0aX: y", "x".repeat(5_000)])
    assert.match(await reasonFor(`/rooms/main/draws/${name}`), /^no_such_event/, name);
  const none = await (await drawScene([])).ask("/rooms/main/draws/sale");
  assert.match((await read(none)).error.message, /The room has none\./);
});

test("while the engine is away the record is 503", async () => {
  const on = await drawScene();
  on.engine.draw = () => {
    throw new Error("away");
  };
  assert.equal((await on.ask("/rooms/main/draws/sale")).status, 503);
  on.engine.draw = () => null;
  assert.equal((await read(await on.ask("/rooms/main/draws/sale"))).error.code, "no_draw");
});
