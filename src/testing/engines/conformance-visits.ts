/** Of the suite every engine passes: visits that are short at first, and visits that go on after their pass ran out. */
import assert from "node:assert/strict";
import { ANYBODY } from "../../core/engine.ts";
import { type Pass, PRESENCE_GRACE_MS } from "../../core/pass.ts";
import type { Play } from "./conformance-crowd.ts";
import { type EngineStage, expectKind, ROOM, TICK_MS } from "./conformance-stage.ts";

const SESSION_MS = 60_000;
const LINGER_MS = 5_000;
const SHORT_MS = 5_000;
const short = { totalActiveUsers: 1, sessionDurationMs: SHORT_MS, formGraceMs: 30_000 };
const paced = { newUsersPerMinute: 6, sessionDurationMs: SESSION_MS, formGraceMs: 600_000 };
const scarce = { newUsersPerMinute: 1, sessionDurationMs: SHORT_MS, formGraceMs: 30_000 };
const session = { totalActiveUsers: 1, sessionDurationMs: SESSION_MS, formGraceMs: 30_000 };

export function resumingVisits(play: Play): void {
  play("there is room while a newcomer would go straight through", { totalActiveUsers: 2 }, async (stage) => {
    // Where several share the room each knows what it has in hand, and of the rest a moment later.
    await stage.pass(2 * TICK_MS);
    assert.ok(await stage.engine.hasRoom(ROOM));
    const { pass } = await stage.joinEntered();
    await stage.pass(2 * TICK_MS);
    assert.ok(await stage.engine.hasRoom(ROOM));
    await stage.joinEntered();
    assert.ok(!(await stage.engine.hasRoom(ROOM)), "the site is full, though nobody waits");
    const [ticket] = await stage.joinMany(1);
    await stage.engine.leave(pass);
    assert.ok(!(await stage.engine.hasRoom(ROOM)), "a slot is free, and it is another's");
    await stage.engine.leave(ticket!);
    await stage.pass(2 * TICK_MS);
    assert.ok(await stage.engine.hasRoom(ROOM));
    await stage.configure({ totalActiveUsers: 2, paused: true });
    assert.ok(!(await stage.engine.hasRoom(ROOM)));
    assert.ok(!(await stage.engine.hasRoom("nowhere")));
    assert.equal((await stage.engine.counts(ROOM)).totals.joined, 3, "asking is no joining");
  });

  play("a newcomer's first visit may be shorter than a session", session, async (stage) => {
    const { pass } = expectKind(await stage.engine.join(ROOM, { ...ANYBODY, visitMs: 5_000 }), "entered");
    assert.equal(pass.expiresAt - pass.createdAt, 5_000);
    assert.equal(pass.createdAt, pass.admittedAt);
    await stage.pass(5_000 + PRESENCE_GRACE_MS + TICK_MS);
    assert.equal((await onSite(stage)).onSite, 0);
    expectKind(await stage.engine.join(ROOM), "entered");
  });

  play("the first visit of someone who comes back lasts a session", session, async (stage) => {
    const { pass } = expectKind(await stage.engine.join(ROOM, { ...ANYBODY, visitMs: 5_000 }), "entered");
    await stage.engine.touch(ROOM, [{ ...pass, expiresAt: stage.now() + SESSION_MS }]);
    await stage.pass(SESSION_MS - 1_000);
    assert.equal((await onSite(stage)).onSite, 1);
  });

  play("a visit that was renewed elsewhere goes on with the old pass", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    await stage.pass(SESSION_MS - 1_000);
    const expiresAt = stage.now() + SESSION_MS;
    await stage.engine.touch(ROOM, [{ ...pass, expiresAt }]);
    await stage.pass(5_000);
    const entered = await stage.engine.resume(pass, false);
    assert.deepEqual([entered?.pass.id, entered?.pass.expiresAt], [pass.id, expiresAt]);
    assert.equal((await onSite(stage)).onSite, 1);
  });

  play("a visit that is over begins again only if it may", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    await stage.pass(SESSION_MS + PRESENCE_GRACE_MS + TICK_MS);
    assert.equal(await stage.engine.resume(pass, false), null);
    assert.equal((await onSite(stage)).onSite, 0);
    const entered = await stage.engine.resume(pass, true);
    assert.deepEqual([entered?.pass.id, entered?.pass.expiresAt], [pass.id, stage.now() + SESSION_MS]);
    const { onSite: count, joined } = await onSite(stage);
    assert.deepEqual([count, joined], [1, 1], "nobody new joined");
    assert.equal((await stage.engine.resume(pass, true))?.pass.id, pass.id, "twice is once");
    assert.equal((await onSite(stage)).onSite, 1);
  });

  play("a visit begins again while its slot is still held, and again after that", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    for (let time = 0; time < 3; time++) {
      await stage.pass(SESSION_MS);
      const again = await stage.engine.resume(pass, true);
      assert.equal(again?.pass.expiresAt, stage.now() + SESSION_MS);
      assert.equal((await onSite(stage)).onSite, 1);
    }
    await stage.pass(SESSION_MS + PRESENCE_GRACE_MS + TICK_MS);
    assert.equal((await onSite(stage)).onSite, 0);
    assert.equal((await stage.engine.resume(pass, true))?.pass.id, pass.id);
    assert.equal((await onSite(stage)).onSite, 1);
  });

  play("a visit that was over begins again once in the grace of a form", short, async (stage) => {
    const { pass } = await stage.joinEntered();
    await stage.pass(SHORT_MS + PRESENCE_GRACE_MS + TICK_MS);
    assert.notEqual(await stage.engine.resume(pass, true), null);
    const began = stage.now();
    while (stage.now() + TICK_MS < began + short.formGraceMs) {
      await stage.pass(TICK_MS);
      const entered = await stage.engine.resume(
        pass,
        stage.now() > began + SHORT_MS + PRESENCE_GRACE_MS + TICK_MS,
      );
      if (entered) assert.ok(entered.pass.expiresAt <= began + SHORT_MS, "still the visit that began");
    }
    await stage.pass(2 * TICK_MS);
    assert.notEqual(await stage.engine.resume(pass, true), null);
  });

  play("a visitor who found no slot for their visit may ask again once a second", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    await stage.pass(SESSION_MS + PRESENCE_GRACE_MS + TICK_MS);
    const other = (await stage.joinEntered()).pass;
    assert.equal(await stage.engine.resume(pass, true), null);
    await stage.engine.leave(other);
    for (let i = 0; i < 3; i++) {
      stage.world.pass(300);
      assert.equal(await stage.engine.resume(pass, true), null, "the last answer");
    }
    stage.world.pass(100);
    assert.equal((await stage.engine.resume(pass, true))?.pass.id, pass.id);
  });

  play("visits that begin again count in the rate, with those who enter", paced, async (stage) => {
    const { newUsersPerMinute } = paced;
    const passes: Pass[] = [];
    for (let i = 0; i < 180; i++, await stage.pass(TICK_MS)) {
      const answer = await stage.engine.join(ROOM, { ...ANYBODY, canWait: false });
      if (answer.kind === "entered") passes.push(answer.pass);
    }
    assert.ok(passes.length > newUsersPerMinute);
    await stage.pass(2 * SESSION_MS);
    assert.equal((await onSite(stage)).onSite, 0);
    const inMinute = (times: number[]) => times.filter((at) => at > stage.now() - 60_000).length;
    const cameIn: number[] = [];
    const expectNoMore = () =>
      assert.ok(inMinute(cameIn) <= newUsersPerMinute, `${inMinute(cameIn)} in a minute`);
    const left = [...passes];
    let newcomers = 0;
    for (let i = 0; i < 180; i++, await stage.pass(TICK_MS)) {
      // First three at once, then one every twelve seconds.
      for (let n = i === 0 ? 3 : i % 12 === 0 ? 1 : 0; n > 0 && left.length > 0; n--) {
        assert.notEqual(await stage.engine.resume(left.shift()!, true), null, "whatever the rate");
        cameIn.push(stage.now());
      }
      const answer = await stage.engine.join(ROOM, { ...ANYBODY, canWait: false });
      if (answer.kind !== "entered") continue;
      newcomers++;
      cameIn.push(stage.now());
      expectNoMore();
    }
    assert.ok(newcomers > 0);
  });

  play(
    "a visit begins again though the rate is used up, before those who wait for that",
    scarce,
    async (stage) => {
      const { pass } = await stage.joinEntered();
      const [ticket] = await stage.joinMany(1);
      await stage.pass(SHORT_MS + PRESENCE_GRACE_MS + TICK_MS, [ticket!]);
      assert.equal((await stage.engine.resume(pass, true))?.pass.id, pass.id);
      const began = stage.now();
      let isIn = false;
      while (!isIn) {
        await stage.pass(TICK_MS, [ticket!]);
        isIn = (await stage.enterAll([ticket!])).length === 1;
      }
      assert.ok(stage.now() >= began + 60_000, "whose minute begins anew with it");
    },
  );

  play("a visit never begins again on a full site", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    await stage.pass(SESSION_MS + PRESENCE_GRACE_MS + TICK_MS);
    await stage.joinEntered();
    assert.equal(await stage.engine.resume(pass, true), null);
    assert.equal((await onSite(stage)).onSite, 1);
  });

  play(
    "where there is no renewal a visit goes on for the grace of a form at most",
    { ...session, disableSessionRenewal: true },
    async (stage) => {
      const { pass } = await stage.joinEntered();
      await stage.pass(SESSION_MS + 1_000);
      const entered = await stage.engine.resume(pass, true);
      assert.equal(entered?.pass.expiresAt, pass.admittedAt + SESSION_MS + session.formGraceMs);
      await stage.pass(session.formGraceMs);
      assert.equal(await stage.engine.resume(entered!.pass, true), null);
      await stage.pass(PRESENCE_GRACE_MS + TICK_MS);
      assert.equal((await onSite(stage)).onSite, 0);
    },
  );

  play("a turn that is firm keeps a visit from beginning again", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    const [ticket] = await stage.joinMany(1);
    await stage.pass(SESSION_MS + PRESENCE_GRACE_MS + TICK_MS, [ticket!]);
    assert.equal((await stage.engine.counts(ROOM)).admitted, 1);
    assert.equal(await stage.engine.resume(pass, true), null);
  });

  play("no visit begins again while nobody is let in", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    await stage.pass(SESSION_MS + PRESENCE_GRACE_MS + TICK_MS);
    for (const shut of [{ paused: true }, { closed: true }, { queueAll: true }]) {
      await stage.configure({ ...session, ...shut });
      assert.equal(await stage.engine.resume(pass, true), null, JSON.stringify(shut));
    }
  });

  play(
    "a visitor who left or was revoked does not come back with their pass",
    { ...session, totalActiveUsers: 2 },
    async (stage) => {
      const [left, revoked] = [(await stage.joinEntered()).pass, (await stage.joinEntered()).pass];
      await stage.engine.leave(left);
      await stage.engine.revoke(ROOM, revoked.id);
      // As long as a pass that was renewed just before may begin its visit again.
      await stage.pass(SESSION_MS + session.formGraceMs);
      for (const pass of [left, revoked]) assert.equal(await stage.engine.resume(pass, true), null);
      assert.equal((await onSite(stage)).onSite, 0);
    },
  );

  play(
    "a slot is held for a while after its visit was left or revoked, and is nobody's",
    { ...session, totalActiveUsers: 2, lingerMs: LINGER_MS },
    async (stage) => {
      const [left, revoked] = [(await stage.joinEntered()).pass, (await stage.joinEntered()).pass];
      const tickets = await stage.joinMany(2);
      await stage.engine.leave(left);
      await stage.engine.revoke(ROOM, revoked.id);
      await stage.pass(LINGER_MS - TICK_MS, tickets);
      for (const pass of [left, revoked]) {
        // What a gateway tells late lengthens nothing.
        await stage.engine.touch(ROOM, [{ ...pass, expiresAt: stage.now() + SESSION_MS }]);
        assert.equal(await stage.engine.resume(pass, false), null);
        await stage.engine.leave(pass);
      }
      const held = await stage.engine.counts(ROOM);
      assert.deepEqual([held.onSite, held.admitted, held.waiting], [2, 0, 2]);
      await stage.pass(3 * TICK_MS, tickets);
      assert.equal((await stage.enterAll(tickets)).length, 2);
      const { onSite, totals } = await stage.engine.counts(ROOM);
      assert.deepEqual([onSite, totals.left, totals.revoked, totals.expired], [2, 1, 1, 0]);
    },
  );

  play("an unknown room has no visits", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    assert.equal(await stage.engine.resume({ ...pass, room: "nowhere" }, true), null);
  });
}

async function onSite(stage: EngineStage): Promise<{ onSite: number; joined: number }> {
  const { onSite, totals } = await stage.engine.counts(ROOM);
  return { onSite, joined: totals.joined };
}
