/** Nodes restarted one after the other, each as a new process under its old name: nobody loses their place. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../cli/eventually.ts";
import { TestOrigin } from "../cli/test-origin.ts";
import { Visitor } from "../cli/visitor.ts";
import { areOne } from "./cluster-play.ts";
import { NodeProcess } from "./node-process.ts";

const NODES = 3;
const WAITING = 24;

test("a rolling restart costs nobody their place, and any node serves any visitor by the ticket alone", async () => {
  await using parts = new AsyncDisposableStack();
  const origin = parts.use(await TestOrigin.open());
  const nodes: NodeProcess[] = [];
  const options = { origin: origin.address, room: { totalActiveUsers: 1 } };
  for (let i = 1; i <= NODES; i++)
    nodes.push(parts.use(await NodeProcess.make({ ...options, name: `gate-${i}` })));
  await Promise.all(nodes.map((node) => node.start(nodes)));
  await eventually("all are one cluster", () => areOne(nodes));
  const inside = await Visitor.arrive(nodes[0]!.address);
  assert.equal(inside.standing.isIn, true);
  const line: Visitor[] = [];
  for (let i = 0; i < WAITING; i++) {
    const visitor = await Visitor.arrive(nodes[i % NODES]!.address);
    assert.equal(visitor.standing.isIn, false, "the one slot is taken, whichever node is asked");
    line.push(visitor);
  }
  const tickets = line.map(({ cookie }) => cookie);
  await inOrder(line, nodes, 1);

  for (const [i, node] of nodes.entries()) {
    assert.deepEqual(await node.end("SIGTERM"), { code: 0, signal: null });
    const others = nodes.filter((other) => other !== node);
    await inOrder(line, others, i);
    assert.equal(await at(others[0]!, inside).isIn(), true, "a pass is good at any node");
    await node.start(nodes);
    await eventually(`${node.name} is back`, () => areOne(nodes));
    await inOrder(line, nodes, i);
  }

  await inOrder(
    line.map((_, i) => withCookie(tickets[i]!)),
    nodes,
    2,
  );
  await at(nodes[2]!, inside).leave();
  for (const [i, visitor] of line.entries()) {
    at(nodes[i % NODES]!, visitor);
    await eventually(`visitor ${i} is let in`, () => visitor.isIn());
    const next = line[i + 1];
    assert.equal(next && (await at(nodes[(i + 1) % NODES]!, next).isIn()), next && false, "one at a time");
    await at(nodes[(i + 1) % NODES]!, visitor).leave();
  }
});

/** Everyone has as many ahead as came before them, each as told by another node than the neighbours are told by. */
async function inOrder(line: readonly Visitor[], nodes: readonly NodeProcess[], from: number): Promise<void> {
  for (const [i, visitor] of line.entries()) at(nodes[(i + from) % nodes.length]!, visitor);
  const expected = line.map((_, i) => i);
  await eventually("everyone is known to everyone", async () => {
    const ahead = await Promise.all(line.map((visitor) => visitor.ahead()));
    assert.ok(
      ahead.every((shown, i) => shown <= i),
      `somebody is before their place: ${ahead}`,
    );
    return JSON.stringify(ahead) === JSON.stringify(expected);
  });
}

function at(node: NodeProcess, visitor: Visitor): Visitor {
  visitor.address = node.address;
  return visitor;
}

function withCookie(cookie: string): Visitor {
  return Object.assign(new Visitor(""), { cookie });
}
