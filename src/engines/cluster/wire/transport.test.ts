/** Nodes that send each other messages over real sockets, while the test moves the time. */
import assert from "node:assert/strict";
import net from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { type HandWorld, handWorld } from "../../../sim/hand-world.ts";
import { fixtureText } from "../../../testing/fixtures.ts";
import { freePort } from "../../../testing/free-port.ts";
import { FrameReader, lengthPrefix } from "./frames.ts";
import type { PeerProblem } from "./problems.ts";
import { openTransport, type Transport, type TransportSettings } from "./transport.ts";

const HOST = "127.0.0.1";
const SECRET = "a secret of the whole cluster";
/** Far longer than sockets take, however busy the machine is. */
const GIVE_UP_MS = 180_000;

interface Node {
  readonly transport: Transport;
  readonly address: string;
  readonly got: { from: string; message: unknown }[];
  readonly problems: PeerProblem[];
  /** Called when a problem is told. */
  react(): void;
}

type Choice = Partial<TransportSettings> & { readonly port?: number };

async function startNode(
  t: TestContext,
  world: HandWorld,
  { port = 0, ...chosen }: Choice = {},
): Promise<Node> {
  const listen = { host: HOST, port };
  const settings = { listen, address: `${HOST}:${port}`, secret: SECRET, tls: null, ...chosen };
  const got: Node["got"] = [];
  const problems: PeerProblem[] = [];
  const events = {
    onMessage: (from: string, message: unknown) => got.push({ from, message }),
    onProblem: (problem: PeerProblem) => {
      problems.push(problem);
      node.react();
    },
  };
  const transport = await openTransport(settings, events, world);
  t.after(() => transport.close());
  const node = { transport, address: transport.address, got, problems, react: () => {} };
  return node;
}

/**
 * Lets sockets work until something is so. With a world, its time passes meanwhile, at most five times as fast as real
 * time: however often this process looks, on a busy machine the network takes a while.
 */
async function until(what: string, isSo: () => boolean, world: HandWorld | null = null): Promise<void> {
  const endAt = Date.now() + GIVE_UP_MS;
  while (!isSo()) {
    if (Date.now() > endAt) throw new Error(`in vain: ${what}`);
    await (world ? sleep(1) : turn());
    world?.pass(5);
  }
}

/** Between a dialler and the node that goes by its address: hears everything, and may say more. */
class Middle {
  readonly server: net.Server;
  readonly frames: Buffer[] = [];
  upstreamPort = 0;
  connections = 0;
  onFrame: (frame: Buffer, upstream: net.Socket) => void = (frame, upstream) => upstream.write(frame);

  constructor(t: TestContext) {
    this.server = net.createServer((socket) => this.#join(socket));
    t.after(() => this.server.close());
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, HOST, resolve));
    return `${HOST}:${(this.server.address() as net.AddressInfo).port}`;
  }

  #join(socket: net.Socket): void {
    this.connections++;
    const upstream = net.connect(this.upstreamPort, HOST);
    const reader = new FrameReader(2 ** 30);
    socket.on("data", (piece) => {
      reader.push(piece as Buffer);
      for (let body = reader.next(); body instanceof Buffer; body = reader.next()) {
        const frame = Buffer.concat([lengthPrefix(body.length), body]);
        this.frames.push(frame);
        this.onFrame(frame, upstream);
      }
    });
    upstream.pipe(socket);
    for (const [one, other] of [[socket, upstream] as const, [upstream, socket] as const])
      one.on("error", () => {}).on("close", () => other.destroy());
  }
}

/** A node that others reach only through someone in the middle. */
async function startBehindMiddle(t: TestContext, world: HandWorld): Promise<{ node: Node; middle: Middle }> {
  const middle = new Middle(t);
  const node = await startNode(t, world, { address: await middle.listen() });
  middle.upstreamPort = node.transport.port;
  return { node, middle };
}

test("messages arrive in their order, from the address that sent them, both ways", async (t) => {
  const world = handWorld();
  const [ann, ben] = [await startNode(t, world), await startNode(t, world)];
  for (let i = 0; i < 100; i++) {
    ann.transport.send(ben.address, { number: i });
    if (i % 7 === 0) await turn();
  }
  ben.transport.send(ann.address, ["back", null]);
  await until("all messages", () => ben.got.length === 100 && ann.got.length === 1);
  assert.deepEqual(
    ben.got,
    Array.from({ length: 100 }, (_, number) => ({ from: ann.address, message: { number } })),
  );
  assert.deepEqual(ann.got, [{ from: ben.address, message: ["back", null] }]);
  const state = { isConnected: true, queuedBytes: 0, dropped: 0, lastProblem: null };
  assert.deepEqual(ann.transport.peers(), [{ address: ben.address, ...state }]);
});

test("messages of one turn travel as one frame, which nobody in between can read", async (t) => {
  const world = handWorld();
  const ann = await startNode(t, world);
  const { node: ben, middle } = await startBehindMiddle(t, world);
  for (let i = 0; i < 50; i++) ann.transport.send(ben.address, `a visitor's place ${i}`);
  await until("the first turn's messages", () => ben.got.length === 50);
  for (let i = 0; i < 20; i++) ann.transport.send(ben.address, i);
  await until("the second turn's messages", () => ben.got.length === 70);
  const [hello, proof, ...batches] = middle.frames;
  assert.ok(hello && proof);
  assert.equal(batches.length, 2);
  assert.equal(Buffer.concat(middle.frames).includes("place"), false);
});

test("a peer that was restarted is found again", async (t) => {
  const world = handWorld();
  const port = await freePort();
  const [ann, ben] = [await startNode(t, world), await startNode(t, world, { port })];
  ann.transport.send(ben.address, "before");
  await until("the first message", () => ben.got.length === 1);
  await ben.transport.close();
  await until("the break is noticed", () => ann.transport.peers()[0]!.lastProblem !== null);
  world.pass(50);
  await until("nobody listens", () => /does not listen/.test(ann.transport.peers()[0]!.lastProblem!));
  const again = await startNode(t, world, { port });
  ann.transport.send(ben.address, "after");
  world.pass(200);
  await until("the second message", () => again.got.length === 1);
  assert.deepEqual(again.got, [{ from: ann.address, message: "after" }]);
  assert.equal(ann.transport.peers()[0]!.lastProblem, null);
});

test("while a peer is away only the messages of the last second are kept", async (t) => {
  const world = handWorld({ dice: () => 0 });
  const port = await freePort();
  const [ann, ben] = [await startNode(t, world), await startNode(t, world, { port })];
  await ben.transport.close();
  ann.transport.send(ben.address, "old");
  await until("the old message is let go", () => ann.transport.peers()[0]!.dropped === 1, world);
  const again = await startNode(t, world, { port });
  let sent = 0;
  const isThere = () => {
    // On a machine that stands still for long it may be let go as well.
    if (ann.transport.peers()[0]!.dropped > sent) {
      sent++;
      ann.transport.send(ben.address, "new");
    }
    return again.got.length > 0;
  };
  await until("the new message", isThere, world);
  assert.deepEqual(again.got, [{ from: ann.address, message: "new" }]);
});

test("a peer that does not know the secret is refused both ways, and both are told", async (t) => {
  const world = handWorld();
  const ann = await startNode(t, world);
  const eve = await startNode(t, world, { secret: "a guess" });
  eve.transport.send(ann.address, "let me in");
  ann.transport.send(eve.address, "a secret message");
  const isTold = ({ problems }: Node) => problems.length >= 2;
  await until("both are told", () => isTold(ann) && isTold(eve));
  for (const [one, other] of [[ann, eve] as const, [eve, ann] as const]) {
    assert.deepEqual(one.got, []);
    assert.equal(one.transport.refused, 1);
    assert.deepEqual(
      new Set(one.problems.map(({ text }) => text)),
      new Set([
        `${other.address} does not know our cluster secret`,
        `${HOST} (it says it is ${other.address}) does not know our cluster secret`,
      ]),
    );
    assert.equal(one.transport.peers()[0]!.isConnected, false);
  }
});

test("a problem is reported once in a while, however often it occurs", async (t) => {
  const world = handWorld();
  const ann = await startNode(t, world);
  const eve = await startNode(t, world, { secret: "a guess" });
  eve.transport.send(ann.address, "let me in");
  await until("refused a few times", () => ann.transport.refused === 3, world);
  assert.equal(ann.problems.length, 1);
  await until("told once more", () => ann.problems.length === 2, world);
  assert.ok(ann.transport.refused > 3);
});

test("a recorded handshake is refused on another connection", async (t) => {
  const world = handWorld();
  const ann = await startNode(t, world);
  const { node: ben, middle } = await startBehindMiddle(t, world);
  ann.transport.send(ben.address, "pay once");
  await until("the message", () => ben.got.length === 1);
  const replay = net.connect(ben.transport.port, HOST).on("error", () => {});
  t.after(() => replay.destroy());
  replay.write(Buffer.concat(middle.frames));
  await until("the replay is refused", () => ben.transport.refused === 1);
  assert.equal(ben.got.length, 1);
  assert.equal(ann.transport.peers()[0]!.isConnected, true);
});

test("a frame that is repeated or changed on its way ends the connection", async (t) => {
  const twice = (frame: Buffer) => Buffer.concat([frame, frame]);
  const changed = (frame: Buffer) => {
    frame[frame.length - 1]! ^= 1;
    return frame;
  };
  for (const meddle of [twice, changed]) {
    const world = handWorld();
    const ann = await startNode(t, world);
    const { node: ben, middle } = await startBehindMiddle(t, world);
    ann.transport.send(ben.address, "one");
    await until("the first message", () => ben.got.length === 1);
    middle.onFrame = (frame, upstream) => upstream.write(meddle(frame));
    ann.transport.send(ben.address, "two");
    await until("meddling is seen", () => ben.transport.refused === 1);
    assert.match(ben.problems[0]!.text, /changed or repeated on its way/);
    assert.deepEqual(
      ben.got.map(({ message }) => message),
      meddle === twice ? ["one", "two"] : ["one"],
    );
  }
});

test("a connection with receipts stays, and one that carries nothing through is given up", async (t) => {
  const world = handWorld();
  const ann = await startNode(t, world);
  const { node: ben, middle } = await startBehindMiddle(t, world);
  for (let i = 1; i <= 40; i++) {
    ann.transport.send(ben.address, i);
    await until("a message", () => ben.got.length === i);
    world.pass(250);
  }
  assert.equal(middle.connections, 1);
  middle.onFrame = () => {};
  const heard = middle.frames.length;
  ann.transport.send(ben.address, "into the dark");
  await until("the message is on its way", () => middle.frames.length > heard);
  world.pass(6_000);
  assert.match(ann.transport.peers()[0]!.lastProblem!, /does not acknowledge our messages any more/);
  middle.onFrame = (frame, upstream) => upstream.write(frame);
  ann.transport.send(ben.address, "over another one");
  await until("the next message", () => ben.got.length === 41, world);
  assert.deepEqual(ben.got.at(-1), { from: ann.address, message: "over another one" });
  assert.equal(middle.connections, 2);
});

test("a peer that nothing is sent to is dropped after a minute", async (t) => {
  const world = handWorld();
  const [ann, ben] = [await startNode(t, world), await startNode(t, world)];
  ann.transport.send(ben.address, "hello");
  await until("the message", () => ben.got.length === 1);
  world.pass(59_000);
  assert.equal(ann.transport.peers().length, 1);
  world.pass(2_000);
  assert.deepEqual(ann.transport.peers(), []);
  ann.transport.send(ben.address, "hello again");
  await until("the message", () => ben.got.length === 2);
});

test("a message that is too big or cannot be packed is dropped, and the others of its turn are not", async (t) => {
  const world = handWorld();
  const [ann, ben] = [await startNode(t, world), await startNode(t, world)];
  ann.transport.send(ben.address, "before");
  await until("a connection", () => ben.got.length === 1);
  ann.transport.send(ben.address, "small");
  ann.transport.send(ben.address, Buffer.alloc(5 * 1_024 * 1_024));
  ann.transport.send(ben.address, "small too");
  ann.transport.send(ben.address, 2n ** 70n);
  await until("the others", () => ben.got.length === 3);
  assert.deepEqual(
    ben.got.map(({ message }) => message),
    ["before", "small", "small too"],
  );
  assert.equal(ann.transport.peers()[0]!.dropped, 2);
  assert.match(ann.problems[0]!.text, /was not sent a message of \d+ bytes/);
});

test("messages of one turn that are too big for one batch arrive in several", async (t) => {
  const world = handWorld();
  const [ann, ben] = [await startNode(t, world), await startNode(t, world)];
  ann.transport.send(ben.address, 0);
  await until("a connection", () => ben.got.length === 1);
  for (let i = 1; i <= 3; i++) ann.transport.send(ben.address, [i, Buffer.alloc(2_000_000)]);
  await until("all", () => ben.got.length === 4);
  for (let i = 4; i <= 2_500; i++) ann.transport.send(ben.address, [i]);
  await until("all of many", () => ben.got.length === 2_501);
  const numbers = ben.got.slice(1).map(({ message }) => (message as [number])[0]);
  assert.deepEqual(
    numbers,
    numbers.map((_, i) => i + 1),
  );
});

test("a message that is sent while a problem is reported is not forgotten", async (t) => {
  const world = handWorld();
  const [ann, ben] = [await startNode(t, world), await startNode(t, world)];
  ann.transport.send(ben.address, "before");
  await until("a connection", () => ben.got.length === 1);
  ann.react = () => ann.transport.send(ben.address, "something went wrong");
  ann.transport.send(ben.address, 2n ** 70n);
  await until("the message", () => ben.got.length === 2);
});

test("what was sent before closing still arrives, and nothing after", async (t) => {
  const world = handWorld();
  const [ann, ben] = [await startNode(t, world), await startNode(t, world)];
  ann.transport.send(ben.address, "hello");
  await until("a connection", () => ben.got.length === 1);
  ann.transport.send(ben.address, "goodbye");
  await Promise.all([ann.transport.close(), ann.transport.close()]);
  ann.transport.send(ben.address, "still here");
  await until("the last message", () => ben.got.length === 2);
  assert.deepEqual(ben.got[1], { from: ann.address, message: "goodbye" });
});

test("sending to ourselves is a mistake, and an invalid address a problem", async (t) => {
  const ann = await startNode(t, handWorld());
  assert.throws(() => ann.transport.send(ann.address, "me"), /sends no messages to itself/);
  ann.transport.send("nowhere", "hello");
  assert.deepEqual(ann.problems, [{ address: "nowhere", text: "nowhere is not a valid peer address" }]);
  assert.deepEqual(ann.transport.peers(), []);
});

test("a cluster that anyone could join does not open, nor one without an address", async (t) => {
  await assert.rejects(startNode(t, handWorld(), { secret: null }), /needs a secret or TLS/);
  await assert.rejects(startNode(t, handWorld(), { address: "nowhere" }), /host:port, not "nowhere"/);
});

const pem = (name: string) => fixtureText(`${name}.pem`);

function certified(name: string, ca = "cluster-ca") {
  const tls = { cert: pem(`${name}.cert`), key: pem(`${name}.key`), ca: pem(`${ca}.cert`) };
  return { tls, secret: null };
}

test("with TLS two certificates of one CA are enough, with a secret too both must know it", async (t) => {
  const world = handWorld();
  const [ann, ben] = [
    await startNode(t, world, certified("cluster-node")),
    await startNode(t, world, certified("cluster-node")),
  ];
  ann.transport.send(ben.address, "hello");
  ben.transport.send(ann.address, "back");
  await until("messages", () => ben.got.length === 1 && ann.got.length === 1);
  assert.deepEqual(ben.got, [{ from: ann.address, message: "hello" }]);
  const eve = await startNode(t, world, { ...certified("cluster-node"), secret: SECRET });
  eve.transport.send(ann.address, "let me in");
  await until("refused", () => eve.problems.length === 1);
  assert.equal(eve.problems[0]!.text, `${ann.address} does not know our cluster secret`);
  assert.equal(ann.got.length, 1);
});

test("with TLS a certificate of another CA is refused both ways", async (t) => {
  const world = handWorld();
  const ann = await startNode(t, world, certified("cluster-node"));
  const eve = await startNode(t, world, certified("other-node", "other-ca"));
  const sly = await startNode(t, world, certified("other-node", "cluster-ca"));
  sly.transport.send(ann.address, "let me in");
  await until("sly is told", () => sly.problems.length === 1);
  await until("sly is refused", () => ann.transport.refused === 1);
  assert.match(ann.problems[0]!.text, /showed no certificate of our CA/);
  ann.transport.send(eve.address, "a secret message");
  await until("ann is told", () => ann.problems.length === 2);
  assert.match(ann.problems[1]!.text, /one of another CA/);
  assert.deepEqual([...ann.got, ...eve.got, ...sly.got], []);
});

test("with TLS a certificate that does not name the address is refused both ways", async (t) => {
  const world = handWorld();
  const ann = await startNode(t, world, certified("cluster-node"));
  const eve = await startNode(t, world, certified("cluster-elsewhere"));
  eve.transport.send(ann.address, "let me in");
  await until("eve is refused", () => ann.transport.refused === 1);
  assert.match(ann.problems[0]!.text, /certificate that does not name it/);
  ann.transport.send(eve.address, "a secret message");
  await until("ann is told", () => ann.problems.length === 2);
  assert.match(ann.problems[1]!.text, /certificate that does not name 127\.0\.0\.1/);
  assert.deepEqual([...ann.got, ...eve.got], []);
});

test("one side with TLS and one without do not understand each other, and say so", async (t) => {
  const world = handWorld();
  const ann = await startNode(t, world, certified("cluster-node"));
  const ben = await startNode(t, world);
  ann.transport.send(ben.address, "hello");
  await until("ben is told", () => ben.problems.length === 1);
  assert.match(ben.problems[0]!.text, /TLS is on at one side only/);
  ben.transport.send(ann.address, "back");
  await until("ben is refused", () => ann.transport.refused === 1);
  assert.deepEqual([...ann.got, ...ben.got], []);
});
