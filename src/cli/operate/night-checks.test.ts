import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { settingsFrom } from "../../config/load.ts";
import { fairgate, ownFolder, SECRET } from "../../testing/cli/fairgate.ts";
import { isOutside, nightVerdicts } from "./night-checks.ts";

const NOWHERE = { listen: "127.0.0.1:0", control: { listen: "127.0.0.1:0" } };

/** What is found with these settings: `level check: sentence`. */
async function found(input: object): Promise<string> {
  const whole = { ...NOWHERE, rooms: { main: { totalActiveUsers: 1 } }, ...input };
  const needs = { needsSecret: false, needsOrigin: false };
  const result = settingsFrom(whole, { environment: {}, readFile: () => "", ...needs });
  assert.ok(result.ok, JSON.stringify(result));
  const verdicts = await nightVerdicts(result.settings);
  return verdicts.map(({ level, check, where, is }) => `${level} ${check} ${where}: ${is}`).join("\n");
}

async function site(
  status: number,
): Promise<{ address: string; asked: string[]; port: number; close(): void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers["user-agent"]}`);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, asked, port, close: () => server.close() };
}

test("each origin gets one HEAD request that says whose it is; one that is away or broken is told of", async () => {
  const [good, bad] = [await site(404), await site(503)];
  const text = await found({ origin: { addresses: [good.address, bad.address, "http://127.0.0.1:1"] } });
  assert.match(text, /ok origin .*: It answers \(HEAD \/: 404\)\./);
  assert.match(text, /caution origin .*: It answers with status 503\./);
  assert.match(text, /caution origin http:\/\/127\.0\.0\.1:1: It does not answer \(ECONNREFUSED\)\./);
  assert.equal(good.asked.length, 1);
  assert.match(good.asked[0]!, /^HEAD fairgate-check\/\d/);
  good.close();
  bad.close();
});

test("every busy port is named at once; those of a running Fairgate are no problem", async () => {
  const [one, other] = [await site(404), await site(404)];
  const busy = { listen: `127.0.0.1:${one.port}`, control: { listen: `127.0.0.1:${other.port}` } };
  const text = await found(busy);
  for (const { port } of [one, other])
    assert.match(text, new RegExp(`problem port 127\\.0\\.0\\.1:${port}: It is taken by another program`));
  one.close();
  other.close();
  const healthy = createServer((_, response) => response.end('{"isAlive":true}'));
  await new Promise<void>((resolve) => healthy.listen(0, "127.0.0.1", resolve));
  const { port } = healthy.address() as AddressInfo;
  assert.match(await found({ control: { listen: `127.0.0.1:${port}` } }), /ok port : A Fairgate runs/);
  healthy.close();
});

test("what goes wrong on the night is warned of", async () => {
  const event = {
    name: "sale",
    eventStartTime: "2030-01-01T10:00:00Z",
    eventEndTime: "2030-01-01T10:10:00Z",
  };
  const rooms = {
    main: { totalActiveUsers: 1, sessionDuration: "1h", events: [event] },
    quick: { path: "/quick", totalActiveUsers: 1, claimWindow: "5s" },
    good: { path: "/good", totalActiveUsers: 1, events: [{ ...event, sessionDuration: "5m" }] },
  };
  const text = await found({
    rooms,
    origin: { addresses: ["http://192.0.2.1:9"] },
    trustedProxies: ["127.0.0.1"],
  });
  assert.match(text, /caution session main: A session lasts 1h, and the event sale 10m/);
  assert.match(text, /caution claim quick: claimWindow is 5s/);
  const addresses = [
    "192.0.2.1",
    "[2001:db8::1]",
    "10.1.2.3",
    "172.31.0.1",
    "127.0.0.1",
    "[::1]",
    "[fd00::1]",
  ];
  assert.deepEqual(await Promise.all(addresses.map(isOutside)), [true, true, ...Array(5).fill(false)]);
  assert.doesNotMatch(text, /caution front|session good|claim main/);
  assert.match(
    await found({}),
    /front 127\.0\.0\.1:0: Only this machine reaches it, and no proxy is trusted/,
  );
  assert.match(await found({ listen: ":0" }), /front :0: There is no TLS, and no proxy/);
});

test("kept secrets that are none, and an access log that cannot be written, are problems", async () => {
  using folder = ownFolder({ "control-token": "short", secret: "x".repeat(32) });
  const text = await found({ data: folder.path, accessLog: { to: `${folder.path}/no/access.log` } });
  assert.match(
    text,
    /problem data .*control-token: It holds no secret\.\nproblem access log .*: It cannot be written/,
  );
  assert.doesNotMatch(text, /\/secret: /);
  assert.doesNotMatch(await found({ accessLog: { to: `${folder.path}/access.log` } }), /access log/);
});

test("check tells all that would stop `run`, such as a file given as the data directory", async () => {
  using folder = ownFolder({ kept: "" });
  const args = ["--origin", "http://127.0.0.1:1", "--total-active-users", "1", "--data", "kept"];
  const anywhere = ["--listen", "127.0.0.1:0", "--control-listen", "127.0.0.1:0"];
  const { code, out } = await fairgate(["check", ...args, ...anywhere], {
    ...{ cwd: folder.path, environment: { FAIRGATE_SECRET: SECRET } },
  });
  assert.equal(code, 1);
  assert.match(out, /but `run` would not start here\.\n[\s\S]*problem +data .*is no directory/);
});
