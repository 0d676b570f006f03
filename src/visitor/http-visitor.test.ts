import assert from "node:assert/strict";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import { ask } from "./ask.ts";
import { HttpVisitor } from "./http-visitor.ts";

async function openServer(t: TestContext, answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

test("cookies are kept, changed and taken away as the answers say, and sent with what comes next", async (t) => {
  const sent: (string | undefined)[] = [];
  const given = [["a=1; Path=/", "b=2=3; Secure"], ["a=4"], ["b=; Max-Age=0; Path=/"], []];
  const address = await openServer(t, (request, response) => {
    sent.push(request.headers.cookie);
    response.setHeader("set-cookie", given.shift()!).end();
  });
  const visitor = new HttpVisitor(address);
  for (let i = 0; i < 4; i++) await visitor.open();
  assert.deepEqual(sent, [undefined, "a=1; b=2=3", "a=4; b=2=3", "a=4"]);
  const other = new HttpVisitor(address);
  other.cookie = "a=5; b=6";
  assert.deepEqual([...other.cookies], Object.entries({ a: "5", b: "6" }));
});

test("checks in whenever told to, until the answer is not about waiting", async (t) => {
  const told = [
    { status: "waiting", nextCheckInMs: 2_000 },
    { status: "waiting", nextCheckInMs: 300 },
    { status: "admitted" },
  ];
  const paths: string[] = [];
  const address = await openServer(t, (request, response) => {
    paths.push(`${request.method} ${request.url}`);
    response.end(JSON.stringify(told[paths.length - 1]));
  });
  const pauses: number[] = [];
  const heard: (string | undefined)[] = [];
  const pause = async (ms: number) => void pauses.push(ms);
  for await (const { status } of new HttpVisitor(address).checkIns(pause, { room: "hall" }))
    heard.push(status);
  assert.deepEqual(heard, ["waiting", "waiting", "admitted"]);
  assert.deepEqual(pauses, [2_000, 300]);
  assert.deepEqual(new Set(paths), new Set(["POST /.fairgate/hall/check-in"]));
});

test("a path is sent as it is, and an answer that is cut short is none", async (t) => {
  const address = await openServer(t, (request, response) => {
    if (request.url !== "/cut") return void response.end(request.url);
    response.setHeader("content-length", 10);
    response.write("half");
    setImmediate(() => response.destroy());
  });
  assert.equal((await ask(address, { path: "/a/..//b%2f?c" })).text, "/a/..//b%2f?c");
  await assert.rejects(ask(`${address}/cut`));
});
