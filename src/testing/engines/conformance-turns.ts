/**
 * The chapter of the conformance suite about turns that are not used: what a turn holds and for how long, where a place
 * comes back that missed one, and that those behind get in all the same.
 */
import assert from "node:assert/strict";
import type { Entered } from "../../core/engine.ts";
import { FIRM_MS } from "../../core/firm-turns.ts";
import { renewTicket, type Ticket } from "../../core/ticket.ts";
import type { Play } from "./conformance-crowd.ts";
import { type EngineStage, expectKind, ROOM, TICK_MS } from "./conformance-stage.ts";

/** Declares the chapter. */
export function missedTurns(play: Play): void {
  firmAndLoose(play);
  settingBack(play);
  starving(play);
}

/** A site for one with its visitor gone, so that the first in line gets the slot at the next turn of the door. */
async function freeOneSlot(stage: EngineStage, count: number): Promise<Ticket[]> {
  const { pass } = await stage.joinEntered();
  const tickets = await stage.joinMany(count);
  await stage.engine.leave(pass);
  await stage.pass(TICK_MS, tickets);
  return tickets;
}

function firmAndLoose(play: Play): void {
  const lengthened = { newUsersPerMinute: 60, claimWindowMs: 5_000, lapseAfterMs: 3_600_000 };
  const one = { totalActiveUsers: 1, claimWindowMs: 60_000, lapseAfterMs: 3_600_000 };

  play(
    "a slot is kept for a turn for some seconds, then it goes to the next, and the turn is still good",
    one,
    async (stage) => {
      const [slow, next] = await freeOneSlot(stage, 2);
      await stage.pass(FIRM_MS - TICK_MS, [next!]);
      expectKind(await stage.engine.checkIn(next!), "waiting");
      await stage.pass(TICK_MS, [next!]);
      expectKind(await stage.engine.checkIn(next!), "admitted");
      expectKind(await stage.engine.checkIn(slow!), "admitted");
      const { admitted, looseTurns, onSite } = await stage.engine.counts(ROOM);
      assert.deepEqual([admitted, looseTurns, onSite], [1, 1, 0]);
    },
  );

  play(
    "a visitor who comes late enters while there is room",
    { ...one, totalActiveUsers: 2 },
    async (stage) => {
      const passes = [(await stage.joinEntered()).pass, (await stage.joinEntered()).pass];
      const [slow] = await stage.joinMany(1);
      for (const pass of passes) await stage.engine.leave(pass);
      await stage.pass(30_000);
      assert.equal((await stage.engine.counts(ROOM)).looseTurns, 1);
      expectKind(await stage.engine.enter(slow!), "entered");
      const { admitted, looseTurns, onSite } = await stage.engine.counts(ROOM);
      assert.deepEqual([admitted, looseTurns, onSite], [0, 0, 1]);
    },
  );

  play(
    "a visitor who comes late to a full site is the first in line again, once, and misses no turn by it",
    one,
    async (stage) => {
      const [slow, next, last] = await freeOneSlot(stage, 3);
      await stage.pass(FIRM_MS, [next!, last!]);
      const entered = expectKind(await stage.engine.enter(next!), "entered");
      const back = expectKind(await stage.engine.enter(slow!), "waiting");
      assert.deepEqual([back.ahead, back.ticket.missedTurns], [0, 0]);
      assert.ok(back.nextCheckInMs <= 2_000, "they look again soon");
      assert.equal(expectKind(await stage.engine.checkIn(last!), "waiting").ahead, 1);
      await stage.engine.leave(entered.pass);
      await stage.pass(TICK_MS, [slow!, last!]);
      expectKind(await stage.engine.enter(slow!), "entered");
      assert.equal((await stage.engine.counts(ROOM)).totals.missedTurns, 0);
    },
  );

  play(
    "a visitor who goes back to the front and does not use the next turn either has missed one",
    one,
    async (stage) => {
      const [stuck, next] = await freeOneSlot(stage, 2);
      await stage.pass(FIRM_MS, [next!]);
      const entered = expectKind(await stage.engine.enter(next!), "entered");
      expectKind(await stage.engine.enter(stuck!), "waiting");
      await stage.engine.leave(entered.pass);
      const { pass } = await nextOnSite(stage, stuck!);
      // Full again, and they have been to the front before: the turn that they hold is the last before one is missed.
      assert.equal(expectKind(await stage.engine.enter(stuck!), "waiting").ahead, 0);
      assert.equal((await stage.engine.counts(ROOM)).looseTurns, 1);
      await stage.pass(60_000);
      assert.equal((await stage.engine.counts(ROOM)).totals.missedTurns, 1);
      await stage.engine.leave(pass);
    },
  );

  play("a turn that was lengthened because there was no room is missed once", lengthened, async (stage) => {
    await stage.fill();
    const [first] = await stage.joinMany(1);
    await stage.pass(TICK_MS);
    expectKind(await stage.engine.checkIn(first!), "admitted");
    await stage.configure({ ...lengthened, newUsersPerMinute: 1 });
    expectKind(await stage.engine.enter(first!), "waiting");
    await stage.pass(6_000);
    assert.equal((await stage.engine.counts(ROOM)).totals.missedTurns, 1);
    assert.equal(expectKind(await stage.engine.checkIn(first!), "waiting").ticket.missedTurns, 1);
  });

  play(
    "no slot is kept for a place that missed a turn, and its holder gets in all the same",
    { ...one, claimWindowMs: 12_000 },
    async (stage) => {
      const [late, next, last] = await freeOneSlot(stage, 3);
      await stage.pass(12_000, [next!, last!]);
      const { pass } = expectKind(await stage.engine.enter(next!), "entered");
      expectKind(await stage.engine.checkIn(late!), "waiting");
      await stage.engine.leave(pass);
      // Behind the last one now, who does not come either.
      await stage.pass(FIRM_MS + 2 * TICK_MS, [late!]);
      expectKind(await stage.engine.checkIn(late!), "admitted");
      const { admitted, looseTurns } = await stage.engine.counts(ROOM);
      assert.deepEqual([admitted, looseTurns], [0, 2]);
      expectKind(await stage.engine.enter(late!), "entered");
    },
  );

  play(
    "visits and firm turns never exceed the limit, whoever comes with a loose turn",
    { totalActiveUsers: 3, newUsersPerMinute: 60, claimWindowMs: 60_000, lapseAfterMs: 3_600_000 },
    async (stage) => {
      const passes = [];
      for (let i = 0; i < 2; i++) passes.push((await stage.joinEntered()).pass);
      await stage.fill();
      const tickets = await stage.joinMany(40);
      for (const pass of passes) await stage.engine.leave(pass);
      await stage.pass(55_000);
      assert.ok((await stage.engine.counts(ROOM)).looseTurns > 3, "more were called than there are slots");
      for (const ticket of tickets) {
        await stage.engine.enter(ticket);
        const { onSite, admitted } = await stage.engine.counts(ROOM);
        assert.ok(onSite + admitted <= 3, `${onSite} on the site and ${admitted} about to come`);
      }
    },
  );
}

/** The first in line gets a turn and lets it go loose; then others take the site. */
async function nextOnSite(stage: EngineStage, stuck: Ticket): Promise<Entered> {
  await stage.pass(TICK_MS, [stuck]);
  expectKind(await stage.engine.checkIn(stuck), "admitted");
  await stage.pass(FIRM_MS);
  return stage.joinEntered();
}

/** A line that moves by one a second, in which everyone but the first uses their turn at once. */
const MOVING = { newUsersPerMinute: 60, claimWindowMs: 20_000, lapseAfterMs: 3_600_000 };

class MovingLine {
  readonly #stage: EngineStage;
  #others: Ticket[];
  /** As it was when they joined, and as they were last given it. */
  readonly first: Ticket;
  latest: Ticket;

  static async open(stage: EngineStage): Promise<MovingLine> {
    await stage.fill();
    const [first, ...others] = await stage.joinMany(150);
    return new MovingLine(stage, first!, others);
  }

  private constructor(stage: EngineStage, first: Ticket, others: Ticket[]) {
    this.#stage = stage;
    this.first = first;
    this.latest = first;
    this.#others = others;
  }

  /** A second, in which the others whose turn it is come in. The first only checks in, and keeps what they are told. */
  async second(): Promise<string> {
    await this.#stage.pass(TICK_MS);
    const entered = new Set(await this.#stage.enterAll(this.#others.slice(0, 8)));
    this.#others = this.#others.filter((ticket) => !entered.has(ticket));
    const answer = await this.#stage.engine.checkIn(this.latest);
    if (answer.kind === "waiting") {
      const aheadShown = answer.ahead ?? this.latest.aheadShown;
      const renewal = { now: this.#stage.now(), ttlMs: 3_600_000, aheadShown };
      this.latest = renewTicket(answer.ticket, renewal);
    }
    return answer.kind;
  }

  async until(kind: string): Promise<void> {
    for (let i = 0; i < 300; i++) if ((await this.second()) === kind) return;
    assert.fail(`never ${kind}`);
  }

  async letIn(): Promise<number> {
    return (await this.#stage.engine.counts(ROOM)).totals.admitted;
  }
}

function settingBack(play: Play): void {
  play(
    "after a missed turn a place comes back behind as many as were let in meanwhile, then behind twice as many",
    MOVING,
    async (stage) => {
      const line = await MovingLine.open(stage);
      for (const [missed, times] of [
        [1, 1],
        [2, 2],
      ] as const) {
        await line.until("admitted");
        const givenAt = stage.now();
        const before = await line.letIn();
        let [earlier, letIn] = [0, 0];
        for (let kind = "admitted"; kind !== "waiting"; ) {
          earlier = letIn;
          kind = await line.second();
          letIn = (await line.letIn()) - before;
        }
        const { aheadShown, missedTurns, missedAt, origin } = line.latest;
        // The door turned once more before it was asked: those let in then are not among them, and no longer ahead.
        const least = times * (earlier - 1) - (letIn - earlier);
        // The second turn is loose, so the next in line may get one at the same turn of the door.
        const most = times * (letIn + missed - 1);
        const seen = `${aheadShown} ahead, ${earlier} to ${letIn} were let in meanwhile`;
        assert.ok(aheadShown >= least && aheadShown <= most, seen);
        assert.deepEqual([missedTurns, missedAt, origin], [missed, givenAt, line.first.sequence]);
      }
    },
  );

  play(
    "a place that missed as many turns as may be is lost, and no ticket of it brings it back",
    MOVING,
    async (stage) => {
      const line = await MovingLine.open(stage);
      const shown = [line.first];
      while ((await line.second()) !== "refused") if (shown.at(-1) !== line.latest) shown.push(line.latest);
      for (const ticket of [line.first, line.latest, ...shown.slice(-3)])
        for (const ask of [stage.engine.checkIn(ticket), stage.engine.enter(ticket)])
          assert.deepEqual(await ask, { kind: "refused", reason: "turnsMissed" });
      const { missedTurns, forfeited } = (await stage.engine.counts(ROOM)).totals;
      assert.deepEqual([missedTurns, forfeited], [3, 1]);
      const { left } = (await stage.engine.counts(ROOM)).totals;
      await stage.engine.leave(line.first);
      assert.equal((await stage.engine.counts(ROOM)).totals.left, left);
    },
  );

  play(
    "how many turns may be missed is a rule of the room",
    { ...MOVING, missedTurnsMax: 1 },
    async (stage) => {
      const line = await MovingLine.open(stage);
      await line.until("refused");
      assert.equal((await stage.engine.counts(ROOM)).totals.missedTurns, 1);
    },
  );

  play(
    "an old ticket finds its place where it is now, and is one place however often it is shown",
    MOVING,
    async (stage) => {
      const line = await MovingLine.open(stage);
      await line.until("admitted");
      await line.until("waiting");
      const { waiting } = await stage.engine.counts(ROOM);
      const { sequence, missedTurns, aheadShown } = line.latest;
      for (let i = 0; i < 5; i++) {
        const again = expectKind(await stage.engine.checkIn(line.first), "waiting");
        assert.deepEqual([again.ticket.sequence, again.ticket.missedTurns], [sequence, missedTurns]);
        assert.equal(again.ahead, aheadShown);
      }
      assert.equal((await stage.engine.counts(ROOM)).waiting, waiting);
      await line.until("admitted");
      // Loose: a visitor who finds no share of the minute left is the next to get one.
      for (let i = 0; i < 5 && (await stage.engine.enter(line.first)).kind !== "entered"; i++)
        await stage.pass(TICK_MS);
      expectKind(await stage.engine.enter(line.first), "entered");
      expectKind(await stage.engine.enter(line.latest), "entered");
    },
  );

  play(
    "a ticket that an engine never saw is believed when it tells of missed turns, and older ones are the same place",
    { totalActiveUsers: 1, claimWindowMs: 5_000, lapseAfterMs: 3_600_000 },
    async (stage) => {
      const { pass } = await stage.joinEntered();
      const [known] = await stage.joinMany(1);
      const id = "0123456789abcdef0123456789abcdef";
      const origin = known!.sequence - 70_000;
      const old: Ticket = { ...known!, id, joinedAt: known!.joinedAt - 60_000, sequence: origin };
      const late = { ...old, sequence: origin + 5 / 16, missedTurns: 2, missedAt: old.joinedAt, origin };
      assert.equal(expectKind(await stage.engine.checkIn(old), "waiting").ticket.missedTurns, 0);
      assert.equal(expectKind(await stage.engine.checkIn(late), "waiting").ticket.missedTurns, 2);
      const again = expectKind(await stage.engine.checkIn(old), "waiting").ticket;
      assert.deepEqual([again.missedTurns, again.sequence], [2, late.sequence]);
      assert.equal((await stage.engine.counts(ROOM)).waiting, 2);
      await stage.engine.leave(pass);
      await stage.pass(30_000, [known!]);
      assert.deepEqual(await stage.engine.checkIn(old), { kind: "refused", reason: "turnsMissed" });
    },
  );
}

function starving(play: Play): void {
  const rules = { newUsersPerMinute: 30, claimWindowMs: 24_000 };

  play(
    "tickets at the front that check in and never enter do not keep those behind them out",
    rules,
    async (stage) => {
      await stage.fill();
      const idle = await stage.joinMany(12);
      let honest = await stage.joinMany(10);
      for (let i = 0; i < 42 && honest.length > 0; i++) {
        await stage.pass(TICK_MS, [...idle, ...honest]);
        const entered = new Set(await stage.enterAll(honest));
        honest = honest.filter((ticket) => !entered.has(ticket));
      }
      assert.equal(honest.length, 0, `${honest.length} of 10 are not in after 42 s; alone they take 20`);
    },
  );

  play(
    "as turns go unused others get theirs sooner, and those who enter keep to the rate",
    { newUsersPerMinute: 60, claimWindowMs: 60_000, lapseAfterMs: 3_600_000 },
    async (stage) => {
      await stage.fill();
      const tickets = await stage.joinMany(600);
      let honest = tickets.filter((_, i) => i % 5 === 4);
      const entries: number[] = [];
      const settled = 60;
      for (let second = 0; second < 180; second++) {
        await stage.pass(TICK_MS);
        const entered = new Set(await stage.enterAll(honest.slice(0, 10)));
        honest = honest.filter((ticket) => !entered.has(ticket));
        for (const _ of entered) entries.push(second);
        const inMinute = entries.filter((at) => at > second - 60).length;
        assert.ok(inMinute <= 60, `${inMinute} entered in a minute`);
      }
      const after = entries.filter((second) => second >= settled).length;
      assert.ok(after >= 60, `${after} entered in two minutes, where 120 would alone`);
    },
  );
}
