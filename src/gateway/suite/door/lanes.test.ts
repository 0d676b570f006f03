/** Who gets into a lane, by what they bring, and that nobody but the gateway sees it. */
import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import net from "node:net";
import { test } from "node:test";
import { SignJWT } from "jose";
import type { RoomInput } from "../../../config/schema.ts";
import { newCode } from "../../../testing/gateway/lane-code.ts";
import {
  askJson,
  assertProblemPage,
  assertSite,
  change,
  joinLine,
  OPENED_AT,
} from "../../../testing/gateway/line.ts";
import { openStage, type Stage } from "../../../testing/gateway/stage.ts";
import { assertWaitingPage, talk } from "../../../testing/gateway/visitor.ts";
import { proves } from "../../../testing/requirements/proves.ts";
import { until } from "../../../testing/until.ts";

const BEHIND_PROXY = { trustedProxies: ["127.0.0.1"] };

function vipLane(members: object = {}): RoomInput {
  return { othersShare: 0, lanes: { vip: { privileged: true, members } } };
}

async function waitingIn(stage: Stage): Promise<Record<string, number>> {
  const { lanes } = await stage.engine.counts("main");
  return Object.fromEntries(lanes.map(({ name, waiting }) => [name, waiting]));
}

test("a code in the address leads to the same address without it, with a place in the lane", async (t) => {
  const stage = await openStage(t, { room: vipLane() });
  await stage.occupant();
  await joinLine(stage, 2);
  const visitor = stage.visitor();
  const code = newCode();
  const answer = await visitor.open(`/show?day=1&fairgate_code=${code}&seat=2`);
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.location, "/show?day=1&seat=2");
  assert.equal(answer.headers["cache-control"], "no-store");
  assert.ok(visitor.token());
  assert.equal((await askJson(visitor, "/show?day=1&seat=2")).told.ahead, 0);
  assert.deepEqual(await waitingIn(stage), { vip: 1, everybody: 2 });
});

test("a code never reaches the origin: not in the address, not as a header, not by way of Referer", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 50, ...vipLane() } });
  const code = newCode();
  const visitor = stage.visitor();
  const address = `/show?fairgate_code=${code}`;
  assert.equal((await visitor.open(address)).headers.location, "/show");
  assertSite(await visitor.open("/show"));
  // On the site, by the same link again: the browser leaves the address, so that no Referer can have it.
  assert.equal((await visitor.open(address)).headers.location, "/show");
  const post = await visitor.ask(address, { method: "POST", body: "a=1" });
  assertSite(post);
  assertSite(await stage.visitor().ask("/", { headers: { "fairgate-code": code } }));
  assertSite(await visitor.ask(`/x?fairgate%5Fcode=${code}`, { headers: { "sec-fetch-dest": "image" } }));
  await talk(
    stage.port,
    `GET ${address} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
    /\r\n\r\n/,
  );
  assert.ok(stage.origin.seen.some(({ headers }) => headers.upgrade === "websocket"));
  for (const { url, rawHeaders } of stage.origin.seen) {
    assert.ok(!url.includes(code), url);
    assert.ok(!rawHeaders.join("\n").includes(code));
  }
});

test("someone who waits and opens a link with a code changes lanes, once, and gives up the place they had", async (t) => {
  const stage = await openStage(t, { room: vipLane() });
  await stage.occupant();
  await joinLine(stage, 2);
  const visitor = stage.visitor();
  assertWaitingPage(await visitor.open());
  assert.deepEqual(await waitingIn(stage), { vip: 0, everybody: 3 });
  for (let times = 0; times < 2; times++) {
    const answer = await visitor.open(`/?fairgate_code=${newCode()}`);
    assert.deepEqual([answer.status, answer.headers.location], [303, "/"]);
    assert.deepEqual(await waitingIn(stage), { vip: 1, everybody: 2 });
  }
  assert.equal((await askJson(visitor, "/")).told.ahead, 0);
});

test("a redirect never leads to another host", async (t) => {
  const stage = await openStage(t, { room: { totalActiveUsers: 50, ...vipLane() } });
  const answer = await stage.visitor().open(`//evil.example/x?fairgate_code=${newCode()}`);
  assert.equal(answer.headers.location, "/evil.example/x");
});

test("a program brings its code as a header", async (t) => {
  const stage = await openStage(t, { room: vipLane() });
  await stage.occupant();
  await joinLine(stage, 1);
  await joinLine(stage, 1, { headers: { "fairgate-code": newCode() } });
  assert.deepEqual(await waitingIn(stage), { vip: 1, everybody: 1 });
  await joinLine(stage, 1, { headers: { "fairgate-code": "no code at all" } });
  assert.deepEqual(await waitingIn(stage), { vip: 1, everybody: 2 });
});

test("a JWT of the site's with the right claim gets its bearer into the lane; a forged or old one does not", async (t) => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  const other = generateKeyPairSync("ed25519").privateKey;
  const sign = (tier: string, key = privateKey, lifeMs = 600_000) =>
    new SignJWT({ tier })
      .setProtectedHeader({ alg: "EdDSA" })
      .setExpirationTime(new Date(OPENED_AT + lifeMs))
      .sign(key);
  const pem = publicKey.export({ type: "spki", format: "pem" }) as string;
  const jwt = { claim: "tier", values: ["gold"], publicKey: pem };
  const stage = await openStage(t, { room: vipLane({ jwt }) });
  await stage.occupant();
  const join = (token: string) => joinLine(stage, 1, { headers: { authorization: `Bearer ${token}` } });
  await join(await sign("gold"));
  assert.deepEqual(await waitingIn(stage), { vip: 1, everybody: 0 });
  for (const token of [
    await sign("tin"),
    await sign("gold", other),
    await sign("gold", privateKey, -600_000),
  ])
    await join(token);
  assert.deepEqual(await waitingIn(stage), { vip: 1, everybody: 3 });
});

test("a header counts from a trusted proxy, and means nothing from a stranger", async (t) => {
  const lane = vipLane({ header: { name: "X-Tier", values: ["gold"] } });
  for (const [trustedProxies, expected] of [
    [["127.0.0.1"], { vip: 1, everybody: 1 }],
    [["10.0.0.1"], { vip: 0, everybody: 2 }],
  ] as const) {
    const stage = await openStage(t, { room: lane, settings: { trustedProxies: [...trustedProxies] } });
    await stage.occupant();
    await joinLine(stage, 1, { headers: { "x-tier": "gold" } });
    await joinLine(stage, 1, { headers: { "x-tier": "tin" } });
    assert.deepEqual(await waitingIn(stage), expected);
  }
});

test("an address range is a lane of its own, by the address that a trusted proxy tells", async (t) => {
  const room = vipLane({ addresses: ["203.0.113.0/24"] });
  const stage = await openStage(t, { room, settings: BEHIND_PROXY });
  await stage.occupant();
  await joinLine(stage, 1, { headers: { "x-forwarded-for": "203.0.113.7" } });
  await joinLine(stage, 1, { headers: { "x-forwarded-for": "203.0.114.7" } });
  await joinLine(stage, 1, { headers: { "x-forwarded-for": "203.0.113.7, 198.51.100.1" } });
  assert.deepEqual(await waitingIn(stage), { vip: 1, everybody: 2 });
});

test(
  proves(
    ["ce3"],
    "with privilegedOnly only privileged visitors join and are let in; others are told so, and those who wait keep their places",
  ),
  async (t) => {
    const room = { totalActiveUsers: 2, lapseAfter: "10m", ...vipLane() };
    const stage = await openStage(t, { room });
    const onSite = [await stage.occupant(), await stage.occupant()];
    const [waiting] = await joinLine(stage, 1);
    await change(stage, { ...room, privilegedOnly: true });
    const newcomer = stage.visitor();
    assertProblemPage(await newcomer.open(), 403, /For invited visitors only/);
    const { answer, told } = await askJson(newcomer);
    assert.deepEqual([answer.status, told.reason], [403, "notPrivileged"]);
    const [vip] = await joinLine(stage, 1, { headers: { "fairgate-code": newCode() } });
    for (const visitor of onSite) await visitor.call("leave");
    stage.world.pass(2_000);
    assertWaitingPage(await waiting!.open());
    assertSite(await vip!.open());
    const second = stage.visitor();
    assert.equal((await second.open(`/?fairgate_code=${newCode()}`)).status, 303);
    assertSite(await second.open());
    await vip!.call("leave");
    await change(stage, room);
    stage.world.pass(1_000);
    assertSite(await waiting!.open());
  },
);

test(
  proves(["cp4"], "a payment page can be for privileged visitors alone, while the shop is for all"),
  async (t) => {
    const rooms = {
      shop: { path: "/", totalActiveUsers: 50 },
      pay: { path: "/pay", totalActiveUsers: 50, privilegedOnly: true, ...vipLane() },
    };
    const stage = await openStage(t, { settings: { rooms } });
    const visitor = stage.visitor();
    assertSite(await visitor.open("/"));
    assertProblemPage(await visitor.open("/pay"), 403, /For invited visitors only/);
    assert.equal((await visitor.open(`/pay?fairgate_code=${newCode({ room: "pay" })}`)).status, 303);
    assertSite(await visitor.open("/pay"));
  },
);

test("an invitation gives one place: used again it is refused, with a way to join like everybody", async (t) => {
  const stage = await openStage(t, { room: vipLane() });
  await stage.occupant();
  const link = `/show?fairgate_code=${newCode({ kind: "once" })}`;
  const invited = stage.visitor();
  assert.equal((await invited.open(link)).status, 303);
  assert.equal((await invited.open(link)).status, 303);
  const other = stage.visitor();
  const refused = await other.open(link);
  assertProblemPage(refused, 403, /This invitation has been used/);
  assert.match(refused.text, /<a class="button" href="\/show">Join the line like everyone else<\/a>/);
  assert.equal(other.token(), undefined);
  assertWaitingPage(await other.open("/show"));
  assert.deepEqual(await waitingIn(stage), { vip: 1, everybody: 1 });
});

test("a code that is forged, old or of another room gets a page that says so, with a way to join like everybody", async (t) => {
  const stage = await openStage(t, { room: vipLane() });
  await stage.occupant();
  const good = newCode();
  const flipped = `${good.slice(0, -1)}${good.endsWith("A") ? "B" : "A"}`;
  for (const code of [flipped, newCode({ room: "other" }), newCode({ expiresAt: OPENED_AT - 1_000 }), "x"]) {
    const visitor = stage.visitor();
    const page = await visitor.open(`/show?a=1&fairgate_code=${code}`);
    assertProblemPage(page, 403, /This code cannot be used/);
    assert.match(page.text, /href="\/show\?a=1"/);
    assert.ok(!page.text.includes(good));
    assertWaitingPage(await visitor.open("/show?a=1"));
  }
  assert.deepEqual(await waitingIn(stage), { vip: 0, everybody: 4 });
});

test("no log line holds a code", async (t) => {
  const stage = await openStage(t, { room: vipLane() });
  const code = newCode();
  await stage.visitor().open(`/?fairgate_code=${code}`);
  await stage.visitor().open(`/?fairgate_code=${code.slice(0, -1)}!`);
  assert.ok(!JSON.stringify(stage.world.logged).includes(code.slice(0, -1)));
});

test("a key set that nobody sends lets no one past the line, also where an engine that is away would", async (t) => {
  const silent = net.createServer((socket) => socket.on("error", () => {}));
  const asked = new Set<net.Socket>();
  silent.on("connection", (socket) => asked.add(socket));
  await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of asked) socket.destroy();
    silent.close();
  });
  const jwks = `http://127.0.0.1:${(silent.address() as net.AddressInfo).port}/jwks.json`;
  const lane = (tier: string) => ({ members: { jwt: { claim: "tier", values: [tier], jwks } } });
  const lanes = { gold: lane("gold"), silver: lane("silver"), bronze: lane("bronze") };
  const stage = await openStage(t, { room: { paused: true, engineFailure: "open", lanes } });
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
  const token = `${part({ alg: "RS256", kid: "x" })}.${part({ tier: "gold", exp: 9_999_999_999 })}.AAAA`;
  const answer = stage.visitor().open("/", { authorization: `Bearer ${token}` });
  let isAnswered = false;
  void answer.then(() => {
    isAnswered = true;
  });
  // Each lane waits for a second; the gateway for two.
  await until(() => {
    stage.world.pass(100);
    return isAnswered;
  });
  assertWaitingPage(await answer);
  assert.deepEqual(await waitingIn(stage), { gold: 0, silver: 0, bronze: 0, everybody: 1 });
});
