import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES, type RoomRules } from "../../core/rules.ts";
import { nodesOf } from "../../testing/cluster/desk-node.ts";
import { OneDesk } from "../../testing/cluster/one-desk.ts";
import { diceOf } from "./dice.ts";
import type { AnsweredNotice, Check, Notice } from "./notice.ts";
import { patientAt, type Traits, traitsOf, type VisitorKind } from "./traits.ts";
import { Tunnel } from "./tunnel.ts";

const RULES: RoomRules = {
  ...DEFAULT_RULES,
  totalActiveUsers: 1,
  sessionDurationMs: 10_000,
  lapseAfterMs: 3_000,
  claimWindowMs: 5_000,
};
const HABITS = {
  stayMs: { from: 1_000, to: 2_000 },
  sessionMs: 10_000,
  lapseAfterMs: 3_000,
  isRenewing: false,
};

/** Three nodes that are one desk, and everything anybody could see. */
function stage(rules: Partial<RoomRules> = {}) {
  const seen: Notice[] = [];
  const see = (notice: Notice) => {
    seen.push(notice);
    return null;
  };
  const book: Check = { name: "book", see };
  const tunnel = new Tunnel({
    seed: 1,
    makeNode: nodesOf(new OneDesk()),
    rules: { ...RULES, ...rules },
    weather: { delayMs: { from: 10, to: 20 }, loss: 0, duplication: 0, reorder: 0, reorderUpToMs: 0 },
    visitorDelayMs: { from: 10, to: 20 },
    checks: [book],
  });
  for (let i = 0; i < 3; i++) tunnel.addNode();
  tunnel.runUntil(1_000);
  const answers = (visitor: number) =>
    seen.filter(
      (notice): notice is AnsweredNotice => notice.kind === "answered" && notice.visitor === visitor,
    );
  const kinds = (visitor: number) => answers(visitor).map(({ answer }) => answer.kind);
  /** Somebody comes, and has been answered before the next one comes. */
  const come = (traits: Partial<Traits> = {}, station = 0) => {
    const guest = tunnel.crowd.expect({ ...patientAt(station, 1_000), ...traits }, tunnel.time);
    tunnel.runUntil(tunnel.time + 100);
    return guest;
  };
  const draw = (kind: VisitorKind) => traitsOf(kind, diceOf(7), HABITS);
  return { tunnel, seen, answers, kinds, come, draw };
}

test("a patient visitor joins, waits, gets a turn, enters, stays and leaves", () => {
  const { tunnel, seen, kinds, come } = stage();
  come();
  const second = come();
  tunnel.runUntil(8_000);
  assert.deepEqual(kinds(0), ["entered"]);
  const told = kinds(1);
  assert.equal(told[0], "waiting");
  assert.deepEqual(told.slice(-2), ["admitted", "entered"]);
  assert.equal(second.phase, "gone");
  assert.equal(seen.filter(({ kind }) => kind === "left").length, 2);
  assert.equal(tunnel.crowd.wanting, 0);
});

test("one who listens learns of their turn before their next check-in, one who does not at it", () => {
  const waits = [true, false].map((isListening) => {
    const { tunnel, come } = stage();
    come({ stayMs: 500 });
    const guest = come({ isListening });
    tunnel.runUntil(10_000);
    return guest.enteredAt! - guest.cameAt;
  });
  assert.ok(waits[0]! < waits[1]!, waits.join());
});

test("after a lost answer the same ticket is shown again, and a lost join is repeated with a new id", () => {
  const { tunnel, answers, come } = stage({ sessionDurationMs: 100_000 });
  come({ stayMs: 70_000 });
  tunnel.link.loss = 0.45;
  const guest = come();
  tunnel.runUntil(60_000);
  tunnel.link.loss = 0;
  tunnel.runUntil(120_000);
  assert.notEqual(guest.enteredAt, null);
  const joins = answers(1).filter(({ request }) => request === "join");
  assert.ok(joins.length > 1, "some answer to a join was lost");
  assert.equal(new Set(joins.map(({ id }) => id)).size, joins.length);
  const shown = new Set(
    answers(1)
      .filter(({ request }) => request !== "join")
      .map(({ id }) => id),
  );
  assert.deepEqual([...shown], [joins.at(-1)!.id]);
});

test("when a node is down another is asked, with the same ticket", () => {
  const { tunnel, answers, come } = stage();
  come({ stayMs: 9_000 });
  const guest = come({}, 2);
  tunnel.runUntil(1_500);
  tunnel.crash(tunnel.stations[2]!);
  tunnel.runUntil(20_000);
  assert.notEqual(guest.enteredAt, null);
  const [first, ...rest] = answers(1);
  assert.equal(first!.station, 2);
  assert.ok(rest.length > 0 && rest.every(({ station, id }) => station !== 2 && id === first!.id));
});

test("an impatient visitor gives up and says so", () => {
  const { tunnel, seen, answers, come, draw } = stage();
  come({ stayMs: 9_000 });
  const guest = come({ ...draw("impatient"), patienceMs: 2_500, isPolite: true });
  tunnel.runUntil(20_000);
  assert.equal(guest.phase, "gone");
  assert.equal(guest.enteredAt, null);
  const id = answers(1)[0]!.id;
  assert.ok(seen.some((notice) => notice.kind === "left" && notice.id === id));
});

test("an answer to a visitor who has given up is ignored", () => {
  const { tunnel, answers, come } = stage();
  const guest = come({ kind: "impatient", patienceMs: 5 });
  tunnel.runUntil(5_000);
  assert.equal(answers(0)[0]!.answer.kind, "entered");
  assert.equal(guest.phase, "gone");
  assert.equal(guest.enteredAt, null);
});

test("a vanishing visitor is away for longer than they are waited for, and gets in all the same", () => {
  const { tunnel, seen, answers, come } = stage();
  come({ stayMs: 9_000 });
  const guest = come({ kind: "vanishing", away: { afterMs: 1_000, forMs: 15_000 } });
  tunnel.runUntil(60_000);
  assert.ok(seen.some(({ kind }) => kind === "away"));
  assert.ok(!answers(1).some(({ at }) => at > 2_200 && at < 16_500));
  assert.notEqual(guest.enteredAt, null);
});

test("a replaying visitor shows the ticket at several nodes, and again when the visit is over", () => {
  const { tunnel, answers, come } = stage();
  come({ stayMs: 3_000 });
  const guest = come({ kind: "replaying", replays: 2 });
  tunnel.runUntil(60_000);
  assert.notEqual(guest.enteredAt, null);
  const entering = answers(1).filter(({ request }) => request === "enter");
  assert.equal(new Set(entering.map(({ station }) => station)).size, 3);
  const late = entering.filter(({ at }) => at > guest.enteredAt! + 1_100);
  assert.ok(late.length === 2 && late.every(({ answer }) => answer.kind === "refused"));
});

test("a moving visitor goes to another node each time", () => {
  const { tunnel, answers, come } = stage();
  come({ stayMs: 9_000 });
  come({ kind: "moving", isMoving: true, isListening: false });
  tunnel.runUntil(20_000);
  const stations = answers(1)
    .filter(({ request }) => request !== "enter")
    .map(({ station }) => station);
  assert.ok(stations.length >= 3);
  assert.ok(stations.slice(1).every((station, i) => station !== stations[i]));
});

test("what a forger makes up never reaches a node", () => {
  const { tunnel, seen, answers, come, draw } = stage();
  come({ stayMs: 9_000 });
  const guest = come(draw("forging"));
  tunnel.runUntil(10_000);
  assert.equal(guest.phase, "gone");
  assert.equal(tunnel.gateway.refused, 6);
  assert.deepEqual(
    answers(1).map(({ request }) => request),
    ["join"],
  );
  assert.ok(!seen.some(({ kind }) => kind === "taken"));
});

test("a visitor who renews the pass stays longer than a session", () => {
  const { tunnel, seen, come } = stage();
  come({ stayMs: 25_000, isRenewing: true });
  const next = come();
  tunnel.runUntil(40_000);
  assert.ok(seen.filter(({ kind }) => kind === "renewed").length >= 8);
  assert.ok(next.enteredAt! > 25_000, `${next.enteredAt}`);
});

test("visitors who are held back come when they are released, and nothing is lost", () => {
  const { tunnel, answers, come } = stage();
  come({ stayMs: 4_000 });
  const guest = come();
  tunnel.runUntil(2_000);
  tunnel.link.hold();
  const before = answers(1).length;
  tunnel.runUntil(6_000);
  assert.equal(answers(1).length, before);
  tunnel.link.release();
  tunnel.runUntil(30_000);
  assert.notEqual(guest.enteredAt, null);
});
