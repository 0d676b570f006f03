/** Requests past the line by a room's rules: what they cost, and what does not get past. */
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { test } from "node:test";
import type { RoomInput } from "../../config/schema.ts";
import { openStage, TLS } from "../../testing/gateway/stage.ts";
import { assertWaitingPage, talk } from "../../testing/gateway/visitor.ts";

const BYPASS: RoomInput["bypass"] = [
  { name: "assets", path: ["/assets"], methods: ["GET"] },
  { name: "monitor", header: { "X-Monitor": "nobody-guesses-this" } },
  { name: "me", addresses: ["192.0.2.0/24"] },
];

test("a request past the line costs the engine nothing, gets no cookie and tells the origin of no visitor", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 1, bypass: BYPASS } });
  await stage.occupant();
  const before = stage.engine.asked;
  const visitor = stage.visitor();
  for (const [path, headers] of [
    ["/assets/a.css?v=1", {}],
    ["/", { "x-monitor": "nobody-guesses-this" }],
  ] as const) {
    const answer = await visitor.open(path, headers);
    assert.equal(answer.text, "the site");
    assert.equal(answer.headers["set-cookie"], undefined);
    assert.equal(stage.origin.seen.at(-1)!.url, path);
    assert.equal(stage.origin.seen.at(-1)!.headers["fairgate-room"], undefined);
  }
  assert.equal(stage.engine.asked, before);
  const { bypassed } = stage.proxied.gateway.traffic;
  assert.deepEqual({ ...bypassed }, { "main: assets": 1, "main: monitor": 1 });
});

test("what no rule is for waits, however it is spelled", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 1, bypass: BYPASS } });
  await stage.occupant();
  const before = stage.origin.seen.length;
  for (const path of [
    "/booking",
    "/assets/../booking",
    "/assets/..%2fbooking",
    "/assets/..;/booking",
    "//assets/x",
  ])
    assertWaitingPage(await stage.visitor().open(path));
  assertWaitingPage(await stage.visitor().open("/", { "x-monitor": "guessed" }));
  assertWaitingPage(await stage.visitor().open("/", { "x-forwarded-for": "192.0.2.1" }));
  assert.equal(stage.origin.seen.length, before);
});

test("our own addresses are answered here, whatever the rules", async (t) => {
  const stage = await openStage(t, { room: { bypass: [{ methods: ["GET", "POST"] }] } });
  const visitor = stage.visitor();
  assert.equal((await visitor.ask("/.fairgate/main/board")).status, 200);
  assert.equal((await visitor.ask("/.fairgate/none")).status, 404);
  assert.deepEqual(stage.origin.seen, []);
});

test("an upgrade goes past by the same rules", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 1, bypass: BYPASS } });
  await stage.occupant();
  const upgrade = (path: string) =>
    talk(stage.port, `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`);
  assert.match(await upgrade("/live"), /^HTTP\/1\.1 429 /);
  assert.match(await upgrade("/assets/../live"), /^HTTP\/1\.1 429 /);
  assert.doesNotMatch(await upgrade("/assets/live"), /^HTTP\/1\.1 429 /);
});

test("rules hold over HTTP/2 too, where a path may have anything in it", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 1, bypass: BYPASS }, settings: { tls: TLS } });
  const session = connect(`https://localhost:${stage.port}`, { rejectUnauthorized: false });
  t.after(() => session.destroy());
  const ask = (path: string, headers = {}) =>
    new Promise<string>((resolve, reject) => {
      let text = "";
      const stream = session.request({ ":path": path, accept: "text/html", ...headers });
      stream.setEncoding("utf8").on("data", (piece) => (text += piece));
      stream.on("end", () => resolve(text)).on("error", reject);
    });
  assert.equal(await ask("/"), "the site");
  assert.equal(await ask("/assets/x"), "the site");
  assert.equal(await ask("/x", { "x-monitor": "nobody-guesses-this" }), "the site");
  assert.match(await ask("/x"), /<html/);
  assert.match(await ask("/assets/../x"), /<html/);
});
