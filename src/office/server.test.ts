/** The office over real sockets: what only a real connection can show. */
import assert from "node:assert/strict";
import { once } from "node:events";
import { request as httpRequest } from "node:http";
import { connect, type Socket } from "node:net";
import { afterEach, test } from "node:test";
import { ID_BYTES } from "../core/id.ts";
import { readMetrics } from "../testing/office/prometheus-text.ts";
import { DESK_TOKEN, read, type Scene, scene } from "../testing/office/scene.ts";
import { recordText } from "../testing/record-text.ts";
import { FAILURES_MAX } from "./attempts.ts";
import { BODY_BYTES_MAX } from "./body.ts";
import { STRICT_HEADERS } from "./guard.ts";
import { CLOSE_MAX_MS, type ListeningOffice, listenOffice } from "./server.ts";

const AUTHORIZATION = { authorization: `Bearer ${DESK_TOKEN}` };
const OWN_REQUEST = globalThis.Request;
const OWN_RESPONSE = globalThis.Response;
const open: ListeningOffice[] = [];

afterEach(async () => {
  for (const listening of open.splice(0)) await listening.close();
});

interface Live extends Scene {
  readonly listening: ListeningOffice;
  readonly base: string;
}

async function live(given?: Scene): Promise<Live> {
  const on = given ?? (await scene());
  const listening = await listenOffice(on.office, { host: "127.0.0.1", port: 0 });
  open.push(listening);
  return { ...on, listening, base: `http://127.0.0.1:${listening.address.port}` };
}

/** Sends bytes as they are and gives everything that comes back until the other side closes. */
async function sendRaw({ listening }: Live, text: string): Promise<string> {
  const socket = await connected(listening);
  socket.write(text);
  return everything(socket);
}

async function connected({ address }: ListeningOffice): Promise<Socket> {
  const socket = connect(address.port, address.host);
  await once(socket, "connect");
  return socket;
}

async function everything(socket: Socket): Promise<string> {
  let text = "";
  socket.setEncoding("utf8").on("data", (piece) => {
    text += piece;
  });
  await once(socket, "close");
  return text;
}

test("port 0 becomes a real port and the office answers there", async () => {
  const { base, listening } = await live();
  assert.ok(listening.address.port > 0);
  assert.equal(listening.address.host, "127.0.0.1");
  const response = await fetch(`${base}/healthz`);
  assert.equal(response.status, 200);
  assert.equal(response.headers.get("content-type"), "application/json");
  for (const [name, value] of Object.entries(STRICT_HEADERS)) assert.equal(response.headers.get(name), value);
});

test("a day in the office: look, change, pause, open, revoke, rotate, scrape", async () => {
  const { base, desk, engine } = await live();
  const entered = await engine.join("main");
  assert.ok(entered.kind === "entered");
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(base + path, { ...init, headers: { ...AUTHORIZATION, "content-type": "application/json" } });
  assert.equal((await ask("/rooms")).status, 200);
  const patched = await ask("/rooms/main", { method: "PATCH", body: '{"newUsersPerMinute": 60}' });
  assert.equal(patched.status, 200);
  assert.equal(desk.room("main")!.newUsersPerMinute, 60);
  assert.equal((await ask("/rooms/main/pause", { method: "POST", body: '{"message": "Tea."}' })).status, 200);
  assert.equal(desk.room("main")!.message, "Tea.");
  const opened = await fetch(`${base}/rooms/main/open`, { method: "POST", headers: AUTHORIZATION });
  assert.equal(opened.status, 200, "no body, no content type");
  assert.equal(desk.room("main")!.paused, false);
  const revoked = await ask(`/rooms/main/sessions/${entered.pass.id}`, { method: "DELETE" });
  assert.equal(revoked.status, 204);
  assert.equal((await ask("/keys/rotate", { method: "POST" })).status, 200);
  const families = readMetrics(await (await ask("/metrics")).text());
  assert.equal(
    families.get("fairgate_room_revoked_total")!.samples.get('fairgate_room_revoked_total{room="main"}'),
    1,
  );
});

test("a long record of a draw comes whole, and one that is broken off harms nobody", async () => {
  const on = await scene({
    rooms: {
      main: {
        totalActiveUsers: 2,
        events: [
          {
            name: "sale",
            prequeueStartTime: "2026-12-01T09:00:00Z",
            eventStartTime: "2026-12-01T10:00:00Z",
            eventEndTime: "2026-12-01T12:00:00Z",
            shuffleAtEventStart: true,
          },
        ],
      },
    },
  });
  const size = 200_000;
  const ids = Uint8Array.from({ length: size * ID_BYTES }, (_, index) => (index * 7) % 251);
  const record = { ...on.engine.draw("main", "sale")!, seed: "00".repeat(32), drawnAt: 0, size, ids };
  on.engine.draw = () => record;
  const { base } = await live(on);
  const ask = (signal?: AbortSignal) =>
    fetch(`${base}/rooms/main/draws/sale`, { headers: AUTHORIZATION, ...(signal ? { signal } : {}) });
  const leaving = new AbortController();
  const broken = await ask(leaving.signal);
  await broken.body!.getReader().read();
  leaving.abort();
  assert.equal(await (await ask()).text(), recordText("main", record));
});

test("wrong tokens are counted by the address of the connection, whatever headers say", async () => {
  const { base } = await live();
  for (let i = 0; i < FAILURES_MAX; i++) {
    const headers = {
      authorization: "Bearer wrong",
      "x-forwarded-for": `10.0.0.${i}`,
      forwarded: `for=10.0.0.${i}`,
    };
    assert.equal((await fetch(`${base}/rooms`, { headers })).status, 401);
  }
  const wrong = { authorization: "Bearer wrong" };
  assert.equal((await fetch(`${base}/rooms`, { headers: wrong })).status, 429);
  assert.equal((await fetch(`${base}/rooms`, { headers: AUTHORIZATION })).status, 200);
});

test("a foreign host name is refused, as after DNS rebinding", async () => {
  const on = await live();
  const answer = await sendRaw(
    on,
    "GET /healthz HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
  );
  assert.match(answer, /^HTTP\/1\.1 403 /);
  assert.match(answer, /wrong_host/);
});

test("a host or address that makes no sense is refused in JSON, with the strict headers", async () => {
  const on = await live();
  for (const head of [
    "GET /healthz HTTP/1.1\r\nHost: a b\r\n",
    "GET /healthz HTTP/1.1\r\nHost: localhost@evil.example\r\n",
    "GET http://[ HTTP/1.1\r\nHost: localhost\r\n",
  ]) {
    const answer = await sendRaw(on, `${head}Connection: close\r\n\r\n`);
    assert.match(answer, /^HTTP\/1\.1 400 /, head);
    assert.match(answer, /"bad_request"/);
    assert.match(answer, /cache-control: no-store/i);
  }
});

test("a body over the limit is refused, with its length told or not", async () => {
  const { base, desk } = await live();
  const body = JSON.stringify({ message: "x".repeat(BODY_BYTES_MAX) });
  for (const chunked of [false, true]) {
    const response = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(
        `${base}/rooms/main`,
        {
          method: "PATCH",
          agent: false,
          headers: {
            ...AUTHORIZATION,
            "content-type": "application/json",
            ...(chunked ? { "transfer-encoding": "chunked" } : { "content-length": body.length }),
          },
        },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      );
      request.on("error", reject);
      request.end(body);
    });
    assert.equal(response, 413, chunked ? "chunked" : "with its length");
  }
  assert.equal(desk.room("main")!.message, "");
});

test("a chunked body within the limit is read", async () => {
  const { base, desk } = await live();
  const body = new ReadableStream({
    start(controller) {
      for (const piece of ['{"mess', 'age": "In ', 'pieces."}']) controller.enqueue(Buffer.from(piece));
      controller.close();
    },
  });
  const headers = { ...AUTHORIZATION, "content-type": "application/json" };
  const response = await fetch(`${base}/rooms/main`, { method: "PATCH", headers, body, duplex: "half" });
  assert.equal(response.status, 200, await response.clone().text());
  assert.equal(desk.room("main")!.message, "In pieces.");
});

test("an unauthorised caller's body is not waited for", async () => {
  const on = await live();
  const socket = await connected(on.listening);
  socket.write("PATCH /rooms/main HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n");
  const [answer] = await once(socket, "data");
  assert.match(String(answer), /^HTTP\/1\.1 401 /);
  socket.destroy();
});

test("the program's own Request and Response are left alone", async () => {
  const { base } = await live();
  assert.equal((await fetch(`${base}/healthz`)).status, 200);
  assert.equal(globalThis.Request, OWN_REQUEST);
  assert.equal(globalThis.Response, OWN_RESPONSE);
});

test("closing finishes what is under way and takes nothing new", async () => {
  const { base, desk, listening } = await live();
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const { promise: rotated, resolve: rotate } = Promise.withResolvers<{ id: string }>();
  desk.rotateKeys = () => {
    isAsked();
    return rotated;
  };
  const answer = fetch(`${base}/keys/rotate`, { method: "POST", headers: AUTHORIZATION });
  await asked;
  let isClosed = false;
  const closing = listening.close().then(() => {
    isClosed = true;
  });
  await assert.rejects(fetch(`${base}/healthz`), "no new connection");
  assert.equal(isClosed, false);
  rotate({ id: "0b" });
  assert.equal((await answer).headers.get("connection"), "close", "or the connection would stay open");
  assert.deepEqual(await read<{ id: string }>(await answer), { id: "0b" });
  await closing;
  assert.equal(listening.close() instanceof Promise, true, "closing again is no error");
});

test("closing does not wait for idle connections", async () => {
  const { base, listening } = await live();
  const idle = await connected(listening);
  idle.write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  await once(idle, "data");
  await (await fetch(`${base}/healthz`)).text();
  const isOver = once(idle, "close");
  await listening.close();
  await isOver;
});

test("closing cuts off, after a set time, a request that never ends", async () => {
  const { world, listening } = await live();
  const slow = await connected(listening);
  slow.on("error", () => {});
  slow.write(`PATCH /rooms/main HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${DESK_TOKEN}\r\n`);
  slow.write("Content-Type: application/json\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n");
  await once(slow, "data");
  let isClosed = false;
  const closing = listening.close().then(() => {
    isClosed = true;
  });
  world.pass(CLOSE_MAX_MS - 1);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isClosed, false);
  world.pass(1);
  await closing;
});

test("starting the office on an address in use fails", async () => {
  const { office, listening } = await live();
  await assert.rejects(listenOffice(office, { host: "127.0.0.1", port: listening.address.port }), {
    code: "EADDRINUSE",
  });
});
