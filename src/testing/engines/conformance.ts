/**
 * The suite every engine passes: what the engine interface promises, one sentence a test. An engine's own test file
 * calls `conformance` with the way to make one; a part it cannot run is skipped with its reason.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { aheadOnBoard } from "../../core/board.ts";
import { PRESENCE_GRACE_MS } from "../../core/pass.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import { renewTicket, type Ticket } from "../../core/ticket.ts";
import { proves } from "../requirements/proves.ts";
import { type Play, untilTold } from "./conformance-crowd.ts";
import { doorConformance } from "./conformance-door.ts";
import {
  type EngineStage,
  type EngineUnderTest,
  expectKind,
  openEngineStage,
  ROOM,
  TICK_MS,
  whyNot,
} from "./conformance-stage.ts";
import { missedTurns } from "./conformance-turns.ts";
import { resumingVisits } from "./conformance-visits.ts";

/** Declares the suite for one engine. */
export function conformance(subject: EngineUnderTest): void {
  const play: Play = (name, rules, script, needs = []) =>
    test(name, { skip: whyNot(subject, needs) }, async () => {
      const stage = await openEngineStage(subject, rules);
      try {
        await script(stage);
      } finally {
        await stage.engine.close();
      }
    });

  describe(`${subject.name} engine`, () => {
    joining(play);
    waiting(play);
    turns(play);
    visits(play);
    resumingVisits(play);
    operating(play);
    missedTurns(play);
    doorConformance(play);
  });
}

function joining(play: Play): void {
  play("nobody waits while there is room", { totalActiveUsers: 3 }, async (stage) => {
    for (let i = 0; i < 3; i++) await stage.joinEntered();
    const fourth = await stage.joinWaiting();
    assert.equal(fourth.ahead, 0);
    assert.equal((await stage.engine.counts(ROOM)).onSite, 3);
  });

  play(
    "every visitor gets an id of their own and a later sequence",
    { totalActiveUsers: 1 },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await stage.joinMany(50);
      assert.equal(new Set(tickets.map((ticket) => ticket.id)).size, 50);
      assert.ok(tickets.every((ticket, i) => i === 0 || ticket.sequence > tickets[i - 1]!.sequence));
    },
  );

  play(
    "a newcomer does not pass those who wait, even when a slot is free",
    { totalActiveUsers: 1 },
    async (stage) => {
      const { pass } = await stage.joinEntered();
      await stage.joinWaiting();
      await stage.engine.leave(pass);
      assert.equal((await stage.joinWaiting()).ahead, 1);
    },
  );

  play("an unknown room is refused, not invented", { totalActiveUsers: 1 }, async (stage) => {
    assert.deepEqual(await stage.engine.join("nowhere"), { kind: "refused", reason: "unknownRoom" });
  });

  play(
    proves(["mt3"], "rooms side by side do not disturb each other"),
    { totalActiveUsers: 1 },
    async (stage) => {
      await stage.engine.configure("other", { ...DEFAULT_RULES, totalActiveUsers: 1 });
      await stage.joinEntered();
      await stage.joinWaiting();
      assert.equal((await stage.engine.join("other")).kind, "entered");
      assert.equal((await stage.engine.counts("other")).waiting, 0);
    },
  );
}

function waiting(play: Play): void {
  play("ahead is exact and falls as people leave", { totalActiveUsers: 1 }, async (stage) => {
    await stage.joinEntered();
    const tickets = await stage.joinMany(5);
    await stage.engine.leave(tickets[1]!);
    assert.equal(expectKind(await stage.engine.checkIn(tickets[4]!), "waiting").ahead, 3);
    assert.equal(expectKind(await stage.engine.checkIn(tickets[0]!), "waiting").ahead, 0);
  });

  play(
    "checkIn never shows more people ahead than before",
    { totalActiveUsers: 1, lapseAfterMs: 5_000 },
    async (stage) => {
      await stage.joinEntered();
      const [early, late] = await stage.joinMany(2);
      await stage.pass(200_000, [late!]);
      const alone = expectKind(await stage.engine.checkIn(late!), "waiting");
      assert.equal(alone.ahead, 0);
      await stage.engine.checkIn(early!);
      const renewed = renewTicket(late!, { now: stage.now(), ttlMs: 60_000, aheadShown: alone.ahead });
      assert.equal(expectKind(await stage.engine.checkIn(renewed), "waiting").ahead, 0);
      assert.equal(expectKind(await stage.engine.checkIn(late!), "waiting").ahead, 1);
    },
  );

  play(
    proves(["ce8"], "a lapsed visitor is not waited for, and gets the place back"),
    { totalActiveUsers: 1, lapseAfterMs: 5_000 },
    async (stage) => {
      await stage.joinEntered();
      const [gone, here] = await stage.joinMany(2);
      await stage.pass(200_000, [here!]);
      const counts = await stage.engine.counts(ROOM);
      assert.deepEqual([counts.waiting, counts.lapsed], [1, 1]);
      assert.equal(expectKind(await stage.engine.checkIn(gone!), "waiting").ahead, 0);
      assert.equal((await stage.engine.counts(ROOM)).lapsed, 0);
    },
  );

  play(
    "an expired ticket is expired, and costs no place",
    { totalActiveUsers: 1, ticketTtlMs: 60_000 },
    async (stage) => {
      await stage.joinEntered();
      const [ticket] = await stage.joinMany(1);
      stage.world.pass(60_000);
      assert.deepEqual(await stage.engine.checkIn(ticket!), { kind: "expired" });
      assert.deepEqual(await stage.engine.enter(ticket!), { kind: "expired" });
    },
  );

  play("one ticket shown many times is one place", { totalActiveUsers: 1 }, async (stage) => {
    await stage.joinEntered();
    const [ticket] = await stage.joinMany(1);
    for (let i = 0; i < 10; i++) await stage.engine.checkIn(ticket!);
    assert.equal((await stage.engine.counts(ROOM)).waiting, 1);
  });

  play(
    "a ticket the engine never saw is taken back at its place, in order",
    { totalActiveUsers: 1 },
    async (stage) => {
      await stage.joinEntered();
      const [known] = await stage.joinMany(1);
      const joinedAt = known!.joinedAt - 60_000;
      const before = (n: number): Ticket => ({
        ...known!,
        id: String(n).padStart(32, "0"),
        joinedAt,
        sequence: known!.sequence - 70_000 + n,
      });
      await stage.engine.checkIn(before(2));
      await stage.engine.checkIn(before(1));
      assert.equal(expectKind(await stage.engine.checkIn(before(2)), "waiting").ahead, 1);
      assert.equal(expectKind(await stage.engine.checkIn(known!), "waiting").ahead, 2);
    },
  );

  play(
    proves(["ce9"], "the wait is a range, and check-ins are paced"),
    { totalActiveUsers: 1, newUsersPerMinute: 60 },
    async (stage) => {
      await stage.joinEntered();
      await stage.joinMany(9);
      const { waitMs, nextCheckInMs } = await stage.joinWaiting();
      assert.ok(waitMs && waitMs.low < waitMs.middle && waitMs.middle < waitMs.high);
      assert.ok(nextCheckInMs >= 1_000);
    },
  );

  const rarelyAsked = { totalActiveUsers: 2, claimWindowMs: 10_000, pollBudgetPerSecond: 1 };
  play("a visitor who comes back when told misses no turn", rarelyAsked, comeWhenTold);
  play(
    "nor does anyone where the next is picked in random order",
    { ...rarelyAsked, queueingMethod: "random" },
    comeWhenTold,
    ["randomOrder"],
  );
}

/** A line that is asked rarely, and visits far shorter than anyone could reckon with. */
async function comeWhenTold(stage: EngineStage): Promise<void> {
  const onSite = [(await stage.joinEntered()).pass, (await stage.joinEntered()).pass];
  const people: { ticket: Ticket; dueAt: number }[] = [];
  for (let i = 0; i < 60; i++) {
    const { ticket, nextCheckInMs } = await stage.joinWaiting();
    people.push({ ticket, dueAt: stage.now() + nextCheckInMs });
  }
  for (let second = 1; second <= 120; second++) {
    const leaving = second % 7 === 0 ? onSite.shift() : undefined;
    if (leaving) await stage.engine.leave(leaving);
    await stage.pass(TICK_MS);
    for (const one of people.filter(({ dueAt }) => dueAt <= stage.now())) {
      const answer = await stage.engine.enter(one.ticket);
      if (answer.kind === "entered") onSite.push(answer.pass);
      one.dueAt = answer.kind === "waiting" ? stage.now() + answer.nextCheckInMs : Number.POSITIVE_INFINITY;
    }
  }
  const { totals } = await stage.engine.counts(ROOM);
  assert.equal(totals.missedTurns, 0);
  assert.ok(totals.entered >= 4, `${totals.entered} came in`);
}

function turns(play: Play): void {
  play(
    proves(["ce4", "ce6", "mt1"], "turns come in order, and only as many as there are slots"),
    { totalActiveUsers: 2 },
    async (stage) => {
      const passes = [(await stage.joinEntered()).pass, (await stage.joinEntered()).pass];
      const tickets = await stage.joinMany(4);
      for (const pass of passes) await stage.engine.leave(pass);
      await stage.pass(TICK_MS);
      const kinds = [];
      for (const ticket of tickets) kinds.push((await stage.engine.checkIn(ticket)).kind);
      assert.deepEqual(kinds, ["admitted", "admitted", "waiting", "waiting"]);
      assert.equal((await stage.engine.counts(ROOM)).admitted, 2);
    },
  );

  play("nobody enters before their turn", { totalActiveUsers: 1 }, async (stage) => {
    await stage.joinEntered();
    const [ticket] = await stage.joinMany(1);
    expectKind(await stage.engine.enter(ticket!), "waiting");
  });

  play("entering twice gives the same visit, counted once", { totalActiveUsers: 1 }, async (stage) => {
    const { pass } = await stage.joinEntered();
    const [ticket] = await stage.joinMany(1);
    await stage.engine.leave(pass);
    await stage.pass(TICK_MS);
    const first = expectKind(await stage.engine.enter(ticket!), "entered");
    const second = expectKind(await stage.engine.enter(ticket!), "entered");
    assert.equal(first.pass.id, ticket!.id);
    assert.deepEqual(second.pass, first.pass);
    assert.equal((await stage.engine.counts(ROOM)).onSite, 1);
  });

  play(
    proves(["ce8"], "an unused turn goes to the next, and its holder keeps the place"),
    { totalActiveUsers: 1, claimWindowMs: 10_000 },
    async (stage) => {
      const { pass } = await stage.joinEntered();
      const [away, next] = await stage.joinMany(2);
      await stage.engine.leave(pass);
      await stage.pass(12_000, [next!]);
      expectKind(await stage.engine.enter(next!), "entered");
      await stage.pass(10_000);
      assert.equal(expectKind(await stage.engine.checkIn(away!), "waiting").ahead, 0);
    },
  );

  play(
    "closed tabs at the head never stick the line",
    { totalActiveUsers: 1, lapseAfterMs: 5_000, claimWindowMs: 10_000, sessionDurationMs: 20_000 },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await stage.joinMany(40);
      const last = tickets.at(-1)!;
      for (let i = 0; i < 400; i++) {
        await stage.pass(TICK_MS, [last]);
        if ((await stage.engine.enter(last)).kind === "entered") return;
      }
      assert.fail("the last one never got in");
    },
  );

  play(
    "the rate holds with free slots, and the line moves evenly",
    { newUsersPerMinute: 60 },
    async (stage) => {
      while ((await stage.engine.join(ROOM)).kind === "entered") {}
      const waiting = await stage.joinMany(60);
      let entered = 0;
      for (let i = 0; i < 30; i++) {
        await stage.pass(TICK_MS, waiting);
        // They come in the order in which they joined, so only the first few can have a turn.
        const gone = await stage.enterAll(waiting.slice(0, 4));
        waiting.splice(0, gone.length);
        entered += gone.length;
      }
      assert.ok(entered >= 28 && entered <= 31, `${entered} entered in 30 s at 60 a minute`);
    },
  );

  play("listeners hear of each turn once, in order", { totalActiveUsers: 1 }, async (stage) => {
    const heard: number[] = [];
    stage.engine.subscribe({ onTurns: (room, sequences) => room === ROOM && heard.push(...sequences) });
    const { pass } = await stage.joinEntered();
    const tickets = await stage.joinMany(2);
    await stage.engine.leave(pass);
    await stage.pass(2 * TICK_MS, tickets);
    assert.deepEqual(heard, [tickets[0]!.sequence]);
  });
}

function visits(play: Play): void {
  const session = { totalActiveUsers: 1, sessionDurationMs: 60_000 };

  play("a visit ends when its pass runs out, and the slot goes to the next", session, async (stage) => {
    await stage.joinEntered();
    const [ticket] = await stage.joinMany(1);
    await stage.pass(59_000, [ticket!]);
    assert.equal((await stage.engine.counts(ROOM)).onSite, 1);
    await stage.pass(PRESENCE_GRACE_MS + 3_000, [ticket!]);
    expectKind(await stage.engine.enter(ticket!), "entered");
  });

  play("presence keeps a visit alive", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    await stage.pass(50_000);
    await stage.engine.touch(ROOM, [{ ...pass, expiresAt: stage.now() + 60_000 }]);
    await stage.pass(50_000);
    assert.equal((await stage.engine.counts(ROOM)).onSite, 1);
  });

  play("one pass shown by many counts once", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    await stage.engine.touch(ROOM, [pass, pass, pass]);
    assert.equal((await stage.engine.counts(ROOM)).onSite, 1);
  });

  play("a good pass the engine never saw is counted, an expired one is not", session, async (stage) => {
    const stranger = { id: "f".repeat(32), lane: 0, joinedAt: stage.now(), admittedAt: stage.now() };
    await stage.engine.touch(ROOM, [{ ...stranger, expiresAt: stage.now() }]);
    assert.equal((await stage.engine.counts(ROOM)).onSite, 0);
    await stage.engine.touch(ROOM, [{ ...stranger, expiresAt: stage.now() + 1_000 }]);
    assert.equal((await stage.engine.counts(ROOM)).onSite, 1);
  });

  play(
    "a revoked visit frees its slot, is told to listeners and cannot be touched back",
    session,
    async (stage) => {
      const heard: string[] = [];
      stage.engine.subscribe({ onRevoked: (_room, id) => heard.push(id) });
      const { pass } = await stage.joinEntered();
      assert.equal(await stage.engine.revoke(ROOM, pass.id), true);
      assert.equal(await stage.engine.revoke(ROOM, pass.id), false);
      await stage.engine.touch(ROOM, [pass]);
      assert.equal((await stage.engine.counts(ROOM)).onSite, 0);
      assert.deepEqual(heard, [pass.id]);
      const late: string[] = [];
      stage.engine.subscribe({ onRevoked: (_room, id) => late.push(id) });
      assert.deepEqual(late, [pass.id]);
    },
  );

  play(
    "an ended visit stays ended for as long as a pass renewed just before is good",
    session,
    async (stage) => {
      const { pass } = await stage.joinEntered();
      await stage.pass(40_000);
      const renewed = { ...pass, expiresAt: stage.now() + 60_000 };
      let until = 0;
      stage.engine.subscribe({ onRevoked: (_room, _id, at) => (until = at) });
      await stage.engine.revoke(ROOM, pass.id);
      assert.ok(until >= renewed.expiresAt);
      await stage.pass(59_000);
      await stage.engine.touch(ROOM, [renewed]);
      assert.equal((await stage.engine.counts(ROOM)).onSite, 0);
    },
  );

  play("a spent ticket is refused: no second place after the visit", session, async (stage) => {
    const { pass } = await stage.joinEntered();
    const [ticket] = await stage.joinMany(1);
    await stage.engine.leave(pass);
    await stage.pass(TICK_MS);
    const entered = expectKind(await stage.engine.enter(ticket!), "entered");
    await stage.engine.leave(entered.pass);
    assert.deepEqual(await stage.engine.checkIn(ticket!), { kind: "refused", reason: "ticketSpent" });
    assert.deepEqual(await stage.engine.enter(ticket!), { kind: "refused", reason: "ticketSpent" });
  });

  play("leaving twice is the same as once", { totalActiveUsers: 1 }, async (stage) => {
    const { pass } = await stage.joinEntered();
    const [ticket] = await stage.joinMany(2);
    for (let i = 0; i < 2; i++) {
      await stage.engine.leave(ticket!);
      await stage.engine.leave(pass);
    }
    const counts = await stage.engine.counts(ROOM);
    assert.deepEqual([counts.waiting, counts.onSite, counts.totals.left], [1, 0, 2]);
  });
}

function operating(play: Play): void {
  play(
    proves(["ce2"], "pausing holds everyone and keeps every place"),
    { totalActiveUsers: 5, paused: true },
    async (stage) => {
      const tickets = await stage.joinMany(3);
      await stage.pass(5_000, tickets);
      assert.equal((await stage.engine.counts(ROOM)).admitted, 0);
      await stage.configure({ totalActiveUsers: 5 });
      await stage.pass(TICK_MS, tickets);
      assert.equal((await stage.engine.counts(ROOM)).admitted, 3);
    },
  );

  play(
    proves(["ce6"], "lowering capacity admits nobody until the site has emptied to it"),
    { totalActiveUsers: 4 },
    async (stage) => {
      const passes = [];
      for (let i = 0; i < 4; i++) passes.push((await stage.joinEntered()).pass);
      const tickets = await stage.joinMany(4);
      await stage.configure({ totalActiveUsers: 2 });
      await stage.engine.leave(passes[0]!);
      await stage.engine.leave(passes[1]!);
      await stage.pass(TICK_MS, tickets);
      assert.equal((await stage.engine.counts(ROOM)).admitted, 0);
      await stage.engine.leave(passes[2]!);
      await stage.pass(TICK_MS, tickets);
      assert.equal((await stage.engine.counts(ROOM)).admitted, 1);
    },
  );

  play(
    "the board tells everyone their place without asking",
    { totalActiveUsers: 1, message: "Welcome" },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await stage.joinMany(200);
      stage.world.pass(1_100);
      const board = await stage.engine.board(ROOM);
      assert.deepEqual([board.state, board.waiting, board.message], ["queueing", 200, "Welcome"]);
      for (const rank of [0, 5, 15, 199]) assert.equal(aheadOnBoard(board, tickets[rank]!.sequence), rank);
      for (const rank of [37, 88, 150])
        assert.ok(Math.abs(aheadOnBoard(board, tickets[rank]!.sequence)! - rank) <= 2);
    },
  );

  play(
    "a new board is shown as time passes, each with a higher version",
    { totalActiveUsers: 1 },
    async (stage) => {
      const versions: number[] = [];
      stage.engine.subscribe({ onBoard: (board) => versions.push(board.version) });
      stage.world.pass(5_000);
      await untilTold(() => versions.length >= 4);
      assert.ok(versions.length >= 4);
      assert.ok(versions.every((version, i) => i === 0 || version > versions[i - 1]!));
    },
  );

  play(
    "counts add up and fairness is perfect for those who stayed",
    { totalActiveUsers: 5, sessionDurationMs: 20_000 },
    async (stage) => {
      for (let i = 0; i < 5; i++) await stage.joinEntered();
      const left = new Set(await stage.joinMany(30));
      for (let i = 0; i < 60 && left.size > 0; i++) {
        await stage.pass(5_000, [...left]);
        for (const ticket of left)
          if ((await stage.engine.enter(ticket)).kind === "entered") left.delete(ticket);
      }
      const { totals, unfairness, waiting } = await stage.engine.counts(ROOM);
      assert.deepEqual([totals.joined, totals.straightThrough, totals.entered, waiting], [35, 5, 35, 0]);
      assert.equal(unfairness, 0);
    },
  );
}
