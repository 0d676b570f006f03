/** The demo's shop behind a real gateway on this machine, with its ledger in memory: for tests in a browser. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Fairgate, openFairgate } from "../../assembly/open-fairgate.ts";
import { CATALOGUE, DEMO_SHOP, demoSettings } from "../../cli/demo/scene.ts";
import { openShop, type Shop } from "../../cli/demo/shop.ts";
import { readCatalogue } from "../../config/catalogue-form.ts";
import type { CatalogueInput } from "../../config/catalogue-schema.ts";
import type { SettingsInput } from "../../config/schema.ts";
import { DurableHost } from "../../durable/host.ts";
import { nodeWorld } from "../../node.ts";
import type { ShopDesk } from "../../shop/api/shop-desk.ts";
import { openCourier } from "../../shop/baskets/courier.ts";
import { PretendProvider } from "../../shop/baskets/providers/pretend.ts";
import { createSend, type FetchLike } from "../../shop/baskets/send.ts";
import type { WebhookKeys } from "../../shop/baskets/standard-webhooks.ts";
import { Ledger, ledgerEnv } from "../../shop/ledger/ledger.ts";
import { SECRET, TOKEN } from "../cli/fairgate.ts";
import { MemoryDisk } from "../memory-disk.ts";

const KEY = Buffer.alloc(32, 5);

export interface DemoStage extends AsyncDisposable {
  readonly address: string;
  readonly desk: ShopDesk;
  readonly site: Shop;
  readonly fairgate: Fairgate;
}

export interface DemoStageOptions {
  readonly catalogue?: CatalogueInput;
  readonly rooms?: SettingsInput["rooms"];
}

export async function openDemoStage({
  catalogue = CATALOGUE,
  rooms = {},
}: DemoStageOptions = {}): Promise<DemoStage> {
  const opened = new AsyncDisposableStack();
  const world = nodeWorld({ level: "warn" });
  const keys: WebhookKeys = [KEY];
  let address = "";
  const callbackTo = () => `${address}/.fairgate/main/shop/payments`;
  const site = await openShop({ world, keys, callbackTo });
  opened.defer(() => site.close());
  const provider = new PretendProvider({ url: site.address, keys });
  const send = createSend(fetch as FetchLike, { world, timeoutMs: 10_000 });
  const courier = { endpoints: [], provider, world, send };
  const host = new DurableHost(new MemoryDisk(), { world });
  opened.defer(() => host.close());
  const env = ledgerEnv(world, { tell: () => {}, openCourier: (parts) => openCourier(courier, parts) });
  const desk = host.objects("Ledger", Ledger, env).get(DEMO_SHOP) as unknown as ShopDesk;
  const reading = readCatalogue(catalogue);
  if (!reading.ok) throw new Error(JSON.stringify(reading.problems));
  await desk.setCatalogue(reading.written, { ifVersion: null, now: world.clock.now() });
  const settings = demoSettings({
    ...{ port: 0, shop: site.address, data: "./none", token: TOKEN, secret: SECRET, rooms },
    paymentSecret: `whsec_${KEY.toString("base64")}`,
  });
  const fairgate = await openFairgate({ ...settings, data: null }, world, { deskOf: () => desk });
  opened.defer(() => fairgate.close());
  const { handle, handleContinue } = fairgate.proxied;
  const server = createServer(handle).on("checkContinue", handleContinue);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  opened.defer(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { address, desk, site, fairgate, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}
