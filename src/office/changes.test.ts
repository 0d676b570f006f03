import assert from "node:assert/strict";
import { test } from "node:test";
import { scene } from "../testing/office/scene.ts";

test("changes that cannot be used are shown with the reason, without what bypass rules ask for", async () => {
  const { ask, desk } = await scene();
  const secret = { header: { "X-Hook-Key": "swordfish" } };
  const about = { room: "main", settings: ["paused"], reason: "it is odd" };
  const at = Date.UTC(2026, 5, 2, 10);
  desk.unusedChanges = () => [about];
  desk.asideChanges = async () => [
    {
      ...about,
      at,
      change: { paused: "no", bypass: [secret], events: [{ name: "a", bypass: [secret] }, 7] },
    },
    { ...about, at, change: { events: { bypass: secret } } },
    { ...about, at, change: "{swordfish" },
  ];
  const response = await ask("/changes");
  assert.equal(response.status, 200);
  const text = await response.text();
  assert.doesNotMatch(text, /swordfish/);
  const shown = { ...about, at: "2026-06-02T10:00:00.000Z" };
  assert.deepEqual(JSON.parse(text), {
    unused: [about],
    aside: [
      {
        ...shown,
        change: { paused: "no", bypass: "hidden", events: [{ name: "a", bypass: "hidden" }, null] },
      },
      { ...shown, change: { events: "hidden" } },
      { ...shown, change: null },
    ],
  });
});

test("they are for operators alone", async () => {
  const { ask } = await scene();
  assert.equal((await ask("/changes", { headers: { authorization: "Bearer wrong" } })).status, 401);
});
