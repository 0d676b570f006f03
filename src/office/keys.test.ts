import assert from "node:assert/strict";
import { test } from "node:test";
import { read, scene } from "../testing/office/scene.ts";

test("keys are shown by id, never themselves, and instants as people read them", async () => {
  const { ask, desk } = await scene();
  const secretive = { id: "01", isSigning: true, retiresAt: null, key: "swordfish" };
  desk.keys = () => [secretive, { id: "00", isSigning: false, retiresAt: Date.UTC(2026, 5, 2, 10) }];
  assert.deepEqual(await (await ask("/keys")).json(), {
    keys: [
      { id: "01", isSigning: true, retiresAt: null },
      { id: "00", isSigning: false, retiresAt: "2026-06-02T10:00:00.000Z" },
    ],
  });
});

test("rotating gives a new signing key and says so in the log", async () => {
  const { ask, desk, world } = await scene();
  const from = desk.keys()[0]!.id;
  const response = await ask("/keys/rotate", { method: "POST" });
  assert.equal(response.status, 200);
  const { id } = await read<{ id: string }>(response);
  assert.equal(desk.keys().find((key) => key.isSigning)!.id, id);
  assert.deepEqual(world.logged.at(-1)!.fields, { from, to: id, by: "10.1.1.1" });
});

test("rotating by GET does nothing", async () => {
  const { ask, desk } = await scene();
  assert.equal((await ask("/keys/rotate")).status, 405);
  assert.equal(desk.keys().length, 1);
});
