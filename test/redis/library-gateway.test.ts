/** A library gateway and `fairgate run` on one Redis: an operator's change at one holds at the other. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { createGateway } from "../../src/index.ts";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { type Run, SECRET, startRun } from "../../src/testing/cli/fairgate.ts";
import { openOrigin } from "../../src/testing/gateway/stage.ts";
import { assertWaitingPage, Visitor } from "../../src/testing/gateway/visitor.ts";
import { realWorld } from "../../src/testing/real-world.ts";
import { startRedis } from "../../src/testing/redis/servers.ts";

/** What `--total-active-users 5` says. Different settings would count as newer than an operator's change. */
const ROOMS = { main: { totalActiveUsers: 5 } };

/** A library gateway before the same site, with the same settings as the one that runs. */
async function openLibraryGateway(t: TestContext, redis: string, origin: string): Promise<number> {
  const gateway = await createGateway({
    secret: SECRET,
    origin: { addresses: [origin] },
    redis: { url: redis },
    rooms: ROOMS,
    log: realWorld().log,
  });
  t.after(() => gateway.close());
  const server = createServer(gateway.handler).listen(0, "127.0.0.1");
  t.after(() => server.close().closeAllConnections());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

async function change({ control }: Run, room: object): Promise<void> {
  const answer = await control.ask("PATCH", "/rooms/main", room);
  assert.equal(answer.status, 200, answer.text);
}

test("a library gateway that starts on a shared Redis keeps an operator's change, and follows the next one", async (t) => {
  await using redis = await startRedis();
  const origin = await openOrigin(t);
  const flags = ["--origin", origin.address, "--redis", redis.url, "--total-active-users", "5"];
  await using run = await startRun(flags);
  const atRun = () => new Visitor(Number(new URL(run.address).port), t);
  await change(run, { paused: true });

  const port = await openLibraryGateway(t, redis.url, origin.address);
  assertWaitingPage(await atRun().open());
  assertWaitingPage(await new Visitor(port, t).open());

  // Its own copy of the settings follows too: a gateway reads some of them alone, such as what a newcomer is told.
  await change(run, { queueingStatusCode: 202 });
  await eventually(
    "the library gateway knows",
    async () => (await new Visitor(port, t).open()).status === 202,
  );
});
