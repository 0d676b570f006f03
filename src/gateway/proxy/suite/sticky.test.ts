/**
 * Sites that keep sessions in memory, as socket.io does: a session begins with a request that gets an id, goes on with
 * long polling under that id, and then upgrades to a WebSocket. An address that does not know the id answers with 400.
 */
import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { type TestContext, test } from "node:test";
import { WebSocket, WebSocketServer } from "ws";
import {
  askProxy,
  openProxiedOrigin,
  openProxyStage,
  type ProxyStageOptions,
} from "../../../testing/proxy/stage.ts";

/** A site with its own sessions, which stops to answer when it is told to hang up. */
async function openSite(t: TestContext, name: string) {
  const sessions = new Set<string>();
  const state = { isHangingUp: false };
  const idOf = (request: IncomingMessage) => new URL(request.url!, "http://a").searchParams.get("sid") ?? "";
  const origin = await openProxiedOrigin(t, (request, response) => {
    if (state.isHangingUp) return void request.socket.resetAndDestroy();
    const id = idOf(request);
    if (id !== "") return void response.writeHead(sessions.has(id) ? 200 : 400).end();
    const made = `${name}-${sessions.size}`;
    sessions.add(made);
    response.end(made);
  });
  const sockets = new WebSocketServer({ noServer: true });
  origin.server.on("upgrade", (request, socket, head) => {
    if (sessions.has(idOf(request)))
      sockets.handleUpgrade(request, socket, head, (joined) => joined.send("joined"));
    else socket.end("HTTP/1.1 400 Bad Request\r\n\r\n");
  });
  t.after(() => sockets.close());
  return { address: origin.address, state };
}

const VISITORS = Array.from({ length: 20 }, (_, n) => `visitor-${n}`);

async function openSites(t: TestContext, sticky: "off" | "visitor", options: ProxyStageOptions = {}) {
  const sites = [await openSite(t, "a"), await openSite(t, "b")] as const;
  const addresses = sites.map(({ address }) => address);
  const { port } = await openProxyStage(t, addresses, {
    origin: { sticky },
    forward: ({ headers }) => ({ stickyKey: (headers["x-visitor"] as string | undefined) ?? null }),
    ...options,
  });
  return { port, addresses, sites };
}

/** True when a session that one visitor begins holds until its WebSocket is open. */
async function connects(port: number, visitor: string): Promise<boolean> {
  const headers = { "x-visitor": visitor };
  const id = (await askProxy(port, { headers })).body.toString();
  for (let polls = 0; polls < 2; polls++)
    if ((await askProxy(port, { path: `/?sid=${id}`, headers })).status !== 200) return false;
  const socket = new WebSocket(`ws://127.0.0.1:${port}/?sid=${id}`, { headers });
  return new Promise((resolve) => {
    socket.on("message", () => {
      socket.terminate();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

async function countConnected(port: number): Promise<number> {
  const all = await Promise.all(VISITORS.map((visitor) => connects(port, visitor)));
  return all.filter(Boolean).length;
}

test("with sticky addresses every session connects, and both addresses have some of them", async (t) => {
  const { port } = await openSites(t, "visitor");
  assert.equal(await countConnected(port), VISITORS.length);
  const names = await Promise.all(
    VISITORS.map(
      async (visitor) => (await askProxy(port, { headers: { "x-visitor": visitor } })).body.toString()[0],
    ),
  );
  assert.deepEqual(new Set(names), new Set(["a", "b"]));
});

test("without, sessions end up at the other address", async (t) => {
  const { port } = await openSites(t, "off");
  assert.ok((await countConnected(port)) < VISITORS.length);
});

test("two gateways, with the addresses in another order, send a visitor to the same one", async (t) => {
  const { port, addresses } = await openSites(t, "visitor");
  const other = await openProxyStage(t, addresses.toReversed(), {
    origin: { sticky: "visitor" },
    forward: ({ headers }) => ({ stickyKey: headers["x-visitor"] as string }),
  });
  for (const visitor of VISITORS) {
    const headers = { "x-visitor": visitor };
    const id = (await askProxy(port, { headers })).body.toString();
    assert.equal((await askProxy(other.port, { path: `/?sid=${id}`, headers })).status, 200, visitor);
  }
});

test("while its address fails a visitor is served by the other, and nobody else moves", async (t) => {
  const { port, sites } = await openSites(t, "visitor");
  const homes = async () => {
    const asked = VISITORS.map((visitor) => askProxy(port, { headers: { "x-visitor": visitor } }));
    return (await Promise.all(asked)).map(({ status, body }) => `${status} ${body.toString()[0]}`);
  };
  const before = await homes();
  sites[0].state.isHangingUp = true;
  assert.deepEqual(new Set(await homes()), new Set(["200 b"]));
  assert.ok(before.includes("200 a") && before.includes("200 b"));
});
