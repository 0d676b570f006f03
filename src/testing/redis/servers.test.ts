/** The servers that other tests rely on die, restart and are replaced as those tests expect. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { eventually } from "../cli/eventually.ts";
import { ownFolder } from "../cli/fairgate.ts";
import { type RedisServer, startCluster, startRedis, startSentinels } from "./servers.ts";

/** With characters that have a meaning in addresses and on command lines. */
const PASSWORD = "p@ss/w:rd 1";
/** An answer that takes longer is none. */
const SILENCE_MS = 300;
/** How long replicas may take to acknowledge. */
const COPIED_MS = 20_000;
/** Far longer than all of it takes. */
const LIMIT_MS = 600_000;
const KEPT = ["--appendonly", "yes", "--appendfsync", "always"];

const NO_SETPRIV = !existsSync("/usr/bin/setpriv") && "only Linux ends a child together with its parent";

describe("real Redis servers", { concurrency: true, timeout: LIMIT_MS }, () => {
  test("a killed server restarts at the same port and has kept nothing", async () => {
    await using server = await startRedis();
    const { pid, port } = server;
    await server.command("SET", "seat", "7");
    await server.kill();
    assert.equal(server.isRunning, false);
    assert.equal(server.pid, undefined);
    await assert.rejects(server.command("PING"), /ECONNREFUSED/);
    await server.restart();
    assert.notEqual(server.pid, pid);
    assert.equal(server.port, port);
    assert.equal(await server.command("GET", "seat"), null);
  });

  test("a server ended with SIGTERM keeps nothing either", async () => {
    await using server = await startRedis();
    await server.command("SET", "seat", "7");
    await server.kill("SIGTERM");
    await server.restart();
    assert.equal(await server.command("GET", "seat"), null);
  });

  test("a server with persistence keeps everything through kill -9", async () => {
    await using server = await startRedis({ args: KEPT });
    await server.command("SET", "seat", "7");
    await server.kill();
    await server.restart();
    assert.equal(await server.command("GET", "seat"), "7");
  });

  test("a paused server accepts connections and answers nothing until it is resumed", async () => {
    await using server = await startRedis();
    server.pause();
    assert.equal(server.isRunning, false);
    const answer = server.command("PING");
    assert.equal(await Promise.race([answer, sleep(SILENCE_MS, "silence")]), "silence");
    server.resume();
    assert.equal(await answer, "PONG");
    assert.equal(server.isRunning, true);
  });

  test("a paused server can be ended and started again", async () => {
    await using server = await startRedis();
    server.pause();
    await server.kill("SIGTERM");
    assert.equal(server.pid, undefined);
    await server.restart();
    server.pause();
    await server.restart();
    assert.equal(await server.command("PING"), "PONG");
  });

  test("a server's own directory is removed with it, and the caller's stays", async () => {
    using folder = ownFolder();
    const directory = folder.path;
    const own = await startRedis();
    const given = await startRedis({ directory, args: KEPT });
    await given.command("SET", "seat", "7");
    await Promise.all([own.stop(), given.stop()]);
    assert.equal(existsSync(own.directory), false);
    await using again = await startRedis({ directory, args: KEPT });
    assert.equal(await again.command("GET", "seat"), "7");
    await again.stop();
  });

  test("no server starts at a port that is taken, and the log says so", async () => {
    await using first = await startRedis();
    await assert.rejects(startRedis({ port: first.port }), /Its log:[\s\S]*Address already in use/);
    assert.equal(await first.command("PING"), "PONG");
  });

  test("settings that Redis refuses are reported at once", async () => {
    await assert.rejects(
      startRedis({ args: ["--no-such-setting", "1"] }),
      /ended\. Its log:[\s\S]*no-such-setting/,
    );
  });

  test("a forgotten server ends with its test process, even after kill -9", {
    skip: NO_SETPRIV,
  }, async (t) => {
    const program = `
      import { startRedis } from ${JSON.stringify(new URL("./servers.ts", import.meta.url).href)};
      const { pid, directory } = await startRedis();
      console.log(JSON.stringify({ pid, directory }));
      setInterval(() => {}, 1_000);`;
    const owner = spawn(process.execPath, ["--input-type=module", "-e", program], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => owner.kill("SIGKILL"));
    const printed = await owner.stdout.setEncoding("utf8").iterator().next();
    const { pid, directory } = JSON.parse(printed.value) as { pid: number; directory: string };
    t.after(() => rmSync(directory, { recursive: true }));
    assert.ok(isAlive(pid));
    owner.kill("SIGKILL");
    await eventually("the forgotten server is gone", () => !isAlive(pid));
  });

  test("a cluster's replica takes over from a dead primary and has its data", async () => {
    await using cluster = await startCluster({ password: PASSWORD });
    const holders = await Promise.all(["a", "b", "c", "d", "e", "f"].map((key) => cluster.primaryOf(key)));
    assert.deepEqual(new Set(holders), new Set(cluster.nodes.slice(0, 3)));
    const primary = await cluster.primaryOf("seat");
    await primary.command("SET", "seat", "7");
    assert.equal(await primary.command("WAIT", 1, COPIED_MS), 1);
    await cluster.watchClosely();
    await primary.kill();
    const next = await eventually("a replica takes over", async () => {
      const holder = await cluster.primaryOf("seat");
      return holder !== primary && holder;
    });
    assert.equal(cluster.nodes.indexOf(next), cluster.nodes.indexOf(primary) + 3);
    await eventually("what the old one knew is there", () => says(next, "7", "GET", "seat"));
    await eventually("the cluster takes writes", () => says(next, "OK", "SET", "seat", "8"));
    await primary.restart();
    await eventually("the old primary follows the new", () => isReplicaOf(primary, next));
    assert.equal(await cluster.primaryOf("seat"), next);
  });

  test("sentinels promote a replica when the primary dies, and take the old primary back as a replica", async () => {
    await using watched = await startSentinels({ password: PASSWORD });
    const [primary] = watched.servers;
    assert.equal(await watched.primary(), primary);
    await primary!.command("SET", "seat", "7");
    assert.equal(await primary!.command("WAIT", 2, COPIED_MS), 2);
    await watched.watchClosely();
    await primary!.kill();
    const next = await eventually("a replica takes over", async () => {
      const known = await watched.primary();
      return known !== primary && known;
    });
    await watched.watchCalmly();
    await eventually("what the old one knew is there", () => says(next, "7", "GET", "seat"));
    // On a busy machine the new primary may have counted as dead for a moment too: what counts is who it is now.
    const known = () => watched.primary();
    await eventually("the new primary takes writes", async () =>
      says(await known(), "OK", "SET", "seat", "8"),
    );
    await primary!.restart();
    await eventually("the old primary follows the new", async () => isReplicaOf(primary!, await known()));
  });
});

/** True when this is the answer. A primary that is new may still refuse. */
async function says(server: RedisServer, right: string, ...words: string[]): Promise<boolean> {
  return server.command(...words).then(
    (answer) => answer === right,
    () => false,
  );
}

async function isReplicaOf(server: RedisServer, primary: RedisServer): Promise<boolean> {
  // Sentinels end its connections when they make it a replica.
  const told = await server.command("INFO", "replication").then(String, () => "");
  return told.includes(`master_port:${primary.port}\r\n`) && told.includes("master_link_status:up");
}

/** False for a process that has ended, even if its exit code was not read yet. */
function isAlive(pid: number): boolean {
  const file = `/proc/${pid}/stat`;
  return existsSync(file) && !/\) Z /.test(readFileSync(file, "utf8"));
}
