/** The door in front of an Express app: what its answers tell the gateway, and what the app never sees. */
import assert from "node:assert/strict";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type TestContext, test } from "node:test";
import express from "express";
import type { RoomInput } from "../../../config/schema.ts";
import { laneNumber } from "../../../core/lanes.ts";
import { MemoryEngine } from "../../../engines/memory/memory-engine.ts";
import { createGateway } from "../../../index.ts";
import { assertSite } from "../../../testing/gateway/line.ts";
import { STAGE_SECRET } from "../../../testing/gateway/stage.ts";
import { Visitor } from "../../../testing/gateway/visitor.ts";
import { WatchedEngine } from "../../../testing/gateway/watched-engine.ts";
import { realWorld } from "../../../testing/real-world.ts";
import { until } from "../../../testing/until.ts";
import { codeKeys, writeCode } from "../../lanes/code.ts";

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

/** An app behind the gateway that says "the site", ends visits at /logout and breaks at /broken. */
async function openApp(t: TestContext, room: RoomInput) {
  const engine = new WatchedEngine(new MemoryEngine(realWorld()));
  const gateway = await createGateway({ secret: STAGE_SECRET, log: SILENT, rooms: { main: room }, engine });
  const app = express();
  const seen: string[] = [];
  app.use(gateway.middleware, (request, _response, next) => {
    seen.push(`${request.url} ${request.originalUrl} ${JSON.stringify(request.headers)}`);
    next();
  });
  app.get("/logout", (_request, response) => {
    response.set("Fairgate-Command", "revoke").send("the site");
  });
  app.get("/logout-by-head", (_request, response) => {
    response.writeHead(200, { "Fairgate-Command": "revoke" }).end("the site");
  });
  app.get("/broken", (_request, response) => {
    response.status(500).send("broken");
  });
  app.use((_request, response) => {
    response.send("the site");
  });
  const server = http.createServer(app);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    server.closeAllConnections();
    server.close();
    await gateway.close();
    await engine.close();
  });
  const { port } = server.address() as AddressInfo;
  return { engine, seen, visitor: () => new Visitor(port, t) };
}

test("an app ends a visit with a header that nobody sees, and the next is let in", async (t) => {
  const room = { totalActiveUsers: 1, enabledOriginCommands: ["revoke" as const] };
  const { engine, visitor } = await openApp(t, room);
  for (const path of ["/logout", "/logout-by-head"]) {
    const first = visitor();
    await until(() => first.isIn("/"), "the visitor's turn");
    const next = visitor();
    assert.equal((await next.call("join")).status, "waiting");
    const answer = await first.open(path);
    assertSite(answer);
    assert.equal(answer.headers["fairgate-command"], undefined);
    assert.equal(first.token(), undefined);
    await until(() => next.isIn("/"), "the next one's turn");
    await next.call("leave");
  }
  assert.equal((await engine.counts("main")).totals.revoked, 2);
});

test("where it is not enabled the header does nothing, and no visitor sees it", async (t) => {
  const { engine, visitor } = await openApp(t, { totalActiveUsers: 5 });
  const first = visitor();
  for (let i = 0; i < 2; i++)
    for (const path of ["/logout", "/logout-by-head"]) {
      const answer = await first.open(path);
      assertSite(answer);
      assert.equal(answer.headers["fairgate-command"], undefined);
    }
  assert.equal((await engine.counts("main")).onSite, 1);
});

test("the app's answers are counted as those of an origin are", async (t) => {
  const { engine, visitor } = await openApp(t, {
    totalActiveUsers: 5,
    standby: { requestsPerSecond: 1_000 },
  });
  const first = visitor();
  for (const path of ["/", "/", "/broken"]) await first.open(path);
  const sum = (of: "requests" | "answers" | "errors") =>
    engine.reports.reduce((total, load) => total + load[of], 0);
  // A report may come between a request and its answer.
  await until(() => sum("requests") === 3 && sum("answers") === 3, "the report");
  assert.deepEqual([sum("errors"), engine.reports.at(-1)!.inFlight], [1, 0]);
});

test("a code leads to the clean address, and the app never sees it", async (t) => {
  const { seen, visitor } = await openApp(t, { totalActiveUsers: 5, lanes: { vip: {} } });
  const keys = codeKeys("main", { secret: STAGE_SECRET, previousSecrets: [] });
  const lane = laneNumber("vip");
  const code = writeCode(
    { kind: "many", lane, id: "0123456789abcdef", expiresAt: Date.now() + 60_000 },
    keys,
  );
  const someone = visitor();
  const answer = await someone.open(`/show?a=1&fairgate_code=${code}`);
  assert.deepEqual([answer.status, answer.headers.location], [303, "/show?a=1"]);
  assertSite(await someone.open("/show?a=1"));
  await someone.ask(`/show?fairgate_code=${code}`, { method: "POST", headers: { "fairgate-code": code } });
  assert.equal(seen.length, 2);
  for (const line of seen) assert.ok(!line.includes(code), line);
});
