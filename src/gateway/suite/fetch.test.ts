/**
 * Fairgate before sites that speak the Fetch API: an app of Hono's on its own server, and a bare function on a server that
 * bridges `node:http` by hand. Everything here is asked of both.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import { stripTypeScriptTypes } from "node:module";
import net, { type AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type TestContext, test } from "node:test";
import { createAdaptorServer } from "@hono/node-server";
import { Hono } from "hono";
import type { RoomInput, SettingsInput } from "../../config/schema.ts";
import { MemoryEngine } from "../../engines/memory/memory-engine.ts";
import { createFetchGateway, type FetchGatewayOptions } from "../../fetch.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import { accessLines } from "../../testing/access-lines.ts";
import { checked, SLOT_FREE_MS, STAGE_SECRET } from "../../testing/gateway/stage.ts";
import { assertWaitingPage, JSON_CLIENT, PAGE, Visitor } from "../../testing/gateway/visitor.ts";
import { WatchedEngine } from "../../testing/gateway/watched-engine.ts";
import { until } from "../../testing/until.ts";
import { AccessLog } from "../access-log/access-log.ts";
import { FetchAdapter, type Site } from "../adapters/fetch.ts";
import { ProxiedGateway } from "../proxied-gateway.ts";

type Serve = (fetch: (request: Request, incoming: IncomingMessage) => Promise<Response>) => http.Server;

/** As a server of its own would do it that knows the Fetch API. */
const bareServer: Serve = (fetch) =>
  http.createServer((incoming, outgoing) => {
    void bridge(fetch, incoming, outgoing).catch(() => outgoing.destroy());
  });

async function bridge(
  fetch: Parameters<Serve>[0],
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const left = new AbortController();
  outgoing.on("close", () => outgoing.writableFinished || left.abort());
  const { method = "GET", rawHeaders } = incoming;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  const body = method === "GET" || method === "HEAD" ? null : (Readable.toWeb(incoming) as ReadableStream);
  const url = `http://${incoming.headers.host}${incoming.url}`;
  const request = new Request(url, { method, headers, body, duplex: "half", signal: left.signal });
  const response = await fetch(request, incoming);
  outgoing.writeHead(response.status, [...response.headers].flat());
  outgoing.flushHeaders();
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body as ReadableStream), outgoing);
}

const honoServer: Serve = (fetch) =>
  createAdaptorServer({
    // Other tests of this process want their own; the example in docs/library.md runs with what this does by default.
    overrideGlobalObjects: false,
    fetch: (request, { incoming }) => fetch(request, incoming as IncomingMessage),
  }) as http.Server;

/** The site as an app of Hono's, and as a function. */
const SITES: Readonly<Record<string, { serve: Serve; asApp: (site: Site) => Site }>> = {
  "an app of Hono's": {
    serve: honoServer,
    asApp: (site) => {
      const app = new Hono();
      app.all("*", (c) => site(c.req.raw));
      return (request) => app.fetch(request);
    },
  },
  "a bare function": { serve: bareServer, asApp: (site) => site },
};

const SILENT = { debug() {}, info() {}, warn() {}, error() {} };

interface FetchStage {
  readonly port: number;
  readonly world: HandWorld;
  readonly engine: WatchedEngine;
  readonly proxied: ProxiedGateway;
  readonly lines: { readonly [field: string]: unknown }[];
  /** Requests as the site got them. */
  readonly seen: Request[];
  visitor(): Visitor;
  occupant(): Promise<Visitor>;
  underWay(): number;
}

interface StageInput {
  readonly room?: RoomInput;
  readonly settings?: Partial<SettingsInput>;
  readonly site?: Site;
}

function describeBoth(
  what: string,
  work: (t: TestContext, open: (input?: StageInput) => Promise<FetchStage>) => Promise<void>,
) {
  for (const [name, { serve, asApp }] of Object.entries(SITES))
    test(`before ${name}: ${what}`, (t) =>
      work(t, (input = {}) => openFetchStage(t, serve, { ...input, site: asApp(input.site ?? theSite) })));
}

const theSite: Site = () => new Response("the site", { headers: { "content-type": "text/html" } });

async function openFetchStage(
  t: TestContext,
  serve: Serve,
  { room, settings, site }: StageInput,
): Promise<FetchStage> {
  const world = handWorld();
  const engine = new WatchedEngine(new MemoryEngine(world));
  const inForce = checked({
    secret: STAGE_SECRET,
    origin: { addresses: ["http://127.0.0.1:1"] },
    rooms: { main: { totalActiveUsers: 1, newcomerDuration: "1d", ...room } },
    ...settings,
  });
  const proxied: ProxiedGateway = await ProxiedGateway.open({ settings: inForce, engine, world });
  const lines: FetchStage["lines"] = [];
  const accessLog = new AccessLog(world.clock, () => proxied.gateway.trust);
  const lineOf = accessLines("json");
  accessLog.sink = { add: (finished) => lines.push(JSON.parse(lineOf(finished))) };
  const adapter = new FetchAdapter<IncomingMessage>({
    ...{ gateway: proxied.gateway, world, accessLog },
    address: (_request, incoming) => incoming.socket.remoteAddress,
  });
  const seen: Request[] = [];
  let underWay = 0;
  const counted: Site = async (request) => {
    seen.push(request);
    return site!(request);
  };
  const { depart } = proxied.gateway;
  proxied.gateway.depart = (...given) => {
    const over = depart.apply(proxied.gateway, given);
    if (typeof over !== "function") return over;
    underWay++;
    return (isGivenUp) => {
      underWay--;
      over(isGivenUp);
    };
  };
  const server = serve((request, incoming) => adapter.handle(request, counted, incoming));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.after(async () => {
    engine.broken = null;
    proxied.gateway.closeStreams();
    server.closeAllConnections();
    server.close();
    await proxied.close();
    await engine.close();
  });
  const { port } = server.address() as AddressInfo;
  const stage: FetchStage = {
    ...{ port, world, engine, proxied, lines, seen },
    visitor: () => new Visitor(port, t),
    occupant: async () => {
      const visitor = stage.visitor();
      assert.ok(await visitor.isIn());
      return visitor;
    },
    underWay: () => underWay,
  };
  return stage;
}

describeBoth("a whole visit, from the line to the site and out again", async (_t, open) => {
  const stage = await open();
  const occupant = await stage.occupant();
  const visitor = stage.visitor();
  assertWaitingPage(await visitor.open());
  const { headers } = await visitor.open();
  assert.equal(headers["fairgate-status"], "waiting");
  stage.world.pass(1_000);
  const board = await visitor.ask("/.fairgate/main/board");
  assert.equal(JSON.parse(board.text).waiting, 1);
  assert.match(board.headers["cache-control"]!, /public/);
  assert.equal((await visitor.call("check-in")).ahead, 0);
  const events = await visitor.listen();
  assert.deepEqual(
    [events.status, events.headers["content-type"]],
    [200, "text/event-stream; charset=utf-8"],
  );
  await events.heard("board");
  await occupant.call("leave");
  stage.world.pass(1_000);
  await events.heard("turn");
  assert.equal((await visitor.call("enter")).status, "entered");
  assert.ok(await visitor.isIn("/shop?a=1"));
  const got = stage.seen.at(-1)!;
  assert.equal(new URL(got.url).pathname, "/shop");
  assert.match(got.headers.get("fairgate-visitor")!, /^[0-9a-f]{32}$/);
  assert.equal(got.headers.get("fairgate-room"), "main");
  assert.equal(got.headers.get("cookie"), null);
  assert.equal((await visitor.call("leave")).status, "left");
  assert.equal(visitor.token(), undefined);
  events.hangUp();
  await until(() => stage.proxied.gateway.traffic.sseConnections === 0, "the end of the stream");
  assert.equal(stage.underWay(), 0);
});

describeBoth("a visitor who waits is told so in the form they asked for", async (_t, open) => {
  const stage = await open();
  await stage.occupant();
  const program = await stage.visitor().ask("/api", { headers: JSON_CLIENT });
  assert.deepEqual([program.status, JSON.parse(program.text).status], [429, "waiting"]);
  assert.equal(program.headers["cache-control"], "no-store");
  const [cookie] = program.headers["set-cookie"]!;
  assert.match(cookie!, /^fairgate_main=\S+; Max-Age=\d+; Path=\/; HttpOnly; SameSite=Lax$/i);
  const picture = await stage.visitor().ask("/a.png", { headers: { accept: "image/*" } });
  assert.deepEqual([picture.status, picture.text], [429, "Waiting room: it is not your turn yet.\n"]);
  const form = await stage.visitor().ask("/buy", { method: "POST", headers: PAGE, body: "seat=7" });
  assert.equal(form.status, 429);
  assert.match(form.text, /fairgate-data/);
  const head = await stage.visitor().ask("/", { method: "HEAD", headers: PAGE });
  assert.deepEqual([head.status, head.text], [200, ""]);
  assert.ok(Number(head.headers["content-length"]) > 1_000);
  assert.equal((await stage.visitor().ask("/.fairgate/main/nothing")).status, 404);
  assert.equal((await stage.visitor().ask("/.fairgate/main/join")).status, 405);
  assert.equal(stage.seen.length, 1);
});

describeBoth("behind a proxy with TLS the cookie is for https alone", async (_t, open) => {
  const stage = await open({ settings: { trustedProxies: ["127.0.0.1"] } });
  const answer = await stage
    .visitor()
    .open("/", { "x-forwarded-proto": "https", "x-forwarded-for": "203.0.113.9" });
  assert.match(answer.headers["set-cookie"]![0]!, /^__Host-fairgate_main=.*; Secure/i);
  await until(() => stage.lines.length === 1, "the line of the access log");
  assert.equal(stage.lines[0]!.address, "203.0.113.9");
});

describeBoth("the site cannot be told lies, nor see our cookies", async (_t, open) => {
  const stage = await open();
  const visitor = stage.visitor();
  visitor.cookies.set("own", "1");
  for (let i = 0; i < 2; i++)
    await visitor.open("/told", {
      ...{ "Fairgate-Visitor": "0".repeat(32), Fairgate_Room: "vip", "Fairgate-Pass": "x" },
      ...{ "X-Original-URL": "/admin", "X-Forwarded-Host": "elsewhere.example" },
    });
  assert.equal(stage.seen.length, 2);
  for (const { headers } of stage.seen) {
    assert.equal(headers.get("cookie"), "own=1");
    assert.equal(headers.get("fairgate-room"), "main");
    assert.notEqual(headers.get("fairgate-visitor"), "0".repeat(32));
    for (const name of ["fairgate-pass", "fairgate_room", "x-original-url"])
      assert.equal(headers.get(name), null);
    assert.equal(headers.get("x-forwarded-host"), `127.0.0.1:${stage.port}`);
  }
});

describeBoth("the site's path is the one that was routed", async (_t, open) => {
  const stage = await open({
    settings: {
      oddPaths: "normalize",
      rooms: { drop: { path: "/drop", totalActiveUsers: 5 }, rest: { path: "/", totalActiveUsers: 5 } },
    },
  });
  await stage.visitor().open("/a//drop/%61?x=%2F");
  await stage.visitor().open("//drop/1");
  assert.deepEqual(
    stage.seen.map(
      ({ url, headers }) => `${new URL(url).pathname} ${new URL(url).search} ${headers.get("fairgate-room")}`,
    ),
    ["/a/drop/a ?x=%2F rest", "/drop/1  drop"],
  );
});

describeBoth(
  "whatever the site says, the visitor gets the pass, and no shared cache keeps it",
  async (_t, open) => {
    const stage = await open({
      site: () => {
        const headers = new Headers({
          "Cache-Control": "public, max-age=600",
          "CDN-Cache-Control": "max-age=9",
        });
        headers.append("Set-Cookie", "own=1");
        headers.append("Set-Cookie", "fairgate_main=forged");
        return new Response("the site", { status: 201, headers });
      },
    });
    const visitor = stage.visitor();
    const answer = await visitor.open();
    assert.deepEqual([answer.status, answer.text], [201, "the site"]);
    assert.equal(answer.headers["cache-control"], "private, max-age=600");
    assert.equal(answer.headers["cdn-cache-control"], undefined);
    assert.deepEqual([...visitor.cookies.keys()], ["own", "fairgate_main"]);
    assert.notEqual(visitor.token(), "forged");
    assert.ok((await visitor.open()).text === "the site");
  },
);

describeBoth("the site ends a visit with a header that nobody sees", async (_t, open) => {
  const stage = await open({
    room: { enabledOriginCommands: ["revoke"], standby: { requestsPerSecond: 1_000 } },
    site: ({ url }) =>
      url.endsWith("/logout")
        ? new Response("bye", { headers: { "Fairgate-Command": "revoke" } })
        : new Response("the site"),
  });
  const visitor = await stage.occupant();
  const answer = await visitor.open("/logout");
  assert.deepEqual([answer.text, answer.headers["fairgate-command"]], ["bye", undefined]);
  assert.equal(visitor.token(), undefined);
  assert.equal((await stage.engine.counts("main")).totals.revoked, 1);
  stage.world.pass(1_000);
  const sum = (of: "requests" | "answers" | "errors") =>
    stage.engine.reports.reduce((total, load) => total + load[of], 0);
  assert.deepEqual([sum("requests"), sum("answers"), sum("errors")], [2, 2, 0]);
  assert.equal(stage.engine.reports.at(-1)!.inFlight, 0);
});

describeBoth("an answer that is on its way ends when its visit is left", async (_t, open) => {
  const ended: unknown[] = [];
  const stage = await open({
    room: { totalActiveUsers: 1 },
    site: (request) => {
      if (!request.url.endsWith("/feed")) return new Response("the site");
      request.signal.addEventListener("abort", () => ended.push("signal"));
      return new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("first")),
          cancel: () => void ended.push("body"),
        }),
      );
    },
  });
  const visitor = await stage.occupant();
  const cookie = `Cookie: fairgate_main=${visitor.token()}`;
  let heard = "";
  const feed = http.get({
    host: "127.0.0.1",
    port: stage.port,
    path: "/feed",
    headers: { cookie: cookie.slice(8) },
    agent: false,
  });
  const isBroken = new Promise<void>((resolve) => {
    feed.on("response", (response) =>
      response.on("data", (chunk) => (heard += chunk)).on("error", () => resolve()),
    );
  });
  await until(() => heard === "first", "the beginning");
  assert.equal(stage.underWay(), 1);
  await visitor.call("leave");
  await until(() => {
    stage.world.pass(1_000);
    return ended.length === 2;
  }, "the end of the answer");
  await isBroken;
  assert.deepEqual(ended.sort(), ["body", "signal"]);
  assert.equal(stage.underWay(), 0);
  stage.world.pass(SLOT_FREE_MS);
  assert.ok(await stage.visitor().isIn());
});

describeBoth(
  "an answer that has not begun when its visit is left is no answer of the site's",
  async (_t, open) => {
    let release!: (answer: Response) => void;
    const stage = await open({
      site: ({ url }) =>
        url.endsWith("/slow")
          ? new Promise<Response>((resolve) => (release = resolve))
          : new Response("the site"),
    });
    const visitor = await stage.occupant();
    const slow = visitor.open("/slow");
    await until(() => stage.underWay() === 1, "the request");
    await visitor.call("leave");
    await until(() => {
      stage.world.pass(1_000);
      return stage.underWay() === 0;
    }, "the end of the request");
    const { status, text } = await slow;
    assert.deepEqual([status, text], [503, "The visit is over.\n"]);
    release(new Response("too late"));
  },
);

describeBoth("a visitor who hangs up is over, once, and counts a moment longer", async (t, open) => {
  let cancelled = 0;
  const stage = await open({
    room: { totalActiveUsers: 5 },
    settings: { limits: { requestsPerAddressMax: 1 } },
    site: ({ url }) =>
      url.endsWith("/never")
        ? new Promise<Response>(() => {})
        : url.endsWith("/feed")
          ? endless(() => cancelled++)
          : new Response("the site"),
  });
  const visitor = await stage.occupant();
  for (const path of ["/never", "/feed"]) {
    await until(() => stage.underWay() === 0, "quiet");
    stage.world.pass(2_000);
    const headers = { cookie: `fairgate_main=${visitor.token()}` };
    const request = http.get({ host: "127.0.0.1", port: stage.port, path, headers, agent: false });
    t.after(() => request.destroy());
    request.on("error", () => {}).on("response", (response) => response.on("error", () => {}).resume());
    await until(() => stage.underWay() === 1, "the request");
    const refused = await visitor.open();
    assert.deepEqual([refused.status, refused.headers["retry-after"]], [429, "5"]);
    request.destroy();
    await until(() => stage.underWay() === 0, "its end");
    assert.equal((await visitor.open()).status, 429);
  }
  await until(() => cancelled === 1, "the end of the site's answer");
  stage.world.pass(2_000);
  assert.ok(await visitor.isIn());
});

function endless(onCancel: () => void): Response {
  const chunk = new Uint8Array(1_000);
  return new Response(
    new ReadableStream({ pull: (controller) => controller.enqueue(chunk), cancel: onCancel }),
  );
}

describeBoth(
  "large bodies pass whole, and one that its sender gives up fails at the site",
  async (t, open) => {
    const failures: unknown[] = [];
    const stage = await open({
      room: { totalActiveUsers: 5 },
      site: async (request) => {
        try {
          return new Response(await request.bytes());
        } catch (cause) {
          failures.push(cause);
          throw cause;
        }
      },
    });
    const visitor = stage.visitor();
    const body = Buffer.alloc(5_000_000, "0123456789");
    const answer = await visitor.ask("/up", { method: "POST", headers: JSON_CLIENT, body });
    assert.ok(answer.text === body.toString());
    const headers = {
      ...JSON_CLIENT,
      "content-length": body.length,
      cookie: `fairgate_main=${visitor.token()}`,
    };
    const request = http.request({
      host: "127.0.0.1",
      port: stage.port,
      method: "POST",
      path: "/up",
      headers,
      agent: false,
    });
    t.after(() => request.destroy());
    request.on("error", () => {}).write(body.subarray(0, 100_000));
    await until(() => stage.underWay() === 1, "the upload");
    request.destroy();
    await until(() => failures.length === 1 && stage.underWay() === 0, "the end of the upload");
  },
);

describeBoth("a site that fails is not left under way", async (_t, open) => {
  const stage = await open({
    room: { totalActiveUsers: 5, standby: { requestsPerSecond: 1_000 } },
    site: ({ url }) => {
      if (url.endsWith("/body"))
        return new Response(
          new ReadableStream({ pull: (controller) => controller.error(new Error("broken")) }),
        );
      if (url.endsWith("/nothing")) return undefined as unknown as Response;
      throw new Error("broken");
    },
  });
  for (const path of ["/", "/nothing", "/body"]) {
    const answer = await stage
      .visitor()
      .open(path)
      .catch(() => null);
    assert.ok(answer === null || answer.text !== "the site");
  }
  await until(() => stage.underWay() === 0, "quiet");
  stage.world.pass(1_000);
  assert.equal(stage.engine.reports.at(-1)!.inFlight, 0);
});

for (const engineFailure of ["open", "closed"] as const)
  describeBoth(`while the engine is away it fails ${engineFailure}, by setting`, async (_t, open) => {
    const stage = await open({ room: { engineFailure } });
    const occupant = await stage.occupant();
    stage.engine.broken = "rejects";
    assert.ok(await occupant.isIn());
    const other = await stage.visitor().open();
    if (engineFailure === "open") assert.deepEqual([other.status, other.text], [200, "the site"]);
    else assert.deepEqual([other.status, other.headers["fairgate-status"]], [503, "engineAway"]);
  });

describeBoth("answers without a body, redirects and HEAD are the site's own", async (_t, open) => {
  const stage = await open({
    room: { totalActiveUsers: 5 },
    site: ({ url, method }) => {
      if (url.endsWith("/none")) return new Response(null, { status: 204 });
      if (url.endsWith("/moved")) return Response.redirect("http://127.0.0.1/there", 302);
      return new Response(method === "HEAD" ? null : "the site", { headers: { "content-length": "8" } });
    },
  });
  const visitor = stage.visitor();
  assert.equal((await visitor.open("/none")).status, 204);
  const moved = await visitor.open("/moved");
  assert.deepEqual([moved.status, moved.headers.location], [302, "http://127.0.0.1/there"]);
  const head = await visitor.ask("/", { method: "HEAD", headers: PAGE });
  assert.deepEqual([head.status, head.text, head.headers["content-length"]], [200, "", "8"]);
  assert.equal(stage.underWay(), 0);
});

describeBoth(
  "a stream whose reader does not keep up is closed, and its memory is bounded",
  async (t, open) => {
    const stage = await open();
    await stage.occupant();
    const visitor = stage.visitor();
    await visitor.call("join");
    const text = `GET /.fairgate/main/events HTTP/1.1\r\nHost: a\r\nCookie: fairgate_main=${visitor.token()}\r\n\r\n`;
    const socket = net.connect(stage.port, "127.0.0.1");
    t.after(() => socket.destroy());
    socket.on("error", () => {}).pause();
    socket.write(text);
    await until(() => stage.proxied.gateway.traffic.sseConnections === 1, "the stream");
    const { streams } = stage.proxied.gateway;
    const board = { ...(await stage.engine.board("main")), message: "x".repeat(30_000) };
    let rounds = 0;
    await until(() => {
      streams.showBoard(board);
      return ++rounds > 5_000 || stage.proxied.gateway.traffic.sseConnections === 0;
    }, "the end of the stream");
    assert.ok(rounds <= 5_000);
  },
);

describeBoth("the access log has a line for each request that is over", async (_t, open) => {
  const stage = await open();
  const visitor = await stage.occupant();
  await stage.visitor().open("/wait?fairgate_code=secret");
  await visitor.call("check-in");
  await until(() => stage.lines.length === 2, "the lines");
  const [site, waiting] = stage.lines as [FetchStage["lines"][0], FetchStage["lines"][0]];
  assert.deepEqual(
    [site.decision, site.status, site.bytes, site.path, site.address, site.protocol],
    ["entered", 200, 8, "/", "127.0.0.1", null],
  );
  assert.deepEqual([waiting.decision, waiting.status, waiting.room], ["waiting", 200, "main"]);
  assert.ok(!JSON.stringify(waiting).includes("secret"));
});

test("without an address nobody is served, so that not all visitors are one", async (t) => {
  const options = { secret: STAGE_SECRET, log: SILENT, rooms: { main: { totalActiveUsers: 5 } } };
  await assert.rejects(createFetchGateway(options as unknown as FetchGatewayOptions), /`address`/);
  const gateway = await createFetchGateway({
    ...options,
    address: (request) => request.headers.get("x-test") ?? undefined,
  });
  t.after(() => gateway.close());
  const ask = (headers: Record<string, string>) =>
    gateway.handle(new Request("http://a.example/", { headers: { ...PAGE, ...headers } }), theSite);
  await assert.rejects(ask({}), /should give the visitor's IP address/);
  await assert.rejects(ask({ "x-test": "unknown" }), /"unknown"/);
  for (const address of ["203.0.113.1", "203.0.113.1:4711", "[2001:db8::1]:80"])
    assert.equal((await ask({ "x-test": address })).status, 200);
  assert.equal((await gateway.engine.counts("main")).onSite, 3);
});

test("a malformed Host, and methods that are for proxies, are refused", async (t) => {
  const gateway = await createFetchGateway({
    ...{
      secret: STAGE_SECRET,
      log: SILENT,
      rooms: { main: { totalActiveUsers: 5 } },
      address: () => "203.0.113.1",
    },
  });
  t.after(() => gateway.close());
  const bad = new Request("http://a.example/", { headers: { ...PAGE, host: "a b" } });
  assert.equal((await gateway.handle(bad, theSite)).status, 400);
  const trace = new Proxy(new Request("http://a.example/"), {
    get: (target, name) => (name === "method" ? "TRACE" : Reflect.get(target, name, target)),
  });
  assert.equal((await gateway.handle(trace, theSite)).status, 405);
});

test("an answer that changes the protocol goes on as it is", async (t) => {
  const gateway = await createFetchGateway({
    ...{
      secret: STAGE_SECRET,
      log: SILENT,
      rooms: { main: { totalActiveUsers: 5 } },
      address: () => "203.0.113.1",
    },
  });
  t.after(() => gateway.close());
  // No runtime lets a program make one of these but by an upgrade.
  const upgraded = { status: 101, headers: new Headers(), body: null } as Response;
  const request = new Request("http://a.example/", { headers: PAGE });
  assert.equal(await gateway.handle(request, () => upgraded), upgraded);
});

test("the adapter needs nothing of Node's servers", () => {
  const files = new Set([new URL("../adapters/fetch.ts", import.meta.url).href]);
  const found: string[] = [];
  for (const file of files) {
    const code = stripTypeScriptTypes(readFileSync(new URL(file), "utf8"));
    for (const [, from] of code.matchAll(/^(?:import|export)[^;]*?from "([^"]+)"/gm))
      if (from!.startsWith(".")) files.add(new URL(from!, file).href);
      else if (/^(node:(http|http2|https|tls|stream)|undici)$/.test(from!)) found.push(`${file} ${from}`);
  }
  assert.ok(files.size > 5);
  assert.deepEqual(found, []);
});
