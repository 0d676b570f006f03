/** Callbacks of a payment provider that nobody signed and that never end: visitors still buy, whatever memory they hold. */
import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { ownFolder, startRun } from "../../src/testing/cli/fairgate.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import { ProcessShopper } from "../../src/testing/shop/process-shopper.ts";

const MEMORY = "1MB";
/** Each fills what is left of the memory but for less than its size, from the largest on. */
const SIZES = [200_000, 60_000, 16_000, 4_000, 1_000, 250, 60, 15, 4, 1];
const EACH = 5;
const PATH = "/.fairgate/main/shop/payments";

test("bodies that never end keep no memory from a visitor's call", async () => {
  await using origin = await TestOrigin.open();
  using folder = ownFolder({
    "catalogue.yaml": "{currency: EUR, products: {seat: {stock: 9}}}",
    "fairgate.json": JSON.stringify({
      data: "data",
      origin: { addresses: [origin.address] },
      limits: { bufferedBodiesBytes: MEMORY },
      shops: { tickets: { catalogueFile: "catalogue.yaml", payment: { secretVariable: "SHOP_SECRET" } } },
      rooms: { main: { totalActiveUsers: 9, shop: "tickets" } },
    }),
  });
  const environment = { SHOP_SECRET: `whsec_${"A".repeat(32)}` };
  await using run = await startRun(["--config", "fairgate.json"], { cwd: folder.path, environment });
  const visitor = new ProcessShopper(run.address);
  await visitor.come();
  using crowd = new Crowd(Number(new URL(run.address).port));
  await crowd.hold();
  const { status } = await visitor.shop("POST holds", { product: "seat" });
  assert.equal(status, 201);
});

class Crowd {
  readonly #port: number;
  readonly #sockets: Socket[] = [];

  constructor(port: number) {
    this.#port = port;
  }

  /** Sends them one after the other, so that the memory is full at the end. */
  async hold(): Promise<void> {
    for (const size of SIZES) for (let n = 0; n < EACH; n++) await this.#send(size);
  }

  async #send(size: number): Promise<void> {
    const socket = connect(this.#port, "127.0.0.1").on("error", () => {});
    this.#sockets.push(socket);
    socket.resume();
    socket.write(
      `POST ${PATH} HTTP/1.1\r\nHost: a\r\nContent-Length: ${size + 1}\r\n\r\n${"x".repeat(size)}`,
    );
    await eventually("it is sent", () => socket.writableLength === 0 && socket.bytesWritten > size);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }

  [Symbol.dispose](): void {
    for (const socket of this.#sockets) socket.destroy();
  }
}
