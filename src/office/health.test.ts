import assert from "node:assert/strict";
import { test } from "node:test";
import { read, scene } from "../testing/office/scene.ts";
import { until } from "../testing/until.ts";
import { ENGINE_ANSWER_MAX_MS } from "./ask-engine.ts";

const NOBODY = { headers: { authorization: "" } };

test("health needs no token", async () => {
  const { ask } = await scene();
  assert.deepEqual(await (await ask("/healthz", NOBODY)).json(), { isAlive: true });
  const ready = await ask("/readyz", NOBODY);
  assert.equal(ready.status, 200);
  assert.deepEqual(await ready.json(), { isReady: true, reasons: [] });
});

test("a process that starts or stops lives and is not ready", async () => {
  const { ask, drain } = await scene();
  drain();
  assert.equal((await ask("/healthz", NOBODY)).status, 200);
  const ready = await ask("/readyz", NOBODY);
  assert.equal(ready.status, 503);
  assert.deepEqual((await read<{ reasons: string[] }>(ready)).reasons, ["Fairgate is starting or stopping."]);
});

test("an engine that fails is a reason, without its details", async () => {
  const { ask, engine } = await scene();
  engine.counts = () => {
    throw new Error("redis at 10.0.0.3 is away");
  };
  const ready = await ask("/readyz", NOBODY);
  assert.equal(ready.status, 503);
  assert.deepEqual(await ready.json(), { isReady: false, reasons: ["The engine does not answer."] });
});

test("a desk that cannot tell, or never does, is not ready", async () => {
  const { ask, desk, world } = await scene();
  desk.isReady = () => Promise.reject(new Error("broken"));
  assert.equal((await ask("/readyz", NOBODY)).status, 503);
  let isAsked = false;
  desk.isReady = () => {
    isAsked = true;
    return new Promise(() => {});
  };
  const asked = ask("/readyz", NOBODY);
  await until(() => isAsked);
  world.pass(ENGINE_ANSWER_MAX_MS);
  assert.equal((await asked).status, 503);
});

test("HEAD works for what only looks at the status", async () => {
  const { ask } = await scene();
  const response = await ask("/healthz", { method: "HEAD" });
  assert.equal(response.status, 200);
  assert.equal(await response.text(), "");
});
