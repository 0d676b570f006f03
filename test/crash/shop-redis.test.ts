/**
 * A sale at two gateways on one Redis with replicas and sentinels: gateways are killed while people buy, and so is the primary that has
 * the shop's records, which a replica takes over.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  Control,
  fairgate,
  ownFolder,
  type Run,
  SECRET,
  startRun,
  TOKEN,
} from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { startSentinels } from "../../src/testing/redis/servers.ts";
import { beginSale, checkBooks, SALE_CATALOGUE, SALE_SETTINGS } from "./shop-sale.ts";

const GATEWAYS = 2;

test("a sale at two gateways goes on when either is killed, and when the primary of Redis is", async () => {
  await using origin = await TestOrigin.open();
  await using trio = await startSentinels();
  using folder = ownFolder({
    "catalogue.yaml": SALE_CATALOGUE,
    "fairgate.yaml": JSON.stringify({
      ...SALE_SETTINGS,
      redis: {
        sentinels: trio.sentinelPorts.map((port) => `127.0.0.1:${port}`),
        masterName: trio.name,
        replicas: 1,
        timeout: "5s",
      },
      origin: { addresses: [origin.address] },
    }),
  });
  const environment = { FAIRGATE_SECRET: SECRET, FAIRGATE_CONTROL_TOKEN: TOKEN };
  const ports = await Promise.all(Array.from({ length: 2 * GATEWAYS }, () => freePort()));
  const listens = Array.from({ length: GATEWAYS }, (_, i) => [ports[2 * i]!, ports[2 * i + 1]!] as const);
  const start = (gateway: number) => {
    const [port, controlPort] = listens[gateway]!;
    const at = ["--listen", `127.0.0.1:${port}`, "--control-listen", `127.0.0.1:${controlPort}`];
    return startRun(at, { cwd: folder.path, environment });
  };
  const runs: Run[] = await Promise.all([start(0), start(1)]);
  const killGateway = async (gateway: number) => {
    await runs[gateway]!.child.end("SIGKILL");
    runs[gateway] = await start(gateway);
  };
  try {
    const sale = beginSale(listens.map(([port]) => `http://127.0.0.1:${port}`));
    await sale.someHaveCome(6);
    await killGateway(0);
    await sale.someHaveCome(12);
    const primary = await trio.primary();
    await trio.watchClosely();
    await primary.kill();
    await sale.someHaveCome(12);
    await killGateway(1);
    await sale.done;
    assert.notEqual(await trio.primary(), primary);
    const [, controlPort] = listens[0]!;
    await checkBooks(new Control(`http://127.0.0.1:${controlPort}`, TOKEN), sale.acknowledged);
    const verify = ["shop", "verify", "--control", `127.0.0.1:${controlPort}`];
    const verified = await fairgate(verify, { cwd: folder.path, environment });
    assert.equal(verified.code, 0, verified.out + verified.err);
  } finally {
    for (const run of runs) await run[Symbol.asyncDispose]();
  }
});
