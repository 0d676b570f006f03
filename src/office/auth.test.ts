import assert from "node:assert/strict";
import { test } from "node:test";
import { DESK_TOKEN, read, scene } from "../testing/office/scene.ts";
import { BLOCK_MS, FAILURES_MAX, FAILURES_WINDOW_MS } from "./attempts.ts";

const WRONG = { authorization: "Bearer not-the-token" };

test("the right token opens the office", async () => {
  assert.equal((await (await scene()).ask("/rooms")).status, 200);
});

test("the word Bearer may be written in any case", async () => {
  const { ask } = await scene();
  assert.equal((await ask("/rooms", { headers: { authorization: `bearer ${DESK_TOKEN}` } })).status, 200);
});

test("no token is 401 with a challenge", async () => {
  const response = await (await scene()).ask("/rooms", { headers: { authorization: "" } });
  assert.equal(response.status, 401);
  assert.match(response.headers.get("www-authenticate")!, /^Bearer realm="fairgate"$/);
  assert.equal((await read(response)).error.code, "token_missing");
});

for (const authorization of [
  "Bearer not-the-token",
  `Bearer ${DESK_TOKEN}x`,
  `Bearer ${DESK_TOKEN.slice(0, -1)}`,
  `Bearer ${DESK_TOKEN.toUpperCase()}`,
]) {
  test(`a wrong token is 401: ${authorization}`, async () => {
    const response = await (await scene()).ask("/rooms", { headers: { authorization } });
    assert.equal(response.status, 401);
    assert.match(response.headers.get("www-authenticate")!, /error="invalid_token"/);
    assert.equal((await read(response)).error.code, "token_wrong");
  });
}

test("the token under another scheme is no token", async () => {
  const { ask } = await scene();
  for (const authorization of [`Basic ${DESK_TOKEN}`, DESK_TOKEN, `Bearer${DESK_TOKEN}`, "Bearer"]) {
    const response = await ask("/rooms", { headers: { authorization } });
    assert.equal((await read(response)).error.code, "token_missing", authorization);
  }
});

test("without a token on our side all but health is 403 and says how to set one", async () => {
  const { ask } = await scene({ token: null });
  for (const path of ["/rooms", "/rooms/main", "/metrics", "/keys", "/openapi.json", "/nowhere"]) {
    const response = await ask(path);
    assert.equal(response.status, 403, path);
    assert.match((await read(response)).error.message, /FAIRGATE_CONTROL_TOKEN/);
  }
  assert.equal((await ask("/healthz")).status, 200);
  assert.equal((await ask("/readyz")).status, 200);
});

test("paths that look like health need the token", async () => {
  const { ask } = await scene();
  for (const path of ["/healthz/", "/healthz/x", "/HEALTHZ", "/healthz%2f", "//healthz", "/rooms?/healthz"]) {
    assert.equal((await ask(path, { headers: { authorization: "" } })).status, 401, path);
  }
});

test("the right token is never locked out, however many wrong ones came from its address", async () => {
  const { ask } = await scene();
  for (let i = 0; i < 3 * FAILURES_MAX; i++) {
    await ask("/rooms", { headers: WRONG });
    assert.equal((await ask("/rooms")).status, 200, `after ${i + 1} wrong ones`);
  }
});

test("after too many wrong tokens from an address further wrong ones are told to come back later", async () => {
  const { ask, world } = await scene();
  for (let i = 0; i < FAILURES_MAX; i++) assert.equal((await ask("/rooms", { headers: WRONG })).status, 401);
  world.pass(1_000);
  const response = await ask("/rooms", { headers: WRONG });
  assert.equal(response.status, 429);
  assert.equal(response.headers.get("retry-after"), String((BLOCK_MS - 1_000) / 1_000));
  assert.equal(response.headers.get("connection"), "close");
  assert.equal(
    (await ask("/rooms", { headers: WRONG, from: "10.9.9.9" })).status,
    401,
    "others are not touched",
  );
  assert.equal((await ask("/healthz")).status, 200, "health is not touched");
  world.pass(BLOCK_MS - 1_000);
  assert.equal((await ask("/rooms", { headers: WRONG })).status, 401);
});

test("a block is logged once, without the token", async () => {
  const { ask, world } = await scene();
  for (let i = 0; i < FAILURES_MAX + 5; i++) await ask("/rooms", { headers: WRONG });
  const warnings = world.logged.filter(({ level }) => level === "warn");
  assert.deepEqual(
    warnings.map(({ fields }) => fields),
    [{ address: "10.1.1.1", addresses: 1 }],
  );
  assert.doesNotMatch(JSON.stringify(world.logged), /not-the-token/);
});

test("blocks of many addresses are logged once a second, with their number", async () => {
  const { ask, world } = await scene();
  const block = async (address: string) => {
    for (let i = 0; i < FAILURES_MAX; i++) await ask("/rooms", { headers: WRONG, from: address });
  };
  for (const address of ["10.0.0.1", "10.0.0.2", "10.0.0.3"]) await block(address);
  world.pass(1_000);
  await block("10.0.0.4");
  const warnings = world.logged.filter(({ level }) => level === "warn");
  assert.deepEqual(
    warnings.map(({ fields }) => fields),
    [
      { address: "10.0.0.1", addresses: 1 },
      { address: "10.0.0.4", addresses: 3 },
    ],
  );
});

test("wrong tokens spread over more than a minute block nobody", async () => {
  const { ask, world } = await scene();
  for (let i = 0; i < 3; i++) {
    for (let j = 0; j < FAILURES_MAX - 1; j++) await ask("/rooms", { headers: WRONG });
    world.pass(FAILURES_WINDOW_MS);
  }
  assert.equal((await ask("/rooms", { headers: WRONG })).status, 401);
});

test("requests without a token are no guesses", async () => {
  const { ask } = await scene();
  for (let i = 0; i < 2 * FAILURES_MAX; i++) await ask("/rooms", { headers: { authorization: "" } });
  assert.equal((await ask("/rooms", { headers: WRONG })).status, 401);
});

test("an IPv4 address is the same one in its IPv6 form", async () => {
  const { ask } = await scene();
  for (let i = 0; i < FAILURES_MAX; i++) await ask("/rooms", { headers: WRONG, from: "::ffff:10.1.1.1" });
  assert.equal((await ask("/rooms", { headers: WRONG, from: "10.1.1.1" })).status, 429);
});

test("a token outside ASCII is compared as the bytes that were sent", async () => {
  const token = "ett-långt-lösenord-för-kontrollen-å";
  const { ask } = await scene({ token });
  const sent = Buffer.from(token, "utf8").toString("latin1");
  assert.equal((await ask("/rooms", { headers: { authorization: `Bearer ${sent}` } })).status, 200);
});
