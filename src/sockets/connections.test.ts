import assert from "node:assert/strict";
import http, { type ServerResponse } from "node:http";
import http2, { type Http2ServerResponse } from "node:http2";
import net, { type AddressInfo, type Server, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import tls from "node:tls";
import { type HandWorld, handWorld } from "../sim/hand-world.ts";
import { fixtureText } from "../testing/fixtures.ts";
import { localV2 } from "../testing/gateway/proxy-header.ts";
import { until } from "../testing/until.ts";
import { AwaitedHeaders } from "./awaited-headers.ts";
import {
  type ConnectionLimits,
  Connections,
  type ConnectionsOptions,
  HANDSHAKES_PER_TURN,
  OPENED_PER_TURN,
  REGULAR_AFTER_MS,
} from "./connections.ts";

const REQUEST = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
const TLS = {
  cert: fixtureText("localhost.cert.pem"),
  key: fixtureText("localhost.key.pem"),
};

interface Stage {
  readonly connections: Connections;
  readonly port: number;
  readonly world: HandWorld;
  /** Answers that are under way, the oldest first. */
  readonly answers: ServerResponse[];
  /** Connects, and waits until the server has taken or refused it. */
  client(from?: string): Promise<Client>;
}

interface Client {
  readonly socket: Socket;
  heard: string;
  isOver: boolean;
  /** Sends a request; it is answered when the stage does so, or at once. */
  ask(): Promise<void>;
}

type Options = Partial<ConnectionsOptions> & { readonly isSlow?: boolean; readonly isTls?: boolean };

async function open(
  t: TestContext,
  limits: Partial<ConnectionLimits>,
  options: Options = {},
): Promise<Stage> {
  const world = handWorld();
  const whole = { max: 100, perAddressMax: 100, ...limits };
  const connections = new Connections({ whose: "visitors", world, ...options, limits: whole });
  const answers: ServerResponse[] = [];
  const handle: http.RequestListener = (request, response) => {
    if (request.httpVersionMajor === 1) connections.use(request.socket);
    if (options.isSlow) answers.push(response);
    else response.end("answered");
  };
  const server = options.isTls
    ? http2.createSecureServer({ ...TLS, allowHTTP1: true }, handle as never)
    : http.createServer(handle);
  server.on("stream", (stream) => connections.useStream(stream));
  server.on("session", (session) => connections.openSession(session));
  server.on("upgrade", (_request, socket) => {
    connections.upgrade(socket);
    socket.write("upgraded");
  });
  connections.guard(server as Server, { isTls: options.isTls ?? false });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(() => {
    for (const socket of connections.sockets()) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const client = (from = "127.0.0.1") => connect(t, { port, from, connections });
  return { connections, port, world, answers, client };
}

async function connect(
  t: TestContext,
  { port, from, connections }: { port: number; from: string; connections: Connections },
): Promise<Client> {
  const { counts } = connections;
  const total = () => counts.open + counts.closedIdle + counts.refused.full + counts.refused.address;
  const before = total();
  const socket = net.connect({ port, host: "127.0.0.1", localAddress: from });
  const client: Client = {
    socket,
    heard: "",
    isOver: false,
    ask: async () => {
      const heard = client.heard;
      socket.write(REQUEST);
      await until(() => client.heard !== heard || client.isOver);
    },
  };
  socket.on("data", (chunk) => {
    client.heard += chunk;
  });
  socket
    .on("error", () => {})
    .on("close", () => {
      client.isOver = true;
    });
  t.after(() => socket.destroy());
  await until(() => total() > before || client.isOver);
  return client;
}

function over(clients: readonly Client[]): boolean[] {
  return clients.map(({ isOver }) => isOver);
}

test("when there is no room the longest idle connection is closed for a new one", async (t) => {
  const { client, connections } = await open(t, { max: 3 });
  const clients = [await client(), await client(), await client()];
  clients.push(await client());
  await until(() => clients[0]!.isOver);
  assert.deepEqual(over(clients), [true, false, false, false]);
  assert.equal(connections.counts.open, 3);
  assert.equal(connections.counts.closedIdle, 1);
});

test("half a header does not make a connection any less idle, however it dribbles", async (t) => {
  const { client } = await open(t, { max: 2 });
  const slow = await client();
  slow.socket.write("GET / HTTP/1.1\r\n");
  const other = await client();
  slow.socket.write("X-Slow: ");
  await client();
  await until(() => slow.isOver);
  assert.equal(other.isOver, false);
});

test("a request that has come by the time a new connection does is answered, not cut off", async (t) => {
  const { client, connections, world } = await open(t, { max: 16 });
  const clients: Client[] = [];
  for (let i = 0; i < 16; i++) clients.push(await client());
  clients[0]!.socket.write(REQUEST);
  await client();
  await until(() => clients[0]!.heard !== "");
  world.pass(0);
  await until(() => clients[1]!.isOver);
  assert.match(clients[0]!.heard, /answered$/);
  assert.equal(connections.counts.open, 16);
});

test("a request makes a connection the last to be closed", async (t) => {
  const { client } = await open(t, { max: 2 });
  const [first, second] = [await client(), await client()];
  await first.ask();
  await second.ask();
  await first.ask();
  await client();
  await until(() => second.isOver);
  assert.equal(first.isOver, false);
});

test("a flood of silent connections does not cost anyone a connection that had a request", async (t) => {
  const { client } = await open(t, { max: 10 });
  const kept = [await client(), await client(), await client()];
  for (const one of kept) await one.ask();
  for (let i = 0; i < 30; i++) await client();
  assert.deepEqual(over(kept), [false, false, false]);
});

test("a flood of connections with one request each does not push out newcomers", async (t) => {
  const { client } = await open(t, { max: 10 });
  const newcomers = [await client(), await client()];
  for (let i = 0; i < 30; i++) await (await client()).ask();
  assert.deepEqual(over(newcomers), [false, false]);
});

test("a flood of connections with requests does not push out regular visitors", async (t) => {
  const { client, world } = await open(t, { max: 12 });
  const regular = [await client(), await client(), await client()];
  for (const one of regular) await one.ask();
  world.pass(REGULAR_AFTER_MS);
  for (const one of regular) await one.ask();
  for (let i = 0; i < 30; i++) {
    const flooding = await client();
    await flooding.ask();
    await flooding.ask();
  }
  assert.deepEqual(over(regular), [false, false, false]);
});

test("an answer that is under way is never cut; when all are busy a new connection is told so", async (t) => {
  const { client, connections, answers } = await open(t, { max: 2 }, { isSlow: true });
  const busy = [await client(), await client()];
  for (const { socket } of busy) socket.write(REQUEST);
  await until(() => answers.length === 2);
  const refused = await client();
  await until(() => refused.isOver);
  assert.match(refused.heard, /^HTTP\/1\.1 503 [\s\S]*Retry-After: \d+[\s\S]*too many connections\n$/);
  assert.deepEqual(over(busy), [false, false]);
  assert.equal(connections.counts.refused.full, 1);
});

test("a connection whose answer is over can be closed again", async (t) => {
  const { client, answers } = await open(t, { max: 2 }, { isSlow: true });
  const busy = [await client(), await client()];
  for (const [index, { socket }] of busy.entries()) {
    socket.write(REQUEST);
    await until(() => answers.length === index + 1);
  }
  // Found busy, and set aside.
  const refused = await client();
  await until(() => refused.isOver);
  answers[1]!.end("answered");
  await until(() => busy[1]!.heard.endsWith("answered"));
  const taken = await client();
  await until(() => busy[1]!.isOver);
  assert.deepEqual(over([busy[0]!, taken]), [false, false]);
});

test("when all are busy, one goes whose answer is there and is not read, and no other", async (t) => {
  const { client, connections, answers } = await open(t, { max: 2 }, { isSlow: true });
  const [reading, deaf] = [await client(), await client()];
  deaf.socket.pause();
  for (const { socket } of [reading, deaf]) socket.write(REQUEST);
  await until(() => answers.length === 2);
  // Found busy, and set aside.
  const refused = await client();
  await until(() => refused.isOver);
  const isDeaf = ({ socket }: ServerResponse) => socket!.remotePort === deaf.socket.localPort;
  answers.find(isDeaf)!.end(Buffer.alloc(50_000_000));
  const taken = await eventuallyTaken(client, connections);
  assert.deepEqual(over([reading, taken]), [false, false]);
  deaf.socket.resume();
  await until(() => deaf.isOver);
});

/** A client who gets in once it is known who does not read. */
async function eventuallyTaken(client: Stage["client"], connections: Connections): Promise<Client> {
  for (;;) {
    connections.look();
    connections.look();
    const one = await client();
    if (!one.isOver && connections.counts.closedIdle > 0) return one;
    await until(() => one.isOver);
  }
}

test("the same with HTTP/2, for a connection that opens no window", async (t) => {
  const { client, connections, port, answers } = await open(t, { max: 1 }, { isTls: true, isSlow: true });
  const session = http2.connect(`https://127.0.0.1:${port}`, {
    rejectUnauthorized: false,
    settings: { initialWindowSize: 0 },
  });
  t.after(() => session.destroy());
  session.on("error", () => {});
  await new Promise((resolve) => session.once("localSettings", resolve));
  session
    .request({ ":path": "/" })
    .on("error", () => {})
    .resume();
  await until(() => answers.length === 1);
  const refused = await client();
  await until(() => refused.isOver);
  for (let looks = 0; looks < 3; looks++) connections.look();
  assert.equal(session.destroyed, false);
  const stillRefused = await client();
  await until(() => stillRefused.isOver);
  answers[0]!.end("answered");
  await eventuallyTaken(client, connections);
  await until(() => session.destroyed);
});

test("an upgraded connection is never idle", async (t) => {
  const { client } = await open(t, { max: 1 });
  const upgraded = await client();
  upgraded.socket.write("GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n");
  await until(() => upgraded.heard === "upgraded");
  const refused = await client();
  await until(() => refused.isOver);
  assert.match(refused.heard, /503/);
  assert.equal(upgraded.isOver, false);
});

test("an address that has as many as it may gives up its own, and nobody else's", async (t) => {
  const { client, connections } = await open(t, { max: 10, perAddressMax: 2 });
  const others = [await client("127.0.0.2"), await client("127.0.0.3")];
  const own = [await client(), await client(), await client(), await client()];
  await until(() => own[0]!.isOver && own[1]!.isOver);
  assert.deepEqual(over([...others, own[2]!, own[3]!]), [false, false, false, false]);
  assert.equal(connections.counts.open, 4);
});

test("an address that may have one connection has the newest, however many come", async (t) => {
  const { client, connections } = await open(t, { max: 10, perAddressMax: 1 });
  const own = [await client(), await client(), await client()];
  await until(() => own[0]!.isOver && own[1]!.isOver);
  assert.equal(own[2]!.isOver, false);
  assert.equal(connections.counts.open, 1);
});

test("an address whose connections are all busy gets no more, while others do", async (t) => {
  const { client, connections, answers } = await open(t, { max: 10, perAddressMax: 1 }, { isSlow: true });
  const busy = await client();
  busy.socket.write(REQUEST);
  await until(() => answers.length === 1);
  const refused = await client();
  await until(() => refused.isOver);
  const other = await client("127.0.0.2");
  assert.equal(other.isOver, false);
  assert.deepEqual(connections.counts.refused, { full: 0, address: 1, header: 0 });
});

test("a trusted proxy has no limit of its own, and its idle connections go last", async (t) => {
  const isTrusted = (address: string) => address === "127.0.0.9";
  const { client } = await open(t, { max: 5, perAddressMax: 1 }, { isTrusted });
  const proxy = [await client("127.0.0.9"), await client("127.0.0.9"), await client("127.0.0.9")];
  for (let i = 1; i < 8; i++) await client(`127.0.0.${i}`);
  assert.deepEqual(over(proxy), [false, false, false]);
});

test("where nothing is idle, those who have shown no right to be here can be cut off", async (t) => {
  const { client, connections, answers } = await open(t, { max: 2 }, { isSlow: true, cutsOffUnproven: true });
  const busy = [await client(), await client()];
  for (const { socket } of busy) socket.write(REQUEST);
  await until(() => answers.length === 2);
  const operator = busy.find(({ socket }) => socket.localPort === answers[0]!.socket!.remotePort)!;
  connections.prove(answers[0]!.socket!);
  const newcomer = await client();
  await until(() => busy.some(({ isOver }) => isOver));
  assert.deepEqual(over([operator, newcomer]), [false, false]);
});

test("a connection in its TLS handshake counts, and is idle", async (t) => {
  const { client } = await open(t, { max: 2 }, { isTls: true });
  const clients = [await client(), await client(), await client()];
  await until(() => clients[0]!.isOver);
  assert.deepEqual(over(clients), [true, false, false]);
});

test("a connection that is refused with TLS ends without a word", async (t) => {
  const { client, port, answers } = await open(t, { max: 1 }, { isTls: true, isSlow: true });
  const secure = tls.connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  t.after(() => secure.destroy());
  secure.on("error", () => {}).write(REQUEST);
  await until(() => answers.length === 1);
  const refused = await client();
  await until(() => refused.isOver);
  assert.equal(refused.heard, "");
  assert.equal(secure.destroyed, false);
});

test("an HTTP/2 connection is idle when it has no open stream, and busy while it has", async (t) => {
  const { client, port, answers } = await open(t, { max: 2 }, { isTls: true, isSlow: true });
  const ask = async () => {
    const session = http2.connect(`https://127.0.0.1:${port}`, { rejectUnauthorized: false });
    t.after(() => session.destroy());
    const count = answers.length;
    session.on("error", () => {});
    session
      .request({ ":path": "/" })
      .on("error", () => {})
      .resume();
    await until(() => answers.length > count);
    return session;
  };
  const [busy, idle] = [await ask(), await ask()];
  const refused = await client();
  await until(() => refused.isOver);
  const { stream } = answers[1] as unknown as Http2ServerResponse;
  answers[1]!.end("answered");
  await until(() => stream.destroyed);
  const taken = await client();
  await until(() => idle.destroyed);
  assert.equal(busy.destroyed, false);
  assert.equal(taken.isOver, false);
});

test("when handles run out idle connections are closed, and fewer are taken for a while", async (t) => {
  const { client, connections, world } = await open(t, { max: 100 });
  for (let i = 0; i < 32; i++) await client();
  const error = Object.assign(new Error("connect EMFILE"), { code: "EMFILE" });
  assert.equal(connections.ranOut(error), true);
  assert.equal(connections.counts.open, 16);
  for (let i = 0; i < 20; i++) await client();
  world.pass(0);
  assert.equal(connections.counts.open, 30, "a sixteenth of the 32 is left free");
  world.pass(60_000);
  for (let i = 0; i < 4; i++) await client();
  assert.equal(connections.counts.open, 34);
});

test("another failure to accept closes nothing", async (t) => {
  const { client, connections } = await open(t, {});
  await client();
  assert.equal(connections.ranOut(Object.assign(new Error("no"), { code: "EPERM" })), false);
  assert.equal(connections.counts.open, 1);
});

test("a lower limit closes idle connections down to it", async (t) => {
  const { client, connections } = await open(t, {});
  for (let i = 0; i < 5; i++) await client();
  connections.turnTo({ max: 2, perAddressMax: 2 });
  assert.deepEqual([connections.counts.open, connections.counts.max], [2, 2]);
});

test("what a flood causes is logged once a second, with its number", async (t) => {
  const { client, connections, world } = await open(t, { max: 2 });
  for (let i = 0; i < 12; i++) await client();
  const closed = () =>
    world.logged.filter(({ fields }) => (fields as { code: string }).code === "IDLE_CLOSED");
  assert.deepEqual(
    closed().map(({ fields }) => (fields as { count: number }).count),
    [1],
  );
  world.pass(1_000);
  connections.look();
  assert.deepEqual(
    closed().map(({ fields }) => (fields as { count: number }).count),
    [1, 9],
  );
});

test("connections that are reset before it is their turn to be served cost nothing", async (t) => {
  const due: (() => void)[] = [];
  const nextTurn = (work: () => void) => void due.push(work);
  const { connections, port, client } = await open(t, {}, { isTls: true, nextTurn });
  const count = 3 * HANDSHAKES_PER_TURN;
  const sockets = Array.from({ length: count }, () => net.connect(port, "127.0.0.1"));
  await until(() => connections.counts.open === count);
  for (const socket of sockets) socket.resetAndDestroy();
  await until(() => connections.counts.open === 0);
  while (due.length > 0) due.shift()!();
  assert.equal((await client()).isOver, false);
});

test("a connection that ends behind its PROXY header, before it is its turn to be served, is over", async (t) => {
  const due: (() => void)[] = [];
  const { connections, client } = await open(
    t,
    {},
    {
      nextTurn: (work) => void due.push(work),
      isTrusted: () => true,
      headers: new AwaitedHeaders({ isOn: true, timeoutMs: 1_000 }, handWorld().clock),
    },
  );
  for (let count = 0; count < OPENED_PER_TURN; count++) (await client()).socket.write(localV2());
  const isRead = ({ bytesRead }: Socket) => bytesRead > 0;
  await until(() => [...connections.sockets()].every(isRead));
  (await client()).socket.end(localV2());
  const ended = () => [...connections.sockets()].filter(({ readableEnded }) => readableEnded);
  await until(() => ended().length === 1);
  const [last] = ended();
  assert.equal(last!.destroyed, false);
  while (due.length > 0) due.shift()!();
  assert.equal(last!.destroyed, true);
});
