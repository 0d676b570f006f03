/**
 * Processes killed with -9 in the middle of their work, and one whose disk is full. The file is its own child: with a play and a
 * directory as arguments it is the process that gets killed.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { seededFraction } from "../sim/hand-world.ts";
import { realWorld } from "../testing/real-world.ts";
import { DurableHost, StoreProblem } from "./host.ts";
import type { DurableState } from "./storage.ts";

/** Only reached when something hangs. */
const HUNG_MS = 600_000;
const CALLERS = 16;
const LOG_BYTES = 128 * 1_024;
const FILE_KIB_MAX = 1_024;

class Counter {
  readonly storage: DurableState["storage"];
  constructor(state: DurableState) {
    this.storage = state.storage;
  }
  async next(): Promise<number> {
    const value = (await this.storage.get<number>("counter")) ?? 0;
    await this.storage.put("counter", value + 1);
    return value;
  }
}

class Mover {
  readonly storage: DurableState["storage"];
  constructor(state: DurableState) {
    this.storage = state.storage;
  }
  async move(from: string, to: string): Promise<void> {
    const value = await this.storage.get(from);
    this.storage.delete(from);
    this.storage.put(to, value);
  }
  async keys(): Promise<string[]> {
    return [...(await this.storage.list()).keys()];
  }
}

/** Writes it synchronously, so that it is out before the process goes on, even with a slow reader and a full pipe. */
function say(text: string | number): void {
  for (;;)
    try {
      writeSync(1, `${text}\n`);
      return;
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") throw error;
    }
}
const open = (directory: string) => DurableHost.open({ directory, world: realWorld(), logBytes: LOG_BYTES });

const plays: Readonly<Record<string, (directory: string) => Promise<void>>> = {
  async numbers(directory) {
    const stub = (await open(directory)).objects("Counter", Counter, null).get("a");
    const caller = async () => {
      for (;;) say(await stub.next());
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  },

  async hold(directory) {
    await open(directory);
    say("open");
    // Reads input that never comes, to stay alive.
    process.stdin.resume();
  },

  async moves(directory) {
    const host = await open(directory);
    const stub = host.objects("Mover", Mover, null).get("a");
    const [first] = await stub.keys();
    if (first === undefined) await host.close();
    let [from, to] = first === "foo" ? ["foo", "bar"] : ["bar", "foo"];
    for (let n = 0; ; n++) {
      await stub.move(from, to);
      [from, to] = [to, from];
      say(n);
    }
  },

  async full(directory) {
    // By default the system kills a process that reaches the limit of a file's size.
    process.on("SIGXFSZ", () => {});
    const host = await open(directory);
    for (let n = 0; ; n++) {
      const { storage } = host.state("a");
      storage.put(`a ${n}`, new Uint8Array(30_000));
      storage.put(`b ${n}`, new Uint8Array(30_000));
      try {
        await storage.sync();
        say(n);
      } catch (error) {
        say((error as { code: string }).code);
        say((await host.state("a").storage.list({ prefix: "a " })).size);
        process.exit(0);
      }
    }
  },
};

const [play, directory] = process.argv.slice(2);
if (play !== undefined && directory !== undefined) await plays[play]!(directory);
else tests();

function tests(): void {
  const root = mkdtempSync(join(tmpdir(), "durable-crash-"));
  after(() => rmSync(root, { recursive: true, force: true }));
  const script = fileURLToPath(import.meta.url);

  /** Reads `enough` lines of the child, kills it, and reads the rest of what it wrote. */
  async function runAndKill(name: string, at: string, enough: number): Promise<string[]> {
    const child = spawn(process.execPath, [script, name, at], { stdio: ["ignore", "pipe", "inherit"] });
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line);
      if (lines.length === enough) child.kill("SIGKILL");
    }
    await ended(child);
    assert.equal(child.signalCode, "SIGKILL", "it was killed and did not end by itself");
    return lines;
  }
  async function ended(child: ChildProcess): Promise<void> {
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  }

  test("no number that was given out is lost or given again after kill -9", {
    timeout: HUNG_MS,
  }, async () => {
    const at = join(root, "numbers");
    const given = new Set<number>();
    for (const enough of [1, 700, 3_000]) {
      const numbers = (await runAndKill("numbers", at, enough)).map(Number);
      for (const number of numbers) {
        assert.ok(!given.has(number), `${number} was given twice`);
        given.add(number);
      }
      const host = await open(at);
      const next = await host.objects("Counter", Counter, null).get("a").next();
      await host.close();
      assert.ok(next > Math.max(...given), `${next} after ${Math.max(...given)}`);
      given.add(next);
    }
  });

  test("another process is told who holds the directory, and gets it once that one was killed", async () => {
    const at = join(root, "hold");
    const child = spawn(process.execPath, [script, "hold", at], { stdio: ["pipe", "pipe", "inherit"] });
    await once(child.stdout, "data");
    await assert.rejects(open(at), (problem) => {
      assert.ok(problem instanceof StoreProblem && problem.code === "locked", String(problem));
      assert.match(problem.message, new RegExp(`process ${child.pid}\\b`));
      return true;
    });
    child.kill("SIGKILL");
    await ended(child);
    await (await open(at)).close();
  });

  test("a value that is moved is in exactly one place after kill -9, however often", {
    timeout: HUNG_MS,
  }, async () => {
    const at = join(root, "moves");
    const dice = seededFraction(7);
    const first = await open(at);
    // The state that the class would have left.
    const seeded = first.objects(
      "Mover",
      class extends Mover {
        async seed(): Promise<void> {
          await this.storage.put("foo", { the: "value" });
        }
      },
      null,
    );
    await seeded.get("a").seed();
    await first.close();
    for (let n = 0; n < 10; n++) {
      await runAndKill("moves", at, 1 + Math.floor(dice() * 300));
      const host = await open(at);
      const keys = await host.objects("Mover", Mover, null).get("a").keys();
      await host.close();
      assert.equal(keys.length, 1, `found ${keys.join(" and ") || "nothing"}`);
    }
  });

  test("at the end of the disk nothing half is kept, and with room it goes on", {
    timeout: HUNG_MS,
  }, async () => {
    const at = join(root, "full");
    const command = `ulimit -f ${FILE_KIB_MAX}; exec "$0" "$@"`;
    const child = spawn("bash", ["-c", command, process.execPath, script, "full", at], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines: string[] = [];
    for await (const line of createInterface({ input: child.stdout })) lines.push(line);
    await ended(child);
    const [code, kept] = lines.slice(-2);
    const acknowledged = lines.length - 2;
    assert.match(code!, /^disk-(full|error)$/);
    assert.ok(acknowledged > 3);
    assert.equal(Number(kept), acknowledged);
    const host = await open(at);
    const { storage } = host.state("a");
    assert.equal((await storage.list()).size, 2 * acknowledged);
    await storage.put("more", new Uint8Array(1_000_000));
    await storage.sync();
    await host.close();
  });
}
