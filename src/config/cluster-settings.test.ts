import assert from "node:assert/strict";
import { resolve } from "node:path";
import { describe, test } from "node:test";
import { fixtureText } from "../testing/fixtures.ts";
import { type ClusterSettings, describeCluster } from "./cluster-settings.ts";
import { explain } from "./explain.ts";
import type { Flags } from "./flags.ts";
import { loadSettings } from "./load.ts";

const SECRET = "example-secret-for-tests-0123456789";
const OTHER = "hunter-secret-for-tests-9876543210";
const FOLDER = "/etc/fairgate";
const VARIABLE = "FAIRGATE_CLUSTER_SECRET";
const CERTIFICATES = {
  "node.pem": fixtureText("cluster-node.cert.pem"),
  "key.pem": fixtureText("cluster-node.key.pem"),
  "ca.pem": fixtureText("cluster-ca.cert.pem"),
};
const TLS = "tls: { certificateFile: node.pem, keyFile: key.pem, caFile: ca.pem }";
const THREE = "join: [10.0.0.7, 10.0.0.8:7200, 'dns:fairgate.internal']";

interface Given {
  /** The inside of `cluster`, in one line; null: the file has none. */
  readonly cluster?: string | null;
  readonly more?: string;
  readonly room?: string;
  readonly flags?: Flags;
  readonly environment?: Readonly<Record<string, string>>;
  /** By their names in the settings file's folder. */
  readonly files?: Readonly<Record<string, string>>;
}

function load({ cluster = null, more = "", room = "", flags = {}, environment = {}, files = {} }: Given) {
  const line = cluster === null ? "" : `cluster: { ${cluster} }\n`;
  const text = `${line}${more}origin: { addresses: [http://127.0.0.1:3000] }\nrooms: { main: { totalActiveUsers: 5${room} } }\n`;
  const readFile = (name: string) => {
    const found = Object.entries(files).find(([own]) => resolve(FOLDER, own) === name);
    if (!found) throw Object.assign(new Error("no such file"), { code: "ENOENT" });
    return found[1];
  };
  const all = { FAIRGATE_SECRET: SECRET, ...environment };
  return loadSettings({ text, file: `${FOLDER}/fairgate.yaml` }, flags, all, readFile);
}

function good(given: Given): ClusterSettings {
  const result = load(given);
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  assert.ok(result.settings.cluster);
  return result.settings.cluster;
}

function problems(given: Given): string[] {
  const result = load(given);
  assert.ok(!result.ok, "the settings were taken");
  assert.doesNotMatch(explain(result.problems), /hunter|example-secret/);
  return result.problems.map(({ source, message }) => `${source.name.replace(/^.*\//, "")}: ${message}`);
}

function warnings(given: Given): string[] {
  const result = load(given);
  assert.ok(result.ok, result.ok ? "" : explain(result.problems));
  return result.warnings.map(({ message }) => message);
}

describe("a node", () => {
  test("is none unless somebody says so", () => {
    const result = load({});
    assert.ok(result.ok);
    assert.equal(result.settings.cluster, null);
  });

  test("has defaults for all of it, and a switch on the command line makes one", () => {
    const plain = {
      listen: { host: "127.0.0.1", port: 7_100 },
      advertise: null,
      name: null,
      join: [],
      secret: null,
      tls: null,
      reclaimAfterMs: 600_000,
      skewMaxMs: 1_000,
      intervalMs: 100,
    };
    assert.deepEqual(good({ cluster: "" }), plain);
    assert.deepEqual(good({ flags: { cluster: true } }), plain);
  });

  test("is told by flags, which go before the file and leave the rest of it", () => {
    const flags: Flags = { cluster: true, clusterListen: ":7200", clusterName: "b", join: ["10.0.0.9"] };
    const { listen, name, join, intervalMs } = good({
      cluster: "name: a, roundInterval: 50ms, listen: 10.0.0.7:7100",
      flags,
    });
    assert.deepEqual(
      [listen, name, join, intervalMs],
      [{ host: "", port: 7_200 }, "b", [{ by: "address", address: "10.0.0.9:7100" }], 50],
    );
    assert.equal(good({ flags: { join: ["127.0.0.1:7101"] } }).join.length, 1, "--join alone is enough");
  });

  test("is found where it was written, flag or file", () => {
    assert.deepEqual(problems({ cluster: "listn: ':7100'", flags: { cluster: true } }), [
      'fairgate.yaml: there is no setting "listn" in cluster',
    ]);
    assert.deepEqual(problems({ flags: { cluster: true, join: ["a b"] } }), [
      '--join: cluster.join[0] is "a b", which is not a host with a port',
    ]);
    assert.deepEqual(problems({ flags: { clusterListen: "7100x" } }), [
      '--cluster-listen: cluster.listen is "7100x", which is not an address to listen on',
    ]);
  });

  test("says how long lost nodes keep their slots, which may be no time or for ever", () => {
    assert.equal(good({ cluster: "reclaimAfter: 0s" }).reclaimAfterMs, 0);
    assert.equal(good({ cluster: "reclaimAfter: null" }).reclaimAfterMs, null);
    assert.deepEqual(warnings({ cluster: `${THREE}, listen: ':7100', reclaimAfter: 0s` }), [
      "cluster.reclaimAfter is 0s",
    ]);
  });

  test("can be described to anyone", () => {
    const settings = good({
      cluster: `${THREE}, listen: ':7100', secret: ${OTHER}, ${TLS}`,
      files: CERTIFICATES,
    });
    assert.equal(
      describeCluster(settings),
      "a node that listens at :7100, by 10.0.0.7:7100, 10.0.0.8:7200, dns:fairgate.internal:7100, with TLS",
    );
    assert.equal(
      describeCluster(good({ cluster: "" })),
      "a node that listens at 127.0.0.1:7100, creating its own cluster",
    );
  });
});

describe("what does not go with a cluster", () => {
  test("is another place for the line", () => {
    assert.deepEqual(problems({ cluster: "", flags: { data: "kept" } }), [
      "--data: data and cluster are both set, and a line can only live in one place",
    ]);
    assert.deepEqual(problems({ more: "redis: { url: redis://10.0.0.1 }\n", flags: { cluster: true } }), [
      "fairgate.yaml: redis and cluster are both set, and a line can only live in one place",
    ]);
  });

  test("is a port that visitors or operators have", () => {
    assert.deepEqual(
      problems({ flags: { cluster: true, listen: ":7100", controlListen: ":7101" } }).slice(0, 1),
      ["--cluster: cluster.listen and listen are both on port 7100"],
    );
    assert.deepEqual(problems({ cluster: "listen: 127.0.0.1:8081" }), [
      "fairgate.yaml: cluster.listen and control.listen are both on port 8081",
    ]);
  });

  test("is an address that others cannot reach, or that nobody knows", () => {
    assert.deepEqual(
      problems({ flags: { cluster: true, listen: "10.0.0.7:7100", join: ["10.0.0.8:7100"] } }).slice(-1),
      [
        "--cluster: cluster.listen is 127.0.0.1:7100, which other machines cannot reach, and cluster.join names 10.0.0.8:7100",
      ],
    );
    assert.deepEqual(problems({ cluster: "listen: ':7100'" }), [
      "fairgate.yaml: cluster.listen is every address of this machine, and nothing says under which of them the others reach it",
    ]);
    assert.deepEqual(problems({ cluster: "advertise: 0.0.0.0:7100" }), [
      "fairgate.yaml: cluster.advertise is 0.0.0.0:7100, and nobody can be reached at every address",
    ]);
    assert.equal(good({ cluster: "listen: ':7100', advertise: gate-1" }).advertise, "gate-1:7100");
    assert.equal(
      good({ cluster: `listen: ':7100', ${THREE}` }).advertise,
      null,
      "it is found out at the start",
    );
    assert.equal(good({ cluster: "join: [127.0.0.1:7101]" }).join.length, 1, "several on one machine");
  });

  test("is an address twice in the list", () => {
    assert.deepEqual(problems({ cluster: "listen: ':7100', join: [gate-1, GATE-1:7100]" }), [
      "fairgate.yaml: cluster.join[1] is gate-1:7100, which is in the list already",
    ]);
  });

  test("is fillNoShows, which works where one engine counts all turns", () => {
    const sale = "eventStartTime: 2026-12-01T10:00:00Z, eventEndTime: 2026-12-01T11:00:00Z";
    const room = `, fillNoShows: true, events: [{ name: sale, ${sale}, fillNoShows: true }]`;
    assert.deepEqual(problems({ cluster: "listen: 127.0.0.1:7100", room }), [
      "fairgate.yaml: rooms.main.fillNoShows is true, and the line is in a cluster",
      "fairgate.yaml: rooms.main.events[0].fillNoShows is true, and the line is in a cluster",
    ]);
    assert.ok(load({ room }).ok, "in memory it works");
    assert.ok(load({ room, more: "redis: { url: redis://127.0.0.1:6379 }\n" }).ok, "and in Redis");
  });

  test("is told of as a caution where it does no harm", () => {
    assert.deepEqual(warnings({ cluster: "" }), [
      "cluster.join is empty, so this node creates a cluster of its own at every start",
    ]);
    const listed = { cluster: `listen: ':7100', ${THREE}` };
    assert.deepEqual(warnings(listed), []);
  });
});

describe("the cluster's secret", () => {
  test("comes from the environment, a file of its own, or the settings", () => {
    const files = { "secret.txt": `${OTHER}\n` };
    assert.equal(good({ cluster: "", environment: { [VARIABLE]: OTHER } }).secret, OTHER);
    assert.equal(good({ cluster: "secretFile: secret.txt", files }).secret, OTHER);
    assert.equal(good({ cluster: `secret: ${OTHER}` }).secret, OTHER);
  });

  test("is a good one, and not the one that signs tickets", () => {
    assert.deepEqual(problems({ cluster: "secret: hunter2" }), [
      "fairgate.yaml: cluster.secret has only 7 characters",
    ]);
    const message = "the cluster's secret is the one that signs tickets and passes";
    assert.deepEqual(problems({ cluster: "", environment: { [VARIABLE]: SECRET } }), [
      `fairgate.yaml: ${message}`,
    ]);
    assert.deepEqual(problems({ cluster: `secret: ${OTHER}`, more: `previousSecrets: [${OTHER}]\n` }), [
      `fairgate.yaml: ${message}`,
    ]);
  });
});

describe("TLS", () => {
  test("has its files read in", () => {
    assert.deepEqual(good({ cluster: TLS, files: CERTIFICATES }).tls, {
      cert: CERTIFICATES["node.pem"],
      key: CERTIFICATES["key.pem"],
      ca: CERTIFICATES["ca.pem"],
    });
  });

  test("needs a certificate, its own key, and a CA", () => {
    assert.deepEqual(problems({ cluster: "tls: { certificateFile: node.pem }", files: CERTIFICATES }), [
      "fairgate.yaml: cluster.tls.keyFile is missing",
      "fairgate.yaml: cluster.tls.caFile is missing",
    ]);
    const files = { ...CERTIFICATES, "key.pem": fixtureText("other-node.key.pem"), "ca.pem": "hunter" };
    assert.deepEqual(problems({ cluster: TLS, files }), [
      "fairgate.yaml: cluster.tls.keyFile is not the key of the certificate in cluster.tls.certificateFile",
      "fairgate.yaml: cluster.tls.caFile: ca.pem does not hold a certificate in PEM form",
    ]);
    assert.deepEqual(problems({ cluster: TLS, files: { "node.pem": CERTIFICATES["node.pem"] } }), [
      "fairgate.yaml: cluster.tls.keyFile: key.pem cannot be read: there is no such file",
      "fairgate.yaml: cluster.tls.caFile: ca.pem cannot be read: there is no such file",
    ]);
  });
});
