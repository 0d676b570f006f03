import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { fixtureText } from "../testing/fixtures.ts";
import { explain } from "./explain.ts";
import type { Flags } from "./flags.ts";
import { loadSettings } from "./load.ts";
import { describeRedis, type RedisSettings } from "./redis-settings.ts";

const SECRET = "example-secret-for-tests-0123456789";
const FOLDER = "/etc/fairgate";
const CERTIFICATE = fixtureText("localhost.cert.pem");
const URL_VARIABLE = "FAIRGATE_REDIS_URL";
const PASSWORD_VARIABLE = "FAIRGATE_REDIS_PASSWORD";
const SENTINEL_VARIABLE = "FAIRGATE_REDIS_SENTINEL_PASSWORD";
const SENTINELS = "sentinels: [10.0.0.1, 10.0.0.2], masterName: mymaster";

interface Given {
  /** The inside of `redis`, in one line; null: the file has none. */
  readonly redis?: string | null;
  readonly flags?: Flags;
  readonly environment?: Readonly<Record<string, string>>;
  /** By their names in the settings file's folder. */
  readonly files?: Readonly<Record<string, string>>;
}

function load({ redis = null, flags = {}, environment = {}, files = {} }: Given) {
  const line = redis === null ? "" : `redis: { ${redis} }\n`;
  const text = `${line}origin: { addresses: [http://127.0.0.1:3000] }\nrooms: { main: { totalActiveUsers: 5 } }\n`;
  const readFile = (name: string) => {
    const found = Object.entries(files).find(([own]) => resolve(FOLDER, own) === name);
    if (!found) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return found[1];
  };
  const all = { FAIRGATE_SECRET: SECRET, ...environment };
  return loadSettings({ text, file: `${FOLDER}/fairgate.yaml` }, flags, all, readFile);
}

function good(given: Given): RedisSettings {
  const result = load(given);
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  assert.ok(result.settings.redis);
  return result.settings.redis;
}

function problems(given: Given): string[] {
  const result = load(given);
  assert.ok(!result.ok, "the settings were taken");
  assert.doesNotMatch(explain(result.problems), /hunter/);
  return result.problems.map(({ source, message }) => `${source.name.replace(/^.*\//, "")}: ${message}`);
}

function warnings(given: Given): string[] {
  const result = load(given);
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  assert.doesNotMatch(explain(result.warnings), /hunter/);
  return result.warnings.map(({ message }) => message);
}

describe("where Redis is", () => {
  test("is one server, with the defaults of everything else", () => {
    assert.deepEqual(good({ redis: "url: redis://10.0.0.1" }), {
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
    });
  });

  test("is behind sentinels, or a cluster", () => {
    const byName = good({ redis: `${SENTINELS}, database: 3, replicas: 1, timeout: 2s, prefix: shop:1` });
    assert.deepEqual(
      [byName.mode, byName.masterName, byName.database, byName.replicas, byName.timeoutMs, byName.prefix],
      ["sentinel", "mymaster", 3, 1, 2_000, "shop:1"],
    );
    assert.deepEqual(byName.addresses, [
      { host: "10.0.0.1", port: 26_379 },
      { host: "10.0.0.2", port: 26_379 },
    ]);
    const cluster = good({ redis: 'cluster: [10.0.0.1, "[::1]:7000"]' });
    assert.deepEqual(
      [cluster.mode, cluster.addresses.length, cluster.addresses[1]],
      ["cluster", 2, { host: "::1", port: 7_000 }],
    );
  });

  test("is told with the address alone: user, password and database", () => {
    const { username, password, database } = good({ redis: "url: redis://shop:hunter2@10.0.0.1/4" });
    assert.deepEqual([username, password, database], ["shop", "hunter2", 4]);
    assert.equal(good({ redis: "url: redis://10.0.0.1/4, database: 4" }).database, 4);
    assert.equal(good({ redis: "url: redis://10.0.0.1, database: 4" }).database, 4);
  });

  test("is null unless somebody says it", () => {
    const result = load({});
    assert.ok(result.ok);
    assert.equal(result.settings.redis, null);
  });
});

describe("the address", () => {
  test("on the command line goes before the file's, and keeps the rest of it", () => {
    const { addresses, prefix } = good({
      redis: "url: redis://10.0.0.1, prefix: shop",
      flags: { redis: "redis://10.0.0.2" },
    });
    assert.deepEqual([addresses[0]?.host, prefix], ["10.0.0.2", "shop"]);
    assert.equal(good({ flags: { redis: "redis://10.0.0.2" } }).addresses[0]?.host, "10.0.0.2");
  });

  test("in the environment goes before the file's, which is said, and after the command line's", () => {
    const environment = { [URL_VARIABLE]: "redis://:hunter2@10.0.0.3" };
    assert.equal(good({ environment }).password, "hunter2");
    const both = { redis: "url: redis://:hunter1@10.0.0.1, prefix: shop", environment };
    assert.deepEqual([good(both).addresses[0]?.host, good(both).prefix], ["10.0.0.3", "shop"]);
    assert.deepEqual(warnings(both), [`${URL_VARIABLE} is set, so redis.url in the settings is not used`]);
    assert.deepEqual(warnings({ environment }), []);
    const nearest = { ...both, flags: { redis: "redis://10.0.0.2" } };
    assert.equal(good(nearest).addresses[0]?.host, "10.0.0.2");
    assert.deepEqual(warnings(nearest), []);
  });

  test("that is wrong is told of where it was given", () => {
    assert.deepEqual(problems({ environment: { [URL_VARIABLE]: "http://:hunter2@10.0.0.3" } }), [
      `${URL_VARIABLE}: redis.url is not redis:// or rediss://`,
    ]);
    assert.deepEqual(problems({ flags: { redis: "redis://:hunter2@10.0.0.3/x" } }), [
      "--redis: redis.url ends with something other than the number of a database",
    ]);
    assert.deepEqual(problems({ redis: "cluster: [10.0.0.1]", flags: { redis: "redis://10.0.0.3" } }), [
      "fairgate.yaml: redis.url and redis.cluster are both set",
    ]);
  });

  test("does not go with a data directory, wherever the two come from", () => {
    const message = "data and redis are both set, and a line can only live in one place";
    const flags = { data: "kept", redis: "redis://10.0.0.1" };
    assert.deepEqual(problems({ flags }), [`--data: ${message}`]);
    const environment = { [URL_VARIABLE]: "redis://10.0.0.1" };
    assert.deepEqual(problems({ flags: { data: "kept" }, environment }), [`--data: ${message}`]);
  });
});

describe("a password", () => {
  test("comes from the environment, a file of its own, or the settings", () => {
    const redis = "url: redis://10.0.0.1";
    const files = { "password.txt": "hunter3\n" };
    assert.equal(good({ redis, environment: { [PASSWORD_VARIABLE]: "hunter4" } }).password, "hunter4");
    assert.equal(good({ redis: `${redis}, passwordFile: password.txt`, files }).password, "hunter3");
    assert.equal(good({ redis: `${redis}, password: hunter5` }).password, "hunter5");
  });

  test("of the sentinels is another one", () => {
    const redis = `${SENTINELS}, password: hunter1, sentinelUsername: watcher, sentinelPasswordFile: other.txt`;
    const files = { "other.txt": "hunter2" };
    const { password, sentinelUsername, sentinelPassword } = good({ redis, files });
    assert.deepEqual([password, sentinelUsername, sentinelPassword], ["hunter1", "watcher", "hunter2"]);
    const environment = { [SENTINEL_VARIABLE]: "hunter3" };
    assert.equal(good({ redis: SENTINELS, environment }).sentinelPassword, "hunter3");
    // Left over from another day: no reason to stop.
    assert.equal(good({ redis: "url: redis://10.0.0.1", environment }).sentinelPassword, null);
  });

  test("in the environment goes before all others, and that is said", () => {
    const environment = { [PASSWORD_VARIABLE]: "hunter4" };
    const inUrl = { redis: "url: redis://:hunter1@10.0.0.1", environment };
    assert.equal(good(inUrl).password, "hunter4");
    assert.deepEqual(warnings(inUrl), [
      `${PASSWORD_VARIABLE} is set, so the password in redis.url is not used`,
    ]);
    assert.deepEqual(warnings({ redis: "url: redis://10.0.0.1, password: hunter1", environment }), [
      `${PASSWORD_VARIABLE} is set, so the password in the settings is not used`,
    ]);
  });

  test("may be short, but is one line with something in it", () => {
    const redis = "url: redis://10.0.0.1, passwordFile: password.txt";
    assert.equal(good({ redis, files: { "password.txt": "a" } }).password, "a");
    assert.deepEqual(problems({ redis, files: { "password.txt": "\n" } }), [
      "fairgate.yaml: redis.passwordFile is empty",
    ]);
    assert.deepEqual(problems({ redis, files: { "password.txt": "hunter1\nhunter2\n" } }), [
      "fairgate.yaml: redis.passwordFile: password.txt has 2 lines",
    ]);
    assert.deepEqual(problems({ redis, files: { "password.txt": "hunter\x07" } }), [
      "fairgate.yaml: redis.passwordFile has a control character in it",
    ]);
    const environment = { [PASSWORD_VARIABLE]: "hunter".repeat(200) };
    assert.deepEqual(problems({ redis: "url: redis://10.0.0.1", environment }), [
      `${PASSWORD_VARIABLE}: ${PASSWORD_VARIABLE} has 1200 characters`,
    ]);
  });

  test("is given once, and belongs to a user", () => {
    assert.deepEqual(problems({ redis: "url: redis://10.0.0.1, password: hunter1, passwordFile: a.txt" }), [
      "fairgate.yaml: redis.password and redis.passwordFile are both set",
    ]);
    assert.deepEqual(
      problems({
        redis: "url: redis://:hunter1@10.0.0.1, passwordFile: a.txt",
        files: { "a.txt": "hunter2" },
      }),
      ["fairgate.yaml: redis.passwordFile is set, and redis.url has a password in it"],
    );
    assert.deepEqual(problems({ redis: "url: redis://shop@10.0.0.1" }), [
      "fairgate.yaml: redis.url names a user, and there is no password",
    ]);
    assert.deepEqual(problems({ redis: "url: redis://10.0.0.1, sentinelPassword: hunter1" }), [
      "fairgate.yaml: redis.sentinelPassword is set, and there are no sentinels",
    ]);
  });
});

describe("TLS", () => {
  test("is spoken where the address or the settings say so", () => {
    const none = { ca: null, servername: null };
    assert.deepEqual(good({ redis: "url: rediss://10.0.0.1" }).tls, none);
    assert.deepEqual(good({ redis: "url: redis://10.0.0.1, tls: {}" }).tls, none);
    const files = { "ca.pem": CERTIFICATE };
    assert.deepEqual(good({ redis: "cluster: [a], tls: { ca: ca.pem, serverName: b }", files }).tls, {
      ca: CERTIFICATE,
      servername: "b",
    });
  });

  test("needs certificates where a file with them is named", () => {
    const redis = "url: rediss://10.0.0.1, tls: { ca: ca.pem }";
    assert.deepEqual(problems({ redis }), [
      "fairgate.yaml: redis.tls.ca: ca.pem cannot be read: there is no such file",
    ]);
    assert.deepEqual(problems({ redis, files: { "ca.pem": "hunter2" } }), [
      "fairgate.yaml: redis.tls.ca: ca.pem does not hold a certificate in PEM form",
    ]);
  });
});

test("where it is can be told to anyone", () => {
  const environment = { [PASSWORD_VARIABLE]: "hunter4", [SENTINEL_VARIABLE]: "hunter5" };
  const cases: readonly (readonly [string, string])[] = [
    ["url: redis://shop@10.0.0.1", "redis://10.0.0.1:6379/0"],
    ['url: "rediss://[::1]:7000/2"', "rediss://[::1]:7000/2"],
    [
      `${SENTINELS}, database: 2, tls: {}`,
      "mymaster by the sentinels at 10.0.0.1:26379, 10.0.0.2:26379, database 2, with TLS",
    ],
    ["cluster: [10.0.0.1, 10.0.0.2:7000]", "the cluster at 10.0.0.1:6379, 10.0.0.2:7000"],
  ];
  for (const [redis, words] of cases) assert.equal(describeRedis(good({ redis, environment })), words);
});

test("gateways that share a line share a secret, so it must be their operator's own", () => {
  const text =
    "redis: { url: redis://10.0.0.1 }\norigin: { addresses: [http://127.0.0.1:3000] }\nrooms: { main: { totalActiveUsers: 5 } }\n";
  const result = loadSettings({ text, file: "fairgate.yaml" }, {}, {}, () => "");
  assert.ok(!result.ok);
  assert.deepEqual(
    result.problems.map(({ code }) => code),
    ["no-secret"],
  );
  assert.match(result.problems[0]!.hint, /the same for every gateway on this Redis/);
});
