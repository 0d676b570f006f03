/** A rolling restart: nodes are restarted one by one under their old names, and nobody loses their place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../src/testing/cli/eventually.ts";
import { TestOrigin } from "../../src/testing/cli/test-origin.ts";
import type { ProcessVisitor } from "../../src/testing/cli/visitor.ts";
import { PatientVisitor } from "../crash/patient-visitor.ts";
import { areOne } from "./cluster-play.ts";
import { NodeProcess } from "./node-process.ts";

/** No session or place expires, however slowly the nodes start. */
const ROOM = { totalActiveUsers: 1, sessionDuration: "1h", lapseAfter: "1h" };
const NODES = 3;
/** Two join at each node. A slot is held for three seconds after each leaves, so more would take long. */
const WAITING = 6;

test("a rolling restart costs nobody their place, and any node serves any visitor by the ticket alone", async () => {
  await using parts = new AsyncDisposableStack();
  const origin = parts.use(await TestOrigin.open());
  const nodes: NodeProcess[] = [];
  const options = { origin: origin.address, room: ROOM };
  for (let i = 1; i <= NODES; i++)
    nodes.push(parts.use(await NodeProcess.make({ ...options, name: `gate-${i}` })));
  await Promise.all(nodes.map((node) => node.start(nodes)));
  await eventually("all are one cluster", () => areOne(nodes));

  const inside = new PatientVisitor(nodes[0]!.address);
  await eventually("the first visitor is in", () => inside.isIn());
  const line = await joinInTurn(nodes);
  await eventually("everyone is told how many are ahead", async () =>
    (await placesOf(line)).every(({ ahead }) => ahead !== null),
  );
  const places = await placesOf(line);
  for (const [i, { sequence, ahead }] of places.entries()) {
    assert.equal(ahead, i);
    assert.ok(i === 0 || sequence > places[i - 1]!.sequence);
  }
  for (const [i, node] of nodes.entries()) {
    assert.deepEqual(await node.end("SIGTERM"), { code: 0, signal: null });
    const others = nodes.filter((other) => other !== node);
    await eventually("the others go on", () => areOne(others));
    await knowTheSame(others, { waiting: WAITING });
    spread(line, others, i);
    assert.deepEqual(await placesOf(line), places, `${node.name} is away`);
    assert.equal(await at(others[0]!, inside).isIn(), true, "a pass is good at any node");
    await node.start(nodes);
    await eventually(`${node.name} is back`, () => areOne(nodes));
    await knowTheSame(nodes, { waiting: WAITING });
    spread(line, [node], 0);
    assert.deepEqual(await placesOf(line), places, `${node.name} knows everyone`);
  }
  await letInOneByOne(inside, line, nodes);
});

/** They join one by one, each at the next node, once that node knows of all earlier ones. */
async function joinInTurn(nodes: readonly NodeProcess[]): Promise<ProcessVisitor[]> {
  const line: ProcessVisitor[] = [];
  while (line.length < WAITING) {
    const node = nodes[line.length % nodes.length]!;
    await knowTheSame([node], { waiting: line.length });
    const visitor = await PatientVisitor.arrive(node.address);
    assert.deepEqual(visitor.standing.isIn, false, "the one slot is taken, whichever node is asked");
    line.push(visitor);
  }
  return line;
}

/** The first leaves, and the others follow one by one; each enters at one node and leaves at another. */
async function letInOneByOne(
  inside: ProcessVisitor,
  line: readonly ProcessVisitor[],
  nodes: readonly NodeProcess[],
): Promise<void> {
  let before = inside;
  for (const [i, visitor] of line.entries()) {
    spread([before, visitor, ...line.slice(i + 1)], nodes, i);
    await before.leave();
    await eventually(`visitor ${i} is let in`, () => visitor.isIn());
    const others = await Promise.all(line.slice(i + 1).map((other) => other.isIn()));
    assert.ok(!others.includes(true), `somebody behind visitor ${i} is in`);
    await knowTheSame(nodes, { waiting: WAITING - i - 1 });
    before = visitor;
  }
}

interface Place {
  readonly sequence: number;
  readonly ahead: number | null;
}

/** What each visitor is told of their place by the node they ask. */
async function placesOf(line: readonly ProcessVisitor[]): Promise<Place[]> {
  return Promise.all(
    line.map(async (visitor) => {
      const answer = await visitor.ask("/", { headers: { accept: "application/json" } });
      const { sequence, ahead } = JSON.parse(answer.text) as Place;
      return { sequence, ahead };
    }),
  );
}

/** Every visitor asks a different node than their neighbours from now on. */
function spread(visitors: readonly ProcessVisitor[], nodes: readonly NodeProcess[], from: number): void {
  for (const [i, visitor] of visitors.entries()) at(nodes[(i + from) % nodes.length]!, visitor);
}

function at(node: NodeProcess, visitor: ProcessVisitor): ProcessVisitor {
  visitor.address = node.address;
  return visitor;
}

/** All of these nodes count one on the site and `count` waiting. */
async function knowTheSame(
  nodes: readonly NodeProcess[],
  { waiting }: { readonly waiting: number },
): Promise<void> {
  await eventually(`every node counts ${waiting} waiting`, async () => {
    const all = await Promise.all(nodes.map(({ control }) => control.counts()));
    return all.every((counts) => counts.waiting === waiting && counts.onSite === 1);
  });
}
