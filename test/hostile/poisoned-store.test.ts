/**
 * Stored state that cannot be used, left between two lives or between gateways by a change that should never have been stored, by
 * another version, or by hand. No gateway may fail to start because of it, or miss a later change.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openData } from "../../src/assembly/data.ts";
import { openCluster } from "../../src/assembly/open-cluster.ts";
import { settingsFrom } from "../../src/config/load.ts";
import type { Settings } from "../../src/config/schema.ts";
import { ownWords, writtenRoom } from "../../src/config/written.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder, type Run, SECRET, startRun } from "../../src/testing/cli/fairgate.ts";
import { realWorld } from "../../src/testing/real-world.ts";
import { startRedis } from "../../src/testing/redis/servers.ts";

const BAD_PAGE = "<h1>{{#nosuch}}</h1>";
const FILE = {
  origin: { addresses: ["http://127.0.0.1:9"] },
  rooms: { main: { totalActiveUsers: 5 }, shop: { path: "/shop", totalActiveUsers: 5 } },
};

function settings(more: object = {}): Settings {
  const result = settingsFrom(
    { ...FILE, ...more },
    {
      environment: { FAIRGATE_SECRET: SECRET },
      readFile: () => "",
    },
  );
  assert.ok(result.ok, JSON.stringify(result));
  return result.settings;
}

/** A change as a version without checks would have stored it. */
function unchecked(room: string, change: object): string {
  return JSON.stringify({ file: JSON.stringify(writtenRoom(settings().rooms[room]!)), change });
}

interface Shown {
  readonly settings: { readonly paused: boolean; readonly message: string };
}

async function roomOf({ control }: Run, room: string): Promise<Shown["settings"]> {
  return (await control.ask<Shown>("GET", `/rooms/${room}`)).body.settings;
}

/** A bad page among other settings: the change is refused whole, with the reason. */
async function refusesBadPage({ control }: Run): Promise<void> {
  const change = { paused: true, page: { customPageHtml: BAD_PAGE } };
  const { status, text } = await control.ask("PATCH", "/rooms/main", change);
  assert.equal(status, 422, text);
  assert.match(text, /nosuch/);
}

interface Listed {
  readonly unused: readonly { readonly room: string; readonly settings: readonly string[] }[];
  readonly aside: readonly { readonly room: string; readonly reason: string; readonly change: unknown }[];
}

async function changesOf({ control }: Run): Promise<Listed> {
  return (await control.ask<Listed>("GET", "/changes")).body;
}

test("in a data directory: a bad change is not stored, and one that was stored is put aside at the start", async () => {
  using folder = ownFolder({ "fairgate.yaml": JSON.stringify(FILE) });
  const start = () => startRun(["--data", "kept"], { cwd: folder.path });
  {
    await using run = await start();
    await refusesBadPage(run);
    assert.equal((await roomOf(run, "main")).paused, false);
    assert.equal((await run.control.ask("PATCH", "/rooms/shop", { message: "Tea" })).status, 200);
    await run.child.end("SIGTERM");
  }
  {
    await using run = await start();
    assert.deepEqual(await changesOf(run), { unused: [], aside: [] });
    assert.equal((await roomOf(run, "shop")).message, "Tea");
    await run.child.end("SIGTERM");
  }
  const data = await openData(`${folder.path}/kept`, realWorld());
  await data.changes.replace(
    "main",
    null,
    unchecked("main", { paused: true, page: { customPageHtml: BAD_PAGE } }),
  );
  await data.close();
  {
    await using run = await start();
    assert.equal((await roomOf(run, "main")).paused, true, "the rest of the change is used");
    assert.equal((await roomOf(run, "shop")).message, "Tea");
    const told = run.log().filter(({ msg }) => /cannot be used here/.test(msg));
    assert.equal(told.length, 1);
    assert.match(JSON.stringify(told[0]), /main.*page\.customPageHtml.*nosuch/);
    const { aside } = await changesOf(run);
    assert.deepEqual(aside[0]?.change, { page: { customPageHtml: BAD_PAGE } });
  }
});

test("in a Redis: a poisoned change stops no gateway: they start, restart and learn of later changes", async () => {
  await using redis = await startRedis();
  // A busy machine may delay an answer of Redis beyond the usual timeout.
  const file = { ...FILE, redis: { timeout: "1m" } };
  using folder = ownFolder({ "fairgate.yaml": JSON.stringify(file) });
  const start = () => startRun(["--redis", `redis://127.0.0.1:${redis.port}`], { cwd: folder.path });
  await using one = await start();
  await using two = await start();
  await refusesBadPage(one);
  const keys = (await redis.command("KEYS", "*:changes")) as string[];
  assert.deepEqual(keys, [], "nothing is kept");
  const poisons = [
    unchecked("main", { paused: true, page: { customPageHtml: BAD_PAGE }, soonToBe: 1 }),
    "{",
    '{"file":7}',
  ];
  for (const [index, poison] of poisons.entries()) {
    await redis.command("HSET", "fairgate:changes", "main", poison);
    await redis.command("HSET", "fairgate:keys", "ring", index % 2 === 0 ? "{" : '{"name":1}');
    const message = `change ${index}`;
    assert.equal((await one.control.ask("PATCH", "/rooms/shop", { message })).status, 200);
    await eventually("the other gateway hears of the change after it", async () => {
      return (await roomOf(two, "shop")).message === message;
    });
    await using late = await start();
    assert.equal((await roomOf(late, "shop")).message, message);
    assert.equal((await roomOf(late, "main")).paused, index === 0, "what can be used of it is");
    const { unused } = await changesOf(late);
    assert.deepEqual(
      unused.map(({ room }) => room),
      ["main"],
    );
    const metrics = (await late.control.ask("GET", "/metrics")).text;
    assert.match(metrics, /^fairgate_unused_changes\{room="main"\} [12]$/m);
  }
  assert.equal(
    (await two.control.ask("POST", "/rooms/main/pause", {})).status,
    200,
    "the room can be changed",
  );
  await eventually("and all hear of it", async () => (await roomOf(one, "main")).paused);
  assert.deepEqual((await changesOf(two)).unused, []);
  assert.equal((await changesOf(two)).aside.length, 1);
});

test("in a cluster: a node's poisoned change stops no other node", async () => {
  using folder = ownFolder({ "fairgate.yaml": JSON.stringify(FILE) });
  const flags = ["--cluster", "--cluster-name", "gate-1", "--cluster-listen", "127.0.0.1:0"];
  await using run = await startRun(flags, { cwd: folder.path });
  const { address } = (await run.control.ask<{ address: string }>("GET", "/cluster")).body;
  await refusesBadPage(run);
  const joining = settings({ cluster: { listen: "127.0.0.1:0", join: [address] } });
  const node = await openCluster({ ...joining, cluster: joining.cluster! }, realWorld());
  await using closing = new AsyncDisposableStack();
  closing.defer(() => node.close());
  await node.node!.joined;
  const { changes } = node.keeps;
  assert.equal((await changes.read())!.size, 0, "nothing is kept");
  const mark = changes.mark(ownWords(writtenRoom(settings().rooms.shop!)));
  const bad = { paused: true, page: { customPageHtml: BAD_PAGE } };
  assert.ok(await changes.replace("main", null, JSON.stringify({ file: "an odd file", change: bad })));
  await eventually("the node hears of it", async () => (await changesOf(run)).unused.length === 1);
  assert.equal((await roomOf(run, "main")).paused, false);
  assert.ok(
    await changes.replace(
      "shop",
      null,
      JSON.stringify({ file: mark, change: { nosuch: 1, message: "Tea" } }),
    ),
  );
  await eventually("and of the change after it", async () => (await roomOf(run, "shop")).message === "Tea");
  assert.equal((await changesOf(run)).unused.length, 2);
  assert.equal(
    (await run.control.ask("POST", "/rooms/main/pause", {})).status,
    200,
    "the room can be changed",
  );
  assert.deepEqual(
    (await changesOf(run)).unused.map(({ room }) => room),
    ["shop"],
  );
});
