/**
 * Makes the single executable and its notices in the folder that is named: one bundle of the program and what it needs from
 * npm, put with the files it reads into a copy of the Node that runs this (docs/decisions/single-executable.md).
 *
 * A module finds the files beside it by `import.meta.url`. In the bundle each such module keeps its own path, as
 * `asset:/src/…`, and gets a `node:fs` and `node:worker_threads` that know such paths. Nothing in `src` knows of this.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { copyFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, relative } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
const THREAD = "src/durable/checkpoint-thread.ts";
const REPLACED: Readonly<Record<string, string>> = {
  "node:fs": join(import.meta.dirname, "asset-fs.ts"),
  "node:worker_threads": join(import.meta.dirname, "asset-thread.ts"),
};

/** CommonJS packages call it for modules of Node's own. Nothing else is found, whatever lies beside the executable. */
const REQUIRE = `const require = (name) => {
  const found = process.getBuiltinModule(name);
  if (found) return found;
  throw Object.assign(new Error("Cannot find module '" + name + "'"), { code: "MODULE_NOT_FOUND" });
};`;

/** What is used of esbuild. Its own types are not there before it is installed. */
interface Esbuild {
  build(options: object): Promise<{ metafile: { inputs: Record<string, unknown> }; warnings: unknown[] }>;
}
interface PluginBuild {
  onLoad(
    which: { filter: RegExp },
    load: (file: { path: string }) => { contents: string; loader: "ts" } | undefined,
  ): void;
  onResolve(
    which: { filter: RegExp },
    resolve: (wanted: { path: string; importer: string }) => { path: string } | undefined,
  ): void;
}

const { build } = createRequire(import.meta.url)("esbuild") as Esbuild;
const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error("name the folder");
mkdirSync(folder, { recursive: true });
const at = (name: string) => join(folder, name);

const packages = new Set([
  ...(await bundle("src/cli/main.ts", "main.mjs")),
  ...(await bundle(THREAD, "thread.cjs")),
]);
stripped(process.execPath, at("node"));
writeFileSync(at("sea-config.json"), JSON.stringify(configuration()));
execFileSync(process.execPath, ["--build-sea", at("sea-config.json")], {
  cwd: ROOT,
  stdio: ["ignore", "ignore", "inherit"],
});
writeFileSync(at("NOTICES.txt"), notices());
for (const name of ["main.mjs", "thread.cjs", "node", "sea-config.json"]) rmSync(at(name));

/** Writes one file with all that the entry leads to; the folders of the npm packages in it. */
async function bundle(entry: string, name: string): Promise<string[]> {
  const isModule = name.endsWith(".mjs");
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    outfile: at(name),
    bundle: true,
    platform: "node",
    target: `node${process.versions.node}`,
    format: isModule ? "esm" : "cjs",
    ...(isModule && { banner: { js: REQUIRE } }),
    plugins: [{ name: "assets", setup: findAssets }],
    legalComments: "none",
    logLevel: "warning",
    metafile: true,
  });
  return Object.keys(metafile.inputs).flatMap(
    (file) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0] ?? [],
  );
}

function findAssets({ onLoad, onResolve }: PluginBuild): void {
  const readers = new Set<string>();
  onLoad({ filter: /\/src\/.*\.ts$/ }, ({ path }) => {
    const text = readFileSync(path, "utf8");
    if (!text.includes("import.meta.url")) return undefined;
    readers.add(path);
    const contents = text
      .replaceAll("createRequire(import.meta.url)(", "require(")
      .replaceAll("import.meta.url", JSON.stringify(`asset:/${relative(ROOT, path)}`));
    return { contents, loader: "ts" };
  });
  onResolve({ filter: /^node:(fs|worker_threads)$/ }, ({ path, importer }) =>
    readers.has(importer) ? { path: REPLACED[path]! } : undefined,
  );
}

/** A copy of a program without the names of its functions, which are a fifth of it; the whole where nothing can strip it. */
function stripped(program: string, to: string): void {
  if (spawnSync("strip", ["-o", to, program]).status === 0) return;
  console.log("There is no `strip` here (Debian: binutils), so the executable stays larger than it need be.");
  copyFileSync(program, to);
}

function configuration(): object {
  const files = globSync("src/**/*.{html,css,js,json,lua}", { cwd: ROOT, exclude: ["src/testing/**"] });
  const asThemselves = ["package.json", ...files].map((file) => [file, join(ROOT, file)]);
  return {
    main: at("main.mjs"),
    mainFormat: "module",
    executable: at("node"),
    output: at("fairgate"),
    disableExperimentalSEAWarning: true,
    // What NODE_OPTIONS says is meant for another Node.
    execArgvExtension: "none",
    assets: { ...Object.fromEntries(asThemselves), [THREAD]: at("thread.cjs") },
  };
}

/** The licences of all that is in the executable. */
function notices(): string {
  // Beside the program, or in the npm package that brought it.
  const places = ["../LICENSE", "../node_modules/node-*/LICENSE", "../../node-*/LICENSE"];
  const ofNode = globSync(places, { cwd: dirname(process.execPath) })
    .map((file) => readFileSync(join(dirname(process.execPath), file), "utf8"))
    .find((text) => text.startsWith("Node.js is licensed"));
  if (ofNode === undefined) throw new Error(`there is no licence of Node beside ${process.execPath}`);
  const parts = [...packages].sort().map((path) => {
    const { name, version, license, homepage } = JSON.parse(
      readFileSync(join(ROOT, path, "package.json"), "utf8"),
    );
    const files = globSync("{LICENSE,LICENCE,NOTICE,license}*", { cwd: join(ROOT, path) }).sort();
    const texts = files.map((file) => readFileSync(join(ROOT, path, file), "utf8").trim());
    if (texts.length === 0) texts.push(`The package has no text of its licence. Its home is ${homepage}.`);
    return [`${name} ${version} (${license})`, ...texts].join("\n\n");
  });
  const node = `Node.js ${process.versions.node}\n\n${ofNode.trim()}`;
  return `This file has the licences of what is in the executable beside Fairgate.\n\n${[...parts, node].join(`\n\n${"=".repeat(80)}\n\n`)}\n`;
}
