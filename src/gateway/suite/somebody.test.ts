/**
 * A slot is taken by somebody who can keep it: what belongs to no visit takes none, and a visitor who does not come back holds one
 * for a short time only.
 */
import assert from "node:assert/strict";
import net from "node:net";
import { test } from "node:test";
import { openOrigin, openStage, type Stage } from "../../testing/gateway/stage.ts";
import { assertWaitingPage, PAGE } from "../../testing/gateway/visitor.ts";
import { until } from "../../testing/until.ts";
import { STRAY_GRACE_MS } from "../streams/stray-connections.ts";

const SESSION_MS = 300_000;
const FIRST_MS = 60_000;
const ROOM = { totalActiveUsers: 200, newcomerDuration: "1m" } as const;
const IMAGE = { accept: "image/avif,*/*;q=0.8", "sec-fetch-dest": "image", "sec-fetch-mode": "no-cors" };
const MANIFEST = { accept: "*/*", "sec-fetch-dest": "manifest", "sec-fetch-mode": "cors" };
const PREFLIGHT = {
  ...{ accept: "*/*", "sec-fetch-mode": "cors", origin: "https://app.example.com" },
  ...{ "access-control-request-method": "PUT", "access-control-request-headers": "x-own" },
};
const PREFETCH = { ...PAGE, "sec-purpose": "prefetch" };
const CRAWLER = {
  ...PAGE,
  "user-agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)",
};

async function onSite(stage: Stage): Promise<number> {
  return (await stage.engine.counts("main")).onSite;
}

test("one page view with cookies blocked is one visit, and it is over after a minute", async (t) => {
  const stage = await openStage(t, { room: ROOM });
  await stage.visitor().open();
  for (let n = 0; n < 17; n++)
    assert.equal((await stage.visitor().ask(`/${n}.png`, { headers: IMAGE })).text, "the site");
  assert.equal(await onSite(stage), 1);
  assert.deepEqual({ ...stage.proxied.gateway.traffic.strays }, { passed: 17 });
  stage.world.pass(FIRST_MS + 3_000);
  assert.equal(await onSite(stage), 0);
});

test("a place on a page whose style is asked for without its cookie is given up, and no other", async (t) => {
  const stage = await openStage(t, { room: { ...ROOM, totalActiveUsers: 1 } });
  await stage.occupant();
  const waiting = async () => (await stage.engine.counts("main")).waiting;
  /** Opens a page as a browser that keeps what it gets, and gives the address of its style. */
  const opened = async (userAgent: string) => {
    const visitor = stage.visitor();
    const { text } = await visitor.open("/", { "user-agent": userAgent });
    return { visitor, style: /href="([^"]*cookies\.css[^"]*)"/.exec(text)![1]! };
  };
  const askFor = (style: string, userAgent: string) =>
    stage.visitor().ask(style, { headers: { "user-agent": userAgent } });

  const blocked = await opened("Blocker/1.0");
  assert.match((await askFor(blocked.style, "Blocker/1.0")).text, /Cookies are needed/);
  assert.equal(await waiting(), 1, "it might have been overtaken");
  stage.world.pass(2_000);
  assert.equal(await waiting(), 0);

  const scanned = await opened("Browser/1.0");
  await askFor(scanned.style, "Scanner/1.0");
  stage.world.pass(2_000);
  assert.equal(await waiting(), 1, "another browser says nothing about this one");

  const [first, second] = [await opened("Browser/1.0"), await opened("Browser/1.0")];
  await askFor(first.style, "Browser/1.0");
  await first.visitor.call("check-in", { headers: { "user-agent": "Browser/1.0" } });
  const kept = await second.visitor.ask(second.style, { headers: { "user-agent": "Browser/1.0" } });
  assert.equal(kept.text, "");
  await askFor(second.style, "Browser/1.0");
  stage.world.pass(2_000);
  assert.equal(await waiting(), 3, "a cookie that came back once is kept");

  const late = await opened("Late/1.0");
  stage.world.pass(31_000);
  await askFor(late.style, "Late/1.0");
  stage.world.pass(2_000);
  assert.ok((await waiting()) > 0);
  assert.doesNotMatch(
    (await late.visitor.open()).text,
    /cookies\.css\?place=/,
    "a visitor with a cookie needs no proof",
  );
});

test("manifests, preflights, prefetches, crawlers and programs take no slot, and no cookie is given with them", async (t) => {
  const stage = await openStage(t, { room: ROOM });
  for (const headers of [MANIFEST, PREFETCH, CRAWLER, { accept: "*/*" }, {}]) {
    const answer = await stage.visitor().ask("/", { headers });
    assert.deepEqual([answer.text, answer.headers["set-cookie"]], ["the site", undefined]);
  }
  assert.equal((await stage.visitor().ask("/", { method: "OPTIONS", headers: PREFLIGHT })).text, "the site");
  assert.equal(await onSite(stage), 0);
  assert.equal((await stage.engine.counts("main")).totals.joined, 0);
  assert.equal(stage.proxied.gateway.traffic.requests.joins, 0);
});

test("a stream without a visit goes on while there is room, and no longer", async (t) => {
  const stage = await openStage(t, {
    room: { ...ROOM, totalActiveUsers: 1 },
    answer: (request, response) => {
      if (request.url === "/stream") response.write("first");
      else response.end("the site");
    },
  });
  const socket = net.connect(stage.port, "127.0.0.1");
  t.after(() => socket.destroy());
  let [heard, isClosed] = ["", false];
  socket.on("data", (chunk) => (heard += chunk)).on("error", () => {});
  socket.on("close", () => (isClosed = true));
  socket.write("GET /stream HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n\r\n");
  await until(() => heard.includes("first"), "the stream");
  stage.world.pass(3 * STRAY_GRACE_MS);
  assert.equal(stage.underWay(), 1, "nobody else is there");
  await stage.occupant();
  stage.world.pass(1_000);
  await until(() => isClosed, "the end of the stream");
  assert.equal(stage.proxied.gateway.traffic.connectionsEnded, 1);
  assert.equal(await onSite(stage), 1);
});

test("connections to the site that are kept for visitors are not for strays", async (t) => {
  const origin = await openOrigin(t, (request, response) => {
    if (request.url !== "/hang") response.end("the site");
  });
  const settings = {
    trustedProxies: ["127.0.0.1"],
    origin: { addresses: [origin.address], connectionsMax: 8 },
  };
  const stage = await openStage(t, { room: ROOM, origin, settings });
  const visitor = await stage.occupant();
  for (let n = 1; n <= 12; n++) {
    const socket = net.connect(stage.port, "127.0.0.1").on("error", () => {});
    t.after(() => socket.destroy());
    const from = `X-Forwarded-For: 203.0.113.${n}`;
    socket.write(`GET /hang HTTP/1.1\r\nHost: a\r\nAccept: */*\r\n${from}\r\n\r\n`);
  }
  await until(() => origin.seen.length === 1 + 7 && stage.underWay() === 12, "all that strays may have");
  assert.equal((await visitor.open()).text, "the site");
});

test("in a line none of them gets through, nor a place", async (t) => {
  const stage = await openStage(t, { room: { ...ROOM, totalActiveUsers: 1 } });
  await stage.occupant();
  const seen = stage.origin.seen.length;
  for (const headers of [IMAGE, MANIFEST, PREFETCH, { accept: "*/*" }])
    assert.equal((await stage.visitor().ask("/", { headers })).status, 429, JSON.stringify(headers));
  const preflight = await stage.visitor().ask("/", { method: "OPTIONS", headers: PREFLIGHT });
  assert.deepEqual([preflight.status, preflight.headers["access-control-allow-origin"]], [429, undefined]);
  const crawled = await stage.visitor().ask("/", { headers: CRAWLER });
  assert.deepEqual([crawled.status, crawled.headers["fairgate-status"]], [503, "refused"]);
  assert.match(crawled.headers["retry-after"]!, /^[1-9]/);
  const { waiting, totals } = await stage.engine.counts("main");
  assert.deepEqual([waiting, totals.joined, stage.origin.seen.length], [0, 1, seen]);
});

test("while nobody waits an address has a budget of requests without a visit, and no more", async (t) => {
  const stage = await openStage(t, { room: { ...ROOM, strayRequestsPerMinute: 5 } });
  const passed = async () => (await stage.visitor().ask("/a.png", { headers: IMAGE })).text === "the site";
  const results: boolean[] = [];
  for (let n = 0; n < 7; n++) results.push(await passed());
  assert.deepEqual(results, [true, true, true, true, true, false, false]);
  stage.world.pass(12_000);
  assert.deepEqual([await passed(), await passed()], [true, false]);
});

test("a visitor who comes back with the cookie has a whole session, with any request", async (t) => {
  const stage = await openStage(t, { room: ROOM });
  const visitor = stage.visitor();
  await visitor.open();
  const first = visitor.token();
  await visitor.ask("/a.png", { headers: IMAGE });
  assert.notEqual(visitor.token(), first);
  stage.world.pass(SESSION_MS - 5_000);
  assert.equal(await onSite(stage), 1);
  assert.ok(await visitor.isIn());
});

test("someone who reads their first page for longer goes on if there is room, and waits if there is none", async (t) => {
  const stage = await openStage(t, { room: { ...ROOM, totalActiveUsers: 1 } });
  const reader = stage.visitor();
  await reader.open();
  stage.world.pass(FIRST_MS + 30_000);
  assert.equal(await onSite(stage), 0);
  assert.ok(await reader.isIn());
  assert.equal(await onSite(stage), 1);
  const other = await openStage(t, { room: { ...ROOM, totalActiveUsers: 1 } });
  const slow = other.visitor();
  await slow.open();
  other.world.pass(FIRST_MS + 30_000);
  await other.occupant();
  assertWaitingPage(await slow.open());
});

test("a program without cookies does not fill a room, whatever it says that it wants", async (t) => {
  for (const headers of [PAGE, { accept: "application/json" }, { ...PAGE, cookie: "fairgate_main=x" }]) {
    const stage = await openStage(t, { room: ROOM });
    for (let n = 0; n < 60; n++) await stage.visitor().ask("/", { headers });
    assert.equal(await onSite(stage), 20, JSON.stringify(headers));
    // Others from the same address get in, for a second more.
    const visitor = stage.visitor();
    const checking = await visitor.open();
    assert.match(checking.text, /One moment/);
    assert.ok(await visitor.isIn());
    assert.equal(await onSite(stage), 21);
    stage.world.pass(FIRST_MS + 3_000);
    assert.equal(await onSite(stage), 1, "who showed a cookie stays");
  }
});

test("a pass that has run out, shown again and again, gives no more slots than no pass", async (t) => {
  const stage = await openStage(t, { room: { ...ROOM, sessionDuration: "2m" } });
  const visitor = await stage.occupant();
  await visitor.open();
  const token = visitor.token()!;
  stage.world.pass(130_000);
  for (let n = 0; n < 60; n++) {
    const copy = stage.visitor();
    copy.cookies.set("fairgate_main", token);
    await copy.open();
  }
  assert.equal(await onSite(stage), 20);
});

test("a program that keeps a token is somebody, whatever it asks for", async (t) => {
  const stage = await openStage(t, { room: { ...ROOM, totalActiveUsers: 1 } });
  const first = await stage.visitor().ask("/", { headers: { accept: "*/*", "fairgate-token": "new" } });
  const token = first.headers["fairgate-token"] as string;
  assert.equal(first.text, "the site");
  assert.ok(token);
  const next = await stage.visitor().ask("/", { headers: { accept: "*/*", "fairgate-token": "new" } });
  assert.deepEqual([next.status, JSON.parse(next.text).status], [429, "waiting"]);
  assert.equal(
    (await stage.visitor().ask("/", { headers: { accept: "*/*", "fairgate-token": token } })).text,
    "the site",
  );
});

test("the first JSON answer never says open beside waiting", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const answer = await stage.visitor().ask("/", { headers: { accept: "application/json" } });
  const { status, state, ahead, waiting } = JSON.parse(answer.text);
  assert.deepEqual([status, state, ahead, waiting], ["waiting", "queueing", 0, 1]);
});

test("one visitor of several hosts of one site is one visit, with a cookie for the domain", async (t) => {
  const hosts = { host: "www.example.com", additionalRoutes: [{ host: "shop.example.com" }] };
  const stage = await openStage(t, { room: { ...ROOM, ...hosts, cookieDomain: "example.com" } });
  const visitor = stage.visitor();
  const first = await visitor.open("/", { host: "www.example.com" });
  assert.match(
    first.headers["set-cookie"]![0]!,
    /^fairgate_main=[\w-]+; Max-Age=\d+; Domain=example\.com; Path=\/;/,
  );
  assert.equal((await visitor.open("/", { host: "shop.example.com" })).text, "the site");
  assert.equal(await onSite(stage), 1);
});

test("pages of origins that are named may call our addresses and read refusals; others may not", async (t) => {
  const APP = "https://app.example.com";
  const stage = await openStage(t, { room: { ...ROOM, totalActiveUsers: 1, corsOrigins: [APP] } });
  await stage.occupant();
  const from = (origin: string) => ({ origin, "sec-fetch-site": "same-site", "sec-fetch-mode": "cors" });
  const joined = await stage.visitor().post("join", { headers: from(APP) });
  assert.deepEqual([joined.status, joined.headers["access-control-allow-origin"]], [200, APP]);
  assert.equal(joined.headers["access-control-allow-credentials"], "true");
  const evil = await stage.visitor().post("join", { headers: from("https://evil.example.com") });
  assert.deepEqual([evil.status, evil.headers["access-control-allow-origin"]], [403, undefined]);
  const own = await stage.visitor().ask("/.fairgate/main/join", {
    method: "OPTIONS",
    headers: { ...from(APP), "access-control-request-method": "POST" },
  });
  assert.deepEqual([own.status, own.headers["access-control-allow-methods"]], [204, "GET, POST, DELETE"]);
  const preflight = await stage.visitor().ask("/api", { method: "OPTIONS", headers: PREFLIGHT });
  assert.equal(preflight.status, 204);
  assert.equal(preflight.headers["access-control-allow-headers"], "x-own");
  const script = { accept: "*/*", "sec-fetch-dest": "empty", ...from(APP) };
  const refused = await stage.visitor().ask("/api", { method: "PUT", headers: script });
  assert.deepEqual([refused.status, refused.headers["access-control-allow-origin"]], [429, APP]);
  assert.match(refused.headers["access-control-expose-headers"]!, /Fairgate-Status/);
  const board = await stage.visitor().ask("/.fairgate/main/board", { headers: from(APP) });
  assert.equal(board.headers["access-control-allow-origin"], "*");
});

test("a check-in with a pass renews the visit as a request would", async (t) => {
  const stage = await openStage(t, { room: { ...ROOM, sessionDuration: "100s" } });
  const visitor = await stage.occupant();
  stage.world.pass(50_000);
  await visitor.call("check-in");
  for (let n = 0; n < 3; n++) {
    stage.world.pass(90_000);
    assert.deepEqual(await visitor.call("check-in"), { status: "entered", expiresInMs: 100_000 });
  }
  stage.world.pass(2_000);
  assert.equal(await onSite(stage), 1);
});

test("a page that keeps its token itself may send it, and reads the next one, also from the site's answers", async (t) => {
  const APP = "capacitor://localhost";
  const stage = await openStage(t, { room: { ...ROOM, corsOrigins: [APP] } });
  const ask = (origin: string) =>
    stage.visitor().ask("/api", {
      method: "OPTIONS",
      headers: {
        origin,
        "access-control-request-method": "GET",
        "access-control-request-headers": "fairgate-token",
      },
    });
  const allowed = await ask(APP);
  assert.deepEqual(
    [allowed.status, allowed.headers["access-control-allow-headers"]],
    [204, "fairgate-token"],
  );
  assert.equal((await ask("https://evil.example")).text, "the site", "the site's matter");
  const answer = await stage.visitor().ask("/api", { headers: { origin: APP, "fairgate-token": "new" } });
  assert.equal(answer.text, "the site");
  assert.ok(answer.headers["fairgate-token"]);
  assert.equal(answer.headers["access-control-expose-headers"], "Fairgate-Token");
});
