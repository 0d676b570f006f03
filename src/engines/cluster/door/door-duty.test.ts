/** The door of a cluster, through the nodes that turn it together. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { JoinAnswer, TicketAnswer } from "../../../core/engine.ts";
import { DEFAULT_RULES, type EventRules, type RoomRules } from "../../../core/rules.ts";
import { VirtualCluster } from "../../../testing/cluster/virtual-cluster.ts";

const capacityOf = (totalActiveUsers: number): RoomRules => ({ ...DEFAULT_RULES, totalActiveUsers });

function configure(cluster: VirtualCluster, rules: RoomRules): void {
  for (const node of cluster.nodes.values()) node.configure("r", rules, cluster.now);
}

/** Slots in use and to spare, of all nodes. */
function slotsIn(cluster: VirtualCluster): number {
  let sum = 0;
  for (const node of cluster.nodes.values()) {
    const { turns, visits, spare } = node.status().rooms.r!;
    sum += turns + visits + spare;
  }
  return sum;
}

const inForce = (cluster: VirtualCluster, name: string) => {
  const { admitted, onSite, waiting } = cluster.of(name).counts("r", cluster.now);
  return { admitted, onSite, waiting };
};

test("there is no line while there is room anywhere, and never more than there is room for", () => {
  const cluster = new VirtualCluster("abc", capacityOf(6));
  const kinds: string[] = [];
  for (const name of "aaabbbbccc") {
    kinds.push(cluster.join(name).kind);
    cluster.run(200);
    assert.ok(slotsIn(cluster) <= 6, `${slotsIn(cluster)} slots`);
  }
  assert.equal(kinds.filter((kind) => kind === "entered").length, 6);
  assert.deepEqual(kinds.slice(6), ["waiting", "waiting", "waiting", "waiting"]);
});

for (const oneByOneMax of [0, 10])
  test(`turns go to the first in the line, whichever nodes they are at (one by one up to ${oneByOneMax})`, () => {
    const cluster = new VirtualCluster("abcde", { ...DEFAULT_RULES, queueAll: true }, { oneByOneMax });
    const tickets = [..."cabedbacdeab"].map((name) => {
      cluster.run(10);
      return cluster.queue(name);
    });
    cluster.run(500);
    for (const node of cluster.nodes.values()) node.takeEvents();
    configure(cluster, capacityOf(7));
    cluster.run(2_000);
    const first = tickets.slice(0, 7).map(({ sequence }) => sequence);
    for (const [name, node] of cluster.nodes) {
      const told = node.takeEvents().flatMap((event) => (event.kind === "turns" ? event.sequences : []));
      assert.deepEqual(
        told.toSorted((a, b) => a - b),
        first,
      );
      assert.deepEqual(inForce(cluster, name), { admitted: 7, onSite: 0, waiting: 5 });
    }
    assert.equal(slotsIn(cluster), 7);
  });

test("a slot that becomes free goes to the next in the line, on whichever node", () => {
  const cluster = new VirtualCluster("abc", capacityOf(1));
  const visit = cluster.join("a");
  const ticket = cluster.queue("c");
  cluster.run(1_000);
  assert.equal(cluster.of("b").checkIn(ticket, 0.5, cluster.now).kind, "waiting");
  if (visit.kind !== "entered") assert.fail("there was room");
  cluster.leave("b", visit.pass);
  cluster.run(1_000);
  assert.equal(cluster.of("b").checkIn(ticket, 0.5, cluster.now).kind, "admitted");
});

test("one round is enough for any number", () => {
  const cluster = new VirtualCluster("abc", { ...DEFAULT_RULES, queueAll: true });
  for (let i = 0; i < 150; i++) cluster.queue("abc"[i % 3]!);
  cluster.run(500);
  configure(cluster, capacityOf(100));
  const roundsOf = () => [...cluster.nodes.values()].reduce((sum, node) => sum + node.status().rounds, 0);
  const before = roundsOf();
  while (roundsOf() === before) cluster.run(10);
  cluster.run(100);
  const admitted = [...cluster.nodes.values()].map((node) => node.status().rooms.r!.turns);
  assert.equal(
    admitted.reduce((sum, turns) => sum + turns, 0),
    100,
  );
});

test("the rate is one for all nodes, whichever is root", () => {
  const cluster = new VirtualCluster("abc", { ...DEFAULT_RULES, queueAll: true });
  for (let i = 0; i < 60; i++) cluster.queue("abc"[i % 3]!);
  cluster.run(200);
  configure(cluster, { ...DEFAULT_RULES, newUsersPerMinute: 120 });
  const admittedNow = () => cluster.of("a").counts("r", cluster.now).totals.admitted;
  cluster.run(500);
  const first = admittedNow();
  cluster.run(5_000);
  const more = admittedNow() - first;
  assert.ok(Math.abs(more - 10) <= 1, `${more} in five seconds at 120 a minute`);
});

test("a rate goes on where it was when the root leaves, without another burst", () => {
  const cluster = new VirtualCluster("abc", { ...DEFAULT_RULES, queueAll: true });
  for (let i = 0; i < 100; i++) cluster.queue("a");
  cluster.run(500);
  configure(cluster, { ...DEFAULT_RULES, newUsersPerMinute: 600 });
  cluster.run(300);
  assert.equal(cluster.of("a").status().isRoot, true);
  cluster.of("a").leaveCluster(cluster.now);
  cluster.run(1_500);
  assert.equal(cluster.of("a").isGone, true);
  const { admitted } = cluster.of("b").counts("r", cluster.now).totals;
  assert.ok(
    admitted >= 25 && admitted <= 20 + 18 + 1,
    `${admitted} in less than two seconds at ten a second`,
  );
});

for (const newUsersPerMinute of [4, 60])
  test(`a node that joins a lone one and becomes root keeps to ${newUsersPerMinute} a minute`, () => {
    const rules = { ...DEFAULT_RULES, newUsersPerMinute };
    const cluster = new VirtualCluster("a", rules);
    const enteredAt: number[] = [];
    const comesIn = ({ kind }: JoinAnswer | TicketAnswer) => {
      if (kind === "entered") enteredAt.push(cluster.now);
      return kind === "entered";
    };
    while (enteredAt.length < newUsersPerMinute - 1) {
      const answer = cluster.join("a");
      if (!comesIn(answer) && answer.kind === "waiting") cluster.leave("a", answer.ticket);
      cluster.run(100);
    }
    cluster.start("b", { join: ["a"] }).configure("r", rules, cluster.now);
    // b has a line from its first moment on, so it is the first to count.
    let line = Array.from({ length: 20 }, () => cluster.queue("b"));
    while (cluster.now < enteredAt[0]! + 90_000) {
      line = line.filter((ticket) => !comesIn(cluster.enter("b", ticket)));
      cluster.run(100);
    }
    assert.equal(cluster.of("b").status().isRoot, true);
    assert.ok(enteredAt.length > newUsersPerMinute, "the new root lets people in");
    for (const [index, at] of enteredAt.slice(newUsersPerMinute).entries())
      assert.ok(at - enteredAt[index]! >= 60_000, `as many and one more within ${at - enteredAt[index]!} ms`);
  });

test("a part that is cut off goes on with its slots, and all parts together never exceed the capacity", () => {
  const cluster = new VirtualCluster("abc", capacityOf(9));
  for (const name of "abc") cluster.join(name);
  cluster.run(1_000);
  cluster.arrives = (from, to) => (from === "c") === (to === "c");
  cluster.run(6_000);
  assert.equal(cluster.of("c").status().view!.isMajority, false);
  for (let i = 0; i < 8; i++) for (const name of "abc") cluster.join(name);
  cluster.run(1_000);
  assert.ok(slotsIn(cluster) <= 9, `${slotsIn(cluster)} slots`);
  cluster.arrives = () => true;
  cluster.run(5_000);
  assert.deepEqual(inForce(cluster, "c"), inForce(cluster, "a"));
  const { admitted, onSite } = inForce(cluster, "a");
  assert.equal(admitted + onSite, 9);
});

test("an event's draw is the same on every node, and nobody is admitted before it", () => {
  const cluster = new VirtualCluster("abc", DEFAULT_RULES);
  const startAt = cluster.now + 2_000;
  const event: EventRules = {
    ...{ name: "sale", prequeueAt: cluster.now, startAt, endAt: startAt + 60_000, isShuffled: true },
    ...{ seed: "a5".repeat(32), rules: capacityOf(3) },
  };
  configure(cluster, { ...capacityOf(3), events: [event] });
  const tickets = [..."abcabcab"].map((name) => cluster.queue(name));
  assert.equal(cluster.of("a").draw("r", "sale", cluster.now)!.ids, null);
  cluster.run(4_000);
  const records = [...cluster.nodes.values()].map((node) => node.draw("r", "sale", cluster.now)!);
  for (const { ids, size } of records) {
    assert.equal(size, tickets.length);
    assert.deepEqual(ids, records[0]!.ids);
  }
  const order = Buffer.from(records[0]!.ids!).toString("hex").match(/.{32}/g)!;
  const admitted = tickets.filter(
    (one) => cluster.of("b").checkIn(one, 0.5, cluster.now).kind === "admitted",
  );
  assert.deepEqual(new Set(admitted.map(({ id }) => id)), new Set(order.slice(0, 3)));
});

test("a draw waits until everyone who gathered on any node is known", () => {
  const cluster = new VirtualCluster("abc", DEFAULT_RULES, { replicateMs: 1_500 });
  // What is written now is told in more than a second.
  cluster.run(200);
  const startAt = cluster.now + 100;
  const event: EventRules = {
    ...{ name: "sale", prequeueAt: cluster.now, startAt, endAt: startAt + 60_000, isShuffled: true },
    ...{ seed: "a5".repeat(32), rules: capacityOf(3) },
  };
  configure(cluster, { ...capacityOf(3), events: [event] });
  for (const name of "abcabcab") cluster.queue(name);
  cluster.run(6_000);
  for (const node of cluster.nodes.values()) {
    const { drawnAt, size } = node.draw("r", "sale", cluster.now)!;
    assert.equal(size, 8);
    assert.ok(drawnAt! > startAt);
  }
});

test("a node that is alone runs its door by itself, and reports the result", () => {
  const cluster = new VirtualCluster("a", { ...DEFAULT_RULES, queueAll: true });
  cluster.queue("a");
  cluster.queue("a");
  configure(cluster, capacityOf(1));
  assert.deepEqual(cluster.of("a").admit("r", cluster.now), { admitted: 1, reason: "site full" });
  cluster.run(200);
  assert.equal(cluster.of("a").lastAdmission("r")!.reason, "site full");
});
