/**
 * The stage for gateway tests: an origin that records its requests, the embedded engine behind a recorder, a gateway and its
 * listener on loopback, all taken down at the end of the test. Time is moved by hand, so nothing lapses, expires or is admitted
 * before a test says so.
 */
import { readFileSync } from "node:fs";
import http, { type IncomingHttpHeaders, type RequestListener } from "node:http";
import { type AddressInfo, setDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import type { TestContext } from "node:test";
import { type FairgateOptions, openFairgate } from "../../assembly/open-fairgate.ts";
import { settingsFrom } from "../../config/load.ts";
import type { RoomInput, Settings, SettingsInput } from "../../config/schema.ts";
import { lingerMs } from "../../core/pass.ts";
import { MemoryEngine } from "../../engines/memory/memory-engine.ts";
import { type Listener, listen } from "../../gateway/listener/listen.ts";
import type { ProxiedGateway } from "../../gateway/proxied-gateway.ts";
import { type HandWorld, handWorld } from "../../sim/hand-world.ts";
import type { ConnectionLimits } from "../../sockets/connections.ts";
import { accessLines } from "../access-lines.ts";
import { fixturePath } from "../fixtures.ts";
import { Visitor } from "./visitor.ts";
import { WatchedEngine } from "./watched-engine.ts";

// With two addresses for a name, a slow connection must not count as an address that does not answer.
setDefaultAutoSelectFamilyAttemptTimeout(60_000);

/** How long origins keep an idle connection: longer than any test waits. */
const ORIGIN_KEEPS_MS = 300_000;

export const STAGE_SECRET = "a-secret-of-the-tests-long-enough-to-be-one";

/** How long after a revoked visit its slot is free: until then it may have open connections. */
export const SLOT_FREE_MS = lingerMs(0);

/** A certificate for localhost, for tests only. */
export const TLS = {
  certificateFile: fixturePath("localhost.cert.pem"),
  keyFile: fixturePath("localhost.key.pem"),
};

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly rawHeaders: readonly string[];
}

export interface SiteOrigin {
  readonly address: string;
  /** Every request it got. */
  readonly seen: SeenRequest[];
  /** Connections made to it. */
  connections: number;
  readonly server: http.Server;
}

/** An origin that answers "the site" unless told otherwise. */
export async function openOrigin(test: TestContext, answer: RequestListener = theSite): Promise<SiteOrigin> {
  const server = http.createServer({ keepAliveTimeout: ORIGIN_KEEPS_MS }, (request, response) => {
    const { method, url, headers, rawHeaders } = request;
    origin.seen.push({ method: method!, url: url!, headers, rawHeaders });
    answer(request, response);
  });
  server.on("connection", () => origin.connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const origin: SiteOrigin = { address, seen: [], connections: 0, server };
  test.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return origin;
}

const theSite: RequestListener = (request, response) => {
  request.resume();
  response.setHeader("content-type", "text/html").end("the site");
};

export interface StageOptions {
  /** The one room, "main"; a site for one visitor when left out. */
  readonly room?: RoomInput;
  /** Settings beside it, or instead. */
  readonly settings?: Partial<SettingsInput>;
  readonly origin?: SiteOrigin;
  readonly answer?: RequestListener;
  /** The ledgers of the shops that the settings name. */
  readonly deskOf?: FairgateOptions["deskOf"];
  /** How many connections there may be; as many as come when left out. */
  readonly connections?: ConnectionLimits;
  /** How long after the usual instant the stage is opened; boards are made once a second from then on. */
  readonly opensLaterMs?: number;
}

/** A line of the access log in its JSON form. */
export interface Access {
  readonly path: string | null;
  readonly decision: string;
  readonly [field: string]: unknown;
}

export interface Stage {
  readonly port: number;
  readonly listener: Listener;
  readonly origin: SiteOrigin;
  readonly engine: WatchedEngine;
  readonly proxied: ProxiedGateway;
  readonly world: HandWorld;
  /** The access log so far. */
  readonly accesses: Access[];
  /** The stage's settings with some changed. */
  settings(change?: { room?: RoomInput; settings?: Partial<SettingsInput> }): Settings;
  /** Requests that are neither answered nor aborted. */
  underWay(): number;
  visitor(): Visitor;
  /** A visitor who fills one slot of the site. */
  occupant(): Promise<Visitor>;
  /** Log lines that a request should never leave behind. */
  errors(): readonly object[];
  refusals(): string[];
}

export async function openStage(test: TestContext, options: StageOptions = {}): Promise<Stage> {
  const origin = options.origin ?? (await openOrigin(test, options.answer));
  const world = handWorld();
  world.pass(options.opensLaterMs ?? 0);
  const settings: Stage["settings"] = (change = {}) =>
    checked({
      listen: "127.0.0.1:0",
      secret: STAGE_SECRET,
      origin: { addresses: [origin.address] },
      // Every visit lasts a session: a visitor's shorter first pass has tests of its own.
      rooms: {
        main: { totalActiveUsers: 1, newcomerDuration: "1d", ...options.room, ...change.room },
      },
      ...options.settings,
      ...change.settings,
    });
  const engine = new WatchedEngine(new MemoryEngine(world));
  const inForce = settings();
  const accesses: Access[] = [];
  const fairgate = await openFairgate(inForce, world, {
    ...{ engine, filesMax: Number.POSITIVE_INFINITY },
    ...(options.deskOf && { deskOf: options.deskOf }),
  });
  const { proxied } = fairgate;
  const accessLog = fairgate.accessLog.log;
  const lineOf = accessLines("json");
  accessLog.sink = { add: (finished) => accesses.push(JSON.parse(lineOf(finished))) };
  let underWay = 0;
  const handle: typeof proxied.handle = (request, response) => {
    underWay++;
    response.on("close", () => underWay--);
    proxied.handle(request, response);
  };
  const { handleContinue, upgrade } = proxied;
  const isTrusted = (address: string) => proxied.gateway.trust.isTrusted(address);
  const { connections } = options;
  const listener = await listen({
    settings: { ...inForce, ...(connections && { connections }) },
    handle,
    handleContinue,
    upgrade,
    accessLog,
    isTrusted,
    world,
  });
  test.after(async () => {
    engine.broken = null;
    fairgate.drain();
    const isClosed = listener.close();
    world.pass(inForce.limits.shutdownTimeoutMs);
    await isClosed;
    await fairgate.close();
    await engine.close();
  });
  const { port } = listener.address;
  const stage: Stage = {
    port,
    listener,
    origin,
    engine,
    proxied,
    world,
    accesses,
    settings,
    underWay: () => underWay,
    visitor: () => new Visitor(port, test),
    occupant: async () => {
      const visitor = stage.visitor();
      const { text } = await visitor.open();
      if (text !== "the site") throw new Error("there was no room for an occupant");
      return visitor;
    },
    errors: () => world.logged.filter(({ level }) => level === "error" || level === "warn"),
    refusals: () =>
      world.logged
        .filter(({ message }) => message === "token refused")
        .map(({ fields }) => (fields as { reason: string }).reason),
  };
  return stage;
}

/** Settings as a program would write them, checked. */
export function checked(input: SettingsInput): Settings {
  const readFile = (name: string) => readFileSync(name, "utf8");
  const result = settingsFrom(input, { environment: {}, readFile });
  if (!result.ok) throw new Error(result.problems.map(({ message }) => message).join("\n"));
  return result.settings;
}
