/**
 * A reader who types what a document says, in an empty folder: commands one after the other in one shell's environment, settings
 * files saved as they come, and a program that keeps running is left running until the next one starts.
 *
 * `fairgate` is the program from source. For documents that say how to get it, nothing is installed yet and the published files
 * are in `release`. The document's ports are replaced: the site at 127.0.0.1:3000 is the test's, 8080, 8081 and 7100 (cluster
 * nodes) are where the running Fairgate listens, and 6379 is a Redis that is started at its first mention. An event on a day in
 * the document is held today.
 */
import assert from "node:assert/strict";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { writeRelease } from "../../scripts/release.ts";
import { formatInstant } from "../../src/config/units.ts";
import type { RoomState } from "../../src/core/board.ts";
import { Child } from "../../src/testing/cli/child.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { MAIN, ownFolder, type Run, running, SECRET, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessVisitor, readBoard } from "../../src/testing/cli/visitor.ts";
import { type RedisServer, startRedis } from "../../src/testing/redis/servers.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const KEEPS_RUNNING = /\bfairgate run\b/;
/** Readers of published files share a folder, so the second of them has it already. */
const INSTALLS = /^npm install --global /;
const MAIN_ROOM = "fairgate run --origin http://127.0.0.1:3000 --total-active-users 200";
const REDIS = "127.0.0.1:6379";
const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const CURL = (process.env.PATH ?? "")
  .split(delimiter)
  .map((folder) => join(folder, "curl"))
  .find(existsSync);

/** A folder with the published files, where npm also installs globally. Made for the first reader who needs it. */
let publishedFolder: ReturnType<typeof ownFolder> | undefined;
const installed = new Set<string>();
function published() {
  if (publishedFolder) return publishedFolder;
  publishedFolder = ownFolder();
  writeRelease(join(publishedFolder.path, "release"), { level: 0 });
  return publishedFolder;
}

/** Why a command cannot be run here; undefined when it can. */
export function whyNotHere(command: string): string | undefined {
  return /^curl\b/.test(command) && CURL === undefined ? "there is no curl on this machine" : undefined;
}

export class Reader {
  readonly #folder = ownFolder();
  readonly #origin: TestOrigin;
  #environment: Record<string, string | undefined>;
  #run: Run | null = null;
  #redis: RedisServer | null = null;
  /** A visitor who came before the draw of the event in the settings. */
  #gathered: ProcessVisitor | null = null;
  #isDrawn = false;

  static async sitDown({ hasFairgate = true } = {}): Promise<Reader> {
    return new Reader(await TestOrigin.open(), hasFairgate);
  }

  private constructor(origin: TestOrigin, hasFairgate: boolean) {
    this.#origin = origin;
    const programs = join(this.#folder.path, "programs");
    mkdirSync(programs);
    if (hasFairgate) this.#program("fairgate", `exec "${process.execPath}" "${MAIN}" "$@"`);
    else symlinkSync(join(published().path, "release"), join(this.#folder.path, "release"));
    this.#program("curl", `exec "${CURL}" --silent --show-error --fail-with-body "$@"`);
    const global = join(hasFairgate ? this.#folder.path : published().path, "global");
    const path = [programs, join(global, "bin"), dirname(process.execPath), process.env.PATH].join(delimiter);
    this.#environment = {
      PATH: path,
      FAIRGATE_SECRET: SECRET,
      FAIRGATE_CONTROL_TOKEN: TOKEN,
      npm_config_prefix: global,
      npm_config_prefer_offline: "true",
      npm_config_audit: "false",
    };
  }

  /** Saves a whole settings file where `fairgate run` looks for it. */
  saveSettings(text: string): void {
    this.#folder.write("fairgate.yaml", text);
  }

  /** Saves a shop's catalogue under the name that documents give it. */
  saveCatalogue(text: string): void {
    this.#folder.write("catalogue.yaml", text);
  }

  /** Types one command. One that keeps running is left to run, once it answers. */
  async type(command: string): Promise<void> {
    if (installed.has(command)) return;
    if (command.includes(REDIS)) this.#redis ??= await startRedis();
    if (KEEPS_RUNNING.test(command)) return this.#start(command);
    // The document's ports may be in use here. Without settings, flags would stand for them.
    const hasSettings = / --origin /.test(command) || existsSync(join(this.#folder.path, "fairgate.yaml"));
    const anywhere = hasSettings ? " --listen 127.0.0.1:0 --control-listen 127.0.0.1:0" : "";
    const own = command.replace(/\bfairgate (check|doctor)\b/, `$&${anywhere}`);
    this.#folder.write("command.sh", `${this.#here(own)}\n`);
    // The dot keeps what the command exports, and the environment is passed on to the next one.
    const script = ". ./command.sh; code=$?; env -0 > environment; exit $code";
    const child = this.#child(script);
    const { code } = await child.ended;
    assert.equal(code, 0, `${command}\n${child.out}\n${child.err}`);
    if (INSTALLS.test(command)) installed.add(command);
    const entries = readFileSync(join(this.#folder.path, "environment"), "utf8").split("\0").filter(Boolean);
    this.#environment = Object.fromEntries(entries.map((entry) => entry.split(/=(.*)/s).slice(0, 2)));
  }

  /** Makes sure a Fairgate with a room `main` is running. */
  async needsRunning(): Promise<void> {
    if (this.#run === null) await this.#start(MAIN_ROOM);
  }

  /** Makes sure the saved settings are running, with their event's prequeue open and a visitor in it. */
  async needsGathering(): Promise<void> {
    if (this.#gathered) return;
    const today = {
      prequeueStartTime: -MINUTE_MS,
      eventStartTime: 30 * MINUTE_MS,
      eventEndTime: 90 * MINUTE_MS,
    };
    const settings = readFileSync(join(this.#folder.path, "fairgate.yaml"), "utf8");
    const moved = settings.replace(
      /\b(\w+Time): \S+/g,
      (_, key: keyof typeof today) => `${key}: ${fromNow(today[key])}`,
    );
    this.saveSettings(this.#here(moved));
    await this.#start("fairgate run", "prequeue");
    this.#gathered = await ProcessVisitor.arrive(this.#run!.address);
  }

  /** Makes sure that the event has started, and that the visitor who gathered has the receipt. */
  async needsDraw(): Promise<void> {
    if (this.#isDrawn) return;
    const { control } = this.#run!;
    const { body } = await control.ask<{ settings: { events: object[] } }>("GET", "/rooms/main");
    const [event] = body.settings.events;
    const events = [{ ...event, eventStartTime: fromNow(SECOND_MS) }];
    assert.equal((await control.ask("PATCH", "/rooms/main", { events })).status, 200);
    const receipt = await eventually("there is a receipt", async () => {
      const { status, text } = await this.#gathered!.ask("/.fairgate/main/receipt");
      return status === 200 && text;
    });
    this.#folder.write("receipt.json", receipt);
    this.#isDrawn = true;
  }

  /** Saves and starts a program that listens on port 8080, and asks it for its page. */
  async startProgram(text: string): Promise<void> {
    await this.#stop();
    const modules = join(this.#folder.path, "node_modules");
    mkdirSync(join(modules, "fairgate"), { recursive: true });
    for (const name of ["express", "hono", "@hono"]) {
      if (!existsSync(join(modules, name)))
        symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    }
    this.#folder.write("package.json", '{ "type": "module" }');
    const entries = { ".": "./index.js", "./fetch": "./fetch.js" };
    const own = JSON.stringify({ type: "module", exports: entries });
    this.#folder.write("node_modules/fairgate/package.json", own);
    for (const name of ["index", "fetch"])
      this.#folder.write(`node_modules/fairgate/${name}.js`, `export * from "file://${ROOT}src/${name}.ts";`);
    this.#folder.write("program.ts", this.#here(withFreePort(text)));
    await using child = this.#child(`exec "${process.execPath}" program.ts`);
    const [, port] = await child.prints(/port (\d+)/);
    const answer = await fetch(`http://127.0.0.1:${port}/`, { headers: { accept: "text/html" } });
    const page = await answer.text();
    assert.equal(answer.status, 200, page);
    assert.match(page, /^Welcome, [0-9a-f]{32}$|The shop/);
  }

  /** Saves a `proxy.ts` of Next.js and asks for a page behind it. A stand-in plays Next.js. */
  async startNextProxy(text: string): Promise<void> {
    mkdirSync(join(this.#folder.path, "node_modules/next"), { recursive: true });
    this.#folder.write("proxy.ts", text);
    this.#folder.write(
      "node_modules/next/package.json",
      '{ "type": "module", "exports": { "./server": "./server.js" } }',
    );
    this.#folder.write("node_modules/next/server.js", NEXT_SERVER);
    await this.startProgram(NEXT);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      await this.#stop();
    } finally {
      await this.#redis?.stop();
      await this.#origin[Symbol.asyncDispose]();
      this.#folder[Symbol.dispose]();
    }
  }

  async #start(command: string, state: RoomState = "open"): Promise<void> {
    await this.#stop();
    const listen = command.includes(" --listen") ? "" : " --listen 127.0.0.1:0";
    const control = command.includes(" --control-listen") ? "" : " --control-listen 127.0.0.1:0";
    const isNode = command.includes(" --cluster") && !command.includes(" --cluster-listen");
    const nodes = isNode ? " --cluster-listen 127.0.0.1:0" : "";
    this.#run = await running(this.#child(`exec ${this.#here(command)}${listen}${control}${nodes}`));
    const { address, control: at } = this.#run;
    this.#environment.FAIRGATE_CONTROL = new URL(at.address).host;
    const rooms = this.#run.log().find(({ msg }) => msg === "fairgate is running")?.rooms as string[];
    await eventually("it is ready", async () => (await fetch(`${at.address}/readyz`)).ok);
    // A Redis that is too busy to answer in time is away for a moment.
    for (const room of rooms)
      await eventually(`${room} is ${state}`, async () => (await readBoard(address, room)).state === state);
    if (command.includes("http://127.0.0.1:3000"))
      await eventually("the shop is there", async () => /The shop/.test(await (await fetch(address)).text()));
  }

  async #stop(): Promise<void> {
    const run = this.#run;
    this.#run = null;
    this.#gathered = null;
    this.#isDrawn = false;
    if (run) assert.deepEqual(await run.child.end("SIGTERM"), { code: 0, signal: null });
  }

  #child(script: string): Child {
    return new Child("sh", ["-c", script], { cwd: this.#folder.path, environment: this.#environment });
  }

  #program(name: string, script: string): void {
    this.#folder.write(`programs/${name}`, `#!/bin/sh\n${script}\n`);
    chmodSync(join(this.#folder.path, "programs", name), 0o755);
  }

  /** The command with this machine's addresses instead of the document's. */
  #here(command: string): string {
    const at = (address: string | undefined, written: string) => (address ? new URL(address).host : written);
    return command
      .replaceAll(REDIS, `127.0.0.1:${this.#redis?.port}`)
      .replace(/\b(127\.0\.0\.1|localhost):3000\b/g, new URL(this.#origin.address).host)
      .replace(/\b(127\.0\.0\.1|localhost):8080\b/g, (written) => at(this.#run?.address, written))
      .replace(/\b(127\.0\.0\.1|localhost):8081\b/g, (written) => at(this.#run?.control.address, written));
  }
}

/** The time as settings have it, in whole seconds. */
function fromNow(ms: number): string {
  return formatInstant(Math.ceil((Date.now() + ms) / SECOND_MS) * SECOND_MS);
}

/** The program, changed to print its port. */
function withFreePort(text: string): string {
  const listening = "listen(0, '127.0.0.1', function () { console.log('port', this.address().port); })";
  const serving = /port: 8080,?\s*\}\)/;
  assert.ok(text.includes("listen(8080)") || serving.test(text));
  return text
    .replace("listen(8080)", listening)
    .replace(serving, "port: 0, hostname: '127.0.0.1' }, ({ port }) => console.log('port', port))");
}

/** A proxy of Next.js returns headers that tell Next.js what to do. */
const NEXT_SERVER = `
const told = (name, value, { request }) => {
  const response = new Response(null, { headers: { [name]: value } });
  response.headers.set("x-middleware-override-headers", [...request.headers.keys()].join(","));
  for (const [key, said] of request.headers) response.headers.set("x-middleware-request-" + key, said);
  return response;
};
export const NextResponse = {
  next: (init) => told("x-middleware-next", "1", init),
  rewrite: (url, init) => told("x-middleware-rewrite", url, init),
};
`;

/** Next.js with one page, behind a proxy that says where requests go. */
const NEXT = `
import { serve } from "@hono/node-server";
import { proxy } from "./proxy.ts";
serve({
  fetch: async (request, env) => {
    request.headers.set("x-forwarded-for", env.incoming.socket.remoteAddress);
    const { status, headers, body } = await proxy(request);
    if (!headers.has("x-middleware-next")) return new Response(body, { status, headers });
    return new Response("Welcome, " + headers.get("x-middleware-request-fairgate-visitor"));
  },
  port: 8080,
});
`;
