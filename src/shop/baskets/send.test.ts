import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { nodeWorld } from "../../node.ts";
import { handWorld } from "../../sim/hand-world.ts";
import { ANSWER_BYTES_MAX, addressProblem, createSend, type FetchLike } from "./send.ts";

const world = nodeWorld({ level: "silent" });

async function server(listener: RequestListener): Promise<{ address: string } & AsyncDisposable> {
  const listening = createServer(listener);
  await new Promise<void>((resolve) => listening.listen(0, "127.0.0.1", resolve));
  return {
    address: `http://127.0.0.1:${(listening.address() as AddressInfo).port}`,
    [Symbol.asyncDispose]: async () => {
      listening.closeAllConnections();
      await new Promise((resolve) => listening.close(resolve));
    },
  };
}

const send = createSend(fetch as FetchLike, { world, timeoutMs: 60_000 });
const post = (url: string) => send({ url, headers: { "x-a": "b" }, body: "hello" });

test("a request arrives as it was written, and its answer comes back", async () => {
  await using there = await server(async (request, response) => {
    const pieces = await request.toArray();
    response.setHeader("Retry-After", "7");
    response.statusCode = 202;
    response.end(`${request.method} ${request.url} ${request.headers["x-a"]} ${Buffer.concat(pieces)}`);
  });
  assert.deepEqual(await post(`${there.address}/orders?a=1`), {
    status: 202,
    retryAfterMs: 7_000,
    body: "POST /orders?a=1 b hello",
  });
});

test("a redirect is an answer, and nothing is sent where it leads", async () => {
  let asked = 0;
  await using other = await server((_request, response) => {
    asked++;
    response.end();
  });
  for (const status of [301, 302, 303, 307, 308]) {
    await using there = await server((_request, response) => {
      response.writeHead(status, { Location: other.address }).end();
    });
    assert.equal((await post(there.address)).status, status);
  }
  assert.equal(asked, 0);
});

test("of a long answer only the beginning is read, and the rest is not waited for", async () => {
  await using there = await server((_request, response) => {
    response.write("x".repeat(ANSWER_BYTES_MAX + 10));
    // It never ends.
  });
  const { body } = await post(there.address);
  assert.equal(body.length, ANSWER_BYTES_MAX);
});

test("an answer that does not come, or does not end, is given up after the time", async () => {
  for (const begin of ["nothing", "a beginning"]) {
    const hand = handWorld();
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => {
      isAsked = resolve;
    });
    await using there = await server((_request, response) => {
      if (begin !== "nothing") response.write("a");
      isAsked();
    });
    const sent = createSend(fetch as FetchLike, { world: hand, timeoutMs: 5_000 })({
      ...{ url: there.address, headers: {}, body: "" },
    });
    const failed = assert.rejects(sent, { message: "timeout" });
    await asked;
    hand.pass(5_000);
    await failed;
  }
});

test("what went wrong is said in a word, without the address", async () => {
  const closed = await server(() => {});
  await closed[Symbol.asyncDispose]();
  await assert.rejects(post(`${closed.address}/a-secret-path`), { message: "ECONNREFUSED" });
  await using there = await server((request) => request.socket.destroy());
  await assert.rejects(post(`${there.address}/a-secret-path`), ({ message }: Error) => {
    assert.match(message, /^(ECONNRESET|UND_ERR_SOCKET)$/);
    return true;
  });
});

test("a date in Retry-After is a time from now, and nonsense is nothing", async () => {
  const now = Date.UTC(2026, 5, 1, 10);
  const ask = async (header: string | null) => {
    const fake: FetchLike = async () => ({ status: 503, headers: { get: () => header }, body: null });
    const sent = createSend(fake, { world: handWorld({ now }), timeoutMs: 1_000 });
    return (await sent({ url: "https://a.example", headers: {}, body: "" })).retryAfterMs;
  };
  assert.equal(await ask("Mon, 01 Jun 2026 10:01:00 GMT"), 60_000);
  assert.equal(await ask("Mon, 01 Jun 2026 09:00:00 GMT"), 0);
  for (const header of [null, "", "soon", "-5", "1e9", "9".repeat(10), "Mon, 99 Jux 2026 10:01:00 GMT"])
    assert.equal(await ask(header), null, String(header));
});

test("an address is https, or this machine itself, and holds no secret that a log might show", () => {
  for (const good of [
    "https://shop.example/orders?key=a",
    "https://10.0.0.1:8443/",
    "http://localhost:3000",
    "http://127.0.0.1",
    "http://127.1/",
    "http://[::1]:80/",
  ])
    assert.equal(addressProblem(good), null, good);
  for (const bad of [
    "",
    "orders",
    "//shop.example",
    "http://shop.example",
    "http://127.0.0.1.shop.example",
    "http://localhost.shop.example",
    "http://localhost@shop.example",
    "http://0.0.0.0",
    "http://[::ffff:127.0.0.1]",
    "http://169.254.169.254/latest/meta-data",
    "https://user:password@shop.example",
    "https://user@shop.example",
    "https://shop.example#a",
    "ftp://shop.example",
    "file:///etc/passwd",
    "javascript:alert(1)",
    `https://shop.example/${"a".repeat(2_048)}`,
  ])
    assert.ok(addressProblem(bad), bad);
});

test("nothing is sent to an address that is not good", async () => {
  const fake: FetchLike = () => assert.fail("it was sent");
  const sent = createSend(fake, { world, timeoutMs: 1_000 });
  await assert.rejects(sent({ url: "http://shop.example", headers: {}, body: "" }), /neither https/);
});
