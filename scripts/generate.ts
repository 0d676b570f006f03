/**
 * Writes the files that come from the settings' schema, `fairgate.example.yaml` and `docs/settings.md`, and `docs/errors.md`,
 * which comes from the catalogue of errors. Tests fail when they are out of step; `npm run generate` puts them right.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { exampleYaml } from "../src/config/example.ts";
import { settingsOutline } from "../src/config/outline.ts";
import { settingsReference } from "../src/config/reference.ts";
import { coveringTests } from "../src/testing/requirements/covering-tests.ts";
import { requirementsTable } from "../src/testing/requirements/requirements.ts";
import { errorsPage } from "./errors-page.ts";

const root = dirname(import.meta.dirname);

const files = {
  "fairgate.example.yaml": exampleYaml(settingsOutline()),
  "docs/settings.md": settingsReference(settingsOutline(), requirementsTable(coveringTests())),
  "docs/errors.md": errorsPage(),
};

for (const [name, text] of Object.entries(files)) {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
  console.log(`wrote ${name}`);
}
