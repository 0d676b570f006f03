import assert from "node:assert/strict";
import { test } from "node:test";
import { DEFAULT_RULES } from "../../../core/rules.ts";
import { VirtualCluster } from "../../../testing/cluster/virtual-cluster.ts";
import { NOTHING } from "../door/counting.ts";
import { isMessageBody } from "./body-shapes.ts";

const REPORT = {
  ...{ kind: "report", seq: 1, pass: 0, heads: [], memo: null, dropped: [] },
  rooms: [["r", { ...NOTHING, lanes: [[0, 3, 1]] }]],
};

const NO_BYTES = new Uint8Array();
const ENTRIES = {
  kind: "entries",
  log: "a#1",
  from: 0,
  blocks: [[0, NO_BYTES]],
  isUrgent: false,
  copy: null,
};

/** A report in which one thing about the room is another. */
const reportOf = (more: object) => ({ ...REPORT, rooms: [["r", { ...NOTHING, ...more }]] });

test("all messages between nodes have the shape of their kind", () => {
  const cluster = new VirtualCluster("abc", {
    ...DEFAULT_RULES,
    totalActiveUsers: 2,
    newUsersPerMinute: 600,
  });
  const kinds = new Set<string>();
  cluster.arrives = (_from, _to, { bodies }) => {
    for (const body of bodies) {
      kinds.add(body.kind);
      assert.ok(isMessageBody(structuredClone(body)), JSON.stringify(body));
    }
    return true;
  };
  const tickets = [..."abcabc"]
    .map((name) => cluster.join(name))
    .flatMap((one) => (one.kind === "waiting" ? [one.ticket] : []));
  cluster.start("d", { join: ["b"] });
  cluster.run(1_000);
  for (const node of cluster.nodes.values())
    if (node.has("r")) node.configure("r", { ...DEFAULT_RULES, totalActiveUsers: 20 }, cluster.now);
  cluster.run(1_000);
  for (const [i, ticket] of tickets.entries()) cluster.enter("abc"[i % 3]!, ticket);
  cluster.of("a").keep("keys", 7, cluster.now);
  cluster.of("c").leaveCluster(cluster.now);
  cluster.run(2_000);
  for (const kind of ["ping", "ack", "edge", "joinMe", "view", "bye", "entries", "read", "heads", "notes"])
    assert.ok(kinds.has(kind), kind);
  for (const kind of ["count", "report", "announce", "ask", "reply"]) assert.ok(kinds.has(kind), kind);
});

test("a ticket from after a draw is valid, though the number of its draw is a time", () => {
  const cluster = new VirtualCluster("ab", { ...DEFAULT_RULES, queueAll: true });
  const ticket = { ...cluster.queue("a"), draw: Math.floor(cluster.now / 1_000) };
  for (const op of [
    { op: "enter", ticket, dice: 0.5 },
    { op: "leavePlace", ticket },
  ])
    assert.ok(isMessageBody({ kind: "ask", number: 1, op }));
  assert.ok(isMessageBody({ kind: "reply", number: 1, answer: { kind: "admitted", ticket, claimBy: 1 } }));
});

test("a body without the shape of its kind, or of no kind, is rejected", () => {
  assert.ok(isMessageBody(REPORT));
  assert.ok(isMessageBody(ENTRIES));
  const hostile: unknown[] = [
    ...[null, 7, "hello", [], {}, { kind: 7 }, { kind: "toString" }, { kind: "unheard of" }],
    ...[{ kind: "joinMe" }, { kind: "joinMe", member: { name: 1, life: 1, address: "x" } }, { kind: "bye" }],
    ...[
      { kind: "heads", heads: [7], isAsking: false },
      { kind: "ask", number: 1 },
    ],
    ...[
      { kind: "ask", number: 1, op: { op: "constructor" } },
      { kind: "reply", number: 1, answer: null },
    ],
    ...[
      { kind: "touch", room: "r", list: null },
      { kind: "seen", room: "r", list: [[1]] },
    ],
    ...[
      { kind: "load", room: "r" },
      { kind: "lent", room: "r", number: 1, round: "1/1", slots: -1, leave: 0 },
    ],
    { kind: "count", seq: 1, root: 0, pass: 0, asks: [], draws: 7, drawn: [7], memoAt: [0, 0], last: null },
    { ...ENTRIES, log: 7 },
    { ...ENTRIES, from: 0.5 },
    ...[
      { ...ENTRIES, blocks: null },
      { ...ENTRIES, blocks: [[1, "bytes"]] },
      { ...ENTRIES, blocks: [[-1, NO_BYTES]] },
    ],
    { ...REPORT, seq: "1" },
    { ...REPORT, dropped: undefined },
    { ...REPORT, rooms: [["r", null]] },
    ...[reportOf({ lanes: [[0]] }), reportOf({ lanes: [[0, 1.5]] }), reportOf({ turns: Number.NaN })],
    ...[reportOf({ kept: "9" }), reportOf({ used: 1e12 }), reportOf({ news: {} })],
  ];
  for (const value of hostile) assert.equal(isMessageBody(value), false, JSON.stringify(value));
});
