import assert from "node:assert/strict";
import { test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import {
  clusterSecretFrom,
  SETTINGS_NOTE,
  type SettingsNote,
  settingsDifferences,
  settingsNote,
} from "./cluster-notes.ts";

const SECRET = "a-secret-for-tests-only-0123456789-abcdef";

function noteOf(input: object = {}, secret = SECRET): SettingsNote {
  const rooms = { a: { path: "/a", totalActiveUsers: 5 }, b: { path: "/b", totalActiveUsers: 7 } };
  const result = settingsFrom(
    { cluster: {}, rooms, ...input },
    { environment: { FAIRGATE_SECRET: secret }, readFile: () => "", needsOrigin: false },
  );
  assert.ok(result.ok);
  return settingsNote(result.settings);
}

const told = (own: SettingsNote, other: unknown) =>
  settingsDifferences(own, new Map([[`${SETTINGS_NOTE}gate-2`, other]]), ["gate-2", "gate-3"]);

test("nodes with the same settings have the same note, in whatever order their rooms are written", () => {
  const rooms = { b: { path: "/b", totalActiveUsers: 7 }, a: { path: "/a", totalActiveUsers: 5 } };
  assert.deepEqual(noteOf({ rooms, listen: ":9090" }), noteOf());
  assert.deepEqual(told(noteOf(), noteOf({ rooms })), []);
});

test("what differs is told, and not by what", () => {
  const rooms = { a: { path: "/a", totalActiveUsers: 6 }, b: { path: "/b", totalActiveUsers: 7 } };
  assert.deepEqual(told(noteOf(), noteOf({ rooms })), ["gate-2 has other rooms or budgets in its settings"]);
  const other = noteOf({ cluster: { reclaimAfter: "1h" } }, `${SECRET}x`);
  assert.deepEqual(told(noteOf(), other), [
    "gate-2 has another secret for tickets and passes, and another reclaimAfter or maxClockSkew in its settings",
  ]);
});

test("a note of another version, or none, tells nothing", () => {
  for (const other of [undefined, null, "text", { rooms: 5 }, []])
    assert.deepEqual(told(noteOf(), other), []);
});

test("the cluster's secret follows from the other one, and neither from the note nor the note from it", () => {
  assert.equal(clusterSecretFrom(SECRET), clusterSecretFrom(SECRET));
  assert.notEqual(clusterSecretFrom(SECRET), clusterSecretFrom(`${SECRET}x`));
  assert.ok(clusterSecretFrom(SECRET).length >= 43);
  assert.ok(!JSON.stringify(noteOf()).includes(SECRET.slice(0, 8)));
});
