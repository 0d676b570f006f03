/** The files made from code are in step with it, and the example is one that works. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { parse } from "yaml";
import { withCapabilityTable } from "../../scripts/capability-table.ts";
import { EXAMPLE_NAMES, exampleYaml, QUICK_START } from "../../scripts/example-settings.ts";
import { languageIndex } from "../../scripts/language-index.ts";
import { settingsReference, withCatalogueTables } from "../../scripts/settings-page.ts";
import { explain } from "../../src/config/explain.ts";
import { loadSettings } from "../../src/config/load.ts";
import { catalogueOutline, type Setting, settingsOutline } from "../../src/config/outline.ts";
import type { Problem } from "../../src/config/problem.ts";
import { roomSchema, type Settings, settingsSchema } from "../../src/config/schema.ts";
import { coveringTests } from "../../src/testing/requirements/covering-tests.ts";
import { requirementsTable } from "../../src/testing/requirements/requirements.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const SECRET = "example-secret-for-tests-0123456789";
const WEBHOOK = `whsec_${"example/secret+for0tests".repeat(2)}`;
const example = readFileSync(join(ROOT, "fairgate.example.yaml"), "utf8");
const reference = readFileSync(join(ROOT, "docs", "settings.md"), "utf8");

function load(text: string, files: Record<string, string> = {}): Settings {
  const readFile = (fileName: string) => files[fileName.slice(1)] ?? assert.fail(`${fileName} was read`);
  const shop = { SHOP_JWT_SECRET: SECRET, SHOP_PAYMENT_SECRET: WEBHOOK, SHOP_ORDERS_SECRET: WEBHOOK };
  const environment = { FAIRGATE_SECRET: SECRET, ...shop };
  const result = loadSettings({ text, file: "/fairgate.example.yaml" }, {}, environment, readFile);
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  const isForTest = ({ message }: Problem) => message.startsWith("FAIRGATE_SECRET is set");
  assert.equal(explain(result.warnings.filter((warning) => !isForTest(warning))), "");
  return result.settings;
}

test("the index of languages has those that the page has texts for (npm run generate)", () => {
  assert.equal(readFileSync(join(ROOT, "src/config/language-tags.ts"), "utf8"), languageIndex());
});

test("fairgate.example.yaml is in step with the schema (npm run generate)", () => {
  assert.equal(example, exampleYaml(settingsOutline()));
});

test("docs/settings.md is in step with the schema (npm run generate)", () => {
  assert.equal(reference, settingsReference(settingsOutline(), requirementsTable(coveringTests())));
});

test("the tables in docs/shop.md are in step with the catalogue's schema (npm run generate)", () => {
  const page = readFileSync(join(ROOT, "docs", "shop.md"), "utf8");
  assert.equal(page, withCatalogueTables(page, catalogueOutline()));
});

test("the table in docs/engines.md is in step with what the engines can do (npm run generate)", () => {
  const page = readFileSync(join(ROOT, "docs", "engines.md"), "utf8");
  assert.equal(page, withCapabilityTable(page));
});

test("the example loads as it stands, and every value in it is the default but those that show a working room", () => {
  const settings = load(example);
  const defaults = roomSchema.parse({ totalActiveUsers: 500, newUsersPerMinute: 100 });
  assert.deepEqual(settings.rooms, { main: defaults });
  const plain = settingsSchema.parse({ origin: { addresses: ["http://127.0.0.1:3000"] } });
  assert.deepEqual(settings.origin, plain.origin);
  assert.deepEqual(settings.limits, plain.limits);
  assert.deepEqual(settings.listen, plain.listen);
});

test("the file at the top of the example loads without a warning and admits as many as its slots allow", () => {
  const { main } = load(QUICK_START).rooms;
  assert.ok(example.includes(QUICK_START.replace(/^(?=.)/gm, "#   ")));
  assert.equal(main!.newUsersPerMinute! * (main!.sessionDuration / 60_000), main!.totalActiveUsers);
});

/** The example with every setting that is off turned on. */
const ALL_ON = example.replace(/^(\s*)#(?=[a-zA-Z]+:|- )/gm, "$1");

/**
 * The same, but for settings that exclude each other, and with a proxy to believe. A line is in one place, and shops are only
 * where it is kept in a directory.
 */
function turnedOn(place: "redis" | "cluster" | "data" = "redis"): string {
  const others = ["redis", "cluster", "shops"].filter(
    (name) => name !== (place === "data" ? "shops" : place),
  );
  const kept =
    place === "data" ? ALL_ON.replace("data: null", "data: kept") : ALL_ON.replace(/^ +shop: .*\n/m, "");
  return kept
    .replace("trustedProxies: []", "trustedProxies: [10.0.0.0/8]")
    .replace(new RegExp(`^(?:${others.join("|")}):\\n(?: .*\\n)*`, "gm"), "")
    .replace(/^(?:tls|\s*(?:secretFile|tokenFile|certificateFile|keyFile|caFile)):.*\n/gm, "");
}

test("the settings that are off in the example load when they are turned on", () => {
  const settings = load(turnedOn().replace("customPageHtml: null\n", ""), { "waiting.html": "<p>Wait" });
  assert.deepEqual(settings.origin?.healthCheck, { path: "/", interval: 10_000, timeout: 2_000 });
  assert.equal(settings.rooms.main?.page.customPageHtml, "<p>Wait");
  assert.equal(typeof settings.control.token, "string");
  const { lanes, standby, adaptive, budget, events } = settings.rooms.main!;
  assert.deepEqual(settings.redis?.addresses, [{ host: "127.0.0.1", port: 6_379 }]);
  assert.deepEqual(Object.keys(lanes), ["vip"]);
  assert.equal(lanes.vip?.members.jwt?.claim, "tier");
  assert.equal(standby?.requestsPerSecond, 400);
  assert.equal(adaptive?.latencyFactor, 2.5);
  assert.deepEqual(settings.budgets, { [budget!]: { totalActiveUsers: 800 } });
  assert.equal(events[0]?.newUsersPerMinute, 150);
});

test("the settings of a cluster that are off in the example load when they are turned on", () => {
  // The certificates are in files that are not there.
  const text = turnedOn("cluster").replace("customPageHtml: null\n", "").replace("\n  tls:\n", "\n");
  const { cluster, redis } = load(text, { "waiting.html": "<p>Wait" });
  assert.equal(redis, null);
  assert.deepEqual(cluster?.listen, { host: "", port: 7_100 });
  assert.equal(cluster?.join.length, 3);
  assert.equal(cluster?.secret, "yet-another-output-of-fairgate-keys-new-here");
});

test("the settings of a shop that are off in the example load when they are turned on", () => {
  const { shops, shopSecrets, rooms } = load(turnedOn("data").replace("customPageHtml: null\n", ""), {
    "waiting.html": "<p>Wait",
    "catalogue.yaml": "currency: EUR\nproducts: {}",
  });
  assert.equal(rooms.main?.shop, "tickets");
  assert.equal(shops.tickets?.orders?.webhook, "https://shop.example/orders");
  assert.deepEqual(shopSecrets.get("tickets")?.payment, [WEBHOOK]);
});

/** Every path of a single value, with the names of the example for any name. */
function paths(setting: Setting, path: readonly string[]): string[] {
  if (setting.entry && !setting.isList)
    return paths(setting.entry, [...path, EXAMPLE_NAMES[path.join(".")] ?? "?"]);
  if (setting.children.length === 0) return [path.join(".")];
  return setting.children.flatMap((child) => paths(child, [...path, child.key]));
}

test("every setting is in the example and in the reference", () => {
  const written = parse(ALL_ON);
  const all = paths(settingsOutline(), []).filter((path) => !path.startsWith("rooms.main.origin."));
  assert.ok(all.length > 50, `only ${all.length} settings`);
  for (const path of all) {
    const keys = path.split(".");
    const inner = keys.slice(0, -1).reduce((value, key) => value?.[key], written);
    assert.ok(inner && keys.at(-1)! in inner, `${path} is not in the example`);
    assert.ok(reference.includes(`| \`${keys.at(-1)}\` |`), `${path} is not in the reference`);
  }
});
