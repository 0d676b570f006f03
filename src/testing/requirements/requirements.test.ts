import assert from "node:assert/strict";
import { test } from "node:test";
import { parse } from "yaml";
import { type RoomInput, roomSchema, settingsSchema } from "../../config/schema.ts";
import { coveringTests, coveringTestsIn } from "./covering-tests.ts";
import { REQUIREMENTS, requirementsTable } from "./requirements.ts";

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
  const covering = coveringTests();
  for (const { id, says, settings } of REQUIREMENTS) {
    assert.ok(settings.length > 0 && says.endsWith("."), id);
    assert.ok(
      covering.some(({ ids }) => ids.includes(id)),
      `no test proves ${id}`,
    );
    assert.match(requirementsTable(covering), new RegExp(`^\\| ${id} \\| .+ \\| \`.+\\| .+ \\|$`, "m"));
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

test("every setting in the table is valid", () => {
  for (const { id, settings } of REQUIREMENTS)
    for (const written of settings) assert.ok(isSetting(written), `${id}: ${written}`);
  assert.ok(!isSetting("queueingMethod: lifo") && !isSetting("shuffle: true"));
});

test("a test counts only when its own call names what it proves", () => {
  const say = (...lines: string[]) =>
    coveringTestsIn(
      "some.test.ts",
      ['import { proves } from "../testing/requirements/proves.ts";', ...lines].join("\n"),
    );
  const call = 'test(proves(["ce1", "cp1"], "a name"), () => {});';
  assert.deepEqual(say(call), [{ ids: ["ce1", "cp1"], name: "a name", file: "some.test.ts" }]);
  assert.equal(say(`function suite(play: Play): void { ${call.replace("test", "play")} }`).length, 1);
  for (const line of [
    `// ${call}`,
    `const text = \`${call}\`;`,
    'proves(["ce1"], "a name");',
    'test("a name", f);',
  ])
    assert.deepEqual(say(line), [], line);
  assert.deepEqual(coveringTestsIn("some.test.ts", call), [], "it must be the real one");
  assert.throws(() => say('const name = "n"; test(proves(["ce1"], name), f);'), /written out/);
});
