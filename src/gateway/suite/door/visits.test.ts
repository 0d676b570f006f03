/** Visits: how long they last, how they end, and how many one visitor may have. */
import assert from "node:assert/strict";
import type { RequestListener } from "node:http";
import { test } from "node:test";
import {
  askJson,
  assertProblemPage,
  assertSite,
  joinLine,
  OPENED_AT,
} from "../../../testing/gateway/line.ts";
import { openStage, SLOT_FREE_MS } from "../../../testing/gateway/stage.ts";
import { assertWaitingPage } from "../../../testing/gateway/visitor.ts";
import { until } from "../../../testing/until.ts";

const COMMANDS: Readonly<Record<string, string>> = { "/logout": "revoke", "/odd": "dance" };

/** A site that ends a visit at /logout, and says something that nobody knows at /odd. */
const site: RequestListener = (request, response) => {
  const command = COMMANDS[request.url!];
  if (command) response.setHeader("Fairgate-Command", command);
  request.resume();
  response.end("the site");
};

test("a sliding visit lasts as long as its visitor comes back in time; a fixed one ends when it ends", async (t) => {
  for (const [disableSessionRenewal, isStillIn] of [
    [false, true],
    [true, false],
  ] as const) {
    const room = { sessionDuration: "30s", disableSessionRenewal };
    const stage = await openStage(t, { room });
    const visitor = await stage.occupant();
    for (let i = 0; i < 2; i++) {
      stage.world.pass(14_000);
      assertSite(await visitor.open());
    }
    stage.world.pass(4_000);
    const [next] = [stage.visitor()];
    assert.equal(await next.isIn(), !isStillIn);
    assert.equal(await visitor.isIn(), isStillIn);
  }
});

test("leaving ends a visit at once and frees its slot for the next; the old cookie is no good any more", async (t) => {
  const stage = await openStage(t);
  const visitor = await stage.occupant();
  const old = visitor.token()!;
  const [next] = await joinLine(stage, 1);
  await visitor.call("leave");
  assert.equal(visitor.token(), undefined);
  stage.world.pass(1_000);
  assertSite(await next!.open());
  visitor.cookies.set("fairgate_main", old);
  assertWaitingPage(await visitor.open());
});

test("the origin ends a visit with a header that nobody sees: cookie dropped, slot freed, the next let in", async (t) => {
  const stage = await openStage(t, { room: { enabledOriginCommands: ["revoke"] }, answer: site });
  const visitor = await stage.occupant();
  const old = visitor.token()!;
  const [next] = await joinLine(stage, 1);
  const answer = await visitor.open("/logout");
  assertSite(answer);
  assert.equal(answer.headers["fairgate-command"], undefined);
  assert.equal(visitor.token(), undefined);
  assert.equal((await stage.engine.counts("main")).totals.revoked, 1);
  await until(() => stage.underWay() === 0, "the end of the answer");
  // At the gateway's next look at its connections; then the door turns.
  stage.world.pass(2_000);
  assert.ok(2_000 < SLOT_FREE_MS);
  assertSite(await next!.open());
  visitor.cookies.set("fairgate_main", old);
  assertWaitingPage(await visitor.open());
  assert.deepEqual(stage.refusals(), ["revoked"]);
});

test("a visit that the origin ends in the very answer that would renew it is not renewed", async (t) => {
  const room = { sessionDuration: "100s", enabledOriginCommands: ["revoke" as const] };
  const stage = await openStage(t, { room, answer: site });
  const visitor = await stage.occupant();
  stage.world.pass(20_000);
  const { headers } = await visitor.open("/logout");
  assert.equal(headers["set-cookie"]?.length, 1);
  assert.equal(visitor.token(), undefined);
  stage.world.pass(SLOT_FREE_MS);
  const first = stage.visitor();
  assertSite(await first.open("/logout"));
  assert.equal(first.token(), undefined);
  stage.world.pass(SLOT_FREE_MS);
  assert.equal((await stage.engine.counts("main")).onSite, 0);
});

test("the origin's header does nothing where it is not enabled, or says nothing that is known; no visitor sees it", async (t) => {
  for (const [enabledOriginCommands, path] of [
    [[], "/logout"],
    [["revoke" as const], "/odd"],
  ] as const) {
    const room = { enabledOriginCommands: [...enabledOriginCommands] };
    const stage = await openStage(t, { room, answer: site });
    const visitor = await stage.occupant();
    assert.equal((await visitor.open(path)).headers["fairgate-command"], undefined);
    assertSite(await visitor.open());
    assert.equal((await stage.engine.counts("main")).onSite, 1);
  }
});

test("a request past the line has no visit that the origin could end", async (t) => {
  const room = { enabledOriginCommands: ["revoke" as const], bypass: [{ path: ["/logout"] }] };
  const stage = await openStage(t, { room, answer: site });
  const visitor = await stage.occupant();
  assert.equal((await visitor.open("/logout")).headers["fairgate-command"], undefined);
  assertSite(await visitor.open());
});

test("an operator ends a visit by its id", async (t) => {
  const stage = await openStage(t);
  const visitor = await stage.occupant();
  const [next] = await joinLine(stage, 1);
  const id = String(stage.origin.seen[0]!.headers["fairgate-visitor"]);
  assert.equal(await stage.engine.revoke("main", id), true);
  assert.equal(await stage.engine.revoke("main", id), false);
  // Nothing of theirs is open.
  stage.world.pass(1_000);
  assertSite(await next!.open());
  assertWaitingPage(await visitor.open());
});

const TWICE = { totalActiveUsers: 5, visitsMax: 2, visitsWindow: "2m", sessionDuration: "20s" };

test("a visitor may come so often and no more, is told until when, and may come again after that", async (t) => {
  const stage = await openStage(t, { room: TWICE });
  const visitor = await stage.occupant();
  for (let i = 0; i < 3; i++) assertSite(await visitor.open());
  await visitor.call("leave");
  assertSite(await visitor.open());
  // The second visit ends by itself.
  stage.world.pass(30_000);
  const page = await visitor.open();
  assertProblemPage(page, 403, /No more visits for now/);
  assert.match(page.text, /datetime="2026-06-01T10:02:00\.000Z"/);
  assert.equal(page.headers["retry-after"], "90");
  const { answer, told } = await askJson(visitor);
  assert.deepEqual([answer.status, told.reason, told.until], [403, "visitsUsed", OPENED_AT + 120_000]);
  assertSite(await stage.visitor().open());
  stage.world.pass(90_000);
  assertSite(await visitor.open());
});

test("waiting is no visit: a place that is given up does not count", async (t) => {
  const stage = await openStage(t, { room: { ...TWICE, totalActiveUsers: 1, visitsMax: 1 } });
  const occupant = await stage.occupant();
  const visitor = stage.visitor();
  for (let i = 0; i < 3; i++) {
    assertWaitingPage(await visitor.open());
    await visitor.call("leave");
  }
  assertWaitingPage(await visitor.open());
  await occupant.call("leave");
  stage.world.pass(1_000);
  assertSite(await visitor.open());
  await visitor.call("leave");
  assertProblemPage(await visitor.open(), 403, /No more visits/);
});

test("a visit that the origin ends at once has been one", async (t) => {
  const room = { ...TWICE, visitsMax: 1, enabledOriginCommands: ["revoke" as const] };
  const stage = await openStage(t, { room, answer: site });
  const visitor = stage.visitor();
  assertSite(await visitor.open("/logout"));
  stage.world.pass(SLOT_FREE_MS);
  assert.equal((await stage.engine.counts("main")).onSite, 0);
  assertProblemPage(await visitor.open(), 403, /No more visits/);
});

test("visits count for a program that carries its token in a header", async (t) => {
  const stage = await openStage(t, { room: { ...TWICE, visitsMax: 1 } });
  const program = stage.visitor();
  const first = await program.ask("/", { headers: { "fairgate-token": "new" } });
  const token = String(first.headers["fairgate-token"]);
  await program.post("leave", { headers: { "fairgate-token": token } });
  const again = await program.post("join", { headers: { "fairgate-token": token } });
  assert.deepEqual([again.status, JSON.parse(again.text).reason], [403, "visitsUsed"]);
});
