/** Origins that are asked under another name than the visitor's: their redirects and cookies lead back to the visitor. */
import assert from "node:assert/strict";
import { test } from "node:test";
import {
  askProxy,
  openProxiedOrigin,
  openProxyStage,
  openRawOrigin,
  talk,
} from "../../../testing/proxy/stage.ts";

test("redirects and cookies of every address of an origin are for the host that was asked", async (t) => {
  const names: string[] = [];
  const answer = (own: number) =>
    openProxiedOrigin(t, (request, response) => {
      names.push(request.headers.host!);
      response.writeHead(302, {
        // One address may well send visitors to another.
        Location: `http://127.0.0.1:${origins[1 - own]!.port}/next`,
        "Content-Location": `http://${request.headers.host}/here`,
        "Set-Cookie": ["a=1; Domain=127.0.0.1; Path=/", "b=2; Domain=elsewhere.example"],
      });
      response.end();
    });
  const origins = [await answer(0), await answer(1)];
  const addresses = origins.map(({ address }) => address);
  const { port } = await openProxyStage(t, addresses, {
    origin: { hostHeader: "origin" },
    trustedProxies: ["127.0.0.1"],
    // Ours is for the visitor as it is.
    forward: () => ({ responseHeaders: ["Set-Cookie", "fairgate_pass=1; Domain=127.0.0.1"] }),
  });
  for (let i = 0; i < 2; i++) {
    const headers = { host: "shop.example:8080", "x-forwarded-proto": "https" };
    const { headers: got } = await askProxy(port, { headers });
    assert.equal(got.location, "https://shop.example:8080/next");
    assert.equal(got["content-location"], "https://shop.example:8080/here");
    assert.deepEqual(got["set-cookie"], [
      "a=1; Path=/",
      "b=2; Domain=elsewhere.example",
      "fairgate_pass=1; Domain=127.0.0.1",
    ]);
  }
  assert.deepEqual(names.sort(), addresses.map((address) => new URL(address).host).sort());
  const preserving = await openProxyStage(t, addresses);
  const { headers } = await askProxy(preserving.port, { headers: { host: "shop.example" } });
  assert.match(headers.location!, /^http:\/\/127\.0\.0\.1:\d+\/next$/);
  assert.equal(headers["set-cookie"]?.[0], "a=1; Domain=127.0.0.1; Path=/");
});

test("an upgrade that is refused with a redirect leads back to the visitor, too", async (t) => {
  const origin = await openRawOrigin(t, (socket) => {
    socket.once("data", () =>
      socket.end("HTTP/1.1 302 Found\r\nLocation: http://chat.internal/login\r\nContent-Length: 0\r\n\r\n"),
    );
  });
  const { port } = await openProxyStage(t, [origin.address], { origin: { hostHeader: "chat.internal" } });
  const upgrade = "GET / HTTP/1.1\r\nHost: shop.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
  assert.match(await talk(port, upgrade), /\r\nLocation: http:\/\/shop\.example\/login\r\n/);
});
