/** Nodes in one process that find each other over real sockets, by the machine's own clock. */
import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { settingsFrom } from "../config/load.ts";
import { toRules } from "../config/rules.ts";
import type { Settings, SettingsInput } from "../config/schema.ts";
import { eventually } from "../testing/cli/eventually.ts";
import { changeRoom, inForce } from "../testing/plain-building.ts";
import { realWorld } from "../testing/real-world.ts";
import { MACHINE_HERE, type Machine } from "./cluster-addresses.ts";
import type { OpenEngine } from "./engine-record.ts";
import { openCluster } from "./open-cluster.ts";

const SECRET = "a-secret-for-tests-only-0123456789-abcdef";

function settings(cluster: SettingsInput["cluster"], more: object = {}, secret = SECRET) {
  const result = settingsFrom(
    { rooms: { main: { totalActiveUsers: 5 } }, cluster: { listen: "127.0.0.1:0", ...cluster }, ...more },
    { environment: { FAIRGATE_SECRET: secret }, readFile: () => "", needsOrigin: false },
  );
  assert.ok(result.ok);
  return result.settings as Settings & { cluster: NonNullable<Settings["cluster"]> };
}

interface Opened extends OpenEngine {
  readonly cluster: NonNullable<OpenEngine["node"]>;
  readonly entries: ReturnType<typeof realWorld>["entries"];
  readonly address: string;
}

async function open(
  t: TestContext,
  chosen: ReturnType<typeof settings>,
  machine: Machine = MACHINE_HERE,
): Promise<Opened> {
  const world = realWorld();
  const node = await openCluster(chosen, world, machine);
  t.after(() => node.close());
  for (const [name, room] of Object.entries(chosen.rooms))
    await node.engine.configure(name, toRules(name, room, { budgets: {}, seedOf: () => "00".repeat(32) }));
  const cluster = node.node!;
  return { ...node, cluster, entries: world.entries, address: cluster.report().address };
}

const namesAt = ({ cluster }: Opened) =>
  cluster
    .report()
    .nodes.map(({ name }) => name)
    .sort();

test("two nodes find each other, keep what is changed together, and one takes over when the other leaves", async (t) => {
  const first = await open(t, settings({ name: "gate-1" }));
  await first.cluster.joined;
  const chosen = settings({ name: "gate-2", join: [first.address] });
  const second = await open(t, chosen);
  await second.cluster.joined;
  await eventually("both are there", () => namesAt(first).length === 2 && namesAt(second).length === 2);
  assert.deepEqual(namesAt(second), ["gate-1", "gate-2"]);

  await changeRoom(first.keeps.changes, {
    file: chosen,
    world: realWorld(),
    change: { totalActiveUsers: 9 },
  });
  const changed = await eventually("the change is known", async () => {
    const { totalActiveUsers } = (await inForce(second.keeps.changes, chosen, realWorld())).rooms.main!;
    return totalActiveUsers === 9 && totalActiveUsers;
  });
  assert.equal(changed, 9);

  const joined = await first.engine.join("main");
  assert.ok(joined.kind === "entered" || joined.kind === "waiting", joined.kind);
  await first.close();
  await eventually("one is left, with the other's visitor", async () => {
    // A visitor who got a place may have a turn by now.
    const { waiting, admitted, onSite } = await second.engine.counts("main");
    return namesAt(second).length === 1 && waiting + admitted + onSite === 1;
  });
  assert.deepEqual(second.cluster.report().lost, [], "a node that announced its end is not lost");
});

test("a node with another secret is not taken in, and both sides say why", async (t) => {
  const first = await open(t, settings({}));
  const stranger = await open(t, settings({ join: [first.address] }, {}, `${SECRET}-other`));
  const problem = await eventually("it is told", () =>
    stranger.cluster.report().problems.find((text) => /secret/.test(text)),
  );
  assert.match(problem, /does not know our cluster secret/);
  await eventually("the other side tells it too", () =>
    first.entries.some(({ message }) => /does not know our cluster secret/.test(message)),
  );
  assert.equal(stranger.cluster.isJoined, false);
  assert.equal(first.cluster.report().nodes.length, 1);
});

test("a node with other rooms is noticed, until it has the same again", async (t) => {
  const first = await open(t, settings({ name: "gate-1" }));
  const chosen = settings(
    { name: "gate-2", join: [first.address] },
    { rooms: { main: { totalActiveUsers: 6 } } },
  );
  const second = await open(t, chosen);
  await eventually("it is told", () =>
    first.cluster.report().problems.includes("gate-2 has other rooms or budgets in its settings"),
  );
  second.cluster.note(settings({}));
  await eventually("it is no longer told", () => first.cluster.report().problems.length === 0);
});

test("a node finds the others by a name", async (t) => {
  const first = await open(t, settings({ name: "gate-1" }));
  const port = Number(first.address.split(":")[1]);
  const machine: Machine = {
    ...MACHINE_HERE,
    addressesOf: async () => ["127.0.0.1"],
    own: () => [{ address: "127.0.0.1", internal: false }],
  };
  const second = await open(t, settings({ name: "gate-2", listen: ":0", join: [`dns:a:${port}`] }), machine);
  await second.cluster.joined;
  assert.deepEqual(namesAt(second), ["gate-1", "gate-2"]);
});

test("a node that cannot know its own address says what to set", async () => {
  const machine = { ...MACHINE_HERE, own: () => [] };
  const chosen = settings({ listen: ":0", join: ["10.0.0.9"] });
  await assert.rejects(openCluster(chosen, realWorld(), machine), /cluster\.advertise/);
});

test("an address that is taken is told as every other is", async (t) => {
  const first = await open(t, settings({}));
  const again = settings({ listen: first.address });
  await assert.rejects(openCluster(again, realWorld()), { code: "EADDRINUSE" });
});

test("a name that nobody knows yet is told of once, and again when the problem is another", async (t) => {
  const codes = ["ENOTFOUND", "ENOTFOUND", "EAI_AGAIN"];
  const addressesOf = async () => {
    const code = codes.shift();
    if (code) throw Object.assign(new Error(code), { code });
    return ["127.0.0.1"];
  };
  const join = ["dns:gates.internal:7100"];
  const node = await open(t, settings({ join, advertise: "127.0.0.1:7100" }), {
    ...MACHINE_HERE,
    addressesOf,
    pause: async () => {},
  });
  const told = node.entries.map(({ message }) => message).filter((text) => /looked up again/.test(text));
  assert.equal(told.length, 2, told.join("\n"));
  assert.match(told[0]!, /the name is unknown/);
  assert.match(told[1]!, /does not answer/);
});
