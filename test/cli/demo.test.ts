/** `fairgate demo`: shop, line and crowd on this machine, and nothing left of them afterwards. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:net";
import { test } from "node:test";
import { eventually, isListening } from "../../src/testing/cli/eventually.ts";
import { Control } from "../../src/testing/cli/fairgate.ts";
import { readBoard } from "../../src/testing/cli/visitor.ts";
import { startDemo } from "./start-demo.ts";

test("the demo prints where everything is, its line moves, and Ctrl-C leaves nothing behind", async () => {
  await using demo = await startDemo(["--port", "0", "--crowd", "20"]);
  const { address, shop, control, token } = demo;
  const before = await eventually("there is a line", async () => {
    const board = await readBoard(address);
    return board.state === "queueing" && board.waiting! > 5 && board;
  });
  assert.ok(before.waiting! <= 30, "about as many as asked for");
  await eventually("the line moves", async () => {
    const { admitted } = await readBoard(address);
    return admitted > before.admitted;
  });
  assert.match(await (await fetch(shop)).text(), /The Small Shop/);
  const looked = await fetch(control);
  assert.match(
    `${looked.headers.get("content-type")} ${await looked.text()}`,
    /^text\/html.*<th scope="row">main<\/th><td>queueing<\/td><td>\d+</s,
  );
  const page = await (await fetch(address, { headers: { accept: "text/html" } })).text();
  assert.match(page, /You are in line|You are next/);
  const rooms = await new Control(control, token).ask<{ rooms: { counts: { onSite: number } }[] }>(
    "GET",
    "/rooms",
  );
  assert.equal(rooms.status, 200);
  assert.ok(rooms.body.rooms[0]!.counts.onSite > 0);
  assert.equal((await fetch(`${control}/rooms`)).status, 401);
  await demo.child.prints(/waiting \d+ · on site \d+ of \d+ · \d+ let in so far · wait .* · fairness/);

  assert.deepEqual(await demo.child.end("SIGINT"), { code: 0, signal: null });
  for (const at of [address, shop, control]) assert.equal(await isListening(at), false, at);
  assert.match(demo.child.out, /nothing is left running/);
  assert.equal(demo.child.err, "");
});

test("a taken port moves the demo to the next free one", async () => {
  const blocker = createServer().listen(0, "127.0.0.1");
  await once(blocker, "listening");
  const { port } = blocker.address() as { port: number };
  await using demo = await startDemo(["--port", String(port), "--crowd", "0"]);
  const found = Number(new URL(demo.address).port);
  blocker.close();
  assert.ok(found > port && found <= port + 40, `${found} for ${port}`);
  assert.equal((await fetch(demo.address, { headers: { accept: "text/html" } })).status, 200);
  assert.deepEqual(await demo.child.end("SIGTERM"), { code: 0, signal: null });
  assert.equal(await isListening(demo.address), false);
});
