import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { parse } from "yaml";
import { COVERED_BY, REQUIREMENTS, requirementsTable } from "./requirements.ts";
import { type RoomInput, roomSchema, settingsSchema } from "./schema.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const IDS = [
  ...Array.from({ length: 12 }, (_, index) => `ce${index + 1}`),
  ...Array.from({ length: 4 }, (_, index) => `cp${index + 1}`),
  ...Array.from({ length: 3 }, (_, index) => `ma${index + 1}`),
  ...Array.from({ length: 4 }, (_, index) => `mt${index + 1}`),
];

test("every requirement is in the table, once, with a setting and a test", () => {
  assert.deepEqual(
    REQUIREMENTS.map(({ id }) => id),
    IDS,
  );
  assert.deepEqual(Object.keys(COVERED_BY), IDS);
  for (const { id, says, settings } of REQUIREMENTS) {
    assert.ok(settings.length > 0 && says.endsWith("."), id);
    assert.ok(COVERED_BY[id]!.length > 0, id);
    assert.match(requirementsTable(), new RegExp(`^\\| ${id} \\| .+ \\| \`.+\\| .+ \\|$`, "m"));
  }
});

/** True where the settings are good in a room, in an event of one, or at the top. */
function isSetting(written: string): boolean {
  const settings = parse(written) as object;
  const event = {
    name: "sale",
    eventStartTime: "2026-12-01T10:00:00Z",
    eventEndTime: "2026-12-01T12:00:00Z",
    ...settings,
  };
  return (
    roomSchema.safeParse(settings).success ||
    roomSchema.safeParse({ events: [event] } satisfies RoomInput).success ||
    settingsSchema.safeParse(settings).success
  );
}

test("every setting in the table can be written so", () => {
  for (const { id, settings } of REQUIREMENTS)
    for (const written of settings) assert.ok(isSetting(written), `${id}: ${written}`);
  assert.ok(!isSetting("queueingMethod: lifo") && !isSetting("shuffle: true"));
});

/** A test's name as it stands in its file, where it may be written in any quotes. */
function holdsTest(file: string, name: string): boolean {
  if (file === "" || !existsSync(join(ROOT, file))) return false;
  const source = readFileSync(join(ROOT, file), "utf8");
  return ['"', "'", "`"].some((quote) => source.includes(`${quote}${name}${quote}`));
}

describe("the tests named for a requirement are there:", () => {
  for (const id of IDS) {
    test(id, () => {
      for (const { file, name } of COVERED_BY[id]!)
        assert.ok(holdsTest(file, name), `${id}: ${file || "no file"} has no test called "${name}"`);
    });
  }

  test("and one that is not there would be noticed", () => {
    assert.ok(!holdsTest("src/config/requirements.test.ts", ["a name", "that nobody wrote"].join(" ")));
    assert.ok(!holdsTest("src/config/nowhere.test.ts", "a"));
    assert.ok(holdsTest("src/config/requirements.test.ts", "every setting in the table can be written so"));
  });
});
