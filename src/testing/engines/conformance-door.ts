/**
 * The chapters of the conformance suite about the door: every way to let people in, and that changing from one to
 * another costs nobody their place. What follows the load and what follows the calendar are chapters of their own.
 *
 * In parentheses: the requirement that a test covers, as numbered in Pluijmaekers 2020.
 */
import assert from "node:assert/strict";
import type { RoomState } from "../../core/board.ts";
import type { Invite } from "../../core/engine.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import {
  aheadOfTickets,
  CREW,
  hearTurns,
  joinAs,
  joinLanes,
  kindsOf,
  needing,
  type Play,
  placesOf,
  range,
  twoLanes,
  VIP,
} from "./conformance-crowd.ts";
import { draws, events } from "./conformance-events.ts";
import { adaptiveCapacity, noShows, sharedBudget, standby } from "./conformance-load.ts";
import { type EngineStage, expectKind, ROOM, TICK_MS } from "./conformance-stage.ts";

/** Declares every chapter about the door. */
export function doorConformance(play: Play): void {
  methods(play);
  lanes(needing(play, "lanes"));
  privileged(needing(play, "lanes"));
  invites(play);
  randomOrder(needing(play, "randomOrder"));
  flow(play);
  knowing(play);
  events(play);
  draws(needing(play, "draws"));
  standby(play);
  adaptiveCapacity(play);
  noShows(play);
  sharedBudget(needing(play, "budgets"));
}

function methods(play: Play): void {
  play(
    "passthrough lets everybody through at once, whatever the limits, and counts them (ce1)",
    { totalActiveUsers: 1, newUsersPerMinute: 1, queueingMethod: "passthrough" },
    async (stage) => {
      for (let i = 0; i < 5; i++) await stage.joinEntered();
      const { onSite, waiting, state } = await stage.engine.counts(ROOM);
      assert.deepEqual([onSite, waiting, state], [5, 0, "open"]);
    },
  );

  play(
    "reject takes people in while there is room, and nobody into a line",
    { totalActiveUsers: 2, queueingMethod: "reject" },
    async (stage) => {
      const { pass } = await stage.joinEntered();
      await stage.joinEntered();
      assert.deepEqual(await stage.engine.join(ROOM), { kind: "refused", reason: "rejected" });
      await stage.engine.leave(pass);
      await stage.joinEntered();
      assert.equal((await stage.engine.counts(ROOM)).waiting, 0);
    },
  );

  play(
    "with reject put in force, those who wait already go on, and newcomers do not pass them",
    { totalActiveUsers: 1 },
    async (stage) => {
      const { pass } = await stage.joinEntered();
      const tickets = await stage.joinMany(2);
      await stage.configure({ totalActiveUsers: 1, queueingMethod: "reject" });
      await stage.engine.leave(pass);
      assert.deepEqual(await stage.engine.join(ROOM), { kind: "refused", reason: "rejected" });
      await stage.pass(TICK_MS, tickets);
      assert.deepEqual(await kindsOf(stage, tickets), ["admitted", "waiting"]);
    },
  );

  play("queueAll gives everybody a place and nobody a turn (ce2)", { queueAll: true }, async (stage) => {
    const tickets = await stage.joinMany(3);
    await stage.pass(5_000, tickets);
    assert.deepEqual(await aheadOfTickets(stage, tickets), [0, 1, 2]);
    const { state, admitted } = await stage.engine.counts(ROOM);
    assert.deepEqual([state, admitted], ["queueing", 0]);
  });

  play(
    "drained lets in everybody who waits and everybody who comes, whatever the limits (ce1)",
    { totalActiveUsers: 1, newUsersPerMinute: 1 },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await stage.joinMany(5);
      await stage.configure({ totalActiveUsers: 1, newUsersPerMinute: 1, drained: true });
      await stage.pass(TICK_MS, tickets);
      for (const ticket of tickets) expectKind(await stage.engine.enter(ticket), "entered");
      await stage.joinEntered();
      assert.equal((await stage.engine.counts(ROOM)).onSite, 7);
    },
  );

  play(
    "a closed room takes nobody, admits nobody and keeps every place (ce2)",
    { totalActiveUsers: 1 },
    async (stage) => {
      const { pass } = await stage.joinEntered();
      const tickets = await stage.joinMany(2);
      await stage.configure({ totalActiveUsers: 1, closed: true });
      await stage.engine.leave(pass);
      assert.deepEqual(await stage.engine.join(ROOM), { kind: "refused", reason: "closed" });
      await stage.pass(5_000, tickets);
      assert.deepEqual(await aheadOfTickets(stage, tickets), [0, 1]);
      assert.equal((await stage.engine.counts(ROOM)).state, "closed");
    },
  );

  const full = { totalActiveUsers: 1, sessionDurationMs: 3_600_000 };
  const changes: readonly { rules: Partial<RoomRules>; state: RoomState }[] = [
    { rules: { paused: true }, state: "paused" },
    { rules: { queueAll: true }, state: "queueing" },
    { rules: { closed: true }, state: "closed" },
    { rules: { queueingMethod: "random" }, state: "queueing" },
    { rules: { queueingMethod: "reject" }, state: "queueing" },
    { rules: { privilegedOnly: true }, state: "queueing" },
    { rules: { lanes: twoLanes("weighted") }, state: "queueing" },
    { rules: { newUsersPerMinute: 1 }, state: "queueing" },
  ];
  play(
    "no change at run time costs anybody their place",
    full,
    async (stage) => {
      const { pass } = await stage.joinEntered();
      const tickets = await stage.joinMany(6);
      for (const { rules, state } of changes) {
        await stage.configure({ ...full, ...rules });
        await stage.pass(2_000, tickets);
        assert.equal((await stage.engine.counts(ROOM)).state, state, JSON.stringify(rules));
        assert.deepEqual(await kindsOf(stage, tickets), Array(6).fill("waiting"), JSON.stringify(rules));
      }
      await stage.configure(full);
      assert.deepEqual(await aheadOfTickets(stage, tickets), range(6));
      const turns = await hearTurns(stage);
      await stage.engine.leave(pass);
      await stage.configure({});
      await stage.pass(TICK_MS, tickets);
      assert.deepEqual(placesOf(await turns.take(), tickets), range(6));
    },
    ["lanes", "randomOrder"],
  );
}

function lanes(play: Play): void {
  const waitingIn = async (stage: EngineStage) =>
    (await stage.engine.counts(ROOM)).lanes.map(({ name, waiting }) => [name, waiting]);

  for (const order of ["strict", "weighted"] as const) {
    const rules = { totalActiveUsers: 1, lanes: twoLanes(order) };
    play(`in every ${order} lane the first to come is the first to go (ce4)`, rules, async (stage) => {
      await stage.joinEntered();
      const tickets = await joinLanes(
        stage,
        range(60).map((i) => [0, VIP, 0, CREW, VIP][i % 5]!),
      );
      const turns = await hearTurns(stage);
      await stage.configure({ ...rules, totalActiveUsers: null });
      await stage.pass(TICK_MS, tickets);
      const admitted = placesOf(await turns.take(), tickets).map((place) => tickets[place]!);
      assert.equal(admitted.length, 60);
      for (const lane of [0, VIP, CREW]) {
        const inOrder = admitted.filter((ticket) => ticket.lane === lane);
        assert.ok(inOrder.length > 0 && inOrder.every(isAfterTheOneBefore), `lane ${lane}`);
      }
    });
  }

  play(
    "strict: the foremost lane goes first, but for the share of those behind (cp3)",
    { totalActiveUsers: 1, lanes: twoLanes("strict", 20) },
    async (stage) => {
      await stage.joinEntered();
      await joinLanes(stage, [...Array(60).fill(0), ...Array(60).fill(VIP)]);
      await stage.configure({ totalActiveUsers: 51, lanes: twoLanes("strict", 20) });
      await stage.pass(TICK_MS);
      const [vip, , everybody] = await admittedIn(stage);
      assert.equal(vip! + everybody!, 50 + 1);
      assert.ok(vip! >= 39 && vip! <= 41, `${vip} of 50, where 40 are due`);
    },
  );

  play(
    "strict: with no share for those behind, they wait until the lanes before are empty",
    { totalActiveUsers: 1, lanes: twoLanes("strict", 0) },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await joinLanes(stage, [0, CREW, VIP, 0, CREW, VIP]);
      assert.deepEqual(await aheadOfTickets(stage, tickets), [4, 2, 0, 5, 3, 1]);
      const turns = await hearTurns(stage);
      await stage.configure({ lanes: twoLanes("strict", 0) });
      await stage.pass(TICK_MS, tickets);
      assert.deepEqual(placesOf(await turns.take(), tickets), [2, 5, 1, 4, 0, 3]);
    },
  );

  play(
    "weighted: lanes with people in them are served by their shares",
    { totalActiveUsers: 1, lanes: twoLanes("weighted") },
    async (stage) => {
      await stage.joinEntered();
      await joinLanes(stage, [...Array(60).fill(0), ...Array(60).fill(VIP), ...Array(60).fill(CREW)]);
      await stage.configure({ totalActiveUsers: 51, lanes: twoLanes("weighted") });
      await stage.pass(TICK_MS);
      const [vip, crew, everybody] = await admittedIn(stage);
      assert.ok(Math.abs(vip! - 15) <= 1 && Math.abs(crew! - 5) <= 1, `${vip} and ${crew} of 50`);
      assert.equal(vip! + crew! + everybody!, 50 + 1);
    },
  );

  play(
    "a lane that is empty holds nobody up",
    { totalActiveUsers: 1, lanes: twoLanes("weighted") },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await joinLanes(stage, [VIP, 0, 0, 0]);
      await stage.engine.leave(tickets[0]!);
      await stage.configure({ totalActiveUsers: 4, lanes: twoLanes("weighted") });
      await stage.pass(TICK_MS, tickets.slice(1));
      assert.deepEqual(await kindsOf(stage, tickets.slice(1)), Array(3).fill("admitted"));
    },
  );

  play(
    "a lane the rules do not know is everybody's",
    { totalActiveUsers: 1, lanes: twoLanes("strict", 0) },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await joinLanes(stage, [0, 999, VIP, 0]);
      assert.deepEqual(await aheadOfTickets(stage, tickets), [1, 2, 0, 3]);
      assert.deepEqual(await waitingIn(stage), [
        ["vip", 1],
        ["crew", 0],
        ["everybody", 3],
      ]);
    },
  );

  play(
    "a lane taken out and put back at run time costs nobody their place",
    { totalActiveUsers: 1, lanes: twoLanes("strict", 0) },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await joinLanes(stage, [0, 0, VIP, CREW, 0, VIP]);
      const before = [3, 4, 0, 2, 5, 1];
      assert.deepEqual(await aheadOfTickets(stage, tickets), before);
      await stage.configure({ totalActiveUsers: 1 });
      await stage.pass(TICK_MS, tickets);
      assert.deepEqual(await aheadOfTickets(stage, tickets), range(6));
      assert.deepEqual(await waitingIn(stage), [["everybody", 6]]);
      await stage.configure({ totalActiveUsers: 1, lanes: twoLanes("strict", 0) });
      await stage.pass(TICK_MS, tickets);
      assert.deepEqual(await aheadOfTickets(stage, tickets), before);
    },
  );

  play(
    "someone in a lane who lapses comes back to it, at their place",
    { totalActiveUsers: 1, lanes: twoLanes("strict", 0), lapseAfterMs: 5_000, sessionDurationMs: 3_600_000 },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await joinLanes(stage, [0, VIP, VIP]);
      await stage.pass(100_000, [tickets[0]!, tickets[2]!]);
      assert.deepEqual(await waitingIn(stage), [
        ["vip", 1],
        ["crew", 0],
        ["everybody", 1],
      ]);
      assert.deepEqual(await aheadOfTickets(stage, [tickets[1]!, tickets[2]!, tickets[0]!]), [0, 1, 2]);
    },
  );

  play(
    "the operator is shown what the lanes before cost those behind",
    { newUsersPerMinute: 60, lanes: twoLanes("strict") },
    async (stage) => {
      while ((await stage.engine.join(ROOM)).kind === "entered") {}
      const tickets = await joinLanes(stage, [...Array(10).fill(0), ...Array(20).fill(VIP)]);
      await stage.pass(3_000, tickets);
      const [vip, , everybody] = (await stage.engine.counts(ROOM)).lanes;
      assert.equal(vip!.costMs, 0);
      assert.ok(everybody!.costMs! > 5_000, `${everybody!.costMs} ms for some 20 before at 60 a minute`);
    },
  );
}

function privileged(play: Play): void {
  const only = { lanes: twoLanes("strict"), privilegedOnly: true };

  play("only the privileged are let in where the room is for them alone (ce3)", only, async (stage) => {
    for (const lane of [0, CREW, 999])
      assert.deepEqual(await joinAs(stage, { lane }), { kind: "refused", reason: "notPrivileged" });
    assert.equal((await joinAs(stage, { lane: VIP })).kind, "entered");
  });

  play(
    "those who wait without privilege keep their place and get no turn until all may go again (ce3, cp4)",
    { totalActiveUsers: 1, lanes: twoLanes("weighted") },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await joinLanes(stage, [0, CREW, VIP, 0, VIP]);
      await stage.configure({ ...only, totalActiveUsers: 10 });
      await stage.pass(3_000, tickets);
      assert.deepEqual(await kindsOf(stage, tickets), [
        "waiting",
        "waiting",
        "admitted",
        "waiting",
        "admitted",
      ]);
      assert.equal((await joinAs(stage, { lane: VIP })).kind, "entered");
      await stage.configure({ totalActiveUsers: 10, lanes: twoLanes("weighted") });
      await stage.pass(TICK_MS, tickets);
      assert.deepEqual(await kindsOf(stage, tickets), Array(5).fill("admitted"));
    },
  );
}

function invites(play: Play): void {
  const coded = needing(play, "lanes");
  const code = (stage: EngineStage, id = "code-1"): Invite => ({ id, expiresAt: stage.now() + 3_600_000 });
  const used = { kind: "refused", reason: "inviteUsed" };

  coded("a one-time code is good for one place", { totalActiveUsers: 1 }, async (stage) => {
    await stage.joinEntered();
    const first = expectKind(await joinAs(stage, { invite: code(stage) }), "waiting");
    assert.deepEqual(await joinAs(stage, { invite: code(stage) }), used);
    assert.equal((await joinAs(stage, { invite: code(stage, "code-2") })).kind, "waiting");
    await stage.engine.leave(first.ticket);
    assert.deepEqual(await joinAs(stage, { invite: code(stage) }), used);
    assert.equal((await stage.engine.counts(ROOM)).waiting, 1);
  });

  coded("a one-time code is used up by going straight through, too", {}, async (stage) => {
    assert.equal((await joinAs(stage, { invite: code(stage) })).kind, "entered");
    assert.deepEqual(await joinAs(stage, { invite: code(stage) }), used);
  });

  play(
    "a visitor who cannot wait goes straight through or is refused, and a refusal uses nothing up",
    { totalActiveUsers: 1 },
    async (stage) => {
      const passing = { canWait: false };
      assert.equal((await joinAs(stage, passing)).kind, "entered");
      const { totals } = await stage.engine.counts(ROOM);
      const mustWait = { kind: "refused", reason: "mustWait" };
      assert.deepEqual(await joinAs(stage, passing), mustWait);
      assert.deepEqual(await joinAs(stage, { ...passing, invite: code(stage) }), mustWait);
      const counts = await stage.engine.counts(ROOM);
      assert.deepEqual([counts.waiting, counts.totals], [0, totals]);
      assert.equal((await joinAs(stage, { invite: code(stage) })).kind, "waiting");
    },
  );

  coded("of many who show one code at once, one gets the place", { totalActiveUsers: 1 }, async (stage) => {
    await stage.joinEntered();
    const answers = await Promise.all(range(20).map(() => joinAs(stage, { invite: code(stage) })));
    assert.equal(answers.filter(({ kind }) => kind === "waiting").length, 1);
    assert.equal(answers.filter(({ kind }) => kind === "refused").length, 19);
    assert.equal((await stage.engine.counts(ROOM)).waiting, 1);
  });

  coded("a code whose holder was turned away is not used up", { closed: true }, async (stage) => {
    assert.deepEqual(await joinAs(stage, { invite: code(stage) }), { kind: "refused", reason: "closed" });
    await stage.configure({});
    assert.equal((await joinAs(stage, { invite: code(stage) })).kind, "entered");
  });
}

const ROUNDS = 240;
const CHOICES = 8;
/** Chi-square with seven degrees of freedom is above this once in a million times. */
const CHI_SQUARE_MAX = 40.52;

function randomOrder(play: Play): void {
  const rules = { totalActiveUsers: 1, queueingMethod: "random" } as const;

  play(
    "in random order nobody is told how many are ahead, nor can read it from the board",
    { ...rules, newUsersPerMinute: 60 },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await stage.joinMany(20);
      await stage.pass(3_000, tickets);
      assert.deepEqual(await aheadOfTickets(stage, tickets), Array(20).fill(null));
      const { marks, waiting } = await stage.engine.board(ROOM);
      assert.deepEqual([marks, waiting], [[], 20]);
    },
  );

  play("in random order everybody who waits has the same chance (ce5)", rules, async (stage) => {
    await stage.joinEntered();
    const waiting = await stage.joinMany(CHOICES);
    await stage.configure({ ...rules, totalActiveUsers: 2 });
    const turns = await hearTurns(stage);
    const chosen: number[] = Array(CHOICES).fill(0);
    for (let round = 0; round < ROUNDS; round++) {
      await stage.engine.admit(ROOM);
      const [place, ...more] = placesOf(await turns.take(), waiting);
      assert.deepEqual([place! >= 0, more], [true, []]);
      chosen[place!]!++;
      await stage.engine.leave(waiting.splice(place!, 1)[0]!);
      waiting.push((await stage.joinWaiting()).ticket);
    }
    const expected = ROUNDS / CHOICES;
    const chiSquare = chosen.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
    assert.ok(chiSquare < CHI_SQUARE_MAX, `chi-square ${chiSquare} of ${chosen}`);
  });

  play(
    "back from random order, those who are left go in the order they came",
    { ...rules, sessionDurationMs: 3_600_000 },
    async (stage) => {
      await stage.joinEntered();
      const tickets = await stage.joinMany(12);
      await stage.configure({ ...rules, totalActiveUsers: 5 });
      await stage.pass(TICK_MS, tickets);
      const kinds = await kindsOf(stage, tickets);
      const left = tickets.filter((_, i) => kinds[i] === "waiting");
      assert.equal(left.length, 8);
      const turns = await hearTurns(stage);
      await stage.configure({});
      await stage.pass(TICK_MS, left);
      assert.deepEqual(placesOf(await turns.take(), left), range(8));
    },
  );
}

const STEP_MS = 400;

function flow(play: Play): void {
  play(
    "at a set rate the gaps between admissions are even (ce7)",
    { newUsersPerMinute: 30 },
    async (stage) => {
      await stage.fill();
      const tickets = await stage.joinMany(40);
      const at: number[] = [];
      for (let step = 0; step < 100; step++) {
        await stage.pass(STEP_MS, tickets);
        // They come in the order in which they joined, so only the first few can have a turn.
        for (const _ of await stage.enterAll(tickets.slice(0, 2))) {
          at.push(stage.now());
          tickets.shift();
        }
      }
      const gaps = at.slice(1).map((instant, i) => instant - at[i]!);
      assert.ok(gaps.length >= 17, `${at.length} admitted in 40 s`);
      assert.ok(
        gaps.every((gap) => Math.abs(gap - 2_000) <= STEP_MS),
        gaps.join(),
      );
    },
  );

  play(
    "people who give up without a word do not slow the others down (ce8)",
    { paused: true, lapseAfterMs: 2_000 },
    async (stage) => {
      const tickets = await stage.joinMany(60);
      const stayed = tickets.filter((_, i) => i % 3 === 2);
      await stage.pass(120_000, stayed);
      await stage.configure({ newUsersPerMinute: 60 });
      await stage.pass(10_000, stayed);
      const kinds = await kindsOf(stage, stayed);
      assert.deepEqual(kinds.slice(0, 10), Array(10).fill("admitted"));
      assert.equal((await stage.engine.counts(ROOM)).lapsed, 40);
    },
  );
}

function knowing(play: Play): void {
  const moving = { newUsersPerMinute: 60, lanes: twoLanes("strict") };
  const hidden = { ahead: false, behind: false, wait: false };
  const crowd = async (stage: EngineStage): Promise<Ticket[]> => {
    while ((await stage.engine.join(ROOM)).kind === "entered") {}
    const tickets = await joinLanes(stage, [...Array(10).fill(0), ...Array(10).fill(VIP)]);
    await stage.pass(3_000, tickets);
    return tickets;
  };

  play(
    "people waiting can know how many are ahead, how many wait and how long it takes (ce9, ce10)",
    moving,
    async (stage) => {
      const tickets = await crowd(stage);
      const last = expectKind(await stage.engine.checkIn(tickets[9]!), "waiting");
      const board = await stage.engine.board(ROOM);
      assert.ok(last.ahead! >= 9 && last.waitMs!.middle > 0);
      assert.ok(board.waiting! >= 15 && board.ratePerMinute! > 0 && board.waits!.at(-1)![2] > 0);
      assert.ok(board.marks.length > 0 && board.lanes![VIP]!.marks.length > 0);
    },
    ["lanes"],
  );

  play(
    "where the wait is hidden, no answer and no board tells it (ce11)",
    { ...moving, show: { ...hidden, ahead: true, behind: true } },
    async (stage) => {
      const tickets = await crowd(stage);
      const last = expectKind(await stage.engine.checkIn(tickets[9]!), "waiting");
      const { ratePerMinute, waits, lanes: byLane, waiting } = await stage.engine.board(ROOM);
      assert.deepEqual([last.waitMs, ratePerMinute, waits], [null, null, null]);
      assert.equal(byLane![VIP]!.waits, null);
      assert.ok(last.ahead !== null && waiting !== null);
    },
  );

  play(
    "where the numbers are hidden, no answer and no board tells them (ce12)",
    { ...moving, show: { ...hidden, wait: true } },
    async (stage) => {
      const joined = await crowd(stage);
      const last = expectKind(await stage.engine.checkIn(joined[9]!), "waiting");
      const { waiting, marks, lanes: byLane } = await stage.engine.board(ROOM);
      assert.deepEqual([last.ahead, waiting, marks, byLane![VIP]!.marks], [null, null, [], []]);
      assert.ok(last.waitMs !== null);
      assert.equal((await stage.joinWaiting()).ahead, null);
    },
  );
}

/** Admitted since the engine started, foremost lane first. */
async function admittedIn(stage: EngineStage): Promise<number[]> {
  return (await stage.engine.counts(ROOM)).lanes.map(({ admitted }) => admitted);
}

function isAfterTheOneBefore(ticket: Ticket, index: number, all: readonly Ticket[]): boolean {
  return index === 0 || ticket.sequence > all[index - 1]!.sequence;
}
