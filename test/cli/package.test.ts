/**
 * The package as users get it: built, packed, installed in an empty folder, run from there, imported from there. The
 * Node that runs it is the one that runs the tests; npm is the one beside the system's Node.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Child } from "../../src/testing/cli/child.ts";
import { ownFolder, running, SECRET, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor, readBoard } from "../../src/testing/cli/visitor.ts";
import { startRedis } from "../../src/testing/redis/servers.ts";
import { importsOf, isTest } from "../tidy/sources.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const environment = {
  FAIRGATE_SECRET: SECRET,
  FAIRGATE_CONTROL_TOKEN: TOKEN,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
};

describe("the packed tarball", () => {
  const folder = ownFolder();
  let files: string[] = [];

  before(async () => {
    if (!isBuilt()) await succeed(process.execPath, ["scripts/task.ts", "build"], ROOT);
    const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", folder.path];
    const packed = JSON.parse(await succeed("npm", pack, ROOT)) as [
      { filename: string; files: { path: string }[] },
    ];
    files = packed[0].files.map(({ path }) => path);
    const install = ["install", "--prefer-offline", "--no-audit", "--no-fund", `./${packed[0].filename}`];
    await succeed("npm", install, folder.path);
  });
  after(() => folder[Symbol.dispose]());

  test("holds the program, the page's parts and the languages, and nothing that is not for users", () => {
    for (const wanted of [
      ...namedInPackage(),
      "dist/engines/redis/lua/exact/94-data.lua",
      "dist/engines/redis/lua/relaxed/95-shards.lua",
      "dist/engines/redis/lua/rules/30-door.lua",
      "dist/engines/redis/relaxed/lua/20-add.lua",
      "dist/shop/ledger/shared/ledger.lua",
      "dist/gateway/page/page.html",
      "dist/gateway/page/page.css",
      "dist/gateway/page/page.js",
      "dist/cli/demo/site/event.html",
      "dist/cli/demo/site/fairgate-client.js",
      "fairgate.example.yaml",
      "docs/settings.md",
      "deploy/nginx/fairgate.conf",
      "package.json",
    ])
      assert.ok(files.includes(wanted), `${wanted} is missing`);
    const languages = globSync("src/gateway/page/languages/*.json", { cwd: ROOT });
    assert.ok(languages.length >= 12);
    for (const file of languages)
      assert.ok(files.includes(file.replace("src", "dist")), `${file} is missing`);
    const allowed =
      /^(dist\/|deploy\/|docs\/|package\.json$|fairgate\.example\.yaml$|README\.md$|LICENSE$|CHANGELOG\.md$)/;
    const strange = files.filter(
      (file) => !allowed.test(file) || /\.test\.|(?<!\.d)\.ts$|bad-files/.test(file),
    );
    assert.deepEqual(strange, []);
  });

  test("holds nothing that only tests, suites and benches use", () => {
    const needed = neededBy(ENTRY_POINTS);
    assert.deepEqual([...needed].filter(isTest), []);
    const strange = files
      .filter((file) => file.startsWith("dist/") && !ASSETS.test(file))
      .filter((file) => !needed.has(file.replace(/^dist/, "src").replace(/(\.d\.ts|\.js)$/, ".ts")));
    assert.deepEqual(strange, []);
  });

  test("checks and runs from an empty folder as it does from a clone", async () => {
    await using origin = await TestOrigin.open();
    const flags = ["--origin", origin.address, "--total-active-users", "1"];
    const bin = join(folder.path, "node_modules", ".bin", "fairgate");
    assert.match(await succeed(bin, ["check", ...flags], folder.path), /one room \(main\)/);
    const anywhere = ["--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];
    const child = new Child(bin, ["run", ...flags, ...anywhere], { cwd: folder.path, environment });
    await using run = await running(child);
    assert.equal((await ProcessVisitor.arrive(run.address)).standing.isIn, true);
    const second = await ProcessVisitor.arrive(run.address);
    assert.equal(await second.ahead(), 0);
    const page = await second.open("/", { "accept-language": "sv" });
    assert.match(page.text, /<html lang="sv"/);
    assert.equal((await run.control.counts()).waiting, 1);
    assert.deepEqual(await run.child.end("SIGTERM"), { code: 0, signal: null });
  });

  test("npx finds the command", async () => {
    assert.match(await succeed("npx", ["fairgate", "--version"], folder.path), /^\d+\.\d+\.\d+\n$/);
  });

  for (const { node, version } of olderNodes())
    test(`says in one sentence that Node ${version} is too old, and how to get a newer one`, async () => {
      const sentence = `Fairgate needs Node 24 or newer, and this is Node ${version}: get a newer one from https://nodejs.org, or use Fairgate's single executable, which brings its own.\n`;
      const bin = join(folder.path, "node_modules", ".bin", "fairgate");
      const command = new Child(node, [bin, "--version"], { cwd: folder.path });
      assert.deepEqual(await command.ended, { code: 2, signal: null });
      assert.equal(command.err, sentence);
      for (const entry of ["fairgate", "fairgate/fetch", "fairgate/relaxed"]) {
        const script = `import("${entry}").catch((error) => console.log(error.message))`;
        assert.equal(await succeed(node, ["-e", script], folder.path), sentence, entry);
      }
    });

  test("has entry points that load nothing but the version check on an older Node", () => {
    for (const entry of ["cli/main", "index", "fetch"]) {
      const text = readFileSync(join(folder.path, "node_modules/fairgate/dist", `${entry}.js`), "utf8");
      const linked = [...text.matchAll(/^(?:import|export)\b.*?"(.*)";$/gm)].map(([, from]) => from!);
      assert.deepEqual(linked, entry === "cli/main" ? [] : ["./needs-node.js"], entry);
    }
  });

  test("needs the Node that package.json names", () => {
    const { engines } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
    const needed = /MAJOR_MIN = (\d+)/.exec(readFileSync(join(ROOT, "src/needs-node.ts"), "utf8"))![1];
    assert.equal(engines.node, `>=${needed}`);
  });

  test("is a library that serves a line", async () => {
    await using origin = await TestOrigin.open();
    folder.write("serve.mjs", PROGRAM);
    const child = new Child(process.execPath, ["serve.mjs", origin.address], {
      cwd: folder.path,
      environment,
    });
    await using _ = child;
    const [, address = ""] = await child.prints(/listening at (\S+)/);
    assert.equal((await ProcessVisitor.arrive(address)).standing.isIn, true);
    assert.equal((await ProcessVisitor.arrive(address)).standing.isIn, false);
    assert.equal((await readBoard(address)).room, "main");
    assert.deepEqual(await child.end("SIGTERM"), { code: 0, signal: null });
  });

  test("runs with a line in Redis, and is a library with a queue there", async () => {
    await using redis = await startRedis();
    await using origin = await TestOrigin.open();
    const bin = join(folder.path, "node_modules", ".bin", "fairgate");
    // A busy machine may delay an answer of Redis beyond the usual timeout.
    folder.write("patient.yaml", "redis: { timeout: 1m }\n");
    const place = ["--config", "patient.yaml", "--redis", redis.url];
    const flags = ["--origin", origin.address, "--total-active-users", "1", ...place];
    const anywhere = ["--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];
    await using run = await running(
      new Child(bin, ["run", ...flags, ...anywhere], { cwd: folder.path, environment }),
    );
    assert.equal((await ProcessVisitor.arrive(run.address)).standing.isIn, true);
    assert.equal((await ProcessVisitor.arrive(run.address)).standing.isIn, false);
    folder.write("queue.mjs", QUEUE);
    assert.match(await succeed(process.execPath, ["queue.mjs", redis.url], folder.path), /popped first$/m);
  });

  test("has types that compile in a strict project and reject wrong uses", async () => {
    folder.write("uses.mts", TYPED);
    const types = join(folder.path, "node_modules", "@types");
    mkdirSync(types, { recursive: true });
    const nodeTypes = join(types, "node");
    if (!existsSync(nodeTypes)) symlinkSync(join(ROOT, "node_modules", "@types", "node"), nodeTypes);
    const tsc = join(ROOT, "node_modules", ".bin", "tsc");
    const flags = [
      "--noEmit",
      "--strict",
      "--exactOptionalPropertyTypes",
      "--target",
      "es2024",
      "--skipLibCheck",
      "false",
    ];
    await succeed(tsc, [...flags, "--module", "nodenext", "--types", "node", "uses.mts"], folder.path);
  });
});

/** Programs named `node` on the PATH that are too old, one for each version. */
function olderNodes(): { readonly node: string; readonly version: string }[] {
  const found = process.env
    .PATH!.split(delimiter)
    .map((folder) => join(folder, "node"))
    .filter(existsSync);
  return found
    .map((node) => ({
      node,
      version: spawnSync(node, ["-p", "process.versions.node"]).stdout.toString().trim(),
    }))
    .filter(
      ({ version }, i, all) =>
        parseInt(version, 10) < 24 && all.findIndex((one) => one.version === version) === i,
    );
}

/** The files that package.json names: commands, and entry points. */
function namedInPackage(): string[] {
  const { bin, exports } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    bin: Record<string, string>;
    exports: Record<string, string | Record<string, string>>;
  };
  const named = [bin, ...Object.values(exports)].flatMap((one) =>
    typeof one === "string" ? [one] : Object.values(one),
  );
  return named.map((file) => file.replace(/^\.\//, ""));
}

/** Where programs, commands and threads start: these files and their imports are compiled for the package. */
const ENTRY_POINTS = JSON.parse(readFileSync(join(ROOT, "tsconfig.build.json"), "utf8")).files as string[];
/** Files read at run time. */
const ASSETS =
  /^dist\/(gateway\/page\/.*\.(html|css|js|json)|cli\/demo\/site\/.*\.(html|css|js)|engines\/redis\/(relaxed\/)?lua\/.*\.lua|shop\/ledger\/shared\/ledger\.lua)$/;

/** These files and all that they import. */
function neededBy(entryPoints: readonly string[]): Set<string> {
  const needed = new Set(entryPoints);
  for (const file of needed) for (const { to } of importsOf(file)) if (to?.endsWith(".ts")) needed.add(to);
  return needed;
}

const QUEUE = `
import { openRelaxedQueue } from "fairgate/relaxed";
const queue = await openRelaxedQueue({ name: "q", redis: process.argv[2], shards: 1 });
await queue.add([{ priority: 2, payload: "second" }, { priority: 1, payload: "first" }]);
const popped = await queue.pop();
console.log("popped", popped.payload);
await queue.commit([popped.handle]);
await queue.close();
`;

const PROGRAM = `
import { createServer } from "node:http";
import { createGateway } from "fairgate";
const gateway = await createGateway({
  secret: process.env.FAIRGATE_SECRET,
  origin: { addresses: [process.argv[2]] },
  rooms: { main: { totalActiveUsers: 1 } },
});
const server = createServer(gateway.handler).on("upgrade", gateway.upgrade).listen(0, "127.0.0.1", () => {
  console.log("listening at http://127.0.0.1:" + server.address().port);
});
process.on("SIGTERM", () => {
  server.closeAllConnections();
  server.close(() => gateway.close());
});
`;

const TYPED = `
import { createServer } from "node:http";
import { createGateway, type Board, type GatewayOptions, type RunningGateway } from "fairgate";
import { createLine, createShop, type ShopBasket } from "fairgate/client";
import { createFetchGateway, type FetchGateway } from "fairgate/fetch";

const shop = createShop({ room: "main", headers: () => ({ "fairgate-customer": "jwt" }) });
const basket: ShopBasket = await shop.hold({ product: "seat" }, AbortSignal.timeout(1_000));
basket.expiresInMs satisfies number | null;
shop.subscribe(({ catalogue }) => catalogue?.products[0]?.state satisfies string | undefined);
// @ts-expect-error a wish names a product
void shop.hold({ count: 1 });
(await createLine({ room: "main" }).join()).status satisfies string;

const options: GatewayOptions = { rooms: { main: { totalActiveUsers: 1, sessionDuration: "5m" } } };
const gateway: RunningGateway = await createGateway(options);
createServer(gateway.handler).on("upgrade", gateway.upgrade);
gateway.middleware satisfies (request: never, response: never, next: () => void) => void;
const board: Board = await gateway.engine.board("main");
board.waiting satisfies number | null;
// @ts-expect-error there is no such setting
const wrong: GatewayOptions = { rooms: { main: { totalActiveUser: 1 } } };
void wrong;
const address = (_request: Request, peer: string) => peer;
const fetching: FetchGateway<string> = await createFetchGateway({ ...options, address });
(await fetching.handle(new Request("http://a/"), () => new Response(), "203.0.113.1")).status satisfies number;
// @ts-expect-error it cannot know who sent a request
void createFetchGateway({ ...options });
export {};
`;

/** True when dist exists and no source file is newer. */
function isBuilt(): boolean {
  const built = join(ROOT, "dist", "index.js");
  if (!existsSync(built)) return false;
  const builtAt = statSync(built).mtimeMs;
  return globSync("src/**/*.*", { cwd: ROOT }).every((file) => statSync(join(ROOT, file)).mtimeMs <= builtAt);
}

/** Runs a command to its end and returns what it printed. Fails with that text when the command does. */
async function succeed(command: string, args: readonly string[], cwd: string): Promise<string> {
  const child = new Child(command, args, { cwd, environment });
  const { code } = await child.ended;
  assert.equal(code, 0, `${command} ${args.join(" ")}\n${child.out}\n${child.err}`);
  return child.out;
}
