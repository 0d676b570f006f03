/**
 * The lock files are complete: every package that another asks for is in the same one, for every platform. npm leaves out what
 * the registry does not have, and says nothing while `node_modules` exists; the next fresh `npm ci` then fails.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

interface Package {
  readonly dependencies?: Record<string, string>;
  readonly optionalDependencies?: Record<string, string>;
}

type Packages = Record<string, Package>;

/** Whether a package at this place finds the other in its own `node_modules` or in one above it. */
function finds(packages: Packages, place: string, name: string): boolean {
  for (let at = place; ; at = at.slice(0, Math.max(0, at.lastIndexOf("node_modules/") - 1))) {
    if (`${at === "" ? "" : `${at}/`}node_modules/${name}` in packages) return true;
    if (at === "") return false;
  }
}

for (const file of ["package-lock.json", "test/real/package-lock.json", "scripts/release/package-lock.json"])
  test(`every package that another asks for is in ${file}`, () => {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), "utf8");
    const { packages } = JSON.parse(text) as { packages: Packages };
    const missing: string[] = [];
    for (const [place, { dependencies, optionalDependencies }] of Object.entries(packages))
      for (const name of Object.keys({ ...dependencies, ...optionalDependencies }))
        if (!finds(packages, place, name)) missing.push(`${name}, for ${place || "the project"}`);
    assert.deepEqual(missing, []);
  });
