import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { exportJWK, generateKeyPair, type JWK } from "jose";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import {
  COMPLAINT_PERIOD_MS,
  FETCH_TIMEOUT_MS,
  KEYS_FRESH_MS,
  KEYS_USED_MAX_MS,
  KeySets,
  KeysAway,
  RETRY_MS,
  UNKNOWN_KEY_RETRY_MS,
  VISITOR_PATIENCE_MS,
} from "./key-sets.ts";

const URL_AT = "https://shop.example/jwks.json?key=hidden";
const [first, second] = await Promise.all([newKey("first"), newKey("second")]);

async function newKey(kid: string): Promise<JWK> {
  const { publicKey } = await generateKeyPair("ES256", { extractable: true });
  return { ...(await exportJWK(publicKey)), kid, alg: "ES256" };
}

/** A key set at an address that answers with whatever it holds, and counts how often it was asked. */
function source(world: HandWorld, keys: JWK[]) {
  const state = { keys: keys as JWK[] | Error, asked: 0 };
  const sets = new KeySets(world, async () => {
    state.asked++;
    if (state.keys instanceof Error) throw state.keys;
    return JSON.stringify({ keys: state.keys });
  });
  const find = sets.at(URL_AT);
  const ask = async (kid = "first") => find({ alg: "ES256", kid }, { payload: "", signature: "" });
  return { state, ask, sets };
}

/** Lets everything that is ready happen. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

test("a key set is fetched before anyone needs it, and once for all who come", async () => {
  const { state, ask } = source(handWorld(), [first]);
  assert.equal(state.asked, 1);
  await Promise.all(Array.from({ length: 50 }, () => ask()));
  assert.equal(state.asked, 1);
});

test("settings that name the same address again share its keys", async () => {
  const { state, ask, sets } = source(handWorld(), [first]);
  await ask();
  sets.at(URL_AT);
  assert.equal(state.asked, 1);
  sets.at("https://shop.example/another");
  assert.equal(state.asked, 2);
});

test("an old key set is fetched anew while the one before still serves", async () => {
  const world = handWorld();
  const { state, ask } = source(world, [first]);
  await ask();
  world.pass(KEYS_FRESH_MS - 1);
  await ask();
  assert.equal(state.asked, 1);
  state.keys = [second];
  world.pass(1);
  await ask("first");
  await settle();
  assert.equal(state.asked, 2);
  await ask("second");
  await assert.rejects(ask("first"), { code: "ERR_JWKS_NO_MATCHING_KEY" });
});

test("a key nobody knows has the set fetched again, but not often", async () => {
  const world = handWorld();
  const { state, ask } = source(world, [first]);
  await ask();
  world.pass(UNKNOWN_KEY_RETRY_MS);
  state.keys = [first, second];
  await ask("second");
  assert.equal(state.asked, 2);
  for (let i = 0; i < 20; i++) await assert.rejects(ask("made up"), { code: "ERR_JWKS_NO_MATCHING_KEY" });
  assert.equal(state.asked, 2);
});

test("without keys nobody is believed, the address is left in peace, a line a minute says so", async () => {
  const world = handWorld();
  const { state, ask } = source(world, [first]);
  await ask();
  state.keys = new Error("no such host");
  world.pass(KEYS_USED_MAX_MS);
  const askedBefore = state.asked;
  const seconds = 150;
  for (let second = 0; second < seconds; second++) {
    await assert.rejects(ask(), KeysAway);
    world.pass(1_000);
  }
  assert.equal(state.asked - askedBefore, (seconds * 1_000) / RETRY_MS);
  const complaints = world.logged.filter(({ level }) => level === "warn");
  assert.equal(complaints.length, Math.ceil((seconds * 1_000) / COMPLAINT_PERIOD_MS));
  assert.doesNotMatch(JSON.stringify(complaints), /hidden/);
  assert.match(JSON.stringify(complaints), /https:\/\/shop\.example\/jwks\.json/);
  state.keys = [first];
  world.pass(RETRY_MS);
  await ask();
});

test("keys from before serve for an hour when the address is away, and then no longer", async () => {
  const world = handWorld();
  const { state, ask } = source(world, [first]);
  await ask();
  state.keys = new Error("away");
  world.pass(KEYS_USED_MAX_MS - 1);
  await ask();
  await settle();
  world.pass(1);
  await assert.rejects(ask(), KeysAway);
});

test("an answer that is no key set is as good as none", async () => {
  for (const answer of [
    "",
    "null",
    "[]",
    "{}",
    '{"keys":{}}',
    '{"keys":[1]}',
    "<html>",
    "{".repeat(70_000),
  ]) {
    const sets = new KeySets(handWorld(), async () => answer);
    await assert.rejects(
      async () => sets.at(URL_AT)({ alg: "ES256" }, { payload: "", signature: "" }),
      KeysAway,
    );
  }
});

test("nobody waits long for an address that never answers, and it is told to stop", async () => {
  const world = handWorld();
  let wasStopped = false;
  const sets = new KeySets(world, (_url, signal) => {
    signal.addEventListener("abort", () => {
      wasStopped = true;
    });
    return new Promise(() => {});
  });
  const asking = assert.rejects(
    async () => sets.at(URL_AT)({ alg: "ES256" }, { payload: "", signature: "" }),
    KeysAway,
  );
  await settle();
  world.pass(VISITOR_PATIENCE_MS);
  await asking;
  assert.equal(wasStopped, false);
  world.pass(FETCH_TIMEOUT_MS - VISITOR_PATIENCE_MS);
  await settle();
  assert.ok(wasStopped);
  assert.match(JSON.stringify(world.logged), /no answer within 5000 ms/);
});

test("an answer that comes too late for one visitor serves the next", async () => {
  const world = handWorld();
  let answer: (text: string) => void = () => {};
  const find = new KeySets(
    world,
    () =>
      new Promise((resolve) => {
        answer = resolve;
      }),
  ).at(URL_AT);
  const ask = async () => find({ alg: "ES256", kid: "first" }, { payload: "", signature: "" });
  const asking = assert.rejects(ask, KeysAway);
  await settle();
  world.pass(VISITOR_PATIENCE_MS);
  await asking;
  answer(JSON.stringify({ keys: [first] }));
  await settle();
  await ask();
});

async function serve(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks.json`;
}

test("over http: a key set is read; errors, detours and answers without end are not", async (t) => {
  const answers: Record<string, RequestListener> = {
    good: (_, response) => response.end(JSON.stringify({ keys: [first] })),
    away: (_, response) => response.writeHead(503).end(JSON.stringify({ keys: [first] })),
    elsewhere: (_, response) => response.writeHead(302, { location: "/good" }).end(),
    endless: (_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(" ".repeat(10_000)));
      };
      response.on("drain", more);
      more();
    },
    cut: (_, response) => {
      response.writeHead(200, { "content-length": "1000" }).write("{");
      setImmediate(() => response.destroy());
    },
  };
  for (const [name, answer] of Object.entries(answers)) {
    const world = handWorld();
    const find = new KeySets(world).at(await serve(t, answer));
    const found = async () => find({ alg: "ES256", kid: "first" }, { payload: "", signature: "" });
    if (name === "good") await found();
    else await assert.rejects(found, KeysAway, name);
  }
});
