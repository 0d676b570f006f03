/**
 * Writes what comes from code: `fairgate.example.yaml` and `docs/settings.md` from the settings' schema, and the table in
 * `docs/engines.md` from the engines' capabilities. A test fails when they are out of step; `npm run generate` puts them
 * right.
 */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { withCapabilityTable } from "../src/config/capability-table.ts";
import { exampleYaml } from "../src/config/example.ts";
import { settingsOutline } from "../src/config/outline.ts";
import { settingsReference } from "../src/config/reference.ts";

const root = dirname(import.meta.dirname);

const files = {
  "fairgate.example.yaml": exampleYaml(settingsOutline()),
  "docs/settings.md": settingsReference(settingsOutline()),
  "docs/engines.md": withCapabilityTable(readFileSync(join(root, "docs/engines.md"), "utf8")),
};

for (const [name, text] of Object.entries(files)) {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
  console.log(`wrote ${name}`);
}
