/** Against those who take many places: what they get is a clear answer, and nobody else pays for it. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { askJson, assertProblemPage, assertSite, change, joinLine } from "../../../testing/gateway/line.ts";
import { openStage } from "../../../testing/gateway/stage.ts";
import { assertWaitingPage, talk, type Visitor } from "../../../testing/gateway/visitor.ts";

const BEHIND_PROXY = { trustedProxies: ["127.0.0.1"] };
const FROM = (address: string) => ({ "x-forwarded-for": address });
const PICTURE = { accept: "image/*", "sec-fetch-dest": "image" };

test("from one address only a limited number join a minute; more get a page and JSON that say when to try again", async (t) => {
  const room = { abuse: { joinsPerMinutePerAddress: 2 } };
  const stage = await openStage(t, { room, settings: BEHIND_PROXY });
  await stage.occupant();
  const headers = FROM("203.0.113.7");
  await joinLine(stage, 2, { headers });
  const visitor = stage.visitor();
  const page = await visitor.open("/", headers);
  assertProblemPage(page, 429, /Too many places from your network/);
  assert.equal(page.headers["retry-after"], "30");
  assert.match(String(page.headers.refresh), /^\d+$/);
  assert.equal(page.headers["set-cookie"], undefined);
  const { answer, told } = await askJson(visitor, "/", headers);
  assert.deepEqual([answer.status, answer.headers["retry-after"]], [429, "30"]);
  assert.deepEqual([told.status, told.reason], ["refused", "addressBudget"]);
  assert.equal((await visitor.post("join", { headers })).status, 429);
  assertWaitingPage(await stage.visitor().open("/", FROM("203.0.113.8")));
  assert.equal((await stage.engine.counts("main")).waiting, 3);
  stage.world.pass(30_000);
  assertWaitingPage(await visitor.open("/", headers));
});

test("a network has a budget of its own", async (t) => {
  const abuse = { joinsPerMinutePerAddress: 2, joinsPerMinutePerNetwork: 3 };
  const stage = await openStage(t, { room: { abuse }, settings: BEHIND_PROXY });
  await stage.occupant();
  for (const last of [1, 2, 3]) await joinLine(stage, 1, { headers: FROM(`203.0.113.${last}`) });
  const { told } = await askJson(stage.visitor(), "/", FROM("203.0.113.4"));
  assert.equal(told.reason, "networkBudget");
  await joinLine(stage, 1, { headers: FROM("203.0.114.1") });
});

test("only places cost: neither pictures, nor upgrades, nor joins that are refused", async (t) => {
  const room = { abuse: { joinsPerMinutePerAddress: 2 } };
  const stage = await openStage(t, { room });
  await stage.occupant();
  for (let i = 0; i < 4; i++)
    assert.equal((await stage.visitor().ask("/a.png", { headers: PICTURE })).status, 429);
  const upgrade = "GET /live HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  for (let i = 0; i < 2; i++) assert.match(await talk(stage.port, upgrade), /^HTTP\/1\.1 429 /);
  await change(stage, { ...room, queueingMethod: "reject" });
  for (let i = 0; i < 4; i++) assert.equal((await stage.visitor().open()).status, 503);
  await change(stage, room);
  await joinLine(stage, 1);
  assertProblemPage(await stage.visitor().open(), 429, /Too many places/);
  assert.match(await talk(stage.port, upgrade), /^HTTP\/1\.1 429 .*Retry-After: 30/is);
});

test("a place is given at the second contact, a second after the first", async (t) => {
  const stage = await openStage(t, { room: { abuse: { entryDelay: true } } });
  const visitor = stage.visitor();
  const first = await visitor.open();
  assertProblemPage(first, 200, /One moment…/);
  assert.equal(first.headers.refresh, "1");
  const slip = visitor.token();
  assert.ok(slip);
  stage.world.pass(500);
  assertProblemPage(await visitor.open(), 200, /One moment…/);
  assert.equal(visitor.token(), slip);
  assert.equal(stage.engine.calls.join, 0);
  stage.world.pass(500);
  assertSite(await visitor.open());
  // A program that keeps nothing never gets a place.
  for (let i = 0; i < 3; i++) {
    assertProblemPage(await stage.visitor().open(), 200, /One moment…/);
    stage.world.pass(2_000);
  }
  assert.equal(stage.engine.calls.join, 1);
});

test("one slip gives one place", async (t) => {
  const stage = await openStage(t, { room: { abuse: { entryDelay: true }, totalActiveUsers: 5 } });
  const visitor = stage.visitor();
  await visitor.open();
  const slip = visitor.token()!;
  stage.world.pass(1_000);
  for (let i = 0; i < 4; i++) {
    const copy = stage.visitor();
    copy.cookies.set("fairgate_main", slip);
    await copy.open();
  }
  assert.equal((await stage.engine.counts("main")).onSite, 1);
});

test("a form that comes before there is a place is refused as one, and a picture does not use the slip up", async (t) => {
  const stage = await openStage(t, { room: { abuse: { entryDelay: true }, queueAll: true } });
  const visitor = stage.visitor();
  const form = await visitor.ask("/", { method: "POST", body: "a=1", headers: { accept: "text/html" } });
  assertProblemPage(form, 429, /One moment…/);
  stage.world.pass(1_000);
  assert.equal((await visitor.ask("/a.png", { headers: PICTURE })).status, 429);
  assertWaitingPage(await visitor.open());
});

test("programs are told to come back, and get their place by the join address", async (t) => {
  const stage = await openStage(t, { room: { abuse: { entryDelay: true } } });
  const visitor = stage.visitor();
  const first = await visitor.post("join");
  assert.deepEqual([first.status, first.headers["retry-after"]], [202, "1"]);
  assert.deepEqual(JSON.parse(first.text), {
    status: "comeBack",
    reason: "firstContact",
    waitMs: 1_000,
    work: null,
  });
  stage.world.pass(1_000);
  assert.equal((await visitor.call("join")).status, "entered");
});

async function challengeFor(visitor: Visitor): Promise<{ challenge: string; bits: number }> {
  const page = await visitor.open();
  assertProblemPage(page, 200, /A small task for your browser/);
  const [, challenge] = /data-challenge="([\w-]+)"/.exec(page.text)!;
  const [, bits] = /data-bits="(\d+)"/.exec(page.text)!;
  return { challenge: challenge!, bits: Number(bits) };
}

function solve(challenge: string, isWanted: (zeros: number) => boolean): string {
  for (let n = 0; ; n++) {
    const digest = createHash("sha256").update(`${challenge}:${n}`).digest();
    if (isWanted(Math.clz32(digest.readUInt32BE(0)))) return String(n);
  }
}

test("work that is done gives a place, work that is not done gives none, and neither does the same work twice", async (t) => {
  const abuse = { proofOfWork: { easiest: 6, hardest: 6 } };
  const stage = await openStage(t, { room: { abuse, queueAll: true } });
  const visitor = stage.visitor();
  const { challenge, bits } = await challengeFor(visitor);
  assert.deepEqual([challenge, bits], [visitor.token(), 6]);
  const work = (solution: string) => ({ headers: { "fairgate-work": solution } });
  const wrong = await visitor.post("join", work(solve(challenge, (zeros) => zeros < bits)));
  assert.deepEqual([wrong.status, JSON.parse(wrong.text).reason], [403, "wrongWork"]);
  assert.equal((await visitor.post("join")).status, 202);
  assert.equal(stage.engine.calls.join, 0);
  const solution = solve(challenge, (zeros) => zeros >= bits);
  const copy = stage.visitor();
  copy.cookies.set("fairgate_main", challenge);
  assert.equal((await visitor.call("join", work(solution))).status, "waiting");
  assertWaitingPage(await visitor.open());
  assert.equal((await copy.call("join", work(solution))).status, "comeBack");
  assert.equal((await stage.engine.counts("main")).waiting, 1);
});

test("a token bound to its browser is no good in another, which gets a page and loses the cookie", async (t) => {
  for (const more of [{}, { visitsMax: 5 }]) {
    const stage = await openStage(t, { room: { abuse: { bindTickets: "userAgent" }, ...more } });
    const occupant = stage.visitor();
    assertSite(await occupant.open("/", { "user-agent": "one" }));
    const visitor = stage.visitor();
    assertWaitingPage(await visitor.open("/", { "user-agent": "one" }));
    for (const stolen of [occupant.token()!, visitor.token()!]) {
      const thief = stage.visitor();
      thief.cookies.set("fairgate_main", stolen);
      assert.equal(
        (await thief.call("check-in", { headers: { "user-agent": "two" } })).reason,
        "wrongBrowser",
      );
      const page = await thief.open("/", { "user-agent": "two" });
      assertProblemPage(page, 403, /This place belongs to another browser/);
      assert.equal(thief.token(), undefined);
      assertWaitingPage(await thief.open("/", { "user-agent": "two" }));
    }
    assertSite(await occupant.open("/", { "user-agent": "one" }));
    assertWaitingPage(await visitor.open("/", { "user-agent": "one" }));
  }
});

test("a token bound to its network is good anywhere in it, and nowhere else", async (t) => {
  const room = { abuse: { bindTickets: "network" as const } };
  const stage = await openStage(t, { room, settings: BEHIND_PROXY });
  const visitor = stage.visitor();
  assertSite(await visitor.open("/", FROM("203.0.113.7")));
  assertSite(await visitor.open("/", FROM("203.0.113.9")));
  assertProblemPage(await visitor.open("/", FROM("198.51.100.7")), 403, /another browser/);
});

test("the budgets and slips of an event go on through a change of settings", async (t) => {
  const abuse = { joinsPerMinutePerAddress: 2 };
  const event = {
    name: "sale",
    eventStartTime: "2026-06-01T09:00:00Z",
    eventEndTime: "2026-06-01T12:00:00Z",
    abuse,
  };
  const room = { events: [event] };
  const stage = await openStage(t, { room });
  await stage.occupant();
  await joinLine(stage, 1);
  await change(stage, { ...room, message: "changed" });
  assertProblemPage(await stage.visitor().open(), 429, /Too many places/);
});
