/**
 * `npm run release`: what is published, in the folder `release`. The npm tarball, the single executable for this machine's
 * platform with its licences, compressed, and checksums of both. `dist` is built by then.
 */
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gzipSync } from "node:zlib";
import { ensureExecutable } from "./executable.ts";

const ROOT = dirname(import.meta.dirname);
const FOLDER = join(ROOT, "release");
const MEGABYTE = 1e6;

const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
ensureExecutable();
const tarball = `fairgate-${version}.tgz`;
execFileSync("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", FOLDER], { cwd: ROOT });
const archive = `fairgate-${version}-${process.platform}-${process.arch}.tar.gz`;
const notes = ["-C", ROOT, "LICENSE", "fairgate.example.yaml"];
const tar = execFileSync(
  "tar",
  ["-c", "--owner=0", "--group=0", "-C", FOLDER, "fairgate", "NOTICES.txt", ...notes],
  {
    maxBuffer: Number.POSITIVE_INFINITY,
  },
);
writeFileSync(join(FOLDER, archive), gzipSync(tar, { level: 9 }));
const sums = [tarball, archive].map((name) => `${sha256(name)}  ${name}\n`).join("");
writeFileSync(join(FOLDER, "SHA256SUMS"), sums);
for (const name of [tarball, archive, "fairgate"]) console.log(`release/${name}: ${megabytes(name)} MB`);

function sha256(name: string): string {
  return createHash("sha256")
    .update(readFileSync(join(FOLDER, name)))
    .digest("hex");
}

function megabytes(name: string): string {
  return (statSync(join(FOLDER, name)).size / MEGABYTE).toFixed(1);
}
