import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { type RoomInput, roomSchema, settingsSchema } from "../../config/schema.ts";
import { checkCatalogue, type WrittenCatalogue } from "../../shop/rules/check-catalogue.ts";
import { coveringTests, coveringTestsIn } from "./covering-tests.ts";
import type { Requirement } from "./requirement.ts";
import { REQUIREMENTS, type RequirementId, requirementsTable } from "./requirements.ts";

const ROOT = join(import.meta.dirname, "..", "..", "..");

/** `count` ids of one kind. */
const ids = (kind: string, count: number) => Array.from({ length: count }, (_, i) => `${kind}${i + 1}`);
const IDS = [
  ...[...ids("ce", 5), "E.ce6", ...ids("ce", 12).slice(5), ...ids("cp", 4), ...ids("ma", 3), ...ids("mt", 5)],
  ...[...ids("cs", 6), ...ids("op", 4), ...ids("sp", 9), ...ids("tb", 5), ...ids("mc", 2)],
  ...[...ids("dp", 6), ...ids("me", 8)],
];
const TABLE: readonly Requirement[] = REQUIREMENTS;

test("all 65 requirements are in the table, each with what meets it and a test", () => {
  assert.deepEqual(
    TABLE.map(({ id }) => id),
    IDS,
  );
  assert.equal(IDS.length, 65);
  const covering = coveringTests();
  const table = requirementsTable(covering);
  assert.equal(table.match(/^\| \w+\d[^|]* \|[^|]+\|[^|]+\|.+\|$/gm)?.length, 65);
  const unproven = TABLE.filter(
    ({ id, isUnwanted }) => !isUnwanted && !covering.some(({ ids }) => ids.includes(id as RequirementId)),
  );
  assert.deepEqual(
    unproven.map(({ id }) => id),
    [],
    "no test proves these",
  );
  for (const { id, says, settings, catalogue = [], files = [], isUnwanted } of TABLE)
    assert.ok(
      says.endsWith(".") && (isUnwanted || settings.length + catalogue.length + files.length > 0),
      id,
    );
});

test("what appendix E numbers otherwise has both numbers in the table", () => {
  const table = requirementsTable([]);
  assert.match(table, /^\| ce6 of appendix E \|/m);
  for (let number = 6; number <= 12; number++)
    assert.match(table, new RegExp(`^\\| ce${number} \\(appendix E: ce${number + 1}\\) \\|`, "m"));
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

/** True where it can be part of a catalogue. */
function isCatalogue(written: string): boolean {
  const catalogue = parse(written) as Partial<WrittenCatalogue>;
  return checkCatalogue({ currency: "EUR", products: {}, ...catalogue }, 1).ok;
}

test("every setting, catalogue and file in the table is valid", () => {
  for (const { id, settings, catalogue = [], files = [] } of TABLE) {
    for (const written of settings) assert.ok(isSetting(written), `${id}: ${written}`);
    for (const written of catalogue) assert.ok(isCatalogue(written), `${id}: ${written}`);
    for (const file of files) assert.ok(existsSync(join(ROOT, file)), `${id}: ${file}`);
  }
  assert.ok(!isSetting("queueingMethod: lifo") && !isSetting("shuffle: true"));
  assert.ok(!isCatalogue("products: { seat: { stock: -1 } }"));
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
