/** The checks of what a server reports about itself: facts in, verdicts out. */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RedisSettings } from "../../config/redis-settings.ts";
import { RedisProblem } from "../../engines/redis/link/problem.ts";
import { checkClocks } from "./clock-check.ts";
import { checkCoverage } from "./cluster-check.ts";
import type { ConfigName, ServerFacts } from "./facts.ts";
import { checkLatency, checkTimeout } from "./latency-check.ts";
import { BYTES_PER_VISITOR, checkEviction, checkMemory } from "./memory-checks.ts";
import { checkPersistence } from "./persistence-check.ts";
import { checkFollowing, checkReplicas } from "./replica-checks.ts";
import { checkClients, checkConfig, checkKind, checkLoading, checkVersion } from "./server-checks.ts";
import { checkPassword, examineTls } from "./tls-check.ts";
import type { DoctorVerdict } from "./verdict.ts";
import { roughly } from "./verdict.ts";

const MB = 1_024 ** 2;
const HIDDEN = new RedisProblem("password", "not allowed", true);

function settings(changes: Partial<RedisSettings> = {}): RedisSettings {
  return {
    mode: "standalone",
    addresses: [{ host: "10.0.0.1", port: 6_379 }],
    masterName: null,
    username: null,
    password: null,
    sentinelUsername: null,
    sentinelPassword: null,
    database: 0,
    tls: null,
    prefix: "fairgate",
    replicas: 0,
    timeoutMs: 1_500,
    ...changes,
  };
}

function facts(
  info: Readonly<Record<string, string | number>>,
  config: Readonly<Partial<Record<ConfigName, string>>> | RedisProblem = {},
): ServerFacts {
  return {
    where: "10.0.0.1:6379",
    info: new Map(Object.entries(info).map(([name, value]) => [name, String(value)])),
    config: config instanceof RedisProblem ? config : new Map(Object.entries(config)),
    clockAheadMs: 0,
  };
}

/** `level: what was found` for each verdict; each that is not ok says what to do. */
function said(verdicts: DoctorVerdict | readonly DoctorVerdict[]): string[] {
  return [verdicts].flat().map(({ level, is, todo }) => {
    assert.equal(todo === "", level === "ok", `${level}: ${is} ${todo}`);
    return `${level}: ${is}`;
  });
}

describe("a server", () => {
  test("must be Redis 7.0 or later, or Valkey", () => {
    const version = (redis_version: string, more = {}) =>
      said(checkVersion(facts({ redis_version, ...more })));
    assert.deepEqual(version("7.0.0"), ["ok: Redis 7.0.0."]);
    assert.deepEqual(version("8.2.1"), ["ok: Redis 8.2.1."]);
    assert.deepEqual(version("7.2.4", { valkey_version: "8.0.1" }), ["ok: Valkey 8.0.1."]);
    assert.deepEqual(version("6.2.14"), ["problem: Redis 6.2.14."]);
    assert.match(said(checkVersion(facts({})))[0]!, /^problem/);
  });

  test("must be of the kind that the settings speak of", () => {
    const kind = (info: Record<string, string>, mode: RedisSettings["mode"] = "standalone") =>
      said(checkKind(facts(info), settings({ mode })));
    assert.deepEqual(kind({ redis_mode: "standalone", role: "master" }), []);
    assert.deepEqual(kind({ redis_mode: "cluster", role: "master" }, "cluster"), []);
    assert.match(kind({ redis_mode: "cluster", role: "master" })[0]!, /^problem: .*node of a cluster/);
    assert.match(kind({ redis_mode: "sentinel" })[0]!, /^problem: .*a sentinel/);
    assert.match(kind({ redis_mode: "standalone", role: "slave" })[0]!, /^problem: .*a replica/);
    assert.deepEqual(kind({ redis_mode: "standalone", role: "slave" }, "sentinel"), []);
  });

  test("that reads its files has to be waited for", () => {
    assert.deepEqual(said(checkLoading(facts({ loading: 0 }))), []);
    assert.match(said(checkLoading(facts({ loading: 1 })))[0]!, /^problem/);
  });

  test("should leave quiet connections alone, and give functions their time", () => {
    const config = (timeout: string, busy: string) =>
      said(checkConfig(facts({}, { timeout, "lua-time-limit": busy })));
    assert.deepEqual(config("0", "5000"), []);
    assert.deepEqual(config("300", "0"), []);
    assert.match(config("5", "5000").join(), /^caution: timeout is 5/);
    assert.match(config("0", "100").join(), /^caution: lua-time-limit is 100/);
    assert.match(said(checkConfig(facts({}, HIDDEN))).join(), /^caution: .*CONFIG GET is not allowed/);
  });

  test("should have connections left", () => {
    const clients = (connected_clients: number) =>
      said(checkClients(facts({ connected_clients, maxclients: 100 })));
    assert.deepEqual(clients(79), []);
    assert.match(clients(80).join(), /^caution: 80 of 100/);
  });
});

describe("memory", () => {
  test("is never short of places: whatever else is thrown away, or may be, is a problem", () => {
    const eviction = (maxmemory_policy: string) => said(checkEviction(facts({ maxmemory_policy })))[0]!;
    assert.match(eviction("noeviction"), /^ok/);
    for (const policy of ["allkeys-lru", "volatile-ttl", "allkeys-random"])
      assert.match(eviction(policy), new RegExp(`^problem: maxmemory-policy is ${policy}`));
  });

  test("has a limit, and room below it for so many more", () => {
    const memory = (used_memory: number, maxmemory: number) =>
      said(checkMemory(facts({ used_memory, maxmemory, total_system_memory: 4_096 * MB })));
    const million = 1_000_000 * BYTES_PER_VISITOR;
    assert.deepEqual(memory(MB, MB + million), [
      "ok: 1MB of 430MB used; about 1,000,000 more waiting visitors fit.",
    ]);
    assert.match(memory(81 * MB, 100 * MB).join(), /^caution: 81MB of 100MB used; about 44,000 more/);
    assert.match(memory(100 * MB, 100 * MB).join(), /^problem: .*about 0 more/);
    const [used, none] = memory(2.5 * MB, 0);
    assert.equal(used, "ok: 2.5MB used.");
    assert.match(none!, /^caution: No maxmemory.*4GB/);
  });

  test("is told in few digits", () => {
    assert.deepEqual([0, 999, 1_024, 1_500, 944 * 1_024, 1.26 * MB, 512 * MB, 1_536 * MB].map(roughly), [
      "0B",
      "999B",
      "1KB",
      "1.5KB",
      "944KB",
      "1.3MB",
      "512MB",
      "1.5GB",
    ]);
  });
});

describe("what is kept", () => {
  const kept = (
    info: Record<string, string | number>,
    config: Parameters<typeof facts>[1] = {},
    mode?: "cluster",
  ) => said(checkPersistence(facts(info, config), settings(mode ? { mode } : {})));

  test("in an append-only file depends on when it is synced", () => {
    const file = (appendfsync: string) => kept({ aof_enabled: 1 }, { appendfsync })[0]!;
    assert.match(file("always"), /^ok: .*loses nothing/);
    assert.match(file("everysec"), /^ok: .*one of the machine up to two seconds/);
    assert.match(file("no"), /^caution: .*half a minute/);
    assert.match(kept({ aof_enabled: 1 }, HIDDEN)[0]!, /^ok: .*cannot be seen/);
  });

  test("otherwise is only a snapshot, or nothing", () => {
    const [snapshots] = kept({ aof_enabled: 0 }, { save: "3600 1 300 100" });
    assert.match(snapshots!, /^caution: Snapshots alone \(after 3600 s if 1 changed, 300 s if 100 changed\)/);
    assert.match(kept({ aof_enabled: 0 }, { save: "" })[0]!, /^caution: Nothing is kept.*may be let in\.$/);
    assert.match(kept({ aof_enabled: 0 }, { save: "" }, "cluster")[0]!, /empties its replicas/);
    assert.match(kept({ aof_enabled: 0 }, HIDDEN)[0]!, /^caution: .*cannot be seen/);
  });

  test("is nothing when it cannot be written", () => {
    const good = { aof_enabled: 1, rdb_last_bgsave_status: "ok", aof_last_write_status: "ok" };
    const always = { appendfsync: "always" };
    assert.equal(kept(good, always).length, 1);
    assert.deepEqual(
      kept({ ...good, rdb_last_bgsave_status: "err", aof_last_write_status: "err" }, always).slice(1),
      ["problem: The last snapshot failed.", "problem: The last write to the append-only file failed."],
    );
  });
});

describe("replicas", () => {
  const replica = (i: number, state = "online", lag = 0) => ({
    [`slave${i}`]: `ip=10.0.0.2,port=6379,state=${state},offset=98,lag=${lag}`,
  });
  const two = { connected_slaves: 2, ...replica(0), ...replica(1) };
  const replicas = (
    info: Record<string, string | number>,
    changes: Partial<RedisSettings> = {},
    config = {},
  ) => said(checkReplicas(facts(info, config), settings(changes)));

  test("must be as many as the settings ask for, and better one more", () => {
    assert.match(replicas(two, { replicas: 1 }).join(), /^ok: 2 connected.*takes nothing back/);
    assert.match(replicas(two, { replicas: 2 }).join(), /^caution: 2 connected.*while one is away/);
    assert.match(replicas(two, { replicas: 3 }).join(), /^problem: 2 connected.*nobody is admitted/);
    assert.match(replicas({ connected_slaves: 0 }, { replicas: 1 }).join(), /^problem: None connected/);
    assert.match(replicas(two).join(), /^ok: .*may take back the last admissions/);
  });

  test("are missed where somebody should take over, not by a server alone", () => {
    assert.match(replicas({ connected_slaves: 0 }).join(), /^ok/);
    for (const mode of ["sentinel", "cluster"] as const)
      assert.match(replicas({ connected_slaves: 0 }, { mode }).join(), /^caution: None connected/);
  });

  test("that are not ready do not count, and those far behind are told of", () => {
    const info = { connected_slaves: 2, ...replica(0, "wait_bgsave"), ...replica(1, "online", 60) };
    const [enough, notReady, late] = replicas(info, { replicas: 1 });
    assert.match(enough!, /^caution: 1 connected/);
    assert.match(notReady!, /^caution: One is not ready yet \(wait_bgsave\)/);
    assert.match(late!, /^caution: One was last heard of 60 s ago/);
  });

  test("that Redis itself waits for stop all writes when they are missing", () => {
    const config = { "min-replicas-to-write": "2" };
    assert.equal(replicas({ ...two, min_slaves_good_slaves: 2 }, {}, config).length, 1);
    assert.match(
      replicas({ ...two, min_slaves_good_slaves: 1 }, {}, config)[1]!,
      /^problem: .*takes no writes/,
    );
  });

  test("must hear from their primary", () => {
    const following = (info: Record<string, string>) => said(checkFollowing(facts(info)));
    assert.deepEqual(following({ role: "slave", master_link_status: "up" }), []);
    assert.deepEqual(following({ role: "master" }), []);
    const lost = { role: "slave", master_link_status: "down", master_host: "10.0.0.1", master_port: "6379" };
    assert.match(following(lost).join(), /^problem: .*10\.0\.0\.1:6379/);
  });
});

describe("clocks", () => {
  const clocks = (...ahead: readonly (number | RedisProblem)[]) =>
    said(checkClocks(ahead.map((clockAheadMs, i) => ({ ...facts({}), where: `node${i}`, clockAheadMs }))));

  test("may differ a little, not by minutes", () => {
    assert.match(clocks(1_900, 1_000).join(), /^ok: [^,]*$/);
    assert.match(clocks(-2_100).join(), /^caution: 2 s behind this machine's clock/);
    assert.match(clocks(61_000).join(), /^problem: 61 s ahead of this machine's clock/);
    assert.match(clocks(HIDDEN).join(), /^caution: .*TIME is not allowed/);
    assert.deepEqual(clocks(), []);
  });

  test("of servers should agree with each other, whatever ours says", () => {
    const [ours, others] = clocks(1_500, -1_500);
    assert.match(ours!, /^ok/);
    assert.match(others!, /^caution: 3 s ahead of the clock of node1/);
  });
});

test("answers should come well within the timeout, and the timeout make sense", () => {
  const latency = (medianMs: number, slowestMs: number) =>
    said(
      checkLatency(
        [
          { where: "a", medianMs: 0.1, slowestMs: 0.2 },
          { where: "b", medianMs, slowestMs },
        ],
        settings(),
      ),
    );
  assert.match(latency(0.4, 9).join(), /^ok: 0\.4 ms there and back, 9\.0 ms at worst/);
  assert.match(latency(51, 60).join(), /^caution/);
  assert.match(latency(1, 800).join(), /^caution/);
  assert.match(latency(1_600, 1_700).join(), /^problem/);
  const timeout = (timeoutMs: number) => said(checkTimeout(settings({ timeoutMs })))[0]!;
  assert.match(timeout(1_500), /^ok: redis\.timeout is 1500ms\.$/);
  assert.match(timeout(50), /^caution: redis\.timeout is 50ms/);
  assert.match(timeout(60_000), /^caution: redis\.timeout is 1m/);
});

test("a cluster should go on with what it has, where there are several rooms", () => {
  const coverage = (rooms: number, full: string, cluster_enabled = 1) =>
    said(checkCoverage(facts({ cluster_enabled }, { "cluster-require-full-coverage": full }), rooms));
  assert.match(coverage(2, "yes").join(), /^caution/);
  for (const none of [coverage(1, "yes"), coverage(2, "no"), coverage(2, "yes", 0)])
    assert.deepEqual(none, []);
});

test("a way that others can reach should be guarded", async () => {
  const away = { host: "10.0.0.1", port: 6_379 };
  assert.match(said(checkPassword(away, settings())).join(), /^caution: .*no password/);
  assert.deepEqual(said(checkPassword(away, settings({ password: "hunter2" }))), []);
  assert.match(said(await examineTls(away, settings())).join(), /^caution: Not used/);
  for (const host of ["127.0.0.1", "localhost", "::1"]) {
    assert.deepEqual(said(checkPassword({ host, port: 6_379 }, settings())), []);
    assert.deepEqual(said(await examineTls({ host, port: 6_379 }, settings())), []);
  }
});
