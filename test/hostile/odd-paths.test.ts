/**
 * No path reaches the guarded part of a site without a pass: for five real sites, every method, HTTP/1.0, 1.1 and 2, upgrades,
 * and as middleware. Each path is also sent to the site itself, to know that it is worth trying.
 */
import assert from "node:assert/strict";
import http, { type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import type { SettingsInput } from "../../src/config/schema.ts";
import { createGateway } from "../../src/index.ts";
import { ownFolder } from "../../src/testing/cli/fairgate.ts";
import { openStage, STAGE_SECRET, TLS } from "../../src/testing/gateway/stage.ts";
import {
  HTTP1,
  knownTries,
  madeUpTries,
  openHttp2,
  sendAll,
  sendHttp1,
  sendHttp2,
  type Try,
} from "./odd-paths.ts";
import { expressSite, honoSite } from "./sites/node-sites.ts";
import { openSite, SITES } from "./sites/sites.ts";

const MADE_UP = 150;
/** At least this many of the generated paths are the guarded part to the site itself. */
const WORTHWHILE_MIN = 3;

const GUARDED: SettingsInput["rooms"] = {
  main: {
    path: "/tickets",
    additionalRoutes: [{ path: "/café" }, { path: "/my%20tickets" }],
    totalActiveUsers: 1,
    paused: true,
  },
};
/** Many tries run at once, all from one address. */
const limits = { requestsPerAddressMax: 1_000 };

function triesFor(t: TestContext, hows: readonly Try["how"][]): Try[] {
  const seed = Math.floor(Math.random() * 2 ** 31);
  t.diagnostic(`seed ${seed}`);
  return [...knownTries(hows), ...madeUpTries(seed, MADE_UP, hows)];
}

async function held(tries: readonly Try[], send: (tried: Try) => Promise<string>): Promise<void> {
  const { through, open } = await sendAll(tries, send);
  assert.deepEqual(through, []);
  assert.ok(open > 0, "nothing reached the site at all");
}

async function worthwhile(tries: readonly Try[], send: (tried: Try) => Promise<string>): Promise<void> {
  const { through } = await sendAll(tries, send);
  assert.ok(through.length >= WORTHWHILE_MIN, `only ${through.length} paths are guarded`);
}

describe("no path reaches the guarded part without a pass", () => {
  for (const name of SITES)
    test(`of ${name}, over HTTP/1 and HTTP/2`, async (t) => {
      await using site = await openSite(name);
      const settings = { origin: { addresses: [`http://127.0.0.1:${site.port}`] }, rooms: GUARDED, limits };
      const plain = await openStage(t, { settings });
      const secure = await openStage(t, { settings: { ...settings, tls: TLS } });
      const session = openHttp2(secure.port);
      t.after(() => session.destroy());
      const first = triesFor(t, HTTP1);
      await worthwhile(first.slice(-MADE_UP), (tried) => sendHttp1(site.port, tried));
      await held(first, (tried) => sendHttp1(plain.port, tried));
      await held(triesFor(t, ["2"]), (tried) => sendHttp2(session, tried));
    });

  for (const [name, makeSite] of [
    ["express", expressSite],
    ["hono", honoSite],
  ] as const)
    test(`of ${name}, as middleware`, async (t) => {
      using folder = ownFolder();
      const site = makeSite(folder.path) as RequestListener;
      const gateway = await createGateway({ secret: STAGE_SECRET, log: SILENT, rooms: GUARDED, limits });
      t.after(() => gateway.close());
      const guarded: RequestListener = (request, response) => {
        gateway.middleware(request, response, () => site(request, response));
      };
      const tries = triesFor(t, ["1.0", "1.1", "absolute"]);
      await worthwhile(tries.slice(-MADE_UP), await sender(t, site));
      await held(tries, await sender(t, guarded));
    });
});

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

async function sender(t: TestContext, listener: RequestListener): Promise<(tried: Try) => Promise<string>> {
  const server = http.createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return (tried) => sendHttp1(port, tried);
}
