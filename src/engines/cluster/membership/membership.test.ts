import assert from "node:assert/strict";
import { test } from "node:test";
import { Membership, type MembershipBody, type MembershipSettings } from "./membership.ts";
import { committed, idOf, viewNumber, withoutLost } from "./view.ts";

const STEP_MS = 100;

/** Repeatable dice. */
function diceOf(seed: number): () => number {
  let state = seed * 2_654_435_761 + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) >>> 0;
    return (state >>> 4) / 2 ** 28;
  };
}

/** Nodes by their address, which is their name, on a network that loses some messages and all across a cut. */
class Network {
  readonly nodes = new Map<string, Membership>();
  readonly #dice: () => number;
  now = 0;
  loss = 0;
  /** Those on the one side of a cut. */
  cut = new Set<string>();

  constructor(seed = 1) {
    this.#dice = diceOf(seed);
  }

  add(name: string, join: readonly string[], more: Partial<MembershipSettings> = {}): Membership {
    const settings = { name, life: 1, address: name, join, reclaimAfterMs: null, ...more };
    const node = new Membership(settings, this.now);
    this.nodes.set(name, node);
    return node;
  }

  run(forMs: number): void {
    for (const end = this.now + forMs; this.now < end; this.now += STEP_MS) {
      for (const node of this.nodes.values()) node.tick(this.now);
      this.#deliver();
      this.#chat();
    }
  }

  #reaches(from: string, to: string): boolean {
    return this.cut.has(from) === this.cut.has(to) && this.#dice() >= this.loss;
  }

  #deliver(): void {
    for (let isQuiet = false; !isQuiet; ) {
      isQuiet = true;
      for (const [from, node] of this.nodes)
        for (const { to, body } of node.takeOutbox()) {
          isQuiet = false;
          if (this.#reaches(from, to)) this.nodes.get(to)?.receive(from, structuredClone(body), this.now);
        }
    }
  }

  /** Members write to each other all the time, of whatever; each message says what view its writer has. */
  #chat(): void {
    for (const [from, { view }] of this.nodes) {
      if (!view) continue;
      for (const { address: to } of view.members)
        if (to !== from && this.#reaches(from, to))
          this.nodes.get(to)?.compare({ address: from }, viewNumber(view), this.now);
    }
  }

  /** Every member of every node's view, and those lost, by node; those who are gone are left out. */
  views(): Record<string, string> {
    const views: Record<string, string> = {};
    for (const [name, { view, isGone }] of this.nodes)
      if (!isGone)
        views[name] =
          `${view?.members.map((member) => member.name).join("")}-${view?.lost.map((member) => member.name).join("")}`;
    return views;
  }

  isAgreed(): boolean {
    const numbers = [...this.nodes.values()]
      .filter(({ isGone }) => !isGone)
      .map(({ view }) => view && viewNumber(view));
    return new Set(numbers).size === 1;
  }
}

/** A cluster that has settled. */
function clusterOf(names: string, more: Partial<MembershipSettings> = {}, seed = 1): Network {
  const network = new Network(seed);
  for (const name of names) network.add(name, name === names[0] ? [] : [names[0]!], more);
  network.run(2_000);
  for (const { view } of network.nodes.values()) assert.equal(view?.members.length, names.length);
  return network;
}

const nodeOf = (network: Network, name: string) => network.nodes.get(name)!;

/** All members are known to have the view. */
function commit(network: Network): void {
  for (const node of network.nodes.values()) node.commit(committed(node.view!));
}

test("a node that knows one member joins all of them", () => {
  const network = new Network();
  network.add("a", []);
  network.add("b", ["a"]);
  network.run(1_000);
  network.add("c", ["b"]);
  network.run(1_000);
  assert.deepEqual(network.views(), { a: "abc-", b: "abc-", c: "abc-" });
  assert.deepEqual(
    [...network.nodes.values()].map(({ nodeNumber }) => nodeNumber),
    [0, 1, 2],
  );
  assert.ok(network.isAgreed());
});

test("a dozen nodes join, also when messages are lost", () => {
  const network = new Network(3);
  network.loss = 0.3;
  for (const name of "abcdefghijkl") network.add(name, name === "a" ? [] : ["a"]);
  network.run(20_000);
  assert.equal(new Set(Object.values(network.views())).size, 1);
  assert.ok(network.isAgreed());
});

test("two changes at once end in one view with every node in it", () => {
  for (let seed = 1; seed <= 15; seed++) {
    const network = clusterOf("abc", {}, seed);
    network.loss = 0.25;
    nodeOf(network, "b").died("a#1", network.now);
    network.add("d", ["a"]);
    network.run(STEP_MS);
    nodeOf(network, "b").lives("a#1");
    network.run(20_000);
    for (const view of Object.values(network.views()))
      assert.equal([...view.slice(0, 4)].sort().join(""), "abcd");
    assert.ok(network.isAgreed(), `seed ${seed}`);
  }
});

test("nodes that were removed and are alive come back", () => {
  const network = clusterOf("abc");
  nodeOf(network, "a").died("c#1", network.now);
  assert.equal(network.views().a, "ab-c");
  network.run(5_000);
  assert.deepEqual(network.views(), { a: "abc-", b: "abc-", c: "abc-" });
});

test("when the first of a part goes over to a smaller one, the rest finds both", () => {
  const network = clusterOf("abcde");
  commit(network);
  const all = nodeOf(network, "a").view!;
  network.cut = new Set("a");
  for (const name of "bcde") nodeOf(network, name).died("a#1", network.now);
  network.run(STEP_MS);
  assert.equal(network.views().c, "bcde-a");
  network.cut = new Set("ab");
  const later = { ...all, version: nodeOf(network, "c").view!.version + 2 };
  const few = withoutLost(later, new Set(["c#1", "d#1", "e#1"]), 0);
  for (const name of "ab") nodeOf(network, name).receive("a", { kind: "view", view: few }, network.now);
  assert.equal(network.views().b, "ab-cde");
  assert.equal(few.isMajority, false);
  network.cut.clear();
  network.run(5_000);
  assert.ok(network.isAgreed());
  assert.equal(network.views().a, "abcde-");
});

test("parts that were cut from each other merge after the cut", () => {
  const network = clusterOf("abcde");
  network.cut = new Set("de");
  for (const name of "abc") for (const gone of "de") nodeOf(network, name).died(`${gone}#1`, network.now);
  for (const name of "de") for (const gone of "abc") nodeOf(network, name).died(`${gone}#1`, network.now);
  network.run(5_000);
  assert.deepEqual(network.views(), { a: "abc-de", b: "abc-de", c: "abc-de", d: "de-abc", e: "de-abc" });
  assert.equal(nodeOf(network, "a").view!.isMajority, true);
  assert.equal(nodeOf(network, "d").view!.isMajority, false);
  network.cut.clear();
  network.run(5_000);
  assert.deepEqual(new Set(Object.values(network.views())), new Set(["abcde-"]));
  assert.ok(network.isAgreed());
});

test("a part without the majority takes in no new node, and says why", () => {
  const network = clusterOf("abc");
  network.cut = new Set("cd");
  for (const gone of "ab") nodeOf(network, "c").died(`${gone}#1`, network.now);
  const d = network.add("d", ["c"]);
  network.run(3_000);
  assert.equal(d.view, null);
  assert.match(d.problem ?? "", /1 of 3 nodes .* missing: a, b/);
});

test("a leaving node is gone once no view has it, also when messages are lost", () => {
  for (const name of "abc") {
    const network = clusterOf("abc");
    network.loss = 0.3;
    nodeOf(network, name).leave(network.now);
    network.run(5_000);
    const rest = "abc".replace(name, "");
    assert.equal(nodeOf(network, name).isGone, true, name);
    assert.deepEqual(network.views(), Object.fromEntries([...rest].map((other) => [other, `${rest}-`])));
  }
});

test("a goodbye is answered with a view without its sender, however often", () => {
  const network = clusterOf("abc");
  const a = nodeOf(network, "a");
  for (let i = 0; i < 2; i++) {
    a.takeOutbox();
    a.receive("c", { kind: "bye", id: "c#1" }, network.now + 1_000 * i);
    const answer = a.takeOutbox().find(({ to, body }) => to === "c" && body.kind === "view")?.body;
    if (answer?.kind !== "view") assert.fail("no answer");
    assert.deepEqual(answer.view.members.map(idOf), ["a#1", "b#1"]);
    assert.deepEqual(answer.view.lost, []);
  }
});

test("the last node leaves at once, and one whose others are lost after having tried", () => {
  const alone = new Network().add("a", []);
  alone.leave(0);
  assert.equal(alone.isGone, true);
  const network = clusterOf("ab");
  const a = nodeOf(network, "a");
  network.cut = new Set("b");
  a.died("b#1", network.now);
  a.leave(network.now);
  assert.equal(a.isGone, false);
  network.run(1_200);
  assert.equal(a.isGone, true);
});

test("a new life of a node takes its place, and the old one stops", () => {
  const network = clusterOf("abc");
  const old = nodeOf(network, "c");
  network.add("c", ["a"], { life: 2 });
  network.run(2_000);
  assert.deepEqual(network.views(), { a: "abc-", b: "abc-", c: "abc-" });
  assert.equal(nodeOf(network, "a").view!.members[2]!.life, 2);
  old.receive("a", { kind: "view", view: nodeOf(network, "a").view! }, network.now);
  assert.equal(old.isGone, true);
  assert.match(old.problem ?? "", /another node called "c"/);
});

test("an address that refuses for three seconds proves only that its own lost member is dead", () => {
  const network = clusterOf("abc");
  const a = nodeOf(network, "a");
  network.cut = new Set("c");
  for (let now = network.now; now <= network.now + 4_000; now += 500) a.refused("b", now);
  assert.equal(network.views().a, "abc-", "a member is not lost");
  network.run(STEP_MS);
  a.died("c#1", network.now);
  const since = network.now;
  for (const ms of [0, 1_000, 2_000, 2_900]) a.refused("c", since + ms);
  assert.equal(network.views().a, "ab-c", "too soon");
  a.refused("c", since + 3_000);
  assert.equal(network.views().a, "ab-");
});

test("refusals with a pause between them, or a message, prove nothing", () => {
  const network = clusterOf("abc");
  const a = nodeOf(network, "a");
  network.cut = new Set("c");
  a.died("c#1", network.now);
  const since = network.now;
  a.refused("c", since);
  a.refused("c", since + 2_600);
  a.refused("c", since + 5_000);
  assert.equal(network.views().a, "ab-c", "a pause of more than two and a half seconds");
  a.heard("c", network.now);
  a.refused("c", since + 6_000);
  assert.equal(network.views().a, "ab-c", "a message came from there");
});

test("an operator's word counts for lost members only", () => {
  const network = clusterOf("abc");
  const a = nodeOf(network, "a");
  assert.equal(a.forget("c", network.now), false);
  network.cut = new Set("c");
  a.died("c#1", network.now);
  assert.equal(a.forget("c", network.now), true);
  network.run(1_000);
  assert.deepEqual([network.views().a, network.views().b], ["ab-", "ab-"]);
});

test("members lost for long enough are declared dead, where the majority is agreed on", () => {
  const network = clusterOf("abcde", { reclaimAfterMs: 5_000 });
  network.cut = new Set("de");
  commit(network);
  for (const gone of "de") nodeOf(network, "a").died(`${gone}#1`, network.now);
  for (const gone of "abc") nodeOf(network, "d").died(`${gone}#1`, network.now);
  network.run(6_000);
  assert.deepEqual(network.views().a, "abc-de", "it is not known that all have the views since");
  commit(network);
  network.run(STEP_MS * 2);
  assert.deepEqual(network.views().a, "abc-");
  assert.deepEqual(network.views().d, "de-abc", "the smaller part waits for ever");
});

test("with reclaimAfter 0 an unreachable node is dead, and none is ever lost", () => {
  const network = clusterOf("abc", { reclaimAfterMs: 0 });
  nodeOf(network, "a").died("c#1", network.now);
  assert.equal(network.views().a, "ab-");
});

/** Ticks a node that hears nothing, and gives the time at which it founds a cluster. */
function foundsAt(node: Membership, untilMs: number, each: (now: number) => void = () => {}): number | null {
  for (let now = 0; now <= untilMs; now += STEP_MS) {
    each(now);
    node.tick(now);
    if (node.view) return now;
  }
  return null;
}

test("the first in the list creates a cluster when nothing listens elsewhere for three seconds, else the next", () => {
  for (const [name, at] of [...Object.entries({ a: 3_000, b: 6_000, c: null })] as const) {
    const node = new Network().add(name, ["a", "b"]);
    const refused = (now: number) => ["a", "b"].map((other) => node.refused(other, now));
    assert.equal(foundsAt(node, 60_000, refused), at, name);
  }
});

test("of the nodes that look for a cluster, only the first in the list creates it", () => {
  const node = new Network().add("b", ["a", "b", "c"]);
  const joinMe: MembershipBody = { kind: "joinMe", member: { name: "a", life: 1, address: "a" } };
  assert.equal(
    foundsAt(node, 60_000, (now) => node.receive("a", joinMe, now)),
    null,
  );
});

test("a whole cluster that starts again without the first in its list is one again", () => {
  const network = new Network();
  for (const name of "bc") network.add(name, ["a", "b", "c"]);
  network.run(9_000);
  assert.deepEqual(network.views(), { b: "bc-", c: "bc-" });
});

test("while most listed nodes are silent it creates no cluster, and names those it waits for", () => {
  const cases = [
    { list: "ab", refusing: "", founds: false },
    { list: "abc", refusing: "", founds: false },
    { list: "abc", refusing: "b", founds: true },
    { list: "abcd", refusing: "b", founds: false },
    { list: "abcd", refusing: "bc", founds: true },
  ];
  for (const { list, refusing, founds } of cases) {
    const node = new Network().add("a", [...list]);
    const at = foundsAt(node, 20_000, (now) => [...refusing].map((other) => node.refused(other, now)));
    assert.equal(at !== null, founds, `${list}, ${refusing}`);
    if (!founds) assert.match(node.problem!, /no answer from .*b.*cluster\.join/s);
  }
  const once = new Network().add("a", ["a", "b"]);
  assert.equal(
    foundsAt(once, 20_000, (now) => (now < 300 ? once.refused("b", now) : undefined)),
    null,
    "what was seen long ago says nothing",
  );
});

test("nodes that want to join do not keep it from that, an answering one does", () => {
  const joinMe: MembershipBody = { kind: "joinMe", member: { name: "b", life: 1, address: "b" } };
  const asked = new Network().add("a", ["a", "b"]);
  assert.equal(
    foundsAt(asked, 60_000, (now) => asked.receive("b", joinMe, now)),
    3_000,
  );
  const answered = new Network().add("a", ["a", "b"]);
  assert.equal(
    foundsAt(answered, 60_000, (now) => answered.receive("b", { kind: "notYet", why: "wait" }, now)),
    null,
  );
});

test("all listed nodes that start together form one cluster", () => {
  const network = new Network();
  for (const name of "bca") network.add(name, ["a", "b", "c"]);
  network.run(6_000);
  assert.deepEqual(
    new Set(Object.values(network.views()).map((view) => [...view].sort().join(""))),
    new Set(["-abc"]),
  );
  assert.ok(network.isAgreed());
});

test("a malformed view is ignored, and a view without this node is not taken over", () => {
  const network = clusterOf("ab");
  const a = nodeOf(network, "a");
  const before = viewNumber(a.view!);
  const strange = { ...a.view!, version: 99, members: [{ number: 5, name: "x", life: 1, address: "x" }] };
  const hostile = [
    null,
    7,
    {},
    { ...a.view!, version: 99, members: "all" },
    { ...a.view!, version: 99, bases: 1 },
  ];
  for (const view of [...hostile, strange])
    for (const kind of ["view", "knock", "met"] as const)
      a.receive("x", { kind, number: 1, view } as unknown as MembershipBody, network.now);
  assert.equal(viewNumber(a.view!), before);
});

test("an answer to a knock counts only shortly after that knock", () => {
  const network = clusterOf("ab");
  const a = nodeOf(network, "a");
  const other = {
    ...a.view!,
    version: 7,
    maker: 5,
    members: [{ number: 5, name: "x", life: 1, address: "x" }],
  };
  const view = { ...other, lost: [], isMajority: false };
  a.receive("x", { kind: "met", number: 1, view }, network.now);
  assert.equal(network.views().a, "ab-", "it never knocked there");
});
