/**
 * Writes the generated files: the index of languages; from the settings' schema `fairgate.example.yaml` and
 * `docs/settings.md`; the tables in `docs/shop.md`, and the one in `docs/engines.md` from the engines' capabilities;
 * `docs/errors.md` from the catalogue of errors; and the client that the demo's shop serves. Tests fail when they are out of date;
 * `npm run generate` updates them.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { languageIndex } from "../src/testing/language-index.ts";

const root = dirname(import.meta.dirname);

function write(name: string, text: string): void {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
  console.log(`wrote ${name}`);
}

// First: the schema knows the languages by it.
write("src/config/language-tags.ts", languageIndex());
const { exampleYaml } = await import("../src/config/example.ts");
const { settingsOutline } = await import("../src/config/outline.ts");
const { settingsReference } = await import("../src/config/reference.ts");
const { coveringTests } = await import("../src/testing/requirements/covering-tests.ts");
const { requirementsTable } = await import("../src/testing/requirements/requirements.ts");
write("fairgate.example.yaml", exampleYaml(settingsOutline()));
write("docs/settings.md", settingsReference(settingsOutline(), requirementsTable(coveringTests())));
const { catalogueOutline } = await import("../src/config/outline.ts");
const { withCatalogueTables } = await import("../src/config/reference.ts");
const shopPage = readFileSync(join(root, "docs/shop.md"), "utf8");
write("docs/shop.md", withCatalogueTables(shopPage, catalogueOutline()));
const { errorsPage } = await import("./errors-page.ts");
write("docs/errors.md", errorsPage());
const { withCapabilityTable } = await import("../src/config/capability-table.ts");
write("docs/engines.md", withCapabilityTable(readFileSync(join(root, "docs/engines.md"), "utf8")));
const { browserClient } = await import("./browser-client.ts");
write("src/cli/demo/site/fairgate-client.js", browserClient());
