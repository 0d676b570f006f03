/**
 * What is published, for `npm run release` and for the test that installs it: the npm tarball, the single executable for this
 * platform with its licences, compressed, and checksums of both. `dist` is built by then.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { EXECUTABLE, ensureExecutable } from "./executable.ts";

const ROOT = dirname(import.meta.dirname);
const MEGABYTE = 1e6;

/** The names of the files that are published. */
export function releaseNames(): { readonly tarball: string; readonly archive: string } {
  const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  const archive = `fairgate-${version}-${process.platform}-${process.arch}.tar.gz`;
  return { tarball: `fairgate-${version}.tgz`, archive };
}

/** Puts what is published into a folder. Level 9 makes the archive small, 0 makes it fast. */
export function writeRelease(folder: string, { level }: { readonly level: 0 | 9 }): void {
  ensureExecutable();
  mkdirSync(folder, { recursive: true });
  const { tarball, archive } = releaseNames();
  execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", folder], {
    cwd: ROOT,
    stdio: ["ignore", "ignore", "inherit"],
  });
  const executable = ["-C", dirname(EXECUTABLE), "fairgate", "NOTICES.txt"];
  const rest = ["-C", ROOT, "LICENSE", "fairgate.example.yaml"];
  const tar = execFileSync("tar", ["-c", "--owner=0", "--group=0", ...executable, ...rest], {
    maxBuffer: Number.POSITIVE_INFINITY,
  });
  writeFileSync(join(folder, archive), gzipSync(tar, { level }));
  const sums = [tarball, archive].map((name) => `${sha256(join(folder, name))}  ${name}\n`);
  writeFileSync(join(folder, "SHA256SUMS"), sums.join(""));
}

/** `npm run release`. */
export function release(): void {
  const folder = dirname(EXECUTABLE);
  writeRelease(folder, { level: 9 });
  for (const name of [...Object.values(releaseNames()), "fairgate"])
    console.log(`release/${name}: ${(statSync(join(folder, name)).size / MEGABYTE).toFixed(1)} MB`);
}

function sha256(file: string): string {
  return createHash("sha256").update(readFileSync(file)).digest("hex");
}
