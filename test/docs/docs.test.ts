/** What the documents tell readers to type works: every command is run, in order, as a reader would. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import { releaseNames } from "../../scripts/release.ts";
import { fairgate, ownFolder } from "../../src/testing/cli/fairgate.ts";
import { type Block, blocksOf, commandsOf } from "./blocks.ts";
import { Reader, whyNotHere } from "./reader.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const DOCUMENTS = globSync(["README.md", "CONTRIBUTING.md", "docs/*.md"], { cwd: ROOT }).sort();

/** Commands that are not run here, wherever they appear, and why. */
const NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^git clone\b/, "this is the clone"],
  [/^npm ci\b|^npm install (?!.*\.tgz)/, "it needs a registry that has Fairgate, or writes into the clone"],
  [/^npm test\b|^npm run ok\b/, "this is how the tests are run"],
  [/^npm start\b|\bfairgate demo\b/, "the demo is started by test/cli/demo.test.ts"],
  [/^npm run (bench|build|generate|format|release)\b/, "it takes long, or writes into the clone"],
  [/^docker\b/, "there may be no Docker where the tests run; test/release checks its files"],
  [/^(sudo )?(systemctl|install|rm|journalctl)\b/, "it changes the machine; test/release checks the unit"],
];

/** Documents that say how to get Fairgate: their reader has the published files and nothing else. */
const WAYS_IN = ["README.md", "docs/install.md"];

// Those who install Fairgate do so in one place, so they come one after the other.
describe("documents", { concurrency: 2 }, () => {
  describe("that say how to get Fairgate", { concurrency: 1 }, () => {
    for (const name of WAYS_IN) followed(name);
  });
  describe("for those who have it", { concurrency: 1 }, () => {
    for (const name of DOCUMENTS) if (!WAYS_IN.includes(name)) followed(name);
  });
});

test("the README says how to put a line in front of a site, and that is run", () => {
  const readme = readFileSync(join(ROOT, "README.md"), "utf8");
  const commands = blocksOf(readme)
    .filter(({ tag }) => tag === "run")
    .flatMap(commandsOf);
  assert.ok(commands.some((command) => /fairgate run .*--origin/.test(command)));
  assert.deepEqual(commands.filter(reasonAgainst), []);
});

test("the README's settings and flags are checked without a warning", async () => {
  using folder = ownFolder();
  const all = blocksOf(readFileSync(join(ROOT, "README.md"), "utf8"));
  folder.write("fairgate.yaml", all.find(({ language }) => language === "yaml")!.text);
  const [flags] = all.filter(({ tag }) => tag === "run").flatMap(commandsOf);
  const checks = [flags!.split(" ").slice(2), ["--config", "fairgate.yaml"]];
  for (const args of checks) {
    const { code, out, err } = await fairgate(["check", "--offline", ...args], { cwd: folder.path });
    assert.deepEqual([code, err], [0, ""]);
    assert.doesNotMatch(out, /warning|problem/);
  }
});

test("a block that would be skipped by mistake is an error", () => {
  for (const fence of ["bash", "console", "sh skip", "sh skip=", "sh rum"])
    assert.throws(() => blocksOf(`\`\`\`${fence}\ntrue\n\`\`\`\n`), /line 1/, fence);
  assert.throws(() => blocksOf("1. first\n\n   ```sh\n   true\n   ```\n"), /line 3: .*not indented/);
  const [block] = blocksOf("words\n\n```sh run\n# why\nfairgate run \\\n  --listen :1\n\ntrue\n```\n");
  assert.deepEqual([block!.line, block!.tag], [3, "run"]);
  assert.deepEqual(commandsOf(block!), ["fairgate run --listen :1", "true"]);
});

test("a command that fails is noticed", async () => {
  await using reader = await Reader.sitDown();
  await assert.rejects(reader.type("fairgate check"), /no settings file/);
  await assert.rejects(reader.type("something-else"));
  await assert.rejects(reader.type("fairgate run"), /ended without printing/);
});

/** Declares the test that follows a document, if there is anything to type in it. */
function followed(name: string): void {
  const document = readFileSync(join(ROOT, name), "utf8");
  const blocks = blocksOf(document).filter(isForReaders);
  if (blocks.length === 0) return;
  test(`following ${name} works`, async (t) => {
    await using reader = await Reader.sitDown({ hasFairgate: !WAYS_IN.includes(name) });
    for (const block of blocks) await t.test(`line ${block.line}`, (inner) => follow(reader, block, inner));
  });
}

/** Kinds of blocks that a reader uses: commands, whole settings files and catalogues, programs that listen, and a proxy of Next.js. */
function isForReaders({ language, text }: Block): boolean {
  if (language === "yaml") return /^(?:rooms|currency):/m.test(text);
  return language === "sh" || (language === "ts" && (listens(text) || isNextProxy(text)));
}

async function follow(
  reader: Reader,
  block: Block,
  t: { skip(reason: string): void; diagnostic(text: string): void },
) {
  if (block.language === "yaml" && /^currency:/m.test(block.text)) return reader.saveCatalogue(block.text);
  if (block.language === "yaml") return reader.saveSettings(block.text);
  if (block.language === "ts" && isNextProxy(block.text)) return reader.startNextProxy(block.text);
  if (block.language === "ts") return reader.startProgram(block.text);
  if (block.tag.startsWith("skip=")) return t.skip(block.tag.slice("skip=".length));
  const isOfDraw = block.tag === "gathering" || block.tag === "drawn";
  const without = isOfDraw ? whyNotHere("curl") : undefined;
  if (without !== undefined) return t.skip(without);
  if (block.tag === "control") await reader.needsRunning();
  if (isOfDraw) await reader.needsGathering();
  if (block.tag === "drawn") await reader.needsDraw();
  for (const command of commandsOf(block)) {
    const reason = reasonAgainst(command);
    if (reason === undefined) await reader.type(command);
    else t.diagnostic(`not run: ${command} (${reason})`);
  }
}

function reasonAgainst(command: string): string | undefined {
  const isOfLinux = /-linux-x64\.tar|^\.\/fairgate\b/.test(command);
  if (isOfLinux && !releaseNames().archive.includes("-linux-x64.")) return "it is for another platform";
  return NOT_RUN.find(([pattern]) => pattern.test(command))?.[1] ?? whyNotHere(command);
}

function listens(text: string): boolean {
  return /\blisten\(8080\)|\bport: 8080\b/.test(text);
}

function isNextProxy(text: string): boolean {
  return text.includes('from "next/server"');
}
