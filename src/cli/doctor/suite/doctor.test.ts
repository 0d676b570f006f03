/** `fairgate doctor` against real Redis servers, good and bad, and against a data directory. */
import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { explain } from "../../../config/explain.ts";
import { settingsFrom } from "../../../config/load.ts";
import type { SettingsInput } from "../../../config/schema.ts";
import { eventually } from "../../../testing/cli/eventually.ts";
import { fairgate, ownFolder, SECRET, startRun } from "../../../testing/cli/fairgate.ts";
import { fixturePath } from "../../../testing/fixtures.ts";
import {
  type RedisServer,
  startCluster,
  startRedis,
  startSentinels,
} from "../../../testing/redis/servers.ts";
import { checkData } from "../data-checks.ts";
import { examine } from "../examine.ts";
import { hasProblem } from "../report.ts";
import type { DoctorVerdict } from "../verdict.ts";

const PASSWORD = "hunter2";
const GOOD = ["--appendonly", "yes", "--maxmemory", "64mb"];
const CERTIFICATE = fixturePath("localhost.cert.pem");
const KEY = fixturePath("localhost.key.pem");

interface Report {
  readonly hasProblem: boolean;
  readonly verdicts: readonly DoctorVerdict[];
  /** What a check found, each with its level: `problem: …`. */
  of(check: string): string[];
}

/** The report for these verdicts, in either form. It never shows a password. */
function reportOf(verdicts: readonly DoctorVerdict[]): Report {
  assert.doesNotMatch(JSON.stringify(verdicts), new RegExp(PASSWORD));
  for (const { is } of verdicts) assert.match(is, /^\S.*\.$/);
  const of = (check: string) =>
    verdicts.filter((one) => one.check === check).map(({ level, is }) => `${level}: ${is}`);
  return { hasProblem: hasProblem(verdicts), verdicts, of };
}

/** Examines the Redis of these settings, in this process: starting others would take most of the time. */
async function ask(redis: SettingsInput["redis"]): Promise<Report> {
  const room = { totalActiveUsers: 5 };
  const input = { redis, rooms: { a: { ...room, path: "/a" }, b: { ...room, path: "/b" } } };
  const readFile = (name: string) => readFileSync(name, "utf8");
  const none = { needsSecret: false, needsOrigin: false };
  const result = settingsFrom(input, { environment: {}, readFile, ...none });
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  return reportOf(await examine({ redis: result.settings.redis!, rooms: 2 }));
}

/** The same by the command itself. */
async function askCommand(...args: readonly string[]): Promise<Report & { code: number | null }> {
  using folder = ownFolder();
  const environment = { FAIRGATE_SECRET: SECRET };
  const { code, out, err } = await fairgate(["doctor", "--json", ...args], { cwd: folder.path, environment });
  assert.doesNotMatch(out + err, new RegExp(PASSWORD));
  const { ok, checks } = JSON.parse(out) as { ok: boolean; checks: readonly DoctorVerdict[] };
  assert.equal(ok, code === 0);
  return { code, ...reportOf(checks) };
}

const placesOf = (servers: readonly RedisServer[]) => servers.map(({ port }) => `127.0.0.1:${port}`);
const problems = ({ verdicts }: Report) => verdicts.filter(({ level }) => level === "problem");

async function librariesOf(server: RedisServer): Promise<number> {
  return ((await server.command("FUNCTION", "LIST")) as unknown[]).length;
}

describe("fairgate doctor", { concurrency: 4 }, () => {
  test("finds nothing to change in a good Redis, and leaves nothing there", async () => {
    await using redis = await startRedis({ args: GOOD, password: PASSWORD });
    const report = await askCommand("--redis", redis.url);
    assert.equal(report.code, 0);
    // A busy machine may answer slowly; everything else must be well.
    const unwell = report.verdicts.filter(({ level, check }) => level !== "ok" && check !== "latency");
    assert.deepEqual(unwell, []);
    const seen = report.verdicts.map(({ check }) => check);
    const wanted = ["connection", "version", "functions", "replicas", "eviction", "memory", "persistence"];
    assert.deepEqual(seen, [...wanted, "latency", "timeout", "clock"]);
    assert.match(report.of("memory").join(), /of 64MB used; about 1[345]0,000 more waiting visitors fit/);
    assert.equal(await librariesOf(redis), 0);
    assert.equal(await redis.command("DBSIZE"), 0);
  });

  test("tells people the same in a table, and what to change", async () => {
    const args = [...GOOD, "--maxmemory-policy", "allkeys-lru"];
    await using redis = await startRedis({ args, password: PASSWORD });
    const { code, out } = await fairgate(["doctor", "--redis", redis.url]);
    assert.equal(code, 1);
    assert.match(out, new RegExp(`^Redis: redis://127\\.0\\.0\\.1:${redis.port}/0\n\n`));
    assert.match(out, /^ok {7}version {6}127\.0\.0\.1:\d+ {2}Redis \d/m);
    assert.match(out, /^problem {2}eviction .*allkeys-lru[\s\S]*Set maxmemory-policy to noeviction\./m);
    assert.match(out, /\n\n1 problem(, \d cautions?)?\.\n$/);
    assert.doesNotMatch(out, new RegExp(PASSWORD));
  });

  test("warns of a Redis that keeps nothing, has no limit, and closes quiet connections", async () => {
    await using redis = await startRedis({ args: ["--timeout", "5"] });
    const report = await ask({ url: redis.url });
    assert.equal(report.hasProblem, false);
    assert.match(report.of("persistence").join(), /^caution: Nothing is kept/);
    assert.match(report.of("memory").join(), /ok: .* used\.,caution: No maxmemory/);
    assert.match(report.of("config").join(), /^caution: timeout is 5/);
    await redis.command("CONFIG", "SET", "save", "300 10");
    const after = await ask({ url: redis.url });
    assert.match(after.of("persistence").join(), /^caution: Snapshots alone \(after 300 s/);
  });

  test("says of a wrong password that it is wrong, and of a missing one that it is missing", async () => {
    await using redis = await startRedis({ password: PASSWORD });
    const [wrong, none] = await Promise.all([
      askCommand("--redis", `redis://:${PASSWORD}3@127.0.0.1:${redis.port}`),
      ask({ url: `redis://127.0.0.1:${redis.port}` }),
    ]);
    assert.equal(wrong.code, 1);
    assert.match(wrong.of("connection").join(), /^problem: .*does not accept the user name and password/);
    assert.match(none.of("connection").join(), /^problem: .*wants a password/);
    assert.deepEqual([wrong.verdicts.length, none.verdicts.length], [1, 1]);
  });

  test("says of a Redis that is away, or is another thing, what it is", async () => {
    await using redis = await startRedis({ args: GOOD });
    const away = await startRedis();
    await away.stop();
    const [gone, noCluster, noSentinel] = await Promise.all([
      ask({ url: away.url }),
      ask({ cluster: placesOf([redis]) }),
      ask({ sentinels: placesOf([redis]), masterName: "mymaster" }),
    ]);
    assert.match(gone.of("connection").join(), /^problem: .*refuses connections/);
    assert.match(noCluster.of("connection").join(), /^problem: .*is not a node of a cluster/);
    assert.match(noSentinel.of("connection").join(), /^problem: .*is not a sentinel/);
    await redis.command("REPLICAOF", "127.0.0.1", away.port);
    assert.match((await ask({ url: redis.url })).of("kind").join(), /^problem: This is a replica/);
  });

  test("does not wait for ever for a Redis that is silent", async () => {
    await using redis = await startRedis();
    redis.pause();
    const report = await ask({ url: redis.url });
    redis.resume();
    assert.match(report.of("connection").join(), /^problem: .*did not answer within/);
  });

  test("says which rights a user lacks, and how to give them", async () => {
    await using redis = await startRedis({ args: GOOD });
    const grant = (user: string, ...rules: readonly string[]) =>
      redis.command("ACL", "SETUSER", user, "on", `>${PASSWORD}`, "resetkeys", "resetchannels", ...rules);
    const askAs = (username: string) => ask({ url: redis.url, username, password: PASSWORD });
    await grant("nofunctions", "~*", "&*", "+@all", "-function", "-config");
    await grant("otherkeys", "~shop:*", "&*", "+@all");
    await grant("notime", "~*", "&*", "+@all", "-time");
    await grant("deaf", "~*", "&other:*", "+@all");
    const names = ["nofunctions", "otherkeys", "notime", "deaf"];
    const reports = await Promise.all(names.map(askAs));
    const [noFunctions, ...others] = reports.map((report) => report.of("functions").join());
    assert.equal(noFunctions, "problem: This user may not load and call functions.");
    for (const other of others) assert.match(other, /^problem: This user may not do all/);
    assert.match(reports[0]!.of("config").join(), /^caution: .*CONFIG GET is not allowed/);
    assert.match(reports[2]!.of("clock").join(), /^caution: .*TIME is not allowed/);
    const advice = reports[2]!.verdicts.find(({ check }) => check === "functions")!.todo;
    const [, user, rules] = /^ACL SETUSER (\S+) (\+.*&fairgate:\*) gives/.exec(advice) ?? [];
    assert.equal(user, "notime");
    await grant("mended", "-@all", ...rules!.split(" "));
    assert.match((await askAs("mended")).of("functions").join(), /^ok/);
    assert.equal(await librariesOf(redis), 0);
  });

  test("looks at every sentinel and server, and at how many replicas there are", async () => {
    await using watched = await startSentinels({ args: GOOD, password: PASSWORD });
    const sentinels = placesOf(watched.sentinels);
    const askFor = (replicas: number) =>
      ask({ sentinels, masterName: watched.name, password: PASSWORD, replicas });
    const [good, wanting] = await Promise.all([askFor(1), askFor(3)]);
    assert.deepEqual(problems(good), []);
    assert.equal(good.of("connection").filter((one) => one.startsWith("ok: The sentinel")).length, 3);
    assert.equal(good.of("connection").filter((one) => one.startsWith("ok: The server")).length, 3);
    assert.match(good.of("sentinels").join(), /ok: There are 3, with a quorum of 2, and the settings name 3/);
    assert.match(good.of("replicas").join(), /^ok: 2 connected, and redis\.replicas is 1/);
    assert.match(good.of("functions").join(), /^ok/);
    assert.match(wanting.of("replicas").join(), /^problem: 2 connected, and redis\.replicas is 3/);
    const misnamed = await ask({ sentinels, masterName: "nobody", password: PASSWORD });
    assert.deepEqual(new Set(misnamed.verdicts.map(({ level }) => level)), new Set(["problem"]));
    await watched.watchClosely();
    await Promise.all([watched.sentinels[1]!.kill(), watched.sentinels[2]!.kill()]);
    const alone = await eventually("the last sentinel misses the others", async () => {
      const report = await askFor(1);
      return report.of("sentinels").some((one) => one.startsWith("problem: Too few")) && report;
    });
    assert.equal(alone.of("connection").filter((one) => one.startsWith("problem")).length, 2);
  });

  test("looks at every node of a cluster, and misses a replica that is gone", async () => {
    await using cluster = await startCluster({ args: GOOD });
    const askAll = () => ask({ cluster: placesOf(cluster.nodes.slice(0, 2)) });
    const good = await askAll();
    assert.deepEqual(problems(good), []);
    assert.equal(good.of("connection").filter((one) => one.startsWith("ok")).length, 6);
    assert.equal(good.of("functions").filter((one) => one.startsWith("ok")).length, 3);
    assert.match(good.of("cluster").join(), /ok: cluster_state is ok: 3 primaries serve all 16384 slots/);
    assert.match(good.of("cluster").join(), /caution: cluster-require-full-coverage is yes/);
    for (const node of cluster.nodes) assert.equal(await librariesOf(node), 0);
    const asOneServer = await ask({ url: cluster.nodes[0]!.url });
    assert.match(asOneServer.of("kind").join(), /^problem: This is a node of a cluster/);
    const [, primary, , , replica] = cluster.nodes;
    await cluster.watchClosely();
    await replica!.kill();
    const lessOne = await eventually("the cluster misses its replica", async () => {
      const report = await askAll();
      return report.of("cluster").includes("problem: The cluster finds this replica away.") && report;
    });
    const missing = lessOne.verdicts.find(({ is }) => is.startsWith("None connected"));
    assert.deepEqual([missing?.level, missing?.where], ["caution", `127.0.0.1:${primary!.port}`]);
  });

  test("speaks TLS, and looks at the certificate", async () => {
    await using redis = await startRedis({ args: GOOD });
    const tls = ["tls-cert-file", CERTIFICATE, "tls-key-file", KEY, "tls-ca-cert-file", CERTIFICATE];
    await redis.command("CONFIG", "SET", ...tls, "tls-auth-clients", "no");
    const port = await eventually("it speaks TLS", () => tlsPort(redis));
    const url = `rediss://localhost:${port}`;
    const [good, unknown] = await Promise.all([ask({ url, tls: { ca: CERTIFICATE } }), ask({ url })]);
    assert.match(good.of("tls").join(), /TLSv1\.\d; the certificate is good until \d{4}-\d\d-\d\d\.$/);
    assert.match(good.of("functions").join(), /^ok/);
    assert.match(unknown.of("connection").join(), /^problem: .*do not agree on TLS/);
  });

  test("without Redis looks at the data directory, or says that nothing is kept", async () => {
    using folder = ownFolder();
    const directory = `${folder.path}/kept`;
    const before = reportOf(checkData(directory));
    assert.match(before.of("data").join(), /^ok: It does not exist yet, and can be created/);
    assert.match(before.of("disk").join(), /are free\.$/);
    assert.match(before.of("process").join(), /^ok: No Fairgate runs on it/);
    folder.write("file", "");
    assert.match(
      reportOf(checkData(`${folder.path}/file`))
        .of("data")
        .join(),
      /^problem: .*is not a directory/,
    );
    // Nothing listens there, on any machine.
    const flags = ["--origin", "http://127.0.0.1:1", "--total-active-users", "5"];
    await using run = await startRun([...flags, "--data", directory]);
    const [held, nothing] = await Promise.all([
      askCommand(...flags, "--data", directory),
      fairgate(["doctor", ...flags, "--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"], {
        environment: { FAIRGATE_SECRET: SECRET },
      }),
    ]);
    assert.equal(held.code, 0);
    assert.match(held.of("process").join(), /^caution: The Fairgate of process \d+ runs on it/);
    assert.equal((await fetch(`${run.control.address}/healthz`)).status, 200);
    assert.equal(nothing.code, 0);
    assert.match(
      nothing.out,
      /^The line lives in the memory of the process that runs, and is not kept\.\n\ncaution +origin/,
    );
  });

  test("of settings that are not right says so, and asks nobody", async () => {
    const file = `redis: { url: "redis://:${PASSWORD}@127.0.0.1/x" }\nrooms: { main: { totalActiveUsers: 5 } }\n`;
    using folder = ownFolder({ "fairgate.yaml": file });
    const options = { cwd: folder.path, environment: { FAIRGATE_SECRET: SECRET } };
    const [words, json, twice] = await Promise.all([
      fairgate(["doctor"], options),
      fairgate(["doctor", "fairgate.yaml", "--json"], options),
      fairgate(["doctor", "fairgate.yaml", "--config", "fairgate.yaml"], options),
    ]);
    for (const { code, out, err } of [words, json, twice]) {
      assert.equal(code, 2);
      assert.doesNotMatch(out + err, new RegExp(PASSWORD));
    }
    assert.match(words.err, /fairgate\.yaml:1:.*redis\.url ends with something other/);
    assert.equal(JSON.parse(json.out).problems[0].setting, "redis.url");
    assert.match(twice.err, /two settings files/);
  });
});

/** Lets it listen for TLS too; undefined when the port is taken. */
function tlsPort(redis: RedisServer): Promise<number | undefined> {
  const port = 2_000 + randomInt(8_000);
  return redis.command("CONFIG", "SET", "tls-port", port).then(
    () => port,
    () => undefined,
  );
}
