/** Certificates and keys for tests only. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Where the fixture is. */
export function fixturePath(name: string): string {
  return join(import.meta.dirname, "fixtures", name);
}

/** The fixture's text. */
export function fixtureText(name: string): string {
  return readFileSync(fixturePath(name), "utf8");
}
