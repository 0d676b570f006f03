import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Swim, type SwimBody, type SwimNews, type SwimState } from "./swim.ts";
import { NEWS_MAX } from "./swim-body.ts";

const SETTINGS = { periodMs: 500, ackTimeoutMs: 200, indirectProbes: 3, suspicionPeriods: 4 };
const PERIOD_MS = SETTINGS.periodMs;
const STEPS_MAX = 2_000_000;

function diceOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let x = Math.imul(state ^ (state >>> 15), state | 1);
    x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
    return ((x ^ (x >>> 14)) >>> 0) / 2 ** 32;
  };
}

interface Flight {
  readonly at: number;
  readonly from: string;
  readonly to: string;
  readonly body: SwimBody;
}

interface Verdict {
  readonly at: number;
  readonly by: string;
  readonly peer: string;
  readonly is: SwimState;
}

/** Peers on a network with delays, loss, doubles and cuts, moved by nothing but `nextAt` and arrivals. */
class Net {
  now = 0;
  loss = 0;
  doubles = 0;
  delayMaxMs = 20;
  readonly verdicts: Verdict[] = [];
  readonly nodes = new Map<string, Swim>();
  readonly #cuts = new Set<string>();
  readonly #down = new Set<string>();
  readonly #pausedUntil = new Map<string, number>();
  readonly #dueAt = new Map<string, number>();
  readonly #dice: () => number;
  #flights: Flight[] = [];

  constructor(size: number, seed: number) {
    this.#dice = diceOf(seed);
    const ids = Array.from({ length: size }, (_, i) => `peer-${i}#1`);
    for (const id of ids) this.nodes.set(id, new Swim(id, SETTINGS, diceOf(seed * 1_000 + this.nodes.size)));
    for (const [id, node] of this.nodes) {
      node.watch(ids, this.now);
      this.#settle(id, node);
    }
  }

  get ids(): string[] {
    return [...this.nodes.keys()];
  }

  stop(id: string): void {
    this.#down.add(id);
    this.#dueAt.set(id, Number.POSITIVE_INFINITY);
  }

  /** The process stands still: its timers and messages wait. */
  pause(id: string, ms: number): void {
    this.#pausedUntil.set(id, this.now + ms);
    this.#dueAt.set(id, Math.max(this.#dueAt.get(id)!, this.now + ms));
    this.#flights = this.#flights.map((flight) => (flight.to === id ? this.#held(flight) : flight));
  }

  cut(from: string, to: string): void {
    this.#cuts.add(`${from} ${to}`);
  }

  heal(): void {
    this.#cuts.clear();
  }

  run(ms: number): void {
    const until = this.now + ms;
    for (let step = 0; step < STEPS_MAX; step++) {
      const flight = this.#flights.reduce((a, b) => (b.at < a.at ? b : a), this.#flights[0]!);
      const [id, at] = [...this.#dueAt].reduce((a, b) => (b[1] < a[1] ? b : a));
      const next = Math.min(flight?.at ?? Number.POSITIVE_INFINITY, at);
      if (next > until) {
        this.now = until;
        return;
      }
      this.now = next;
      if (flight && flight.at <= at) this.#arrive(flight);
      else this.#tick(id);
    }
    assert.fail("the network does not come to rest");
  }

  #tick(id: string): void {
    const node = this.nodes.get(id)!;
    node.tick(this.now);
    this.#settle(id, node);
  }

  #arrive(flight: Flight): void {
    this.#flights.splice(this.#flights.indexOf(flight), 1);
    if (this.#down.has(flight.to)) return;
    const node = this.nodes.get(flight.to)!;
    node.receive(flight.from, flight.body, this.now);
    this.#settle(flight.to, node);
  }

  #settle(id: string, node: Swim): void {
    for (const { to, body } of node.takeOutbox()) {
      assert.ok(body.news.length <= NEWS_MAX);
      this.#post(id, to, body);
      if (this.#dice() < this.doubles) this.#post(id, to, body);
    }
    for (const { peer, is } of node.takeVerdicts()) this.verdicts.push({ at: this.now, by: id, peer, is });
    this.#dueAt.set(id, Math.max(node.nextAt(), this.#pausedUntil.get(id) ?? 0));
  }

  #post(from: string, to: string, body: SwimBody): void {
    if (this.#cuts.has(`${from} ${to}`) || this.#dice() < this.loss) return;
    this.#flights.push(this.#held({ at: this.now + 1 + this.#dice() * this.delayMaxMs, from, to, body }));
  }

  #held(flight: Flight): Flight {
    return { ...flight, at: Math.max(flight.at, this.#pausedUntil.get(flight.to) ?? 0) };
  }
}

/** One node among peers a, b, c, d, with the start of its first period behind it. */
function alone(peers: readonly string[] = ["a", "b", "c", "d"]) {
  const swim = new Swim("me", SETTINGS, diceOf(7));
  swim.watch(["me", ...peers], 0);
  const startedAt = swim.nextAt();
  swim.tick(startedAt);
  const sent = swim.takeOutbox();
  assert.equal(sent.length, 1);
  return { swim, startedAt, probed: sent[0]!.to, seq: sent[0]!.body.seq };
}

const ack = (of: string, seq: number, news: SwimNews[] = []): SwimBody => ({ kind: "ack", seq, of, news });
const ping = (seq: number, news: SwimNews[] = []): SwimBody => ({ kind: "ping", seq, news });

/** Runs the probe to its end without an answer, and gives the time of it. */
function fail(swim: Swim, startedAt: number): number {
  swim.tick(startedAt + SETTINGS.ackTimeoutMs);
  swim.tick(startedAt + PERIOD_MS);
  return startedAt + PERIOD_MS;
}

test("a peer that falls silent is dead for every other within the bound, and no other is", () => {
  for (const [size, seeds] of [
    [2, 20],
    [3, 20],
    [5, 20],
    [16, 4],
    [40, 1],
  ] as const) {
    for (let seed = 1; seed <= seeds; seed++) {
      const net = new Net(size, seed);
      net.run(20 * PERIOD_MS + seed * 37);
      const [gone, ...others] = net.ids as [string, ...string[]];
      const { suspicionMs } = net.nodes.get(gone)!;
      net.stop(gone);
      const stoppedAt = net.now;
      net.run(2 * (size - 1) * PERIOD_MS + suspicionMs + net.delayMaxMs + 1);
      const dead = net.verdicts.filter(({ is }) => is === "dead");
      assert.deepEqual(dead.map(({ by }) => by).sort(), others.sort(), `size ${size}, seed ${seed}`);
      assert.ok(dead.every(({ peer, at }) => peer === gone && at >= stoppedAt + suspicionMs));
    }
  }
});

test("with every tenth message lost, and some doubled and late, no peer is ever taken for dead", () => {
  let suspicions = 0;
  for (const [size, periods] of [
    [2, 400],
    [5, 1_500],
    [12, 200],
  ] as const) {
    const net = new Net(size, 11);
    net.loss = 0.1;
    net.doubles = 0.05;
    net.delayMaxMs = 60;
    net.run(periods * PERIOD_MS);
    assert.deepEqual(
      net.verdicts.filter(({ is }) => is === "dead"),
      [],
    );
    suspicions += net.verdicts.filter(({ is }) => is === "suspect").length;
  }
  assert.ok(suspicions > 0, "without a suspicion the run shows nothing");
});

test("a path cut one way, or both, between two of five is never a death, and both know a way round", () => {
  for (const isBothWays of [false, true]) {
    const net = new Net(5, 3);
    const [a, b] = net.ids as [string, string];
    net.run(5 * PERIOD_MS);
    net.cut(a, b);
    if (isBothWays) net.cut(b, a);
    net.run(400 * PERIOD_MS);
    assert.deepEqual(
      net.verdicts.filter(({ is }) => is === "dead"),
      [],
    );
    for (const [from, to] of [
      [a, b],
      [b, a],
    ] as const) {
      const node = net.nodes.get(from)!;
      assert.equal(node.isDirect(to), false);
      assert.ok(net.ids.slice(2).includes(node.wayTo(to)!));
    }
    assert.ok(net.nodes.get(a)!.isDirect(net.ids[2]!));
    net.heal();
    net.run(8 * PERIOD_MS);
    assert.ok(net.nodes.get(a)!.isDirect(b) && net.nodes.get(b)!.isDirect(a));
    assert.equal(net.nodes.get(a)!.wayTo(b), null);
  }
});

test("a process that stands still for a while is not dead for others, and on waking takes none for dead", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const net = new Net(5, seed);
    const sleeper = net.ids[0]!;
    net.run(5 * PERIOD_MS + seed * 61);
    net.pause(sleeper, 4 * PERIOD_MS);
    net.run(40 * PERIOD_MS);
    assert.deepEqual(
      net.verdicts.filter(({ is, by }) => is === "dead" || by === sleeper),
      [],
    );
  }
});

test("an unanswered ping is repeated and put to others, then the peer is suspect, then dead", () => {
  const { swim, startedAt, probed, seq } = alone();
  assert.equal(swim.nextAt(), startedAt + SETTINGS.ackTimeoutMs);
  swim.tick(swim.nextAt());
  const [again, ...asked] = swim.takeOutbox();
  assert.deepEqual(again, { to: probed, body: ping(seq) });
  assert.equal(asked.length, 3);
  for (const { to, body } of asked) {
    assert.deepEqual(body, { kind: "pingReq", seq, target: probed, news: [] });
    assert.notEqual(to, probed);
  }
  swim.tick(startedAt + PERIOD_MS);
  assert.equal(swim.state(probed), "suspect");
  for (const other of ["a", "b", "c", "d"]) if (other !== probed) swim.heard(other);
  const suspectedAt = startedAt + PERIOD_MS;
  while (swim.nextAt() < suspectedAt + swim.suspicionMs) {
    swim.tick(swim.nextAt());
    for (const { to, body } of swim.takeOutbox()) if (to !== probed) swim.receive(to, ack(to, body.seq), 0);
  }
  assert.equal(swim.state(probed), "suspect");
  swim.tick(suspectedAt + swim.suspicionMs);
  assert.deepEqual(swim.takeVerdicts(), [{ peer: probed, is: "dead" }]);
  assert.deepEqual(swim.takeVerdicts(), []);
});

test("an ack through another proves the peer lives, and shows a way to it", () => {
  const { swim, startedAt, probed, seq } = alone();
  swim.tick(startedAt + SETTINGS.ackTimeoutMs);
  const way = swim.takeOutbox()[1]!.to;
  swim.receive(way, ack(probed, seq), startedAt + 300);
  swim.tick(startedAt + PERIOD_MS);
  assert.equal(swim.state(probed), "alive");
  assert.equal(swim.isDirect(probed), false);
  assert.equal(swim.wayTo(probed), way);
  swim.receive(probed, ack(probed, seq), startedAt + PERIOD_MS + 1);
  assert.equal(swim.isDirect(probed), true);
  assert.equal(swim.wayTo(probed), null);
  swim.receive(way, ack(probed, seq), startedAt + PERIOD_MS + 2);
  assert.equal(swim.isDirect(probed), true);
});

test("words from a peer do not show that ours reach it: others are asked all the same, and it is no suspect", () => {
  const { swim, startedAt, probed } = alone();
  swim.heard(probed);
  swim.tick(startedAt + SETTINGS.ackTimeoutMs);
  assert.equal(swim.takeOutbox().length, 4);
  swim.tick(startedAt + PERIOD_MS);
  assert.equal(swim.state(probed), "alive");
});

test("a late ack does not answer a newer probe, though it clears a suspicion", () => {
  const { swim, startedAt, probed, seq } = alone(["a"]);
  let at = fail(swim, startedAt);
  assert.equal(swim.state(probed), "suspect");
  swim.receive(probed, ack(probed, seq), at + 1);
  assert.equal(swim.state(probed), "alive");
  at = fail(swim, at);
  assert.equal(swim.state(probed), "suspect");
  swim.heard(probed);
  assert.equal(swim.state(probed), "alive");
});

test("a late ack through another counts for nothing", () => {
  const { swim, startedAt, probed, seq } = alone(["a", "b"]);
  const other = probed === "a" ? "b" : "a";
  const at = fail(swim, startedAt);
  swim.receive(other, ack(probed, seq), at + 1);
  assert.equal(swim.state(probed), "suspect");
  const asked = swim
    .takeOutbox()
    .filter(({ body }) => body.kind === "pingReq")
    .at(-1)!;
  assert.notEqual(asked.body.seq, seq, "the suspect is asked again");
  swim.receive(other, ack(probed, asked.body.seq), at + 2);
  assert.equal(swim.state(probed), "alive");
});

test("a ping for another peer is answered through us, once, to the one that asked and under its number", () => {
  const { swim } = alone();
  swim.receive("a", { kind: "pingReq", seq: 99, target: "b", news: [] }, 0);
  const [asked] = swim.takeOutbox();
  assert.equal(asked!.to, "b");
  swim.receive("c", ack("c", asked!.body.seq), 1);
  assert.deepEqual(swim.takeOutbox(), []);
  for (const at of [2, 3]) swim.receive("b", ack("b", asked!.body.seq), at);
  assert.deepEqual(swim.takeOutbox(), [{ to: "a", body: ack("b", 99) }]);
});

test("a peer that hears of its suspicion raises its incarnation and says so in the very answer", () => {
  const { swim } = alone();
  for (const [heard, said] of [
    [0, 1],
    [0, 1],
    [1, 2],
    [7, 8],
  ] as const) {
    swim.receive("a", ping(1, [{ peer: "me", incarnation: heard, is: "suspect" }]), 0);
    assert.deepEqual(
      swim.takeOutbox()[0]!.body,
      ack("me", 1, [{ peer: "me", incarnation: said, is: "alive" }]),
    );
  }
});

test("news of a suspicion is believed, told on, told to the suspect, and ended by a higher incarnation only", () => {
  const { swim } = alone();
  const suspicion: SwimNews = { peer: "b", incarnation: 3, is: "suspect" };
  swim.receive("a", ping(1, [suspicion]), 0);
  assert.equal(swim.state("b"), "suspect");
  assert.deepEqual(swim.takeOutbox()[0]!.body.news, [suspicion]);
  swim.receive("a", ping(2, [{ ...suspicion, is: "alive" }]), 1);
  assert.equal(swim.state("b"), "suspect");
  swim.receive("a", ping(3, [{ peer: "b", incarnation: 4, is: "alive" }]), 2);
  assert.equal(swim.state("b"), "alive");
  swim.receive("c", ping(4, [suspicion]), 3);
  assert.equal(swim.state("b"), "alive");
  assert.deepEqual(swim.takeVerdicts(), []);
});

test("a suspicion that the peer's own word has cleared is not believed twice, and the peer is told of it", () => {
  const { swim } = alone();
  const suspicion: SwimNews = { peer: "b", incarnation: 0, is: "suspect" };
  swim.receive("a", ping(1, [suspicion]), 0);
  swim.takeOutbox();
  swim.receive("b", ping(5), 1);
  assert.equal(swim.state("b"), "alive");
  assert.deepEqual(swim.takeOutbox()[0]!.body.news, [suspicion]);
  swim.receive("c", ping(1, [suspicion]), 2);
  assert.equal(swim.state("b"), "alive");
});

test("death is taken from news and final, and the dead hear of it; watched again, the peer starts afresh", () => {
  const { swim } = alone();
  const death: SwimNews = { peer: "b", incarnation: 0, is: "dead" };
  swim.receive("a", ping(1, [death]), 0);
  assert.deepEqual(swim.takeVerdicts(), [{ peer: "b", is: "dead" }]);
  swim.takeOutbox();
  swim.receive("c", ping(1, [{ peer: "b", incarnation: 9, is: "alive" }]), 1);
  swim.heard("b");
  swim.takeOutbox();
  swim.receive("b", ping(2, [{ peer: "c", incarnation: 0, is: "dead" }]), 2);
  assert.equal(swim.state("b"), "dead");
  assert.equal(swim.state("c"), "alive");
  assert.deepEqual(swim.takeOutbox(), [{ to: "b", body: ack("me", 2, [death]) }]);
  swim.watch(["a", "b"], 3);
  assert.equal(swim.state("b"), "alive");
  assert.equal(swim.state("c"), null);
});

test("a death found here is told on, each time the same, for a bounded number of messages", () => {
  const { swim, startedAt, probed } = alone(["a", "b"]);
  const other = probed === "a" ? "b" : "a";
  swim.receive(other, ping(0, [{ peer: probed, incarnation: 0, is: "suspect" }]), startedAt);
  for (let at = startedAt; swim.state(probed) !== "dead"; swim.tick(at)) {
    at = swim.nextAt();
    swim.heard(other);
  }
  for (let i = 0; i < 100; i++) swim.receive(other, ping(i), startedAt);
  const told = swim.takeOutbox().filter(({ body }) => body.news.some(({ is }) => is === "dead"));
  assert.equal(told.length, Math.ceil(3 * Math.log2(4)));
  for (const { body } of told) assert.deepEqual(body.news, [{ peer: probed, incarnation: 0, is: "dead" }]);
});

test("a suspect has longer among many peers", () => {
  const suspicionMs = (count: number) => {
    const swim = new Swim("me", SETTINGS, diceOf(1));
    swim.watch(
      Array.from({ length: count }, (_, i) => `peer-${i}`),
      0,
    );
    return swim.suspicionMs;
  };
  assert.deepEqual([1, 3, 15, 63].map(suspicionMs), [2_000, 2_000, 4_000, 6_000]);
});

test("when the probed peer is no longer watched, the next is probed at the end of the period", () => {
  const { swim, startedAt, probed } = alone(["a", "b"]);
  const other = probed === "a" ? "b" : "a";
  swim.watch([other], startedAt + 1);
  assert.equal(swim.nextAt(), startedAt + PERIOD_MS);
  swim.tick(startedAt + PERIOD_MS);
  assert.equal(swim.takeOutbox()[0]!.to, other);
});

test("after oversleeping the probe begins anew, and a suspect has more time", () => {
  const { swim, startedAt, probed, seq } = alone(["a"]);
  const wokenAt = startedAt + SETTINGS.ackTimeoutMs + PERIOD_MS + 1;
  swim.tick(wokenAt);
  assert.equal(swim.state(probed), "alive");
  const [again] = swim.takeOutbox();
  assert.ok(again!.body.kind === "ping" && again!.body.seq > seq);
  const suspectedAt = fail(swim, wokenAt);
  assert.equal(swim.state(probed), "suspect");
  const lateAt = suspectedAt + 60 * PERIOD_MS;
  swim.tick(lateAt);
  assert.equal(swim.state(probed), "suspect");
  let at = lateAt;
  for (; swim.state(probed) === "suspect"; swim.tick(at)) at = swim.nextAt();
  assert.ok(at >= lateAt + swim.suspicionMs - PERIOD_MS);
  swim.tick(swim.nextAt());
  assert.equal(swim.nextAt(), Number.POSITIVE_INFINITY, "nobody is left to probe");
});

test("a tick late by less than a period still gives the others their time to answer", () => {
  const { swim, startedAt, probed } = alone();
  const lateAt = startedAt + PERIOD_MS + 100;
  swim.tick(lateAt);
  assert.equal(swim.takeOutbox().length, 4);
  assert.equal(swim.state(probed), "alive");
  assert.equal(swim.nextAt(), lateAt + PERIOD_MS - SETTINGS.ackTimeoutMs);
});

test("with nobody to watch there is nothing to do, and watching can begin and end at any time", () => {
  const swim = new Swim("me", SETTINGS, diceOf(1));
  assert.equal(swim.nextAt(), Number.POSITIVE_INFINITY);
  swim.watch(["me"], 0);
  swim.tick(1_000);
  assert.equal(swim.nextAt(), Number.POSITIVE_INFINITY);
  swim.watch(["a"], 2_000);
  assert.ok(swim.nextAt() >= 2_000 && swim.nextAt() <= 2_000 + PERIOD_MS);
  swim.tick(swim.nextAt());
  swim.watch([], 3_000);
  assert.equal(swim.nextAt(), Number.POSITIVE_INFINITY);
  assert.equal(swim.isDirect("a"), false);
  assert.equal(swim.wayTo("a"), null);
});

test("a stranger's ping is answered without news; its news and its requests are ignored", () => {
  const { swim } = alone();
  swim.receive("a", ping(1, [{ peer: "b", incarnation: 0, is: "suspect" }]), 0);
  swim.takeOutbox();
  swim.receive("x", ping(5, [{ peer: "a", incarnation: 0, is: "dead" }]), 1);
  assert.deepEqual(swim.takeOutbox(), [{ to: "x", body: ack("me", 5) }]);
  swim.receive("x", { kind: "pingReq", seq: 1, target: "a", news: [] }, 1);
  swim.receive("x", ack("b", 0), 1);
  swim.receive("me", ping(1, [{ peer: "a", incarnation: 0, is: "dead" }]), 1);
  assert.deepEqual(swim.takeOutbox(), []);
  assert.equal(swim.state("a"), "alive");
  assert.equal(swim.state("b"), "suspect");
});

test("a malformed body changes nothing", () => {
  const news = [{ peer: "b", incarnation: 0, is: "dead" }];
  const wrong: unknown[] = [
    null,
    "ping",
    [],
    { kind: "ping", seq: 1 },
    { kind: "ping", seq: -1, news },
    { kind: "ping", seq: 1.5, news },
    { kind: "ping", seq: "1", news },
    { kind: "pong", seq: 1, news },
    { kind: "pingReq", seq: 1, news },
    { kind: "pingReq", seq: 1, target: "", news },
    { kind: "ack", seq: 1, of: 7, news },
    { kind: "ack", seq: 1, of: "x".repeat(300), news },
    { kind: "ping", seq: 1, news: { 0: news[0], length: 1 } },
    { kind: "ping", seq: 1, news: [...news, null] },
    { kind: "ping", seq: 1, news: [...news, { peer: "c", incarnation: 0, is: "ill" }] },
    { kind: "ping", seq: 1, news: [...news, { peer: "c", incarnation: -1, is: "dead" }] },
    { kind: "ping", seq: 1, news: [...news, { peer: "c", incarnation: 2 ** 40, is: "dead" }] },
    { kind: "ping", seq: 1, news: Array.from({ length: NEWS_MAX + 1 }, () => news[0]) },
  ];
  const { swim, startedAt } = alone();
  const isUntouched = (body: unknown) => {
    swim.receive("a", body as SwimBody, startedAt + 1);
    assert.deepEqual(swim.takeOutbox(), []);
    assert.deepEqual(swim.takeVerdicts(), []);
    assert.equal(swim.nextAt(), startedAt + SETTINGS.ackTimeoutMs);
  };
  wrong.forEach(isUntouched);
  fc.assert(fc.property(fc.anything(), isUntouched));
});

test("settings that leave no time for others to be asked are refused", () => {
  assert.throws(() => new Swim("me", { ...SETTINGS, ackTimeoutMs: PERIOD_MS }, diceOf(1)), RangeError);
});
