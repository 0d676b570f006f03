import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ClusterNodeReport, ClusterReport } from "../office/desk.ts";
import { COLUMNS_MAX, clusterText } from "./cluster-text.ts";
import { columnsOf } from "./operate/columns.ts";

function node(
  number: number,
  parent: number | null,
  change: Partial<ClusterNodeReport> = {},
): ClusterNodeReport {
  return {
    name: `gate-${number}`,
    address: `10.0.0.${number}:7100`,
    state: "alive",
    parent: parent === null ? null : `gate-${parent}`,
    isHere: false,
    own: { waiting: 1_000 * number, turns: number, onSite: 10 * number },
    ...change,
  };
}

const WELL: ClusterReport = {
  name: "gate-2",
  address: "10.0.0.2:7100",
  view: { version: 7, isMajority: true, isSettled: true },
  root: "gate-5",
  towardsRoot: "gate-5",
  rounds: 1_234,
  nodes: [node(1, null), node(2, 1, { isHere: true }), node(5, 2), node(6, 2), node(3, 1), node(4, 1)],
  lost: [],
  rooms: { main: { waiting: 21_000, ownWaiting: 2_000, turns: 2, onSite: 20, spare: 0 } },
  problems: [],
};

test("the tree is drawn, with the root, the node that was asked, and what each has", () => {
  assert.equal(
    clusterText(WELL),
    `A cluster of 6 nodes, asked at gate-2: all is well.

node                             address                state        waiting       turns     on site
gate-1                           10.0.0.1:7100          alive          1,000           1          10
├─ gate-2 (here)                 10.0.0.2:7100          alive          2,000           2          20
│  ├─ gate-5 (root)              10.0.0.5:7100          alive          5,000           5          50
│  └─ gate-6                     10.0.0.6:7100          alive          6,000           6          60
├─ gate-3                        10.0.0.3:7100          alive          3,000           3          30
└─ gate-4                        10.0.0.4:7100          alive          4,000           4          40
all                                                                   21,000          21         210

root      gate-5; 1,234 counting rounds led by this node
view      7, with the majority
settled   yes: this node knows all that the others know

room                             all waiting  waiting here    turns here  on site here    spare here
main                                  21,000         2,000             2            20             0
`,
  );
});

test("names in wide characters, which take two columns each, leave the columns behind them in line", () => {
  const text = clusterText({ ...WELL, nodes: [node(1, null, { name: "東京".repeat(20) }), node(2, null)] });
  const rows = text.split("\n").filter((line) => line.includes(" alive "));
  assert.equal(rows.length, 2);
  assert.equal(new Set(rows.map((row) => columnsOf(row.slice(0, row.indexOf("10.0.0."))))).size, 1, text);
});

test("what is wrong stands out, with lost nodes in the table", () => {
  const text = clusterText({
    ...WELL,
    view: { version: 8, isMajority: false, isSettled: false },
    root: null,
    towardsRoot: "gate-1",
    nodes: [node(1, null, { state: "suspect" }), node(2, 1, { isHere: true })],
    lost: [{ name: "gate-3", address: "10.0.0.3:7100" }],
    problems: [`gate-3 is lost: ${"its slots stay taken for a while; ".repeat(4)}say so`],
  });
  assert.match(text, /^A cluster of 2 nodes, 1 lost, asked at gate-2: not well\.$/m);
  assert.match(text, /^gate-1 +10\.0\.0\.1:7100 +SUSPECT +1,000/m);
  assert.match(text, /^gate-3 +10\.0\.0\.3:7100 +LOST$/m);
  assert.match(text, /^root {6}beyond gate-1/m);
  assert.match(text, /^view {6}8, WITHOUT the majority$/m);
  assert.match(text, /^settled {3}not yet/m);
  assert.match(text, /^! gate-3 is lost: [^\n]+\n {2}\S/m);
});

test("a node in no cluster has nothing but its problems to show", () => {
  const problems = ["this node is in no cluster yet"];
  const text = clusterText({ ...WELL, view: null, root: null, nodes: [], rooms: {}, problems });
  assert.equal(text, "No cluster yet, asked at gate-2.\n\n! this node is in no cluster yet\n");
});

test("no line is too long, whatever nodes and rooms are called, and nothing moves the cursor", () => {
  const name = fc.string({ minLength: 1, maxLength: 120, unit: "binary-ascii" });
  const count = fc.integer({ min: 0, max: 99_999_999 });
  fc.assert(
    fc.property(
      fc.array(name, { minLength: 1, maxLength: 9 }),
      count,
      fc.integer({ min: 0, max: 300 }),
      (names, many, columns) => {
        const own = { waiting: many, turns: many, onSite: many };
        const nodes = names.map((each, index) => ({
          ...node(index, null, { own, address: each }),
          ...{
            name: `${each}${index}`,
            parent: index === 0 ? null : `${names[(index - 1) >> 1]}${(index - 1) >> 1}`,
          },
        }));
        const room = {
          waiting: many,
          ownWaiting: many,
          turns: many,
          onSite: many,
          spare: null,
        };
        const text = clusterText({ ...WELL, nodes, rooms: { [names[0]!]: room }, problems: [] }, columns);
        assert.ok(
          text
            .split("\n")
            .slice(1)
            .every((line) => line.length <= COLUMNS_MAX),
        );
        assert.doesNotMatch(text.replaceAll("\n", ""), /[\x00-\x1f\x7f]/);
      },
    ),
    { numRuns: 50 },
  );
});

test("parents that go round in a circle do no harm", () => {
  const nodes = [node(1, 2), node(2, 1)];
  assert.match(clusterText({ ...WELL, nodes }), /gate-1/);
});
