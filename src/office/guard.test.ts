import assert from "node:assert/strict";
import { test } from "node:test";
import { read, type Scene, scene } from "../testing/office/scene.ts";
import { BODY_BYTES_MAX } from "./body.ts";
import { STRICT_HEADERS } from "./guard.ts";

const statusFor = async ({ ask }: Scene, host: string) =>
  (await ask("/healthz", { headers: { host } })).status;

test("on loopback a request must name this machine", async () => {
  const on = await scene({ host: "127.0.0.1" });
  for (const host of ["localhost", "LOCALHOST:8081", "127.0.0.1:8081", "127.0.0.1", "[::1]:8081", "[::1]"]) {
    assert.equal(await statusFor(on, host), 200, host);
  }
  for (const host of [
    "evil.example",
    "evil.example:8081",
    "localhost.evil.example",
    "127.0.0.1.nip.io",
    "10.0.0.1",
  ]) {
    assert.equal(await statusFor(on, host), 403, host);
  }
});

test("a wrong host is refused before the token is looked at", async () => {
  const { ask } = await scene();
  const response = await ask("/rooms", { headers: { host: "evil.example" } });
  assert.equal(response.status, 403);
  assert.equal((await read(response)).error.code, "wrong_host");
});

test("the configured loopback address counts as this machine", async () => {
  assert.equal(await statusFor(await scene({ host: "127.0.0.53" }), "127.0.0.53:8081"), 200);
  assert.equal(await statusFor(await scene({ host: "::1" }), "[::1]:8081"), 200);
  assert.equal(await statusFor(await scene({ host: "::1" }), "evil.example"), 403);
});

test("bound to another address, any host may be named", async () => {
  for (const host of ["", "0.0.0.0", "10.0.0.5", "control.example.com"]) {
    assert.equal(await statusFor(await scene({ host }), "control.example.com"), 200, host);
  }
});

test("every answer has the strict headers and none lets another site in", async () => {
  const { ask, desk } = await scene();
  desk.rotateKeys = () => Promise.reject(new Error("broken"));
  const answers = await Promise.all([
    ask("/rooms"),
    ask("/metrics"),
    ask("/healthz"),
    ask("/nowhere"),
    ask("/rooms", { headers: { authorization: "" } }),
    ask("/rooms", { method: "PUT" }),
    ask("/keys/rotate", { method: "POST" }),
    ask("/rooms", { headers: { host: "evil.example" } }),
    ask("/rooms", { method: "OPTIONS", headers: { origin: "https://evil.example" } }),
  ]);
  assert.deepEqual(
    answers.map(({ status }) => status),
    [200, 200, 200, 404, 401, 405, 500, 403, 405],
  );
  for (const { headers } of answers) {
    for (const [name, value] of Object.entries(STRICT_HEADERS)) assert.equal(headers.get(name), value);
    assert.equal(headers.get("access-control-allow-origin"), null);
  }
});

test("an unknown path is 404 and a wrong method 405 with what is allowed", async () => {
  const { ask } = await scene();
  assert.equal((await read(await ask("/nowhere"))).error.code, "not_found");
  const cases = [
    ["PUT", "/rooms/main", "GET, HEAD, PATCH"],
    ["GET", "/rooms/main/pause", "POST"],
    ["GET", "/keys/rotate", "POST"],
    ["POST", "/metrics", "GET, HEAD"],
    ["POST", "/healthz", "GET, HEAD"],
    ["GET", "/rooms/main/sessions/00", "DELETE"],
  ] as const;
  for (const [method, path, allow] of cases) {
    const response = await ask(path, { method });
    assert.equal(response.status, 405, path);
    assert.equal(response.headers.get("allow")?.split(", ").sort().join(", "), allow);
    assert.equal((await read(response)).error.code, "wrong_method");
  }
});

test("an unknown failure shows an id that is in the log, and nothing else", async () => {
  const { ask, desk, world } = await scene();
  desk.rotateKeys = () => Promise.reject(new Error("the secret is swordfish"));
  const { error } = await read(await ask("/keys/rotate", { method: "POST" }));
  assert.doesNotMatch(error.message, /swordfish/);
  const entry = world.logged.find(({ level }) => level === "error")!;
  assert.ok(error.message.includes((entry.fields as { id: string }).id));
});

test("a body over the limit is refused unread", async () => {
  const { ask, desk } = await scene();
  const response = await ask("/rooms/main", {
    method: "PATCH",
    headers: { "content-length": String(BODY_BYTES_MAX + 1) },
    json: { paused: true },
  });
  assert.equal(response.status, 413);
  assert.equal((await read(response)).error.code, "too_large");
  assert.equal(desk.room("main")!.paused, false);
});
