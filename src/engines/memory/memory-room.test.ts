/** A room that is kept and taken over again, whatever happened before; storage is a plain map here. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { ANYBODY, type JoinAnswer } from "../../core/engine.ts";
import { lapseDeadline, longestCheckIn } from "../../core/pacing.ts";
import type { Pass } from "../../core/pass.ts";
import { DEFAULT_RULES, type RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { Shelf } from "../../testing/shelf.ts";
import { MemoryRoom } from "./memory-room.ts";

const NOW = Date.UTC(2026, 5, 1, 10);
const RULES: RoomRules = { ...DEFAULT_RULES, totalActiveUsers: 3 };

let ids = 0;

class Scene {
  readonly shelf = new Shelf();
  now = NOW;
  room: MemoryRoom;
  rules: RoomRules;

  constructor(rules: Partial<RoomRules> = {}) {
    this.rules = { ...RULES, ...rules };
    this.room = this.#newRoom();
    this.keep();
  }

  join(): JoinAnswer {
    return this.room.join((ids++).toString(16).padStart(32, "0"), ANYBODY, this.moment);
  }

  get moment(): { dice: number; now: number } {
    return { dice: 0, now: this.now };
  }

  waiting(): Ticket {
    const answer = this.join();
    assert.ok(answer.kind === "waiting", answer.kind);
    return answer.ticket;
  }

  entered(): Pass {
    const answer = this.join();
    assert.ok(answer.kind === "entered", answer.kind);
    return answer.pass;
  }

  keep(isClosed = false): void {
    this.shelf.put(this.room.takeChanges(this.now, isClosed));
  }

  /** A new process takes over what was kept, so much later. */
  restart(afterMs = 500): void {
    this.now += afterMs;
    this.room = this.#newRoom();
    this.room.restore(this.shelf.get(), this.now);
  }

  kindOf(ticket: Ticket): string {
    return this.room.checkIn(ticket, this.moment).kind;
  }

  pass(ms: number): void {
    this.now += ms;
    this.room.admit(() => 0, this.now);
  }

  #newRoom(): MemoryRoom {
    const events = { onTurns() {}, onRevoked() {}, onDraw() {}, onRemark() {} };
    const budgetFree = () => Number.POSITIVE_INFINITY;
    return new MemoryRoom({
      name: "main",
      rules: this.rules,
      events,
      now: this.now,
      isKept: true,
      budgetFree,
    });
  }
}

test("those who wait, have their turn, are on the site or are gone stay so", () => {
  const scene = new Scene();
  const passes = [scene.entered(), scene.entered(), scene.entered()];
  const tickets = Array.from({ length: 10 }, () => scene.waiting());
  scene.room.leaveVisit(passes[0]!.id, scene.now);
  scene.pass(200);
  scene.room.leavePlace(tickets[4]!, scene.now);
  scene.keep();
  scene.restart();
  const kinds = tickets.map((ticket) => scene.kindOf(ticket));
  assert.deepEqual(kinds, ["admitted", ...Array(3).fill("waiting"), "refused", ...Array(5).fill("waiting")]);
  const { waiting, admitted, onSite, totals } = scene.room.counts(scene.now);
  assert.deepEqual({ waiting, admitted, onSite }, { waiting: 8, admitted: 1, onSite: 2 });
  assert.equal(totals.joined, 13);
  assert.deepEqual(
    [...scene.room.ended()].map(([id]) => id),
    [passes[0]!.id],
  );
});

test("a turn that was used before is not used again: the same ticket gives the same visit", () => {
  const scene = new Scene({ totalActiveUsers: 1 });
  const pass = scene.entered();
  const ticket = scene.waiting();
  scene.room.leaveVisit(pass.id, scene.now);
  scene.pass(200);
  assert.equal(scene.room.enter(ticket, scene.moment).kind, "entered");
  scene.keep();
  scene.restart();
  const again = scene.room.enter(ticket, scene.moment);
  assert.ok(again.kind === "entered" && again.pass.id === ticket.id);
  assert.equal(scene.room.counts(scene.now).onSite, 1);
});

test("a turn given before and used after a restart was given when it was given", () => {
  const scene = new Scene({ totalActiveUsers: 1 });
  const pass = scene.entered();
  const ticket = scene.waiting();
  scene.room.leaveVisit(pass.id, scene.now);
  scene.pass(200);
  const givenAt = scene.now;
  scene.keep();
  scene.restart(5_000);
  const answer = scene.room.enter(ticket, scene.moment);
  assert.ok(answer.kind === "entered");
  assert.equal(answer.pass.admittedAt, givenAt);
});

test("a place that missed a turn stays where it went, and one that missed too many stays lost", () => {
  const scene = new Scene({ totalActiveUsers: 1, claimWindowMs: 20_000, lapseAfterMs: 3_600_000 });
  const pass = scene.entered();
  const idle = scene.waiting();
  const others = Array.from({ length: 30 }, () => scene.waiting());
  scene.room.leaveVisit(pass.id, scene.now);
  for (let missed = 1; missed <= 3; missed++) {
    while (scene.room.counts(scene.now).totals.missedTurns < missed) {
      scene.pass(1_000);
      // Everyone else uses a turn at once and leaves.
      for (const ticket of others.slice(0, 5)) {
        if (scene.room.enter(ticket, scene.moment).kind !== "entered") continue;
        scene.room.leaveVisit(ticket.id, scene.now);
        others.shift();
      }
      scene.kindOf(idle);
    }
    const before = scene.room.checkIn(idle, scene.moment);
    scene.keep();
    scene.restart();
    const after = scene.room.checkIn(idle, scene.moment);
    if (before.kind === "waiting" && after.kind === "waiting") {
      assert.equal(after.ticket.missedTurns, missed);
      assert.deepEqual([after.ticket, after.ahead], [before.ticket, before.ahead]);
    } else {
      assert.deepEqual([missed, after], [3, { kind: "refused", reason: "turnsMissed" }]);
    }
  }
});

test("a loose turn is loose after a restart, so that the site is never too full", () => {
  const scene = new Scene({ totalActiveUsers: 1, lapseAfterMs: 3_600_000 });
  const pass = scene.entered();
  const [slow, next] = [scene.waiting(), scene.waiting()];
  scene.room.leaveVisit(pass.id, scene.now);
  scene.pass(1_000);
  scene.pass(20_000);
  scene.keep();
  scene.restart();
  const { admitted, looseTurns } = scene.room.counts(scene.now);
  assert.deepEqual([admitted, looseTurns], [1, 1]);
  assert.equal(scene.room.enter(next, scene.moment).kind, "entered");
  assert.equal(scene.room.enter(slow, scene.moment).kind, "waiting");
  assert.equal(scene.room.counts(scene.now).onSite, 1);
});

test("a room kept by the version before goes on: its turns are firm", () => {
  const scene = new Scene({ totalActiveUsers: 1 });
  const pass = scene.entered();
  const ticket = scene.waiting();
  scene.room.leaveVisit(pass.id, scene.now);
  scene.pass(1_000);
  const givenAt = scene.now;
  scene.keep();
  const kept = scene.shelf.get();
  scene.shelf.get = () => ({ ...kept, turns: new Map([[ticket.sequence, givenAt]]), setBacks: [] });
  scene.restart();
  assert.equal(scene.room.counts(scene.now).admitted, 1);
  const answer = scene.room.enter(ticket, scene.moment);
  assert.ok(answer.kind === "entered" && answer.pass.admittedAt === givenAt);
});

test("a full room is still full after a restart", () => {
  const scene = new Scene();
  for (let i = 0; i < 3; i++) scene.entered();
  scene.keep();
  scene.restart(60_000);
  scene.waiting();
  scene.pass(20_000);
  assert.equal(scene.room.counts(scene.now).admitted, 0);
});

test("a slot whose pass may have been renewed unseen stays taken for a session more", () => {
  const scene = new Scene({ totalActiveUsers: 1 });
  scene.entered();
  scene.now += RULES.sessionDurationMs - 1_000;
  scene.room.admit(() => 0, scene.now);
  scene.keep();
  const seenAt = scene.now;
  scene.restart(1_000);
  scene.waiting();
  scene.pass(RULES.sessionDurationMs - 1_000 - (scene.now - seenAt));
  assert.equal(scene.room.counts(scene.now).onSite, 1);
  scene.pass(60_000);
  assert.equal(scene.room.counts(scene.now).onSite, 0);
});

test("places that were never kept come back before anyone who joined after the crash", () => {
  const scene = new Scene({ totalActiveUsers: 1, lapseAfterMs: 600_000 });
  const pass = scene.entered();
  const kept = scene.waiting();
  scene.keep();
  const lost = scene.waiting();
  scene.restart();
  const later = scene.waiting();
  assert.ok(later.sequence > lost.sequence);
  scene.room.leaveVisit(pass.id, scene.now);
  scene.pass(200);
  assert.equal(scene.kindOf(kept), "admitted");
  scene.room.leavePlace(kept, scene.now);
  scene.pass(200);
  assert.equal(scene.kindOf(later), "waiting", "held while those before may come back");
  assert.equal(scene.kindOf(lost), "waiting");
  scene.pass(230_000);
  assert.equal(scene.kindOf(lost), "admitted");
  assert.equal(scene.kindOf(later), "waiting");
});

test("nobody goes straight through while those before may come back; after that, as ever", () => {
  const scene = new Scene({ totalActiveUsers: 1, lapseAfterMs: 600_000 });
  const pass = scene.entered();
  const kept = scene.waiting();
  scene.keep();
  scene.restart();
  scene.room.leavePlace(kept, scene.now);
  scene.room.leaveVisit(pass.id, scene.now);
  const held = scene.waiting();
  scene.keep();
  scene.restart(2_000);
  scene.pass(1_000);
  assert.equal(scene.kindOf(held), "waiting", "held through another restart");
  scene.pass(230_000);
  assert.equal(scene.kindOf(held), "admitted");
});

test("where nobody waited nobody is held", () => {
  const scene = new Scene();
  scene.entered();
  scene.keep();
  scene.restart();
  scene.entered();
});

test("a place is told at once only if a restored room would hold back those behind it for long enough", () => {
  const scene = new Scene({ totalActiveUsers: 1, sessionDurationMs: 1_000, lapseAfterMs: 1_000 });
  scene.entered();
  const mustBeKept = () => scene.room.mustBeKept(scene.join());
  assert.deepEqual([mustBeKept(), mustBeKept()], [true, true], "the disk knows of no line");
  const changes = scene.room.takeChanges(scene.now);
  assert.equal(mustBeKept(), true, "it may still not know");
  scene.room.changesKept(changes.memo);
  assert.equal(mustBeKept(), false);
  const lapsed = scene.waiting();
  scene.rules = { ...scene.rules, paused: true };
  scene.room.change(scene.rules, scene.now);
  scene.pass(60_000);
  assert.ok(scene.room.mustBeKept(scene.room.checkIn(lapsed, scene.moment)), "those behind it are known");
});

test("a room closed in order is open at once", () => {
  const scene = new Scene();
  scene.entered();
  scene.keep(true);
  scene.restart();
  scene.entered();
});

test("the minute's limit holds across a restart", () => {
  const scene = new Scene({ totalActiveUsers: null, newUsersPerMinute: 10 });
  for (let i = 0; i < 600; i++) {
    scene.join();
    scene.pass(100);
  }
  const before = scene.room.counts(scene.now).totals.admitted;
  scene.keep(true);
  scene.restart(0);
  scene.pass(200);
  const { totals } = scene.room.counts(scene.now);
  assert.ok(totals.admitted - before <= 1, `${totals.admitted - before} were admitted at once`);
});

test("sequences never come again, even when the clock was set back", () => {
  const scene = new Scene({ totalActiveUsers: 1 });
  scene.entered();
  const before = scene.waiting();
  scene.keep();
  scene.restart(-3_600_000);
  assert.ok(scene.waiting().sequence > before.sequence);
});

/** Turns the door just before and at each instant: how many have lapsed by then. */
function lapsedAround(scene: Scene, instants: readonly number[]): number[] {
  return instants.flatMap((at) =>
    [at - 100, at].map((now) => {
      scene.pass(now - scene.now);
      return scene.room.counts(now).lapsed;
    }),
  );
}

test("after a restart, visitors who do not come back lapse at the deadline given then", () => {
  const scene = new Scene({ totalActiveUsers: 1 });
  scene.entered();
  for (let i = 0; i < 2; i++) scene.waiting();
  scene.keep();
  scene.restart();
  const { lapseAfterMs } = scene.rules;
  const nextCheckInMs = longestCheckIn({ ...scene.rules, waiting: 2 });
  const lapseAt = lapseDeadline({ now: scene.now, nextCheckInMs, lapseAfterMs });
  assert.deepEqual(lapsedAround(scene, [lapseAt]), [0, 2]);
});

test("after a draw, everyone lapses at the deadline they had before it", () => {
  const startAt = NOW + 10_000;
  const rules = { ...RULES, paused: true };
  const event = {
    name: "sale",
    prequeueAt: NOW,
    startAt,
    endAt: NOW + 3_600_000,
    isShuffled: true,
    seed: "5a".repeat(32),
    rules,
  };
  const scene = new Scene({ ...rules, events: [event] });
  const { lapseAfterMs } = rules;
  const deadlines: number[] = [];
  for (let i = 0; i < 5; i++) {
    const answer = scene.join();
    assert.ok(answer.kind === "waiting");
    deadlines.push(lapseDeadline({ now: scene.now, nextCheckInMs: answer.nextCheckInMs, lapseAfterMs }));
    scene.pass(1_000);
  }
  scene.pass(startAt - scene.now);
  assert.ok(scene.room.draw("sale", scene.now)?.drawnAt === startAt);
  const instants = [...new Set(deadlines)].sort((a, b) => a - b);
  const lapsedBy = (now: number) => deadlines.filter((deadline) => deadline <= now).length;
  const expected = instants.flatMap((at) => [lapsedBy(at - 100), lapsedBy(at)]);
  assert.deepEqual(lapsedAround(scene, instants), expected);
  assert.equal(expected.at(-1), 5);
});

test("when lanes change, the very next board and turn have everyone in their new lane", () => {
  const named = [{ number: 7, name: "members", share: 50, isPrivileged: true }];
  const members: Partial<RoomRules> = { lanes: { ...RULES.lanes, named } };
  const scene = new Scene({ ...members, paused: true });
  const ticket = { lane: 7, invite: null, canWait: true };
  for (let i = 0; i < 2; i++) scene.room.join(`${i}`.padStart(32, "0"), ticket, scene.moment);
  const waitingIn = () => scene.room.counts(scene.now).lanes.map(({ name, waiting }) => [name, waiting]);
  scene.room.change({ ...RULES, paused: true }, scene.now);
  assert.equal(scene.room.board(scene.now).marks.length, 2);
  assert.deepEqual(waitingIn(), [["everybody", 2]]);
  scene.room.change({ ...RULES, ...members, privilegedOnly: true }, scene.now);
  assert.equal(scene.room.admit(() => 0, scene.now).admitted, 2);
  scene.room.change({ ...RULES, ...members, paused: true }, scene.now);
  assert.deepEqual(waitingIn(), [
    ["members", 0],
    ["everybody", 0],
  ]);
});

test("after any history, what visitors were told is still true after a restart", () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.constant({ do: "join", who: 0 } as const) },
    {
      weight: 4,
      arbitrary: fc.record({
        do: fc.constantFrom("enter", "leave", "leaveVisit", "checkIn"),
        who: fc.nat(40),
      }),
    },
    { weight: 2, arbitrary: fc.record({ do: fc.constant("pass" as const), who: fc.nat(5_000) }) },
    { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const), who: fc.nat(5_000) }) },
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 80, size: "max" }), (steps) => {
      const scene = new Scene({ ticketTtlMs: 86_400_000, claimWindowMs: 3_600_000, lapseAfterMs: 3_600_000 });
      const tickets: Ticket[] = [];
      const passes: Pass[] = [];
      const gone = new Set<string>();
      for (const { do: what, who } of steps) {
        const ticket = tickets[who % Math.max(1, tickets.length)];
        const pass = passes[who % Math.max(1, passes.length)];
        if (what === "pass") scene.pass(who);
        else if (what === "restart") scene.restart(who);
        else if (what === "join") {
          const answer = scene.join();
          if (answer.kind === "waiting") tickets.push(answer.ticket);
          if (answer.kind === "entered") passes.push(answer.pass);
        } else if (what === "enter" && ticket) {
          const answer = scene.room.enter(ticket, scene.moment);
          if (answer.kind === "entered" && !passes.some(({ id }) => id === answer.pass.id))
            passes.push(answer.pass);
          assert.ok(!gone.has(ticket.id) || answer.kind === "refused");
        } else if (what === "checkIn" && ticket) scene.kindOf(ticket);
        else if (what === "leave" && ticket) {
          scene.room.leavePlace(ticket, scene.now);
          gone.add(ticket.id);
        } else if (what === "leaveVisit" && pass) {
          scene.room.leaveVisit(pass.id, scene.now);
          gone.add(pass.id);
        }
        scene.keep();
        const { admitted, onSite } = scene.room.counts(scene.now);
        assert.ok(admitted + onSite <= 3, `${admitted} + ${onSite}`);
      }
      const before = tickets.map((ticket) => scene.kindOf(ticket));
      const counts = scene.room.counts(scene.now);
      scene.keep();
      scene.restart(0);
      assert.deepEqual(
        tickets.map((ticket) => scene.kindOf(ticket)),
        before,
      );
      const after = scene.room.counts(scene.now);
      assert.deepEqual(
        [after.waiting, after.admitted, after.onSite, after.lapsed],
        [counts.waiting, counts.admitted, counts.onSite, counts.lapsed],
      );
    }),
    { numRuns: 300 },
  );
});
