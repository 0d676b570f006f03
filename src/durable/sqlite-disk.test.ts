/** The store's files: locks, permissions, formats, damage, a full disk, checkpoints. */
import assert from "node:assert/strict";
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, test } from "node:test";
import { realWorld } from "../testing/real-world.ts";
import { DurableHost, type OpenOptions } from "./host.ts";
import { StoreProblem, type StoreProblemCode } from "./problem.ts";
import { SqliteDisk } from "./sqlite-disk.ts";

const root = mkdtempSync(join(tmpdir(), "durable-disk-"));
after(() => rmSync(root, { recursive: true, force: true }));
let stores = 0;
const newDirectory = () => join(root, String(stores++));
const open = (directory: string, options: Partial<OpenOptions> = {}) =>
  DurableHost.open({ directory, world: realWorld(), ...options });

async function filled(count: number): Promise<string> {
  const directory = newDirectory();
  const host = await open(directory);
  const { storage } = host.state("a");
  for (let n = 0; n < count; n++) await storage.put(`key ${n}`, `value ${n} ${"x".repeat(100)}`);
  await host.close();
  return directory;
}

async function refused(directory: string, code: StoreProblemCode, words: RegExp): Promise<void> {
  await assert.rejects(open(directory), (problem) => {
    assert.ok(problem instanceof StoreProblem, String(problem));
    assert.equal(problem.code, code);
    assert.match(problem.message, words);
    assert.ok(problem.message.includes(directory));
    return true;
  });
}

/** Where the last frame ends: after it the file goes on with zeros. */
function endOfLog(bytes: Buffer): number {
  const salt = bytes.subarray(16, 24);
  let at = 32;
  while (at < bytes.length && bytes.subarray(at + 8, at + 16).equals(salt)) at += 24 + 4_096;
  return at;
}

test("only the owner may read a store, and a closed one has no log", async () => {
  const directory = newDirectory();
  const host = await open(directory);
  assert.equal(statSync(directory).mode & 0o777, 0o700);
  const files = readdirSync(directory);
  assert.ok(files.includes("objects.db-wal"));
  for (const file of files) assert.equal(statSync(join(directory, file)).mode & 0o777, 0o600, file);
  await host.close();
  assert.deepEqual(readdirSync(directory).sort(), ["lock", "objects.db"]);
});

test("one process at a time has a directory, and another is told which", async () => {
  const directory = newDirectory();
  const host = await open(directory);
  await refused(directory, "locked", new RegExp(`process ${process.pid}\\b`));
  await refused(directory, "locked", /Stop that one first/);
  await host.close();
  await (await open(directory)).close();
});

test("a store of a later format is refused and left alone", async () => {
  const directory = await filled(1);
  const file = join(directory, "objects.db");
  const database = new DatabaseSync(file);
  database.exec("PRAGMA user_version = 99");
  database.close();
  const before = readFileSync(file);
  await refused(directory, "newer", /format 99.*Run the version/);
  assert.deepEqual(readFileSync(file), before);
});

test("damage is told with the file and what to do", async () => {
  const say = /move the directory away/;
  const cut = await filled(500);
  truncateSync(join(cut, "objects.db"), 8_192);
  await refused(cut, "damaged", say);

  const empty = await filled(1);
  truncateSync(join(empty, "objects.db"), 0);
  await refused(empty, "damaged", say);

  const other = await filled(1);
  writeFileSync(join(other, "objects.db"), "not a database".repeat(1_000));
  await refused(other, "damaged", say);

  const scribbled = await filled(500);
  const bytes = readFileSync(join(scribbled, "objects.db"));
  bytes.fill(0xaa, 4_096 * 3, 4_096 * 8);
  writeFileSync(join(scribbled, "objects.db"), bytes);
  await refused(scribbled, "damaged", say);

  const gone = newDirectory();
  const host = await open(gone);
  host.state("a").storage.put("x", 1);
  await host.state("a").storage.sync();
  const copy = newDirectory();
  cpSync(gone, copy, { recursive: true });
  await host.close();
  rmSync(join(copy, "objects.db"));
  await refused(copy, "damaged", /objects\.db-wal is there/);
});

test("damage that shows later breaks the store for good", async () => {
  const directory = newDirectory();
  const first = await open(directory);
  // More than SQLite itself keeps in memory.
  for (let n = 0; n < 300; n++) first.state("a").storage.put(`key ${n}`, new Uint8Array(50_000));
  await first.close();
  const host = await open(directory);
  const file = join(directory, "objects.db");
  const bytes = readFileSync(file);
  bytes.fill(0xaa, 4_096);
  writeFileSync(file, bytes);
  const { storage } = host.state("a");
  assert.throws(
    () => {
      for (let n = 0; n < 300; n++) void storage.get(`key ${n}`);
    },
    { code: "damaged" },
  );
  assert.equal((await host.broken).code, "damaged");
  assert.throws(() => void storage.put("x", 1), { code: "damaged" });
  await host.close();
});

test("a log cut off in the middle is no damage: what was whole before is there", async () => {
  const directory = newDirectory();
  const host = await open(directory);
  const { storage } = host.state("a");
  for (let n = 0; n < 20; n++) {
    storage.put("n", n);
    storage.put(`copy ${n}`, n);
    await storage.sync();
  }
  const copy = newDirectory();
  cpSync(directory, copy, { recursive: true });
  await host.close();
  const log = join(copy, "objects.db-wal");
  const whole = endOfLog(readFileSync(log));
  for (const missing of [1, 5_000, 20_000]) {
    const cut = newDirectory();
    cpSync(copy, cut, { recursive: true });
    truncateSync(join(cut, "objects.db-wal"), whole - missing);
    const again = await open(cut);
    const found = again.state("a").storage;
    const n = (await found.get<number>("n"))!;
    assert.ok(n < 19 && n > 5, `${missing} bytes missing: ${n}`);
    assert.equal((await found.list({ prefix: "copy " })).size, n + 1, "each commit is whole or gone");
    await again.close();
  }
});

test("when there is no room the writers are told, nothing half is kept, and it works again with room", async () => {
  const directory = await filled(10);
  const host = await open(directory, { pagesMax: 40 });
  const { storage } = host.state("a");
  storage.put("small", 1);
  storage.put("large", "x".repeat(500_000));
  await assert.rejects(storage.sync(), (problem) => {
    assert.ok(problem instanceof StoreProblem && problem.code === "disk-full", String(problem));
    assert.match(problem.message, /Make room/);
    return true;
  });
  const fresh = host.state("a").storage;
  assert.equal(await fresh.get("small"), undefined);
  assert.equal((await fresh.list()).size, 10);
  fresh.put("small", 2);
  await fresh.sync();
  await host.close();
  const roomy = await open(directory);
  const { storage: last } = roomy.state("a");
  await last.put("large", "x".repeat(500_000));
  await last.sync();
  assert.equal(await last.get("small"), 2);
  await roomy.close();
});

test("the log stays bounded under writes that never pause, and what is synced stays the log", async () => {
  const directory = newDirectory();
  const logBytes = 256 * 1_024;
  const disk = SqliteDisk.open({ directory, log: realWorld().log, logBytes });
  const host = new DurableHost(disk, { world: realWorld() });
  const log = join(directory, "objects.db-wal");
  let written = 0;
  let most = 0;
  const writer = async (name: string) => {
    const { storage } = host.state(name);
    for (let n = 0; n < 800; n++) {
      storage.put(`k${n % 50}`, `${n}`.repeat(1_000));
      written += 1_000 * `${n}`.length;
      await storage.sync();
      most = Math.max(most, statSync(log).size);
      assert.ok(disk.syncsTheLog);
    }
  };
  await Promise.all(["a", "b", "c", "d"].map(writer));
  assert.ok(written > 10 * logBytes);
  // Eight lengths, and what a few groups write between two looks at it.
  assert.ok(most < 12 * logBytes, `the log had ${most} bytes at most`);
  assert.equal(await host.state("a").storage.get("k49"), "799".repeat(1_000));
  await host.close();
});

test("space of deleted values is given back", async () => {
  const directory = newDirectory();
  const file = join(directory, "objects.db");
  const host = await open(directory, { logBytes: 64 * 1_024 });
  const { storage } = host.state("a");
  for (let n = 0; n < 100; n++) storage.put(`big ${n}`, new Uint8Array(40_000));
  await storage.sync();
  const size = () => statSync(file).size;
  const until = async (done: () => boolean) => {
    for (let n = 0; n < 3_000 && !done(); n++) {
      await storage.put("n", "x".repeat(3_000) + n);
      await storage.sync();
    }
    assert.ok(done(), `${size()} bytes`);
  };
  await until(() => size() > 3_000_000);
  storage.deleteAll();
  await until(() => size() < 1_000_000);
  await host.close();
  assert.ok(!existsSync(`${file}-wal`));
});
