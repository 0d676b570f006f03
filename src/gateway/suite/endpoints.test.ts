/** The addresses under /.fairgate/<room>/: what each answers, and what it costs the engine. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStage, type Stage } from "../../testing/gateway/stage.ts";
import type { Visitor } from "../../testing/gateway/visitor.ts";

/** A visitor with a place in a full room. */
async function waitingVisitor(stage: Stage): Promise<Visitor> {
  const visitor = stage.visitor();
  const told = await visitor.call("join");
  assert.equal(told.status, "waiting");
  return visitor;
}

test("the board is the same bytes for everyone and may be cached for a second", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const waiting = await waitingVisitor(stage);
  stage.world.pass(1_000);
  const path = "/.fairgate/main/board";
  const [mine, theirs] = [await waiting.ask(path), await stage.visitor().ask(path)];
  assert.equal(mine.status, 200);
  assert.equal(mine.text, theirs.text);
  assert.equal(mine.headers["cache-control"], "public, max-age=1");
  assert.equal(mine.headers["set-cookie"], undefined);
  const board = JSON.parse(mine.text);
  assert.deepEqual([board.room, board.state, board.waiting], ["main", "queueing", 1]);
  assert.equal((await waiting.ask(path, { method: "HEAD" })).text, "");
});

test("joining twice makes one place", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = stage.visitor();
  const first = await visitor.call("join");
  const second = await visitor.call("join");
  assert.equal(first.status, "waiting");
  assert.equal(second.sequence, first.sequence);
  assert.equal((await stage.engine.counts("main")).waiting, 1);
});

test("joining while there is room gives a pass, and joining with a pass says so and gives no second", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 2 } });
  const visitor = stage.visitor();
  const first = await visitor.call("join");
  assert.equal(first.status, "entered");
  assert.equal(first.expiresInMs, 300_000);
  stage.world.pass(1_000);
  const second = await visitor.call("join");
  assert.deepEqual([second.status, second.expiresInMs], ["entered", 299_000]);
  assert.equal((await stage.engine.counts("main")).onSite, 1);
  assert.ok(await visitor.isIn());
});

test("a check-in tells what became of the place: waiting, admitted, entered, refused, expired", async (t) => {
  const stage = await openStage(t, { room: { claimWindow: "30s" } });
  const occupant = await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const ticket = visitor.token()!;
  assert.equal((await visitor.call("check-in")).status, "waiting");
  await occupant.call("leave");
  stage.world.pass(15_000);
  const admitted = await visitor.call("check-in");
  assert.equal(admitted.status, "admitted");
  assert.ok(admitted.claimByMs! > 0 && admitted.claimByMs! <= 30_000);
  assert.equal((await visitor.call("enter")).status, "entered");
  assert.notEqual(visitor.token(), ticket);
  assert.equal((await visitor.call("check-in")).status, "entered");
  await visitor.call("leave");
  visitor.cookies.set("fairgate_main", ticket);
  assert.deepEqual(await visitor.call("check-in"), { status: "refused", reason: "ticketSpent" });
  assert.equal((await stage.visitor().post("check-in")).status, 403);
});

test("a ticket that was shown again after entering gives the same visit, never a second", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const ticket = visitor.token()!;
  await occupant.call("leave");
  stage.world.pass(5_000);
  await visitor.open();
  const id = stage.origin.seen.at(-1)!.headers["fairgate-visitor"];
  const twin = stage.visitor();
  twin.cookies.set("fairgate_main", ticket);
  assert.equal((await twin.call("enter")).status, "entered");
  await twin.open();
  assert.equal(stage.origin.seen.at(-1)!.headers["fairgate-visitor"], id);
  assert.equal((await stage.engine.counts("main")).onSite, 1);
});

test("an early check-in is answered from memory and does not reach the engine", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const first = await visitor.post("check-in");
  const { checkIn } = stage.engine.calls;
  for (let i = 0; i < 5; i++) assert.equal((await visitor.post("check-in")).text, first.text);
  assert.equal(stage.engine.calls.checkIn, checkIn);
  stage.world.pass(JSON.parse(first.text).nextCheckInMs);
  await visitor.post("check-in");
  assert.equal(stage.engine.calls.checkIn, checkIn + 1);
});

test("leaving gives the place to the next and takes the cookie back", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const answer = await visitor.post("leave");
  assert.deepEqual(JSON.parse(answer.text), { status: "left" });
  assert.match(answer.headers["set-cookie"]![0]!, /^fairgate_main=; Max-Age=0/);
  assert.equal((await stage.engine.counts("main")).waiting, 0);
  assert.deepEqual(await visitor.call("leave"), { status: "left" });
  assert.equal((await stage.engine.counts("main")).totals.left, 1);
});

test("leaving with a pass frees the slot at once", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  await occupant.call("leave");
  assert.equal((await stage.engine.counts("main")).onSite, 0);
  await stage.occupant();
});

test("everything personal says no-store", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  for (const endpoint of ["join", "check-in", "enter", "leave"]) {
    const { headers } = await visitor.post(endpoint);
    assert.equal(headers["cache-control"], "no-store", endpoint);
    assert.match(headers["content-type"]!, /^application\/json/);
  }
});

test("a wrong method gets 405 and is told the right one", async (t) => {
  const stage = await openStage(t);
  const visitor = stage.visitor();
  for (const [endpoint, allowed] of [
    ["board", "GET"],
    ["events", "GET"],
    ["join", "POST"],
    ["check-in", "POST"],
    ["enter", "POST"],
    ["leave", "POST"],
  ] as const) {
    for (const method of ["GET", "POST", "PUT", "DELETE", "OPTIONS"]) {
      if (method === allowed) continue;
      const answer = await visitor.ask(`/.fairgate/main/${endpoint}`, { method });
      assert.equal(answer.status, 405, `${method} ${endpoint}`);
      assert.match(answer.headers.allow!, new RegExp(`\\b${allowed}\\b`));
    }
  }
  assert.equal(stage.engine.asked, 0);
});

test("rooms and endpoints that do not exist get 404 and reach neither engine nor origin", async (t) => {
  const stage = await openStage(t);
  const visitor = stage.visitor();
  for (const path of [
    "main",
    "main/",
    "main/boards",
    "main/constructor",
    "main/__proto__",
    "main/toString",
    "other/board",
    "__proto__/board",
    "constructor/board",
    "/board",
    "",
    "../main/board",
  ])
    for (const method of ["GET", "POST"]) {
      const { status } = await visitor.ask(`/.fairgate/${path}`, { method });
      assert.equal(status, 404, `${method} ${path}`);
    }
  assert.equal(stage.engine.asked, 0);
  assert.equal(stage.origin.seen.length, 0);
  assert.deepEqual(stage.errors(), []);
});

test("neither another site nor a sibling subdomain can act for a visitor", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const before = stage.engine.asked;
  const elsewhere = [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "same-site", origin: `http://127.0.0.1:${stage.port}` },
    { "sec-fetch-site": "something-new" },
    { origin: "http://evil.127.0.0.1" },
    { origin: `http://127.0.0.1:${stage.port + 1}` },
    { origin: "null" },
    { origin: "file://" },
  ];
  for (const headers of elsewhere) {
    for (const endpoint of ["join", "check-in", "enter", "leave"])
      assert.equal(
        (await visitor.post(endpoint, { headers })).status,
        403,
        `${endpoint} ${JSON.stringify(headers)}`,
      );
    assert.equal((await visitor.listen("main", headers)).status, 403);
    assert.equal((await visitor.ask("/.fairgate/main/receipt", { headers })).status, 403);
  }
  assert.equal(stage.engine.asked, before);
});

test("a page of the site's own acts for its visitor, in any browser and behind a proxy", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = await waitingVisitor(stage);
  const own = [
    { "sec-fetch-site": "same-origin", origin: "https://whatever.example" },
    { "sec-fetch-site": "none" },
    { origin: `http://127.0.0.1:${stage.port}` },
    { origin: `HTTPS://127.0.0.1:${stage.port}` },
    { origin: "https://Shop.example", "x-forwarded-host": "shop.example:443, other" },
    {},
  ];
  for (const headers of own)
    assert.equal(
      (await visitor.post("check-in", { headers })).status,
      200,
      `${JSON.stringify(headers)} is refused`,
    );
});

test("a program carries its token in a header and gets no cookie", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  const program = stage.visitor();
  const joined = await program.post("join", { headers: { "fairgate-token": "new" } });
  const ticket = joined.headers["fairgate-token"] as string;
  assert.equal(joined.headers["set-cookie"], undefined);
  assert.equal(JSON.parse(joined.text).status, "waiting");
  const again = await program.call("join", { headers: { "fairgate-token": ticket } });
  assert.equal(again.sequence, JSON.parse(joined.text).sequence);
  await occupant.call("leave");
  stage.world.pass(5_000);
  const entered = await program.post("enter", { headers: { "fairgate-token": ticket } });
  const pass = entered.headers["fairgate-token"] as string;
  assert.equal(JSON.parse(entered.text).status, "entered");
  const page = await program.ask("/api", { headers: { "fairgate-token": pass, accept: "application/json" } });
  assert.equal(page.text, "the site");
  assert.equal(stage.origin.seen.at(-1)!.headers["fairgate-token"], undefined);
  assert.equal(
    (await program.post("leave", { headers: { "fairgate-token": pass } })).headers["set-cookie"],
    undefined,
  );
  assert.equal(program.cookies.size, 0);
});

test("a program that asks for a page gets its ticket in a header too", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const headers = { "fairgate-token": "new", accept: "application/json" };
  const answer = await stage.visitor().ask("/api", { headers });
  assert.equal(answer.status, 429);
  const token = answer.headers["fairgate-token"] as string;
  const again = await stage.visitor().ask("/api", { headers: { ...headers, "fairgate-token": token } });
  assert.equal(JSON.parse(again.text).sequence, JSON.parse(answer.text).sequence);
  assert.equal((await stage.engine.counts("main")).waiting, 1);
});
