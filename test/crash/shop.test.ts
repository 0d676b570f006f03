/**
 * A sale through `kill -9`: visitors buy from a real gateway with a real ledger, which is killed again and again while they do.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { Control, fairgate, ownFolder, SECRET, startRun, TOKEN } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { beginSale, checkBooks, SALE_CATALOGUE, SALE_SETTINGS } from "./shop-sale.ts";

const KILLS = 4;

/** The gateway in one life after the other, on the same ports and directory. */
async function openGate(origin: string) {
  const [port, controlPort] = [await freePort(), await freePort()];
  const folder = ownFolder({
    "catalogue.yaml": SALE_CATALOGUE,
    "fairgate.yaml": JSON.stringify({
      ...SALE_SETTINGS,
      data: "./kept",
      listen: `127.0.0.1:${port}`,
      control: { listen: `127.0.0.1:${controlPort}` },
      origin: { addresses: [origin] },
    }),
  });
  const environment = { FAIRGATE_SECRET: SECRET, FAIRGATE_CONTROL_TOKEN: TOKEN };
  return {
    address: `http://127.0.0.1:${port}`,
    control: new Control(`http://127.0.0.1:${controlPort}`, TOKEN),
    environment,
    folder,
    start: () =>
      startRun(["--listen", `127.0.0.1:${port}`, "--control-listen", `127.0.0.1:${controlPort}`], {
        cwd: folder.path,
        environment,
      }),
  };
}

test("a sale goes on through kill -9: nothing is sold twice, nothing acknowledged is lost, nothing leaks", async () => {
  await using origin = await TestOrigin.open();
  const gate = await openGate(origin.address);
  let run = await gate.start();
  try {
    const sale = beginSale([gate.address]);
    for (let kill = 0; kill < KILLS && !sale.isOver; kill++) {
      await sale.someHaveCome(6);
      await run.child.end("SIGKILL");
      run = await gate.start();
    }
    await sale.done;
    await checkBooks(gate.control, sale.acknowledged);
    const verified = await fairgate(["shop", "verify"], {
      cwd: gate.folder.path,
      environment: gate.environment,
    });
    assert.equal(verified.code, 0, verified.out + verified.err);
  } finally {
    await run[Symbol.asyncDispose]();
    gate.folder[Symbol.dispose]();
  }
});
