import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { chmodSync, readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { networkInterfaces } from "node:os";
import { test } from "node:test";
import { settingsFrom } from "../../config/load.ts";
import type { Settings } from "../../config/schema.ts";
import { eventually } from "../../testing/cli/eventually.ts";
import { fairgate, ownFolder, SECRET } from "../../testing/cli/fairgate.ts";
import { fixturePath } from "../../testing/fixtures.ts";
import { checkData } from "./data-checks.ts";
import { checkFront } from "./front-checks.ts";
import { nightVerdicts } from "./night-checks.ts";
import { isPublic } from "./origin-checks.ts";
import type { DoctorVerdict } from "./verdict.ts";

const DAY_MS = 86_400_000;
const NOW = Date.UTC(2030, 0, 1);
const networks = Object.values(networkInterfaces()).flatMap((one) => one ?? []);
const networkless = networks.some(({ internal, scopeid }) => !internal && !scopeid)
  ? false
  : "no network here";
const NOWHERE = { listen: "127.0.0.1:0", control: { listen: "127.0.0.1:0" } };

/** Settings with these in them. */
function settingsWith(input: object): Settings {
  const whole = { ...NOWHERE, rooms: { main: { totalActiveUsers: 1 } }, ...input };
  const needs = { needsSecret: false, needsOrigin: false };
  const result = settingsFrom(whole, {
    environment: {},
    readFile: (name) => readFileSync(name, "utf8"),
    ...needs,
  });
  assert.ok(result.ok, JSON.stringify(result));
  return result.settings;
}

/** What is found with these settings: `level check where: sentence`. */
async function found(input: object, isOffline = false): Promise<string> {
  return textOf(await nightVerdicts(settingsWith(input), { isOffline }));
}

function textOf(verdicts: readonly DoctorVerdict[]): string {
  return verdicts.map(({ level, check, where, is }) => `${level} ${check} ${where}: ${is}`).join("\n");
}

async function site(
  status: number,
  host = "127.0.0.1",
): Promise<{ address: string; asked: string[]; port: number; [Symbol.dispose](): void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.host} ${request.headers["user-agent"]}`);
    response.writeHead(status).end();
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return { address: `http://127.0.0.1:${port}`, asked, port, [Symbol.dispose]: () => void server.close() };
}

test("each origin gets one HEAD request, named as ours, for the host that visitors ask for", async () => {
  using good = await site(404);
  using bad = await site(503);
  const origin = { addresses: [good.address, bad.address, "http://127.0.0.1:1"] };
  const rooms = { main: { host: "shop.example", totalActiveUsers: 1 } };
  const text = await found({ origin, rooms });
  assert.match(text, /ok origin .*: It answers a HEAD request with 404\./);
  assert.match(text, /caution origin .*: It answers a HEAD request with 503\./);
  assert.match(text, /caution origin http:\/\/127\.0\.0\.1:1: It cannot be reached: nothing listens there\./);
  assert.equal(good.asked.length, 1);
  assert.match(good.asked[0]!, /^HEAD shop\.example fairgate-check\/\d/);
  assert.doesNotMatch(await found({ origin }, true), /origin/);
  assert.equal(good.asked.length, 1, "nothing is asked offline");
});

test("an origin that others can reach is warned of", { skip: networkless }, async () => {
  using open = await site(200, "0.0.0.0");
  using closed = await site(200);
  const warning = new RegExp(
    `caution origin ${open.address}: The site also answers at \\S+:${open.port}, so`,
  );
  // A machine that is very busy may not answer itself in the time that is given.
  await eventually("the open one is found", async () => {
    const text = await found({ origin: { addresses: [open.address, closed.address] } });
    assert.doesNotMatch(text, new RegExp(`caution origin ${closed.address}`));
    return warning.test(text);
  });
  const signed = { addresses: [open.address], token: "hs256" };
  assert.doesNotMatch(await found({ origin: signed }), /caution origin/);
});

test("public addresses are told from those of private networks", () => {
  const addresses = ["192.0.2.1", "2001:db8::1", "10.1.2.3", "172.31.0.1", "127.0.0.1", "::1", "fd00::1"];
  assert.deepEqual(addresses.map(isPublic), [true, true, ...Array(5).fill(false)]);
});

test("every busy port is named at once; those of a running Fairgate are no problem", async () => {
  using one = await site(404);
  using other = await site(404);
  const busy = { listen: `127.0.0.1:${one.port}`, control: { listen: `127.0.0.1:${other.port}` } };
  const text = await found(busy);
  for (const { port } of [one, other])
    assert.match(text, new RegExp(`problem port 127\\.0\\.0\\.1:${port}: It is taken by another program`));
  const healthy = createServer((_, response) => response.end('{"isAlive":true}'));
  await new Promise<void>((resolve) => healthy.listen(0, "127.0.0.1", resolve));
  const { port } = healthy.address() as AddressInfo;
  assert.match(
    await found({ control: { listen: `127.0.0.1:${port}` } }),
    /caution port .*: A Fairgate runs there already/,
  );
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
  assert.match(text, /caution origin .*: This is a public address: anyone who finds it/);
  assert.doesNotMatch(text, /caution (?:tls|proxy)|session good|claim (?:main|good)/);
  const big = { totalActiveUsers: 200_000, events: [{ ...event, sessionDuration: "5m" }] };
  const claims = await found({ rooms: { big } }, true);
  assert.match(claims, /claim big: To hear of 200,000 turns .* up to 3,333 times a second, above pollBudget/);
  assert.equal(claims.split("claim big").length, 2, "said once, and not for its event again");
});

test("what is in front is known by the address, the settings and the platform", () => {
  const front = (input: object, environment = {}) =>
    textOf(checkFront(settingsWith(input), environment, NOW));
  assert.match(front({ listen: "127.0.0.1:80" }), /caution proxy : Only a proxy on this machine can reach/);
  assert.match(front({ listen: ":80" }), /caution tls : There is no TLS and no proxy in front/);
  assert.match(front({ listen: ":80" }, { DYNO: "web.1" }), /caution proxy : This is Heroku/);
  const always = { main: { totalActiveUsers: 1, cookieAttributes: { secure: "always" } } };
  assert.match(
    front({ listen: ":80", rooms: always }),
    /proxy : rooms\.main\.cookieAttributes\.secure is always/,
  );
  assert.equal(front({ trustedProxies: ["10.0.0.0/8"] }), "ok proxy : Trusted: 10.0.0.0/8.");
  const files = [fixturePath("localhost.cert.pem"), fixturePath("localhost.key.pem")];
  const tls = { certificateFile: files[0], keyFile: files[1] };
  const until = new X509Certificate(readFileSync(files[0]!)).validToDate.getTime();
  const certificate = (now: number) => textOf(checkFront(settingsWith({ listen: ":80", tls }), {}, now));
  assert.match(certificate(until - 30 * DAY_MS), /^ok tls .*: The certificate is good until/);
  assert.match(certificate(until - DAY_MS), /^caution tls .*: The certificate expires on/);
  assert.match(certificate(until + DAY_MS), /^caution tls .*: The certificate expired on/);
});

test("kept secrets that are none, and an access log that cannot be written, are problems", async () => {
  using folder = ownFolder({ "control-token": "short", secret: "x".repeat(32) });
  const text = await found({ data: folder.path, accessLog: { to: `${folder.path}/no/access.log` } }, true);
  assert.match(
    text,
    /problem data .*control-token: It holds no secret\.\nproblem access log .*: It cannot be written/,
  );
  assert.doesNotMatch(text, /\/secret: /);
  assert.doesNotMatch(await found({ accessLog: { to: `${folder.path}/access.log` } }, true), /access log/);
});

test("a data directory that anybody may write to is a caution; a link in it is no secret, and a broken one no defect", async () => {
  using folder = ownFolder({ elsewhere: "x".repeat(40), "lock.pid": "\x1b[2J" });
  symlinkSync(`${folder.path}/elsewhere`, `${folder.path}/secret`);
  symlinkSync(`${folder.path}/nowhere`, `${folder.path}/control-token`);
  chmodSync(folder.path, 0o777);
  const [data, files] = [checkData(folder.path), await found({ data: folder.path }, true)];
  assert.match(textOf(data), /caution data .*: Every user of this machine can write there/);
  for (const name of ["secret", "control-token"])
    assert.match(files, new RegExp(`problem data .*/${name}: It cannot be read, or is no plain file`));
  chmodSync(folder.path, 0o700);
  assert.doesNotMatch(textOf(checkData(folder.path)), /Every user/);
});

test("check and run tell all that stops `run`: a file given as the data directory, every busy port", async () => {
  using folder = ownFolder({ kept: "" });
  const args = ["--origin", "http://127.0.0.1:1", "--total-active-users", "1"];
  const here = { cwd: folder.path, environment: { FAIRGATE_SECRET: SECRET } };
  using one = await site(404);
  using other = await site(404);
  const busy = ["--listen", `127.0.0.1:${one.port}`, "--control-listen", `127.0.0.1:${other.port}`];
  const [check, run] = await Promise.all([
    fairgate(["check", "--offline", ...args, "--data", "kept", ...busy], here),
    fairgate(["run", ...args, ...busy], here),
  ]);
  assert.deepEqual([check.code, run.code], [1, 1]);
  const told = check.out.replace(/\s+/g, " ");
  assert.match(told, /but `run` would not start here\. .*problem data \S*\/kept It is not a directory\./);
  assert.doesNotMatch(told, / origin /);
  for (const { port } of [one, other]) {
    assert.match(told, new RegExp(`problem port 127\\.0\\.0\\.1:${port} It is taken`));
    assert.match(run.err, new RegExp(`could not start: 127\\.0\\.0\\.1:${port}: It is taken.*--\\S*listen`));
  }
});
