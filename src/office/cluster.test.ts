import assert from "node:assert/strict";
import { test } from "node:test";
import { readMetrics } from "../testing/office/prometheus-text.ts";
import { read, scene } from "../testing/office/scene.ts";
import type { ClusterReport } from "./desk.ts";

const REPORT: ClusterReport = {
  name: "gate-1",
  address: "10.0.0.7:7100",
  view: { version: 3, isMajority: true, isSettled: true },
  root: null,
  towardsRoot: "gate-2",
  rounds: 12,
  nodes: [
    {
      ...{ name: "gate-1", address: "10.0.0.7:7100", state: "alive", parent: null, isHere: true },
      own: { waiting: 1, turns: 2, onSite: 3 },
    },
  ],
  lost: [{ name: "gate-3", address: "10.0.0.9:7100" }],
  rooms: {
    main: { waiting: 1, ownWaiting: 1, turns: 2, onSite: 3, spare: null },
  },
  problems: ["gate-3 is lost"],
};

async function clustered() {
  const stage = await scene();
  const forgotten: string[] = [];
  stage.desk.cluster = {
    report: () => REPORT,
    forget: (name) => {
      forgotten.push(name);
      return name === "gate-3";
    },
  };
  return { ...stage, forgotten };
}

test("the cluster is told as the node sees it", async () => {
  const { ask } = await clustered();
  const response = await ask("/cluster");
  assert.equal(response.status, 200);
  const main = { ...REPORT.rooms.main, spare: null };
  assert.deepEqual(await response.json(), { ...REPORT, rooms: { main } });
});

test("an operator's word that a lost node is dead is passed on, and in the log", async () => {
  const { ask, forgotten, world } = await clustered();
  const response = await ask("/cluster/forget", { json: { name: "gate-3" } });
  assert.equal(response.status, 200);
  assert.deepEqual(await response.json(), { name: "gate-3" });
  assert.deepEqual(forgotten, ["gate-3"]);
  assert.deepEqual(world.logged.at(-1)!.fields, { node: "gate-3", by: "10.1.1.1" });
  assert.equal(world.logged.at(-1)!.level, "warn");
});

test("who is not lost is not forgotten, and the refusal names who is", async () => {
  const { ask, world } = await clustered();
  const response = await ask("/cluster/forget", { json: { name: "gate-2" } });
  assert.equal(response.status, 404);
  const { error } = await read(response);
  assert.deepEqual(error, { code: "not_lost", message: "No node by that name is lost. Lost nodes: gate-3." });
  assert.equal(world.logged.length, 0);
});

test("metrics tell of the cluster where there is one", async () => {
  const families = readMetrics(await (await (await clustered()).ask("/metrics")).text());
  const value = (name: string) => families.get(name)!.samples.get(`${name}{node="gate-1"}`);
  assert.equal(value("fairgate_cluster_nodes"), 1);
  assert.equal(value("fairgate_cluster_suspect_nodes"), 0);
  assert.equal(value("fairgate_cluster_lost_nodes"), 1);
  assert.equal(value("fairgate_cluster_majority"), 1);
  assert.equal(value("fairgate_cluster_settled"), 1);
  assert.equal(value("fairgate_cluster_root"), 0);
  assert.equal(value("fairgate_cluster_view_version"), 3);
  assert.equal(value("fairgate_cluster_problems"), 1);
  assert.equal(value("fairgate_cluster_rounds_total"), 12);
  assert.equal(families.get("fairgate_cluster_room_spare_slots")!.samples.size, 0, "there is no limit");
});

test("a process that is no node of a cluster shows nothing of one", async () => {
  const families = readMetrics(await (await (await scene()).ask("/metrics")).text());
  for (const [name, { samples }] of families)
    if (name.startsWith("fairgate_cluster_")) assert.equal(samples.size, 0, name);
});

test("a name that is none is refused, and nothing is asked of the cluster", async () => {
  const { ask, forgotten } = await clustered();
  for (const json of [
    {},
    { name: "" },
    { name: 5 },
    { name: "x".repeat(300) },
    { name: "a", sure: true },
    [],
  ])
    assert.equal((await ask("/cluster/forget", { json })).status, 422, JSON.stringify(json));
  assert.deepEqual(forgotten, []);
});

test("both are guarded like everything else, and forgetting is no GET", async () => {
  const { ask, forgotten } = await clustered();
  const headers = { authorization: "Bearer wrong" };
  assert.equal((await ask("/cluster", { headers })).status, 401);
  assert.equal((await ask("/cluster/forget", { headers, json: { name: "gate-3" } })).status, 401);
  assert.equal((await ask("/cluster/forget")).status, 405);
  assert.deepEqual(forgotten, []);
});

test("a process that is no node says so", async () => {
  const { ask } = await scene();
  for (const response of [await ask("/cluster"), await ask("/cluster/forget", { json: { name: "a" } })]) {
    assert.equal(response.status, 404);
    assert.equal((await read(response)).error.code, "no_cluster");
  }
});
