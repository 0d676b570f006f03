/** `fairgate/client` is as small as docs/library.md says, needs nothing, and names nothing that only Node has. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { test } from "node:test";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { ensureExecutable, RELEASE_TOOLS } from "../../scripts/executable.ts";

const CLIENT = join(import.meta.dirname, "../../src/client.ts");
const MINIFIED_MAX = 5_000;
const GZIP_MAX = 2_700;
const BROTLI_MAX = 2_500;

interface Built {
  readonly outputFiles: readonly { readonly contents: Uint8Array }[];
  readonly metafile: { readonly inputs: object };
}

ensureExecutable();
const { buildSync } = createRequire(join(RELEASE_TOOLS, "make-executable.ts"))("esbuild") as {
  buildSync(options: object): Built;
};
const { outputFiles, metafile } = buildSync({
  entryPoints: [CLIENT],
  bundle: true,
  minify: true,
  format: "esm",
  platform: "browser",
  target: "es2022",
  write: false,
  metafile: true,
});
const minified = outputFiles[0]!.contents;

test(`the client is less than ${MINIFIED_MAX} bytes when minified, and half of that when compressed`, (t) => {
  const sizes = [minified.length, gzipSync(minified).length, brotliCompressSync(minified).length] as const;
  t.diagnostic(`minified ${sizes[0]}, gzip ${sizes[1]}, brotli ${sizes[2]}`);
  for (const [n, max] of [MINIFIED_MAX, GZIP_MAX, BROTLI_MAX].entries())
    assert.ok(sizes[n]! < max, `${sizes[n]} of ${max}`);
  const [, kilobytes] = /under (\d+) KB minified/.exec(
    readFileSync(join(import.meta.dirname, "../../docs/library.md"), "utf8"),
  )!;
  assert.equal(Number(kilobytes) * 1_000, MINIFIED_MAX);
});

test("the client is one file that imports nothing", () => {
  assert.deepEqual(Object.keys(metafile.inputs).length, 1);
  assert.doesNotMatch(Buffer.from(minified).toString(), /\bimport\b|\brequire\b|node:/);
});
