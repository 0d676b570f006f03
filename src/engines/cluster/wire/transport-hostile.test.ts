/** Nodes beside those who do not keep to the protocol: strangers with nothing to prove, and peers that misbehave. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import net, { type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import { setTimeout as sleep, setImmediate as turn } from "node:timers/promises";
import { type HandWorld, handWorld } from "../../../sim/hand-world.ts";
import { FRAME_BYTES_MAX, FrameReader, lengthPrefix, receiptFor } from "./frames.ts";
import { AcceptorHandshake, DiallerHandshake, type SessionKeys, type Step, secretKey } from "./handshake.ts";
import { packMessages, unpackMessages } from "./packing.ts";
import { openerWith, sealerWith } from "./seal.ts";
import { QUEUE_BYTES_MAX } from "./send-queue.ts";
import { STRANGERS_MAX } from "./strangers.ts";
import { openTransport, type Transport } from "./transport.ts";

const HOST = "127.0.0.1";
const SECRET = "a secret of the whole cluster";
/** Far longer than sockets take, however busy the machine is. */
const GIVE_UP_MS = 180_000;
const PEER = "10.0.0.9:7100";

interface Node {
  readonly transport: Transport;
  readonly got: unknown[];
  readonly problems: string[];
}

async function startNode(t: TestContext, world: HandWorld): Promise<Node> {
  const settings = { listen: { host: HOST, port: 0 }, address: `${HOST}:0`, secret: SECRET, tls: null };
  const got: unknown[] = [];
  const problems: string[] = [];
  const transport = await openTransport(
    settings,
    { onMessage: (_, message) => got.push(message), onProblem: ({ text }) => problems.push(text) },
    world,
  );
  t.after(() => transport.close());
  return { transport, got, problems };
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

/** A socket to or from a node, with nothing behind it but the test. */
class Raw {
  readonly socket: Socket;
  readonly frames: Buffer[] = [];
  bytes = 0;
  readonly #reader = new FrameReader(2 ** 30);

  constructor(t: TestContext, socket: Socket) {
    this.socket = socket.on("error", () => {});
    socket.on("data", (piece: Buffer) => {
      this.bytes += piece.length;
      this.#reader.push(piece);
      for (let body = this.#reader.next(); body instanceof Buffer; body = this.#reader.next())
        this.frames.push(body);
    });
    t.after(() => socket.destroy());
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  write(body: Buffer): void {
    this.socket.write(Buffer.concat([lengthPrefix(body.length), body]));
  }

  /** A frame, once it has come; rejects when the connection ends before. */
  async frame(index: number): Promise<Buffer> {
    await until(`frame ${index}`, () => this.frames.length > index || this.isClosed);
    assert.ok(this.frames[index], "closed");
    return this.frames[index];
  }
}

const knock = (t: TestContext, { transport }: Node) => new Raw(t, net.connect(transport.port, HOST));

function agreed(step: Step): SessionKeys {
  assert.equal(step.kind, "agreed");
  return (step as Step & { kind: "agreed" }).keys;
}

/** A peer that has dialled the node and was let in. */
async function dialAs(t: TestContext, node: Node, self = PEER): Promise<{ raw: Raw; keys: SessionKeys }> {
  const raw = knock(t, node);
  const options = { self, peer: node.transport.address, secret: secretKey(SECRET), nonce: randomBytes(32) };
  const handshake = new DiallerHandshake(options);
  raw.write(handshake.hello);
  raw.write(handshake.receive(await raw.frame(0)).frame!);
  return { raw, keys: agreed(handshake.receive(await raw.frame(1))) };
}

/** A peer that lets the node in and then reads nothing unless told to. */
class Sluggard {
  readonly raws: Raw[] = [];
  readonly messages: unknown[] = [];
  keys: SessionKeys | null = null;
  #open: (frame: Buffer) => Buffer | null = () => null;
  readonly #server: net.Server;

  constructor(t: TestContext) {
    this.#server = net.createServer((socket) => void this.#letIn(new Raw(t, socket)).catch(() => {}));
    t.after(() => this.#server.close());
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, HOST, resolve));
  }

  get address(): string {
    return `${HOST}:${(this.#server.address() as net.AddressInfo).port}`;
  }

  async #letIn(raw: Raw): Promise<void> {
    const options = { self: this.address, secret: secretKey(SECRET), nonce: randomBytes(32) };
    const handshake = new AcceptorHandshake(options);
    raw.write(handshake.receive(await raw.frame(0)).frame!);
    const welcome = handshake.receive(await raw.frame(1));
    raw.socket.pause();
    raw.write(welcome.frame!);
    this.raws.push(raw);
    this.keys = agreed(welcome);
    this.#open = openerWith(this.keys.messages).open;
  }

  /** Reads what has come by now. */
  read(): void {
    const [raw] = this.raws;
    for (const frame of raw!.frames.splice(2)) this.messages.push(...unpackMessages(this.#open(frame)!)!);
  }
}

test("garbage closes the connection without a word, and is counted", async (t) => {
  const node = await startNode(t, handWorld());
  const garbage = ["GET / HTTP/1.1\r\n\r\n", Buffer.alloc(64), Buffer.of(0, 0, 0, 1, 0), randomBytes(2_000)];
  for (const [i, bytes] of garbage.entries()) {
    const stranger = knock(t, node);
    stranger.socket.write(bytes);
    await until("the end", () => stranger.isClosed && node.transport.refused === i + 1);
    assert.equal(stranger.bytes, 0);
  }
  assert.match(node.problems[0]!, /does not speak the Fairgate peer protocol/);
  assert.deepEqual(node.got, []);
});

test("a stranger who sends nothing is disconnected in time", async (t) => {
  const world = handWorld();
  const node = await startNode(t, world);
  const stranger = knock(t, node);
  await dialAs(t, node);
  assert.equal(stranger.isClosed, false);
  world.pass(3_500);
  await until("the end", () => stranger.isClosed);
  assert.equal(node.transport.refused, 1);
  assert.match(node.problems[0]!, /took too long to say who it is/);
});

test("a crowd of strangers keeps no peer out, and is never larger than its limit", async (t) => {
  const node = await startNode(t, handWorld());
  const crowd = Array.from({ length: STRANGERS_MAX + 10 }, () => knock(t, node));
  await until("some are sent away", () => node.transport.refused === 10);
  const { raw, keys } = await dialAs(t, node);
  raw.write(Buffer.concat(sealerWith(keys.messages).seal(packMessages(["hello"])!)));
  await until("the peer's message", () => node.got.length === 1);
  await until("they know", () => crowd.filter(({ isClosed }) => isClosed).length === 11);
  assert.equal(node.transport.refused, 11);
});

/** Strangers who say nothing, from these addresses, all of them noticed. */
async function crowd(t: TestContext, { transport }: Node, hosts: readonly string[]): Promise<void> {
  for (const localAddress of hosts) {
    const { socket } = new Raw(t, net.connect({ port: transport.port, host: HOST, localAddress }));
    await new Promise((resolve) => socket.once("connect", resolve));
  }
}

/** Completes a handshake that has begun. */
async function proceed(raw: Raw, handshake: DiallerHandshake): Promise<SessionKeys> {
  raw.write(handshake.receive(await raw.frame(0)).frame!);
  return agreed(handshake.receive(await raw.frame(1)));
}

function begin(t: TestContext, node: Node): { raw: Raw; handshake: DiallerHandshake } {
  const raw = knock(t, node);
  const options = {
    self: PEER,
    peer: node.transport.address,
    secret: secretKey(SECRET),
    nonce: randomBytes(32),
  };
  const handshake = new DiallerHandshake(options);
  raw.write(handshake.hello);
  return { raw, handshake };
}

test("a crowd from one host does not push out a peer from another that is proving who it is", async (t) => {
  const node = await startNode(t, handWorld());
  const { raw, handshake } = begin(t, node);
  await raw.frame(0);
  await crowd(t, node, Array(3 * STRANGERS_MAX).fill("127.0.0.2"));
  await proceed(raw, handshake);
});

test("a crowd from everywhere does not push out someone from a host that a peer came from before", async (t) => {
  const node = await startNode(t, handWorld());
  (await dialAs(t, node)).raw.socket.destroy();
  const { raw, handshake } = begin(t, node);
  await raw.frame(0);
  await crowd(
    t,
    node,
    Array.from({ length: 3 * STRANGERS_MAX }, (_, n) => `127.0.3.${n + 1}`),
  );
  await proceed(raw, handshake);
});

test("a stranger may not send more than a hello", async (t) => {
  const node = await startNode(t, handWorld());
  const stranger = knock(t, node);
  stranger.socket.write(lengthPrefix(1_025));
  await until("the end", () => stranger.isClosed);
  assert.equal(node.transport.refused, 1);
});

test("a frame that is too big ends a peer's connection at once", async (t) => {
  const node = await startNode(t, handWorld());
  const { raw } = await dialAs(t, node);
  raw.socket.write(lengthPrefix(FRAME_BYTES_MAX + 1));
  await until("the end", () => raw.isClosed && node.transport.refused === 1);
  assert.match(node.problems[0]!, /10\.0\.0\.9:7100\) sent a frame of more than 16777216 bytes/);
});

test("a peer's frame that holds no messages ends its connection, and earlier messages stay", async (t) => {
  const node = await startNode(t, handWorld());
  const { raw, keys } = await dialAs(t, node);
  const sealer = sealerWith(keys.messages);
  raw.write(Buffer.concat(sealer.seal(packMessages(["one", "two"])!)));
  raw.write(Buffer.concat(sealer.seal(Buffer.from("no messages"))));
  raw.write(Buffer.concat(sealer.seal(packMessages(["three"])!)));
  await until("the end", () => raw.isClosed && node.transport.refused === 1);
  assert.deepEqual(node.got, ["one", "two"]);
});

test("frames under the key of the other direction are refused", async (t) => {
  const node = await startNode(t, handWorld());
  const { raw, keys } = await dialAs(t, node);
  raw.write(Buffer.concat(sealerWith(keys.receipts).seal(packMessages(["one"])!)));
  await until("the end", () => raw.isClosed && node.transport.refused === 1);
  assert.deepEqual(node.got, []);
});

test("a newer connection of a peer ends its older one, and no other's", async (t) => {
  const node = await startNode(t, handWorld());
  const [older, other] = [await dialAs(t, node), await dialAs(t, node, "10.0.0.8:7100")];
  const newer = await dialAs(t, node);
  await until("the older one ends", () => older.raw.isClosed);
  for (const { raw, keys } of [newer, other])
    raw.write(Buffer.concat(sealerWith(keys.messages).seal(packMessages(["here"])!)));
  await until("messages", () => node.got.length === 2);
  assert.equal(node.transport.refused, 0);
});

test("for a peer that does not read, memory stays bounded, the oldest messages are dropped, and the rest keep their order", async (t) => {
  const world = handWorld();
  const node = await startNode(t, world);
  const slow = new Sluggard(t);
  await slow.listen();
  node.transport.send(slow.address, 0);
  await until("a connection", () => slow.raws.length === 1);
  const text = "x".repeat(100_000);
  const count = 400;
  for (let number = 1; number <= count; number++) {
    node.transport.send(slow.address, [number, text]);
    if (number % 4 === 0) await turn();
  }
  await turn();
  const [state] = node.transport.peers();
  assert.ok(state!.isConnected);
  assert.ok(state!.queuedBytes <= QUEUE_BYTES_MAX + 1_000_000, `${state!.queuedBytes} bytes`);
  assert.ok(state!.dropped > 0);
  slow.raws[0]!.socket.resume();
  const numbers = () => slow.messages.slice(1).map((message) => (message as [number])[0]);
  await until("the last message", () => {
    slow.read();
    return numbers().at(-1) === count;
  });
  assert.deepEqual(
    numbers(),
    numbers().toSorted((a, b) => a - b),
  );
  assert.equal(numbers().length, count - state!.dropped);
  assert.equal(node.transport.peers()[0]!.queuedBytes, 0);
});

test("a peer that accepts a connection and says nothing is given up in time", async (t) => {
  const world = handWorld();
  const node = await startNode(t, world);
  const mute = net.createServer((socket) => void new Raw(t, socket));
  t.after(() => mute.close());
  await new Promise<void>((resolve) => mute.listen(0, HOST, resolve));
  const address = `${HOST}:${(mute.address() as net.AddressInfo).port}`;
  node.transport.send(address, "hello?");
  await until("it is given up", () => node.problems.length === 1, world);
  assert.equal(node.problems[0], `${address} does not answer`);
});

test("a peer that acknowledges nothing is given up, and dialled again", async (t) => {
  const world = handWorld();
  const node = await startNode(t, world);
  const deaf = new Sluggard(t);
  await deaf.listen();
  node.transport.send(deaf.address, "hello?");
  await until("a connection", () => deaf.raws.length === 1);
  await until("another", () => deaf.raws.length === 2, world);
  assert.ok(node.problems.includes(`${deaf.address} does not acknowledge our messages any more`));
});

/** Without a growing pause these would take a second or two. */
const DIALS = 12;

test("a peer that accepts us and hangs up is dialled ever more rarely", async (t) => {
  const world = handWorld();
  const node = await startNode(t, world);
  const moody = new Sluggard(t);
  await moody.listen();
  node.transport.send(moody.address, "hello?");
  const from = world.clock.now();
  const hangUp = () => {
    for (const { socket } of moody.raws) socket.destroy();
    return moody.raws.length >= DIALS;
  };
  await until("it is dialled again and again", hangUp, world);
  const tookMs = world.clock.now() - from;
  assert.ok(tookMs > 5_000, `${DIALS} times in ${tookMs} ms`);
});

test("a malformed receipt, or one for more than was sent, ends the connection", async (t) => {
  const sealed = ({ receipts }: SessionKeys) => Buffer.concat(sealerWith(receipts).seal(receiptFor(99)));
  for (const lie of [() => Buffer.from("heard everything"), sealed]) {
    const node = await startNode(t, handWorld());
    const liar = new Sluggard(t);
    await liar.listen();
    node.transport.send(liar.address, "hello?");
    await until("a connection", () => liar.raws.length === 1);
    liar.raws[0]!.write(lie(liar.keys!));
    await until("it is seen", () => node.problems.length === 1);
    assert.equal(node.problems[0], `${liar.address} sent an invalid receipt`);
  }
});
