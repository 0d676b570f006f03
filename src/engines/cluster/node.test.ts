import assert from "node:assert/strict";
import { test } from "node:test";
import type { Pass } from "../../core/pass.ts";
import { DEFAULT_RULES } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import { VirtualCluster } from "../../testing/cluster/virtual-cluster.ts";
import { OP } from "./log/entries.ts";
import { blockOf } from "./log/entry-blocks.ts";
import { viewNumber } from "./membership/view.ts";
import { DEFAULT_NODE_SETTINGS } from "./node-settings.ts";
import type { Message } from "./wire/message.ts";

const QUEUE_ALL = { ...DEFAULT_RULES, queueAll: true };
const waitingAt = (cluster: VirtualCluster) =>
  [...cluster.nodes.values()].map((node) => node.counts("r", cluster.now).waiting);

test("a visitor who joins at one node is in the line on every node", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  for (const name of "abcab") cluster.queue(name);
  cluster.run(500);
  assert.deepEqual(waitingAt(cluster), [5, 5, 5]);
});

test("a check-in is answered on any node, with the same number ahead", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  const tickets = [..."abcabc"].map((name) => {
    cluster.run(10);
    return cluster.queue(name);
  });
  cluster.run(1_000);
  for (const name of "abc")
    for (const [ahead, ticket] of tickets.entries()) {
      const answer = cluster.of(name).checkIn(ticket, 0.5, cluster.now);
      assert.equal(answer.kind === "waiting" && answer.ahead, ahead);
    }
});

test("a newcomer is told how many are ahead once that is certain, and never too few", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  const joined = [..."abcabc"].map((name) => cluster.join(name));
  assert.ok(joined.every((answer) => answer.kind === "waiting" && answer.ahead === null));
  cluster.run(1_000);
  for (const answer of joined) {
    assert.ok(answer.kind === "waiting");
    const later = cluster.of("b").checkIn(answer.ticket, 0.5, cluster.now);
    const before = joined.filter(
      (one) => one.kind === "waiting" && one.ticket.sequence < answer.ticket.sequence,
    );
    assert.equal(later.kind === "waiting" && later.ahead, before.length);
  }
});

test("a second after the last has joined, sixteen nodes tell everyone exactly how many are ahead", () => {
  const names = "abcdefghijklmnop";
  const cluster = new VirtualCluster(names, QUEUE_ALL);
  const tickets = [...names, ...names].map((name) => {
    cluster.run(10);
    return cluster.queue(name);
  });
  cluster.run(1_000);
  for (const name of names)
    for (const [ahead, ticket] of tickets.entries()) {
      const answer = cluster.of(name).checkIn(ticket, 0.5, cluster.now);
      assert.equal(answer.kind === "waiting" && answer.ahead, ahead, `${ticket.sequence} at ${name}`);
    }
});

test("a turn is used at any node, once, by asking the one that owns it", () => {
  const cluster = new VirtualCluster("abc", { ...DEFAULT_RULES, totalActiveUsers: 1 });
  assert.equal(cluster.join("a").kind, "entered");
  const ticket = cluster.queue("a");
  for (const node of cluster.nodes.values())
    node.configure("r", { ...DEFAULT_RULES, totalActiveUsers: 2 }, cluster.now);
  cluster.run(1_000);
  const first = cluster.enter("b", ticket);
  assert.equal(first.kind, "entered");
  cluster.run(500);
  const again = cluster.enter("c", ticket);
  assert.deepEqual(again.kind === "entered" && again.pass.id, ticket.id);
  assert.equal(cluster.of("c").counts("r", cluster.now).onSite, 2);
});

test("a slot that is held after its visit was left is counted by every node, and by none afterwards", () => {
  const lingerMs = 3_000;
  const cluster = new VirtualCluster("abc", { ...DEFAULT_RULES, totalActiveUsers: 2, lingerMs });
  const onSite = () => [...cluster.nodes.values()].map((node) => node.counts("r", cluster.now).onSite);
  const answer = cluster.join("b");
  assert.ok(answer.kind === "entered");
  cluster.run(500);
  cluster.leave("c", answer.pass);
  cluster.run(1_000);
  assert.deepEqual(onSite(), [1, 1, 1]);
  cluster.run(lingerMs);
  assert.deepEqual(onSite(), [0, 0, 0]);
});

test("an owner that does not answer is not waited for: a visitor with a turn is told to come again", () => {
  // Nobody is held for dead while this goes on.
  const swim = { ...DEFAULT_NODE_SETTINGS.swim, suspicionPeriods: 60 };
  const cluster = new VirtualCluster("abc", { ...DEFAULT_RULES, totalActiveUsers: 1 }, { swim });
  cluster.join("a");
  const ticket = cluster.queue("a");
  for (const node of cluster.nodes.values()) node.configure("r", DEFAULT_RULES, cluster.now);
  cluster.run(1_000);
  cluster.arrives = (from, to) => from !== "a" && to !== "a";
  const answer = cluster.enter("b", ticket);
  assert.equal(answer.kind, "waiting");
  assert.equal(answer.kind === "waiting" && answer.ahead, 0);
});

test("a one-time code gives one place, whichever nodes it is shown at", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  const invite = { id: "code", expiresAt: cluster.now + 60_000 };
  const kinds: string[] = [];
  for (const [n, name] of [..."abc"].entries()) {
    const arriving = { id: `${n}`.repeat(32), newcomer: { lane: 0, invite, canWait: true }, dice: 0.5 };
    cluster.of(name).join("r", arriving, cluster.now, ({ kind }) => kinds.push(kind));
  }
  cluster.run(1_000);
  assert.deepEqual(kinds.sort(), ["refused", "refused", "waiting"]);
});

test("a node that leaves hands everything over, and no visitor in the line notices", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  const tickets = [..."cccabc"].map((name) => {
    cluster.run(10);
    return cluster.queue(name);
  });
  const c = cluster.of("c");
  c.leaveCluster(cluster.now);
  cluster.run(3_000);
  assert.equal(c.isGone, true);
  cluster.nodes.delete("c");
  assert.deepEqual(waitingAt(cluster), [6, 6]);
  const { members, lost } = cluster.of("a").status().view!;
  assert.deepEqual([members.length, lost.length], [2, 0]);
  const answer = cluster.of("b").checkIn(tickets[2]!, 0.5, cluster.now);
  assert.equal(answer.kind === "waiting" && answer.ahead, 2);
});

test("places of a dead node go to the others, and an operator's word makes it forgotten", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  for (const name of "ccc") cluster.queue(name);
  cluster.run(500);
  cluster.nodes.delete("c");
  cluster.run(6_000);
  const { view, counts } = cluster.of("a").status(true);
  assert.deepEqual(
    view!.lost.map(({ name }) => name),
    ["c"],
  );
  assert.equal(counts["c#1"], undefined);
  assert.deepEqual(waitingAt(cluster), [3, 3]);
  assert.equal(cluster.of("a").forget("nobody", cluster.now), false);
  assert.equal(cluster.of("a").forget("c", cluster.now), true);
  cluster.run(500);
  assert.deepEqual(cluster.of("b").status().view!.lost, []);
});

test("what one node keeps, all keep and are told of", () => {
  const cluster = new VirtualCluster("ab", QUEUE_ALL);
  cluster.of("b").takeEvents();
  cluster.of("a").keep("keys", 7, cluster.now);
  cluster.run(50);
  assert.equal(cluster.of("b").kept().get("keys"), 7);
  assert.deepEqual(cluster.of("b").takeEvents(), [{ kind: "kept", name: "keys" }]);
});

test("joining a room that is not configured here is refused, and asking for its counts is a mistake", () => {
  const cluster = new VirtualCluster("a", QUEUE_ALL);
  const answers: unknown[] = [];
  const arriving = { id: "0".repeat(32), newcomer: { lane: 0, invite: null, canWait: true }, dice: 0 };
  cluster.of("a").join("other", arriving, cluster.now, (answer) => answers.push(answer));
  assert.deepEqual(answers, [{ kind: "refused", reason: "unknownRoom" }]);
  assert.equal(cluster.of("a").has("other"), false);
  assert.throws(() => cluster.of("a").counts("other", cluster.now), /room "other" is not configured/);
});

test("malformed messages, and messages of strangers that only members may send, change nothing", () => {
  const cluster = new VirtualCluster("ab", QUEUE_ALL);
  cluster.queue("a");
  cluster.run(500);
  const b = cluster.of("b");
  const before = JSON.stringify(b.status(true));
  for (const hostile of [null, 7, "message", [], {}, { name: "a" }]) b.receive("x", hostile, cluster.now);
  const { view } = b.status();
  const stranger: Message = {
    ...{ to: null, name: "x", life: 1, clock: cluster.now, view: view!.number },
    bodies: [
      {
        kind: "entries",
        log: "a#1",
        from: 1,
        blocks: [blockOf([{ room: "r", entry: [OP.wait, 5, 0, 0, ""] }])],
        isUrgent: false,
        copy: null,
      },
      { kind: "announce", seq: 9, at: 0, shares: [], memo: { view: 1, seq: 1, rooms: [] }, dropped: [] },
      { kind: "lend", room: "r", number: 1, round: "1/1" },
      { kind: "ask", number: 1, op: { op: "revoke", room: "r", id: "v" } },
      { kind: "notes", notes: [{ name: "keys", value: 1, at: cluster.now, by: "x" }] },
    ],
  };
  b.receive("x", stranger, cluster.now);
  assert.equal(JSON.stringify(b.status(true)), before);
  assert.deepEqual([...b.kept()], []);
  assert.deepEqual(
    b.takeOutbox().filter(({ to }) => to === "x"),
    [],
  );
});

test("a message with a clock far ahead does not carry the order along", () => {
  const cluster = new VirtualCluster("ab", QUEUE_ALL);
  const far: Message = { to: null, name: "a", life: 1, clock: cluster.now + 1e9, view: null, bodies: [] };
  cluster.of("b").receive("a", far, cluster.now);
  const later = cluster.queue("a");
  cluster.run(50);
  assert.ok(cluster.queue("b").sequence > later.sequence);
  const before = cluster.queue("b");
  cluster.run(50);
  assert.ok(cluster.queue("a").sequence > before.sequence);
});

test("a message to a former life at this address is ignored", () => {
  const cluster = new VirtualCluster("ab", QUEUE_ALL);
  const note = { name: "keys", value: 1, at: cluster.now, by: "a#1" };
  const { number } = cluster.of("a").status().view!;
  const message = {
    name: "a",
    life: 1,
    clock: cluster.now,
    view: number,
    bodies: [{ kind: "notes", notes: [note] }],
  };
  cluster.of("b").receive("a", { ...message, to: "b#0" }, cluster.now);
  assert.equal(cluster.of("b").kept().size, 0);
  cluster.of("b").receive("a", { ...message, to: "b#1" }, cluster.now);
  assert.equal(cluster.of("b").kept().size, 1);
});

test("a message that cannot go directly goes through another node", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  const isCut = (from: string, to: string) => `${from}${to}` === "ac" || `${from}${to}` === "ca";
  cluster.arrives = (from, to) => !isCut(from, to);
  cluster.run(2_000);
  cluster.queue("a");
  cluster.queue("c");
  cluster.run(3_000);
  assert.deepEqual(waitingAt(cluster), [2, 2, 2]);
  assert.equal(cluster.of("a").status().view!.members.length, 3);
});

test("status tells which nodes there are, which is root and what each has", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  const first = cluster.queue("b");
  cluster.queue("b");
  cluster.queue("c");
  cluster.run(1_000);
  const statuses = [...cluster.nodes.values()].map((node) => node.status(true));
  assert.deepEqual(
    statuses.map(({ isRoot }) => isRoot),
    [false, true, false],
    "the node that owns the first place in the line",
  );
  assert.deepEqual(
    statuses.map(({ pointer }) => pointer === null),
    [false, true, false],
  );
  for (const status of statuses) {
    assert.ok(status.isSettled && !status.isGone && status.problem === null);
    assert.equal(status.view!.number, viewNumber({ version: status.view!.version, maker: 0 }));
    assert.deepEqual(
      status.view!.members.map(({ name, number, is }) => [name, number, is]),
      [
        ["a", 0, "alive"],
        ["b", 1, "alive"],
        ["c", 2, "alive"],
      ],
    );
    assert.equal(status.rooms.r!.waiting, 3);
    assert.deepEqual(status.counts["b#1"]!.r, { waiting: 2, turns: 0, onSite: 0 });
  }
  assert.deepEqual([statuses[1]!.rooms.r!.ownFirst, statuses[1]!.rooms.r!.ownWaiting], [first.sequence, 2]);
  assert.deepEqual(cluster.of("a").status().counts, {}, "only where it was asked for");
});

test("a machine that slept until its slots may be reclaimed admits nobody by them", () => {
  const cluster = new VirtualCluster("abc", { ...DEFAULT_RULES, totalActiveUsers: 30 });
  const isRoot = (name: string) => cluster.of(name).status(false).isRoot;
  const [name] = [..."abc"].filter((one) => !isRoot(one)) as [string];
  cluster.join(name);
  const spares = () => cluster.of(name).status(false).rooms.r!.spare;
  assert.ok(spares() > 0);
  cluster.of(name).tick(cluster.now + DEFAULT_NODE_SETTINGS.reclaimAfterMs! - 1_000);
  assert.ok(spares() > 0, "others would still wait for it");
  cluster.of(name).tick(cluster.now + 3 * DEFAULT_NODE_SETTINGS.reclaimAfterMs!);
  assert.equal(spares(), 0);
});

test("a node that is told of another's visit does not pass that on: two that disagree would never end", () => {
  const cluster = new VirtualCluster("abc", { ...DEFAULT_RULES, totalActiveUsers: 9 });
  cluster.run(2_000);
  const answer = cluster.join("a");
  assert.equal(answer.kind, "entered");
  cluster.run(1_000);
  const { id, lane, joinedAt, admittedAt, expiresAt } = (
    answer as Extract<typeof answer, { kind: "entered" }>
  ).pass;
  const list = [{ id, lane, joinedAt, admittedAt, expiresAt: expiresAt + 60_000 }];
  const { number } = cluster.of("c").status().view!;
  const message: Message = {
    ...{ to: null, name: "c", life: 1, clock: cluster.now, view: number },
    bodies: [{ kind: "touch", room: "r", list }],
  };
  cluster.of("b").takeOutbox();
  cluster.of("b").receive("c", message, cluster.now);
  const sent = cluster
    .of("b")
    .takeOutbox()
    .flatMap((one) => one.message.bodies);
  assert.deepEqual(
    sent.filter(({ kind }) => kind === "touch"),
    [],
  );
  cluster.of("a").receive("c", message, cluster.now);
  cluster.run(1_000);
  const later = cluster.now + (expiresAt - cluster.now) + 30_000;
  cluster.of("a").tick(later);
  assert.equal(cluster.of("a").counts("r", later).onSite, 1, "its owner took it in");
});

test("news of a shorter deadline does not shorten a longer one", () => {
  const cluster = new VirtualCluster("ab", QUEUE_ALL);
  const ticket = cluster.queue("a");
  const lapseMs = DEFAULT_RULES.lapseAfterMs;
  const seen = (until: number): Message => ({
    ...{ to: null, name: "b", life: 1, clock: cluster.now, view: cluster.of("b").status().view!.number },
    bodies: [
      {
        kind: "seen",
        room: "r",
        list: [[ticket.sequence, 0, ticket.id, until, ticket.expiresAt, ticket.sequence, 0, 0]],
      },
    ],
  });
  const longAfter = cluster.now + 10 * lapseMs;
  cluster.of("a").receive("b", seen(longAfter), cluster.now);
  cluster.of("a").receive("b", seen(cluster.now + 10), cluster.now);
  cluster.run(5_000);
  assert.equal(cluster.of("a").counts("r", cluster.now).waiting, 1);
});

/** Nodes at which somebody's visit goes on: it is counted there, or their pass is not known to be over. */
function takenAt(cluster: VirtualCluster, { id }: Pass): string[] {
  return [...cluster.nodes].flatMap(([name, node]) => {
    const isOver = [...node.ended("r")].some(([ended]) => ended === id);
    return node.counts("r", cluster.now).onSite > 0 || !isOver ? [name] : [];
  });
}

interface Handed {
  readonly cluster: VirtualCluster;
  /** Has the place of someone whose ticket is from a node that has died since. */
  readonly owner: string;
  readonly others: readonly string[];
  readonly ticket: Ticket;
  /** Its holder enters at the owner. */
  enter(): Pass;
}

function handedOver(): Handed {
  const cluster = new VirtualCluster("abcde", QUEUE_ALL);
  const ticket = cluster.queue("e");
  cluster.run(500);
  cluster.nodes.delete("e");
  cluster.run(6_000);
  for (const node of cluster.nodes.values())
    node.configure("r", { ...DEFAULT_RULES, totalActiveUsers: 1 }, cluster.now);
  cluster.of("a").forget("e", cluster.now);
  cluster.run(1_000);
  const owner = [...cluster.nodes].find(([, node]) => node.status().rooms.r!.turns > 0)![0];
  const enter = () => {
    const entered = cluster.enter(owner, ticket);
    if (entered.kind !== "entered") throw new Error(`"${entered.kind}" instead of a pass`);
    return entered.pass;
  };
  return { cluster, owner, ticket, others: [..."abcd"].filter((name) => name !== owner), enter };
}

test("a visit can be ended on a node that does not know it yet", () => {
  const { cluster, others, enter } = handedOver();
  const [at] = others as [string];
  cluster.arrives = (_from, to) => to !== at;
  const pass = enter();
  cluster.of(at).leave(pass, cluster.now, () => {});
  cluster.run(500);
  cluster.arrives = () => true;
  cluster.run(1_000);
  assert.deepEqual(takenAt(cluster, pass), []);
  assert.equal(cluster.of(at).counts("r", cluster.now).totals.left, 1);
  assert.equal(cluster.join(at).kind, "entered", "the slot is free");
});

test("a visit ends though its owner does not answer", () => {
  const { cluster, owner, others, enter } = handedOver();
  const pass = enter();
  cluster.run(500);
  cluster.arrives = (from, to) => from !== owner && to !== owner;
  cluster.leave(others[0]!, pass);
  cluster.arrives = () => true;
  cluster.run(1_000);
  assert.deepEqual(takenAt(cluster, pass), []);
  assert.equal(cluster.of(owner).counts("r", cluster.now).totals.left, 1);
  assert.equal(cluster.join(owner).kind, "entered", "the slot is free");
});

test("a visitor who was told that they left has left, though that node and the owner of the visit die at once", () => {
  const { cluster, owner, others, enter } = handedOver();
  const pass = enter();
  cluster.run(1_000);
  const [at] = others as [string];
  cluster.arrives = (from) => from !== owner;
  cluster.leave(at, pass);
  cluster.nodes.delete(at);
  cluster.nodes.delete(owner);
  cluster.run(10_000);
  assert.deepEqual(takenAt(cluster, pass), []);
});

test("a place that is ended on one node while another admits its holder is over", () => {
  const { cluster, ticket, owner, others, enter } = handedOver();
  const [at] = others as [string];
  cluster.arrives = (from, to) => to !== at && from !== at;
  const pass = enter();
  cluster.of(at).leave(ticket, cluster.now, () => {});
  cluster.run(600);
  cluster.arrives = () => true;
  cluster.run(1_000);
  assert.deepEqual(takenAt(cluster, pass), []);
  assert.equal(cluster.join(owner).kind, "entered", "the slot is free");
});

test("a visit that is known by its pass alone as well as by its ticket ends as a whole", () => {
  const { cluster, owner, others, enter } = handedOver();
  const [at, other] = others as [string, string];
  // The owner is not heard when the holder of the pass is seen on the site.
  cluster.arrives = (from) => from !== owner;
  const pass = enter();
  cluster.of(at).touch("r", [{ ...pass, expiresAt: pass.expiresAt + 1_000 }], cluster.now);
  cluster.run(1_500);
  assert.equal(cluster.of(at).counts("r", cluster.now).onSite, 1, "it is known by its pass");
  cluster.arrives = () => true;
  cluster.leave(other, pass);
  cluster.run(1_000);
  assert.deepEqual(takenAt(cluster, pass), []);
});

test("a visit that is known by its pass alone as well as by its ticket takes one slot", () => {
  const { cluster, owner, others, enter } = handedOver();
  cluster.arrives = (from) => from !== owner;
  const pass = enter();
  cluster.of(others[0]!).touch("r", [pass], cluster.now);
  cluster.run(1_500);
  const slots = () => [...cluster.nodes.values()].map((node) => node.status().rooms.r!.visits);
  assert.equal(slots().filter((visits) => visits === 1).length, 2);
  cluster.arrives = () => true;
  cluster.run(3_000);
  assert.deepEqual(
    [...cluster.nodes.values()].map((node) => node.counts("r", cluster.now).onSite),
    [1, 1, 1, 1],
  );
  assert.equal(cluster.of(owner).status().rooms.r!.visits, 1);
});

test("someone who is seen on the site just after they came is not counted twice", () => {
  const { cluster, others, enter } = handedOver();
  cluster.arrives = (_from, to) => !others.includes(to) || to === others[0];
  const pass = enter();
  for (const name of others) cluster.of(name).touch("r", [pass], cluster.now);
  cluster.run(500);
  cluster.arrives = () => true;
  cluster.run(2_000);
  const visits = [...cluster.nodes.values()].reduce((sum, node) => sum + node.status().rooms.r!.visits, 0);
  assert.equal(visits, 1);
});

/** A line in which the first has a turn and does not use it, at c; and what the others know of the line. */
function missedAtC(missedTurnsMax: number): { cluster: VirtualCluster; ticket: Ticket } {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  const ticket = cluster.queue("c");
  for (const name of "abab") {
    cluster.run(10);
    cluster.queue(name);
  }
  const rules = { ...DEFAULT_RULES, totalActiveUsers: 1, claimWindowMs: 3_000, sessionDurationMs: 1_000 };
  for (const node of cluster.nodes.values())
    node.configure("r", { ...rules, lapseAfterMs: 3_600_000, missedTurnsMax }, cluster.now);
  cluster.run(10_000);
  return { cluster, ticket };
}

/** What each node says to a ticket. */
const saidBy = (cluster: VirtualCluster, ticket: Ticket) =>
  [...cluster.nodes].map(([name, node]) => ({ name, ...node.checkIn(ticket, 0.5, cluster.now) }));

test("a place that missed a turn stays where it was put when its owner dies, and for a node that joins later", () => {
  const { cluster, ticket } = missedAtC(3);
  // Nobody else gets a turn meanwhile.
  for (const node of cluster.nodes.values()) node.configure("r", QUEUE_ALL, cluster.now);
  const [before] = saidBy(cluster, ticket);
  if (before?.kind !== "waiting") assert.fail("the place is kept");
  assert.ok(before.ticket.missedTurns >= 1 && before.ticket.sequence > ticket.sequence);
  cluster.run(500);
  cluster.nodes.delete("c");
  cluster.run(6_000);
  cluster.start("d", { join: ["a"] }).configure("r", QUEUE_ALL, cluster.now);
  cluster.run(6_000);
  for (const answer of saidBy(cluster, ticket)) {
    if (answer.kind !== "waiting") assert.fail(`${answer.name}: ${answer.kind}`);
    const { sequence, missedTurns, origin } = answer.ticket;
    assert.deepEqual(
      [sequence, missedTurns, origin],
      [before.ticket.sequence, before.ticket.missedTurns, ticket.sequence],
    );
  }
});

test("a place that was forfeited is so at every node, also when its owner has died and for one that joins later", () => {
  const { cluster, ticket } = missedAtC(1);
  cluster.nodes.delete("c");
  cluster.run(6_000);
  cluster.start("d", { join: ["a"] }).configure("r", QUEUE_ALL, cluster.now);
  cluster.run(6_000);
  for (const { name, ...answer } of saidBy(cluster, ticket))
    assert.deepEqual(answer, { kind: "refused", reason: "turnsMissed" }, name);
});

test("unused turns give their slots back, on whichever node, and no slot is given twice", () => {
  const cluster = new VirtualCluster("abc", QUEUE_ALL);
  for (let i = 0; i < 90; i++) cluster.queue("abc"[i % 3]!);
  const capacity = 9;
  for (const node of cluster.nodes.values())
    node.configure("r", { ...DEFAULT_RULES, totalActiveUsers: capacity }, cluster.now);
  for (let second = 0; second < 40; second++) {
    cluster.run(1_000);
    const rooms = [...cluster.nodes.values()].map((node) => node.status().rooms.r!);
    const slots = rooms.reduce((sum, { turns, visits, spare }) => sum + turns + visits + spare, 0);
    assert.ok(slots <= capacity, `${slots} slots after ${second} s`);
  }
  const { admitted, looseTurns, totals } = cluster.of("b").counts("r", cluster.now);
  assert.ok(admitted <= capacity && looseTurns > 2 * capacity, `${admitted} firm, ${looseTurns} loose`);
  assert.equal(totals.admitted, admitted + looseTurns);
});
