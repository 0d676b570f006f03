/** The page for people: what it shows, who may see it, and that its way in opens nothing else. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { DESK_TOKEN, read, type Scene, scene } from "../testing/office/scene.ts";
import { FAILURES_MAX } from "./attempts.ts";

const basic = (password: string, name = "anybody") =>
  `Basic ${Buffer.from(`${name}:${password}`).toString("base64")}`;
const AS_BROWSER = { "sec-fetch-dest": "document", "sec-fetch-mode": "navigate", accept: "text/html" };
const LOGGED_IN = { ...AS_BROWSER, authorization: basic(DESK_TOKEN) };
const open = ({ ask }: Scene, headers: Record<string, string> = LOGGED_IN, path = "/") =>
  ask(path, { headers });

test("a browser is asked for the token as a password, and then shows rooms, counts, limits and origins", async () => {
  const on = await scene({
    rooms: { main: { totalActiveUsers: 2 }, other: { path: "/other", newUsersPerMinute: 30 } },
  });
  const asked = await open(on, { ...AS_BROWSER, authorization: "" });
  assert.equal(asked.status, 401);
  assert.match(
    asked.headers.get("www-authenticate")!,
    /^Basic realm="Fairgate: .*password", charset="UTF-8"$/,
  );
  const shown = await open(on);
  assert.equal(shown.status, 200);
  assert.equal(shown.headers.get("content-type"), "text/html; charset=utf-8");
  assert.equal(shown.headers.get("refresh"), "2");
  const html = await shown.text();
  assert.match(
    html,
    /<th scope="row">main<\/th><td>open<\/td><td>0<\/td>.*<td>none<\/td><td>0 of 2<meter.*<td>no limit</s,
  );
  assert.match(html, /<th scope="row">other<\/th>.*<td>0, no limit<\/td><td>30<\/td>/s);
  assert.match(html, /<th scope="row">http:\/\/127.0.0.1:3000<\/th><td>up</);
  assert.match(
    (await (await open(on, { authorization: `Bearer ${DESK_TOKEN}` })).text()).slice(0, 15),
    /doctype html/,
  );
});

test("the page stands still when asked to", async () => {
  const still = await open(await scene(), LOGGED_IN, "/?still");
  assert.equal(still.headers.get("refresh"), null);
  assert.match(await still.text(), /stands still.*<a href="\/">/s);
});

test("its policy lets nothing in but its own style; it has no script, no form and cannot be framed", async () => {
  const shown = await open(await scene());
  const policy = shown.headers.get("content-security-policy")!;
  assert.match(
    policy,
    /^default-src 'none'; style-src 'sha256-[\w+/=]+'; .*form-action 'none'; frame-ancestors 'none'$/,
  );
  assert.equal(shown.headers.get("cross-origin-opener-policy"), "same-origin");
  assert.equal(shown.headers.get("cross-origin-resource-policy"), "same-origin");
  assert.equal(shown.headers.get("cache-control"), "no-store");
  assert.equal(shown.headers.get("access-control-allow-origin"), null);
  assert.doesNotMatch(await shown.text(), /<script|<form|\son\w+=|<img|<link/i);
});

test("what a page elsewhere makes a browser send with the password changes and reads nothing", async () => {
  const on = await scene();
  const { ask, desk } = on;
  for (const [method, path] of [
    ["POST", "/rooms/main/pause"],
    ["PATCH", "/rooms/main"],
    ["POST", "/keys/rotate"],
    ["DELETE", `/rooms/main/sessions/${"0".repeat(32)}`],
    ["POST", "/"],
    ["GET", "/rooms"],
    ["GET", "/keys"],
    ["GET", "/metrics"],
    ["GET", "/openapi.json"],
    ["GET", "//"],
    ["GET", "/?/../rooms/../metrics#"],
  ] as const) {
    const answer = await ask(path, { method, headers: LOGGED_IN });
    const isPage = path.startsWith("/?");
    assert.equal(answer.status, isPage ? 200 : 403, `${method} ${path}`);
    if (isPage) continue;
    assert.equal((await read(answer)).error.code, "password_for_page");
  }
  assert.equal(desk.room("main")!.paused, false);
  assert.equal(desk.keys().length, 1);
  for (const use of ["iframe", "image", "script", "style", "object", "embed", "empty"]) {
    const answer = await open(on, { ...LOGGED_IN, "sec-fetch-dest": use, "sec-fetch-site": "cross-site" });
    assert.equal(answer.status, 403, use);
  }
  const elsewhere = await open(on, { ...LOGGED_IN, host: "evil.example" });
  assert.equal((await read(elsewhere)).error.code, "wrong_host");
});

test("a wrong password is asked for again, and counts as a wrong token", async () => {
  const on = await scene();
  for (const wrong of [
    basic("wrong"),
    basic(`${DESK_TOKEN}x`),
    basic(DESK_TOKEN.toUpperCase()),
    basic("é".repeat(40)),
  ]) {
    const answer = await open(on, { ...AS_BROWSER, authorization: wrong });
    assert.deepEqual([answer.status, (await read(answer)).error.code], [401, "token_wrong"], wrong);
    assert.match(answer.headers.get("www-authenticate")!, /^Basic /);
  }
  for (const none of [
    basic(""),
    "Basic",
    "Basic %%%",
    `Basic ${Buffer.from(DESK_TOKEN).toString("base64")}`,
    DESK_TOKEN,
  ]) {
    const answer = await open(on, { ...AS_BROWSER, authorization: none });
    assert.equal((await read(answer)).error.code, "token_missing", none);
  }
  const onRooms = await open(on, { authorization: basic("wrong") }, "/rooms");
  assert.match(onRooms.headers.get("www-authenticate")!, /^Bearer .*invalid_token/);
  for (let i = 0; i < FAILURES_MAX; i++) await open(on, { authorization: basic("guess") });
  assert.equal(
    (await read(await open(on, { authorization: basic("guess") }))).error.code,
    "too_many_attempts",
  );
  assert.equal((await open(on)).status, 200, "the right one is never locked out");
  const closed = await scene({ token: null });
  assert.equal((await open(closed, { authorization: basic("") })).status, 403);
});

test("an open page needs no token, and everything else still does", async () => {
  const on = await scene({ isPageOpen: true });
  const nobody = { authorization: "" };
  assert.equal((await open(on, nobody)).status, 200);
  assert.equal((await open(on, { ...nobody, host: "evil.example" })).status, 403);
  for (const path of ["/rooms", "/rooms/main", "/metrics", "/keys", "/nowhere"])
    assert.equal((await open(on, nobody, path)).status, 401, path);
  for (const path of ["/", "/rooms/main/pause"])
    assert.equal((await on.ask(path, { method: "POST", headers: nobody })).status, 401, path);
});

test("names from the settings are text", async () => {
  const on = await scene();
  on.desk.rooms = () => ['<b onclick="x">&\''];
  const counts = on.engine.counts("main");
  const board = on.engine.board("main");
  on.engine.counts = () => counts;
  on.engine.board = () => board;
  const html = await (await open(on)).text();
  assert.ok(html.includes("&#60;b onclick=&#34;x&#34;&#62;&#38;&#39;"));
});

test("while the engine does not answer, the page says so and goes on loading itself again", async () => {
  const on = await scene();
  on.desk.engine.counts = () => Promise.reject(new Error("away"));
  const answer = await open(on);
  assert.deepEqual([answer.status, answer.headers.get("refresh")], [503, "2"]);
  assert.match(await answer.text(), /The engine does not answer/);
});
