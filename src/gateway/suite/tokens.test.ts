/** What is wrong with a token has a name, in the log and in the counts; its sender is a newcomer and nothing breaks. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openStage, SLOT_FREE_MS, STAGE_SECRET, type Stage } from "../../testing/gateway/stage.ts";
import { assertWaitingPage, type Visitor } from "../../testing/gateway/visitor.ts";
import { Keyring } from "../tokens/keyring.ts";
import { NO_BADGE, passToken } from "../tokens/token.ts";

/** Shows a token on a page and at each endpoint; nothing may come of it but one refusal each. */
async function present(stage: Stage, token: string): Promise<void> {
  const visitor = () => {
    const fresh = stage.visitor();
    fresh.cookies.set("fairgate_main", token);
    return fresh;
  };
  assertWaitingPage(await visitor().open());
  for (const endpoint of ["check-in", "enter"]) assert.equal((await visitor().post(endpoint)).status, 403);
  assert.equal((await visitor().listen()).status, 403);
  assert.equal((await visitor().call("join")).status, "waiting");
  assert.equal((await visitor().post("leave")).status, 200);
}

const NEW_SECRET = "another-secret-that-nobody-could-ever-guess";
const PRESENTED = 6;
/** Places that newcomers rightly got while a token was presented: one by the page, one by `join`. */
const NEWCOMERS = 2;

async function ticketOf(stage: Stage): Promise<string> {
  const visitor = stage.visitor();
  await visitor.open();
  return visitor.token()!;
}

function flip(token: string, at: number): string {
  const bytes = Buffer.from(token, "base64url");
  bytes[at < 0 ? bytes.length + at : at]! ^= 1;
  return bytes.toString("base64url");
}

/** A pass as only the holder of `secret` could make it. */
function passOf(stage: Stage, secret: string, pass: { room?: string; ageMs?: number } = {}): string {
  const at = stage.world.clock.now() - (pass.ageMs ?? 0);
  const times = { joinedAt: at, admittedAt: at, createdAt: at, expiresAt: at + 300_000 };
  const body = { id: "ab".repeat(16), room: pass.room ?? "main", lane: 0, node: 0, ...times };
  return passToken(body, NO_BADGE, new Keyring({ secret, previousSecrets: [] }));
}

const BAD: readonly (readonly [
  what: string,
  reason: string,
  make: (stage: Stage) => string | Promise<string>,
])[] = [
  ["with one bit of its signature changed", "forged", async (stage) => flip(await ticketOf(stage), -1)],
  ["with one bit of its place changed", "forged", async (stage) => flip(await ticketOf(stage), 40)],
  ["that is cut short", "malformed", async (stage) => (await ticketOf(stage)).slice(0, -5)],
  ["of one character", "malformed", () => "x"],
  ["of characters no token has", "malformed", () => "%00%ff<script>'\"\\"],
  ["with more behind it", "malformed", async (stage) => `${await ticketOf(stage)}AAAA`],
  ["that is far too long", "overlong", () => "A".repeat(8_000)],
  ["made with another secret", "unknownKey", (stage) => passOf(stage, "b".repeat(40))],
  ["of another room", "wrongRoom", (stage) => passOf(stage, STAGE_SECRET, { room: "other" })],
  ["that has run out", "expired", (stage) => passOf(stage, STAGE_SECRET, { ageMs: 300_000 })],
];

for (const [what, reason, make] of BAD) {
  test(`a token ${what} is refused as ${reason} and makes no place of its own`, async (t) => {
    const stage = await openStage(t);
    await stage.occupant();
    const token = await make(stage);
    const before = await stage.engine.counts("main");
    await present(stage, token);
    const after = await stage.engine.counts("main");
    assert.deepEqual(stage.refusals(), Array(PRESENTED).fill(reason));
    assert.equal(stage.proxied.gateway.traffic.tokensRefused[reason], PRESENTED);
    assert.equal(after.waiting, before.waiting + NEWCOMERS);
    assert.equal(after.onSite, 1);
    assert.deepEqual(stage.errors(), []);
  });
}

test("the helper's own pass is good, so the refusals above are the tokens' fault", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = stage.visitor();
  visitor.cookies.set("fairgate_main", passOf(stage, STAGE_SECRET));
  assert.ok(await visitor.isIn());
});

test("a cookie of 100 KB is refused before anyone reads it, or as overlong where headers may be so large", async (t) => {
  const cookie = `fairgate_main=${"A".repeat(100_000)}`;
  const strict = await openStage(t);
  assert.equal((await strict.visitor().open("/", { cookie })).status, 431);
  const lenient = await openStage(t, { settings: { limits: { headerBytes: "1MB" } } });
  await lenient.occupant();
  assertWaitingPage(await lenient.visitor().open("/", { cookie }));
  assert.deepEqual(lenient.refusals(), ["overlong"]);
  assert.deepEqual([strict.errors(), lenient.errors()], [[], []]);
});

test("a real ticket in another room's cookie is refused there and stays good at home", async (t) => {
  const rooms = { main: { path: "/a", totalActiveUsers: 1 }, other: { path: "/b", totalActiveUsers: 1 } };
  const stage = await openStage(t, { settings: { rooms } });
  for (const path of ["/a", "/b"]) await stage.visitor().open(path);
  const visitor = stage.visitor();
  assertWaitingPage(await visitor.open("/a"));
  const ticket = visitor.token()!;
  const stranger = stage.visitor();
  stranger.cookies.set("fairgate_other", ticket);
  assertWaitingPage(await stranger.open("/b"));
  assert.deepEqual(stage.refusals(), ["wrongRoom"]);
  assert.equal((await visitor.call("check-in")).status, "waiting");
  assert.equal((await stage.engine.counts("main")).waiting, 1);
});

test("a flood of forgeries is counted whole and logged in part", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  for (let i = 0; i < 30; i++) {
    const visitor = stage.visitor();
    visitor.cookies.set("fairgate_main", `forged${i}`);
    await visitor.post("check-in");
  }
  assert.equal(stage.proxied.gateway.traffic.tokensRefused.malformed, 30);
  assert.equal(stage.refusals().length, 20);
});

test("a ticket shown again after leaving is refused as spent, and its holder is a newcomer", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = stage.visitor();
  await visitor.open();
  const other = stage.visitor();
  await other.open();
  const ticket = visitor.token()!;
  const { sequence } = await visitor.call("check-in");
  await visitor.call("leave");
  visitor.cookies.set("fairgate_main", ticket);
  assert.deepEqual(await visitor.call("check-in"), { status: "refused", reason: "ticketSpent" });
  const again = await visitor.ask("/", { headers: { accept: "application/json" } });
  assert.ok(JSON.parse(again.text).sequence > sequence!);
  assert.equal(JSON.parse(again.text).ahead, 1);
  assert.equal((await stage.engine.counts("main")).waiting, 2);
});

test("a spent ticket is refused with its reason in the log and in the counts", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = stage.visitor();
  await visitor.open();
  const ticket = visitor.token()!;
  await visitor.call("leave");
  visitor.cookies.set("fairgate_main", ticket);
  await visitor.open();
  assert.deepEqual(stage.refusals(), ["ticketSpent"]);
  assert.equal(stage.proxied.gateway.traffic.tokensRefused.ticketSpent, 1);
});

test("joining with a spent ticket gives a new place", async (t) => {
  const stage = await openStage(t);
  await stage.occupant();
  const visitor = stage.visitor();
  const first = await visitor.call("join");
  const ticket = visitor.token()!;
  await visitor.call("leave");
  visitor.cookies.set("fairgate_main", ticket);
  const second = await visitor.call("join");
  assert.equal(second.status, "waiting");
  assert.ok(second.sequence! > first.sequence!);
});

/** Someone who waited, entered, and kept the ticket as well as the pass. */
async function enteredVisitor(stage: Stage): Promise<{ visitor: Visitor; ticket: string; id: string }> {
  const occupant = await stage.occupant();
  const visitor = stage.visitor();
  await visitor.open();
  const ticket = visitor.token()!;
  await occupant.call("leave");
  stage.world.pass(1_000);
  assert.ok(await visitor.isIn());
  return { visitor, ticket, id: stage.origin.seen.at(-1)!.headers["fairgate-visitor"] as string };
}

test("a ticket shown again after its visit was ended gets nobody in", async (t) => {
  const stage = await openStage(t);
  const { ticket, id } = await enteredVisitor(stage);
  assert.equal(await stage.engine.revoke("main", id), true);
  stage.world.pass(SLOT_FREE_MS);
  const next = await stage.occupant();
  const replay = stage.visitor();
  replay.cookies.set("fairgate_main", ticket);
  assertWaitingPage(await replay.open());
  assert.ok(await next.isIn());
  assert.equal((await stage.engine.counts("main")).onSite, 1);
});

test("a pass is refused at once when its visit is ended from outside", async (t) => {
  const stage = await openStage(t);
  const { visitor, id } = await enteredVisitor(stage);
  const pass = visitor.token()!;
  await stage.engine.revoke("main", id);
  stage.world.pass(SLOT_FREE_MS);
  await stage.occupant();
  const before = stage.origin.seen.length;
  assertWaitingPage(await visitor.open());
  visitor.cookies.set("fairgate_main", pass);
  assertWaitingPage(await visitor.open());
  assert.deepEqual(stage.refusals(), ["revoked", "revoked"]);
  assert.equal(stage.origin.seen.length, before);
  assert.deepEqual(stage.errors(), []);
});

test("a pass shown again after leaving is refused", async (t) => {
  const stage = await openStage(t);
  const visitor = await stage.occupant();
  const pass = visitor.token()!;
  await visitor.call("leave");
  await stage.occupant();
  visitor.cookies.set("fairgate_main", pass);
  assertWaitingPage(await visitor.open());
  assert.deepEqual(stage.refusals(), ["revoked"]);
  assert.equal((await stage.engine.counts("main")).onSite, 1);
});

test("turning the keys keeps every place and pass good, and signs with a new one", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  const visitor = stage.visitor();
  await visitor.open();
  const { sequence } = await visitor.call("check-in");
  const keys = stage.proxied.gateway.keys().map(({ id }) => id);
  assert.ok(!keys.includes(await stage.proxied.gateway.rotateKeys()));
  // A second gateway's memory, so that nothing is known from before.
  const other = await openStage(t, { origin: stage.origin });
  await other.proxied.gateway.rotateKeys();
  for (const at of [stage, other]) {
    const pass = at.visitor();
    pass.cookies.set("fairgate_main", occupant.token()!);
    assert.ok(await pass.isIn());
    const ticket = at.visitor();
    ticket.cookies.set("fairgate_main", visitor.token()!);
    assert.equal((await ticket.call("check-in")).sequence, sequence);
    assert.deepEqual(at.refusals(), []);
  }
});

test("a token signed after a turn of the keys is good at a gateway that has not turned its own", async (t) => {
  const stage = await openStage(t);
  await stage.proxied.gateway.rotateKeys();
  const occupant = await stage.occupant();
  const other = await openStage(t, { origin: stage.origin });
  const visitor = other.visitor();
  visitor.cookies.set("fairgate_main", occupant.token()!);
  assert.ok(await visitor.isIn());
  assert.deepEqual(other.refusals(), []);
});

test("a new secret with the old one among previousSecrets keeps every place and pass", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  const visitor = stage.visitor();
  await visitor.open();
  const { sequence } = await visitor.call("check-in");
  const change = { secret: NEW_SECRET, previousSecrets: [STAGE_SECRET] };
  await stage.proxied.configure(stage.settings({ settings: change }));
  assert.ok(await occupant.isIn());
  assert.equal((await visitor.call("check-in")).sequence, sequence);
  stage.world.pass(31_000);
  assert.equal((await occupant.open()).headers["set-cookie"]?.length, 1);
  // What was renewed is signed with the new secret: the old one can be dropped in time.
  await stage.proxied.configure(stage.settings({ settings: { secret: NEW_SECRET } }));
  assert.ok(await occupant.isIn());
  assert.deepEqual(stage.refusals(), []);
});

test("a secret that is dropped takes its tokens with it, also those seen before", async (t) => {
  const stage = await openStage(t);
  const occupant = await stage.occupant();
  await occupant.open();
  await stage.proxied.configure(stage.settings({ settings: { secret: NEW_SECRET } }));
  assertWaitingPage(await occupant.open());
  assert.deepEqual(stage.refusals(), ["unknownKey"]);
});
