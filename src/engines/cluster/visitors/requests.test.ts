import assert from "node:assert/strict";
import { test } from "node:test";
import { type AskBody, type Op, type OpAnswer, type ReplyBody, Requests } from "./requests.ts";

const REVOKE: Op = { op: "revoke", room: "r", id: "v" };
const INVITE: Op = { op: "invite", room: "r", invite: { id: "code", expiresAt: 1 } };
const SEEN: Op = { op: "seen", room: "r", seen: [1, 0, "v", 1, 1, 1, 0, 0] };
const LEAVE: Op = { op: "leaveVisit", room: "r", id: "v" };

/** A node that knows who the owner is, and counts what it is made to do. */
class Node {
  readonly requests: Requests;
  owner: string | null;
  performed: Op[] = [];
  /** Calls back by hand while true. */
  isSlow = false;
  pending: ((answer: OpAnswer) => void)[] = [];

  constructor(owner: string | null) {
    this.owner = owner;
    this.requests = new Requests({
      routeOf: () => this.owner,
      perform: (op, _now, answer) => {
        this.performed.push(op);
        if (this.isSlow) this.pending.push(answer);
        else answer(true);
      },
    });
  }

  sent(): (AskBody | ReplyBody)[] {
    return this.requests.takeOutbox().map(({ body }) => body);
  }
}

function answersOf(node: Node, op: Op, now: number): (OpAnswer | null)[] {
  const answers: (OpAnswer | null)[] = [];
  node.requests.ask(op, now, (answer) => answers.push(answer));
  return answers;
}

test("an operation on this node's own place is done at once, without a request", () => {
  const node = new Node("self");
  assert.deepEqual(answersOf(node, REVOKE, 0), [true]);
  assert.deepEqual(node.sent(), []);
});

test("the owner is asked, does it, and the answer comes back", () => {
  const [asker, owner] = [new Node("b"), new Node("self")];
  const answers = answersOf(asker, REVOKE, 0);
  for (const body of asker.sent()) owner.requests.receive("a", body, 1);
  for (const body of owner.sent()) asker.requests.receive("b", body, 2);
  assert.deepEqual(answers, [true]);
  assert.deepEqual(owner.performed, [REVOKE]);
  assert.equal(asker.requests.nextAt(), Number.POSITIVE_INFINITY);
});

test("however often a request arrives, it is performed once and answered each time", () => {
  const owner = new Node("self");
  const body: AskBody = { kind: "ask", number: 1, op: REVOKE };
  for (let i = 0; i < 3; i++) owner.requests.receive("a", body, i);
  assert.equal(owner.performed.length, 1);
  assert.equal(owner.sent().length, 3);
  owner.requests.receive("c", body, 4);
  assert.equal(owner.performed.length, 2, "another asker's question with the same number is another");
});

test("a request that arrives again while it is being performed waits for the one answer", () => {
  const owner = new Node("self");
  owner.isSlow = true;
  const body: AskBody = { kind: "ask", number: 1, op: REVOKE };
  owner.requests.receive("a", body, 0);
  owner.requests.receive("a", body, 1);
  assert.deepEqual(owner.sent(), []);
  for (const answer of owner.pending) answer(true);
  assert.equal(owner.performed.length, 1);
  assert.deepEqual(owner.sent(), [{ kind: "reply", number: 1, answer: true }]);
});

test("a request is sent again until it is answered", () => {
  const asker = new Node("b");
  const answers = answersOf(asker, REVOKE, 0);
  const [first] = asker.sent();
  asker.requests.tick(249);
  assert.deepEqual(asker.sent(), []);
  asker.requests.tick(250);
  assert.deepEqual(asker.sent(), [first]);
  asker.requests.receive("b", { kind: "reply", number: 1, answer: false }, 300);
  asker.requests.tick(600);
  assert.deepEqual(asker.sent(), []);
  assert.deepEqual(answers, [false]);
});

test("the request goes to the current owner, which may be this node", () => {
  const asker = new Node("b");
  const answers = answersOf(asker, REVOKE, 0);
  asker.requests.takeOutbox();
  asker.owner = "c";
  asker.requests.reroute(10);
  assert.deepEqual(
    asker.requests.takeOutbox().map(({ to }) => to),
    ["c"],
  );
  asker.owner = "self";
  asker.requests.reroute(20);
  assert.deepEqual(answers, [true]);
});

test("without an owner no node is asked, and later the new owner is", () => {
  const asker = new Node(null);
  answersOf(asker, REVOKE, 0);
  assert.deepEqual(asker.sent(), []);
  asker.owner = "b";
  asker.requests.tick(250);
  assert.equal(asker.sent().length, 1);
});

test("a node that is not the owner does nothing and says nothing", () => {
  const stranger = new Node("b");
  stranger.requests.receive("a", { kind: "ask", number: 1, op: REVOKE }, 0);
  assert.deepEqual(stranger.performed, []);
  assert.deepEqual(stranger.sent(), []);
});

test("a visitor does not wait for ever, the sender soon does alone what it can, and what needs no answer is tried for longer", () => {
  const asker = new Node("b");
  const [awaited, ends, tried] = [INVITE, LEAVE, SEEN].map((op) => answersOf(asker, op, 0));
  asker.requests.tick(399);
  assert.deepEqual([awaited, ends, tried], [[], [], []]);
  asker.requests.tick(400);
  assert.deepEqual([awaited, ends, tried], [[], [null], []]);
  asker.requests.tick(1_500);
  assert.deepEqual([awaited, tried], [[null], []]);
  asker.requests.tick(15_000);
  assert.deepEqual(tried, [null]);
  asker.requests.receive("b", { kind: "reply", number: 1, answer: true }, 15_001);
  assert.deepEqual(awaited, [null], "an answer that is too late changes nothing");
});

test("answers without a request, or of another kind, are ignored", () => {
  const asker = new Node("b");
  const answers = answersOf(asker, REVOKE, 0);
  const hostile: unknown[] = [
    { kind: "reply", number: 2, answer: true },
    { kind: "reply", number: "1", answer: true },
    { kind: "reply", number: 1, answer: null },
    { kind: "reply", number: 1, answer: { kind: "entered" } },
    { kind: "reply", number: 1 },
  ];
  for (const body of hostile) asker.requests.receive("b", body as ReplyBody, 1);
  assert.deepEqual(answers, []);
});

test("with very many requests pending further ones fail, until some are over", () => {
  const node = new Node(null);
  for (let i = 0; i < 50_000; i++) node.requests.ask(LEAVE, 0, () => {});
  assert.deepEqual(answersOf(node, REVOKE, 0), [null]);
  node.requests.tick(60_000);
  assert.deepEqual(answersOf(node, REVOKE, 60_000), []);
});
