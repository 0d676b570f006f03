import assert from "node:assert/strict";
import { test } from "node:test";
import type { NodeStatus } from "../engines/cluster/node-status.ts";
import { type ReportParts, reportOf } from "./cluster-report.ts";

const member = (number: number, is: "alive" | "suspect" | "dead" = "alive") => ({
  ...{ number, name: `gate-${number}`, life: 1, address: `10.0.0.${number}:7100`, is, clockWrongMs: null },
});
const OWN = { ownFirst: null, ownWaiting: 2, turns: 1, visits: 3, spare: 4, waiting: 9 };

function statusOf(change: Partial<NodeStatus> = {}): NodeStatus {
  return {
    ...{
      name: "gate-1",
      life: 1,
      number: 1,
      isRoot: true,
      root: 1,
      pointer: null,
      isSettled: true,
      rounds: 5,
    },
    view: {
      ...{ version: 3, number: 192 },
      members: [1, 2, 3, 4, 5].map((number) => member(number)),
      lost: [],
      isMajority: true,
    },
    problem: null,
    isGone: false,
    rooms: { main: OWN },
    counts: {
      "gate-1#1": { main: { waiting: 2, turns: 1, onSite: 3 }, b: { waiting: 1, turns: 0, onSite: 1 } },
      "gate-2#1": { main: { waiting: 7, turns: 0, onSite: 0 } },
    },
    ...change,
  };
}

function report(status: NodeStatus, parts: Partial<ReportParts> = {}) {
  const address = "10.0.0.1:7100";
  return reportOf({ status, address, reclaimAfterMs: 600_000, differences: [], wire: new Map(), ...parts });
}

test("nodes come in the order of the tree, each with the one above it and what is its own in all rooms", () => {
  const { nodes } = report(statusOf());
  assert.deepEqual(
    nodes.map(({ name, parent }) => `${name} < ${parent}`),
    ["gate-1 < null", "gate-2 < gate-1", "gate-5 < gate-2", "gate-3 < gate-1", "gate-4 < gate-1"],
  );
  assert.deepEqual(nodes[0]?.own, { waiting: 3, turns: 1, onSite: 4 });
  assert.deepEqual(nodes.at(-1)?.own, { waiting: 0, turns: 0, onSite: 0 });
  assert.deepEqual(
    nodes.filter(({ isHere }) => isHere).map(({ name }) => name),
    ["gate-1"],
  );
});

test("the root is the node that counted last; before that only the direction towards it is known", () => {
  const at = (number: number, root: number | null, pointer: number | null) => {
    const known = report(statusOf({ number, isRoot: pointer === null, root, pointer }));
    return [known.root, known.towardsRoot];
  };
  assert.deepEqual(at(1, 1, null), ["gate-1", null]);
  assert.deepEqual(at(5, 3, 2), ["gate-3", "gate-2"]);
  assert.deepEqual(at(3, null, 1), [null, "gate-1"]);
});

test("a clock that is further off than it may be is a problem", () => {
  const { view } = statusOf();
  const members = [member(1), { ...member(2), clockWrongMs: -3_600_000 }];
  const { problems } = report(statusOf({ view: { ...view!, members } }));
  assert.equal(problems.length, 1);
  assert.match(problems[0]!, /^the clock of gate-2 is 3600 s behind this node's.*time server$/);
});

test("a whole cluster has no problems", () => {
  assert.deepEqual(report(statusOf()).problems, []);
  assert.deepEqual(report(statusOf()).rooms.main, {
    waiting: 9,
    ownWaiting: 2,
    turns: 1,
    onSite: 3,
    spare: 4,
  });
});

test("each thing that is wrong is a sentence that says what to do", () => {
  const wire = new Map([["10.0.0.3:7100", "10.0.0.3:7100 does not listen"]]);
  const view = {
    ...{ version: 4, number: 256 },
    members: [member(1), member(2, "suspect")],
    lost: [member(3)],
    isMajority: true,
  };
  assert.deepEqual(report(statusOf({ view }), { wire, differences: ["gate-2 has other rooms"] }).problems, [
    "gate-3 is lost: its slots stay taken for 10m at most; if it is certainly dead, say so with `fairgate cluster forget gate-3`",
    "gate-2 does not answer at the moment",
    "10.0.0.3:7100 does not listen",
    "gate-2 has other rooms",
  ]);
});

test("a part that was cut off says what it still does", () => {
  const view = {
    ...{ version: 4, number: 256 },
    number: 256,
    members: [member(1)],
    lost: [member(2), member(3)],
    isMajority: false,
  };
  const [first, second] = report(statusOf({ view })).problems;
  assert.match(first!, /^only 1 of 3 nodes are here, which is no majority: .* after 10m nobody$/);
  assert.match(second!, /^gate-2 is lost: its slots stay taken until it is back/);
  const [never] = report(statusOf({ view }), { reclaimAfterMs: null }).problems;
  assert.doesNotMatch(never!, /nobody/);
});

test("a node in no cluster says so, with what is wrong with those it asked", () => {
  const wire = new Map([["10.0.0.2:7100", "10.0.0.2:7100 does not know our cluster secret"]]);
  const { view, nodes, root, problems } = report(statusOf({ view: null, number: null, isRoot: false }), {
    wire,
  });
  assert.deepEqual([view, nodes, root], [null, [], null]);
  assert.deepEqual(problems, [
    "this node is in no cluster yet, and takes no visitors: no node has answered it",
    "10.0.0.2:7100 does not know our cluster secret",
  ]);
});

test("a node whose name another has taken says so; what it was told before it was taken in is no problem", () => {
  const taken = 'another node called "gate-1" has joined in place of this one';
  assert.deepEqual(report(statusOf({ problem: taken })).problems, [`${taken}, which stops`]);
  assert.deepEqual(report(statusOf({ problem: "1 of 3 nodes are there" })).problems, []);
});
