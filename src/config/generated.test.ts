/** The files made from the schema are in step with it, and the example is one that works. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { exampleYaml } from "./example.ts";
import { explain } from "./explain.ts";
import { loadSettings } from "./load.ts";
import { type Setting, settingsOutline } from "./outline.ts";
import { settingsReference } from "./reference.ts";
import { roomSchema, type Settings, settingsSchema } from "./schema.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const SECRET = "example-secret-for-tests-0123456789";
const example = readFileSync(join(ROOT, "fairgate.example.yaml"), "utf8");
const reference = readFileSync(join(ROOT, "docs", "settings.md"), "utf8");

function load(text: string, files: Record<string, string> = {}): Settings {
  const readFile = (fileName: string) => files[fileName.slice(1)] ?? assert.fail(`${fileName} was read`);
  const result = loadSettings(
    { text, file: "/fairgate.example.yaml" },
    {},
    { FAIRGATE_SECRET: SECRET },
    readFile,
  );
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  return result.settings;
}

test("fairgate.example.yaml is in step with the schema (npm run generate)", () => {
  assert.equal(example, exampleYaml(settingsOutline()));
});

test("docs/settings.md is in step with the schema (npm run generate)", () => {
  assert.equal(reference, settingsReference(settingsOutline()));
});

test("the example loads as it stands, and every value in it is the default but those that show a working room", () => {
  const settings = load(example);
  const defaults = roomSchema.parse({ totalActiveUsers: 200, newUsersPerMinute: 600 });
  assert.deepEqual(settings.rooms, { main: defaults });
  const plain = settingsSchema.parse({ origin: { addresses: ["http://127.0.0.1:3000"] } });
  assert.deepEqual(settings.origin, plain.origin);
  assert.deepEqual(settings.limits, plain.limits);
  assert.deepEqual(settings.listen, plain.listen);
});

/** The example with every setting that is off turned on, but for those that exclude each other. */
function turnedOn(): string {
  return example
    .replace(/^(\s*)#(?=[a-zA-Z]+:)/gm, "$1")
    .replace(/^\s*(?:secretFile|tokenFile|tls|certificateFile|keyFile):.*\n/gm, "");
}

test("the settings that are off in the example load when they are turned on", () => {
  const settings = load(turnedOn().replace("customPageHtml: null\n", ""), { "waiting.html": "<p>Wait" });
  assert.deepEqual(settings.origin?.healthCheck, { path: "/", interval: 10_000, timeout: 2_000 });
  assert.equal(settings.rooms.main?.page.customPageHtml, "<p>Wait");
  assert.equal(typeof settings.control.token, "string");
});

/** Every path of a single value, with the room of the example for any room. */
function paths(setting: Setting, path: readonly string[]): string[] {
  if (setting.entry && !setting.isList) return paths(setting.entry, [...path, "main"]);
  if (setting.children.length === 0) return [path.join(".")];
  return setting.children.flatMap((child) => paths(child, [...path, child.key]));
}

test("every setting is in the example and in the reference", () => {
  const written = parse(example.replace(/^(\s*)#(?=[a-zA-Z]+:)/gm, "$1"));
  const all = paths(settingsOutline(), []).filter((path) => !path.startsWith("rooms.main.origin."));
  assert.ok(all.length > 50, `only ${all.length} settings`);
  for (const path of all) {
    const keys = path.split(".");
    const inner = keys.slice(0, -1).reduce((value, key) => value?.[key], written);
    assert.ok(inner && keys.at(-1)! in inner, `${path} is not in the example`);
    assert.ok(reference.includes(`| \`${keys.at(-1)}\` |`), `${path} is not in the reference`);
  }
});
