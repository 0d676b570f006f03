/**
 * The stage for proxy tests: a small origin, a listener and a proxy in between, all on loopback with real sockets, taken down
 * together at the end of the test. Timeouts are long, so that none passes while the machine is busy; a test about a timeout makes
 * it short, or moves time by hand.
 */
import http, { type RequestListener } from "node:http";
import net, { type AddressInfo, type Socket } from "node:net";
import type { TestContext } from "node:test";
import { type LimitSettings, limitsSchema, type OriginSettings, originSchema } from "../../config/schema.ts";
import { type ListenSettings, listen } from "../../gateway/listener/listen.ts";
import { renderProblem } from "../../gateway/page/problem.ts";
import type { AnyRequest } from "../../gateway/proxy/any-http.ts";
import { createProxy, type ExchangeOutcome, type Forward } from "../../gateway/proxy/proxy.ts";
import { SlowVisitors } from "../../gateway/proxy/slow-visitors.ts";
import { createTrust } from "../../gateway/proxy/trust.ts";
import type { HandWorld } from "../../sim/hand-world.ts";
import { ask as askServer, type HttpAnswer, type HttpAsking } from "../../visitor/ask.ts";
import { realWorld } from "../real-world.ts";

export { readAnswer } from "../../visitor/ask.ts";
export { freePort as closedPort } from "../free-port.ts";
export { talk } from "../talk.ts";
export { until } from "../until.ts";

// With two addresses for a name, a slow connection must not count as an address that does not answer.
net.setDefaultAutoSelectFamilyAttemptTimeout(60_000);

/** How long origins keep an idle connection. The proxy keeps it a little shorter, since origins announce it. */
const ORIGIN_KEEPS_MS = 300_000;

export const LIMITS: LimitSettings = {
  ...limitsSchema.parse({}),
  shutdownTimeoutMs: 60_000,
};

export interface ProxiedOrigin {
  readonly address: string;
  readonly port: number;
  readonly server: http.Server;
  /** Connections made to it so far. */
  connections: number;
}

/** An origin that answers with `handle` until the test ends. */
export async function openProxiedOrigin(test: TestContext, handle: RequestListener): Promise<ProxiedOrigin> {
  const server = http.createServer({ keepAliveTimeout: ORIGIN_KEEPS_MS }, handle);
  const sockets = new Set<Socket>();
  const port = await listenOn(server);
  const origin: ProxiedOrigin = { address: `http://127.0.0.1:${port}`, port, server, connections: 0 };
  server.on("connection", (socket) => {
    origin.connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
  });
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return origin;
}

/** A bare TCP server for origins that misbehave. */
export async function openRawOrigin(
  test: TestContext,
  onConnection: (socket: Socket) => void,
): Promise<{ address: string; port: number; server: net.Server }> {
  const sockets = new Set<Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {}).on("close", () => sockets.delete(socket));
    onConnection(socket);
  });
  const port = await listenOn(server);
  test.after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { address: `http://127.0.0.1:${port}`, port, server };
}

export interface ProxyStageOptions {
  readonly origin?: Partial<OriginSettings>;
  readonly limits?: Partial<LimitSettings>;
  readonly tls?: ListenSettings["tls"];
  readonly trustedProxies?: readonly string[];
  readonly forwardedHost?: boolean;
  /** The clock and timers, when the test moves them by hand. */
  readonly time?: HandWorld;
  /** What the gateway would add to a request; the defaults add an id and nothing else. */
  readonly forward?: (request: AnyRequest) => Partial<Forward>;
}

/** A listener and a proxy in front of the given addresses. */
export async function openProxyStage(
  test: TestContext,
  addresses: readonly string[],
  options: ProxyStageOptions = {},
) {
  const { time } = options;
  const world = { ...realWorld(), ...(time && { clock: time.clock, timers: time.timers }) };
  const outcomes: ExchangeOutcome[] = [];
  const limits = { ...LIMITS, ...options.limits };
  const slow = new SlowVisitors(() => limits, world);
  const proxy = createProxy({
    settings: {
      ...originSchema.parse({ addresses: [...addresses], connectTimeout: "60s" }),
      ...options.origin,
    },
    slow,
    world,
    renderProblem: ({ headers }, page) => renderProblem(String(headers.accept), undefined, page),
    onDone: (outcome) => outcomes.push(outcome),
  });
  const trust = createTrust(options.trustedProxies ?? [], options.forwardedHost);
  let count = 0;
  const forwardFor = (request: AnyRequest, isContinueExpected: boolean): Forward => ({
    id: `test-${++count}`,
    requestHeaders: [],
    responseHeaders: [],
    isPersonal: false,
    isOnSite: false,
    sender: trust.client(request),
    client: null,
    stickyKey: null,
    watch: null,
    connection: null,
    isContinueExpected,
    ...options.forward?.(request),
  });
  const listener = await listen({
    settings: {
      listen: { host: "127.0.0.1", port: 0 },
      tls: options.tls ?? null,
      limits,
    },
    handle: (request, response) => proxy.forward(request, response, forwardFor(request, false)),
    handleContinue: (request, response) => proxy.forward(request, response, forwardFor(request, true)),
    upgrade: (request, socket, head) => proxy.upgrade(request, socket, head, forwardFor(request, false)),
    world,
  });
  let isClosed = false;
  const close = async () => {
    if (isClosed) return;
    isClosed = true;
    const closing = listener.close();
    time?.pass(limits.shutdownTimeoutMs);
    await closing;
    await proxy.close();
    slow.close();
  };
  test.after(close);
  return { port: listener.address.port, proxy, slow, listener, world, outcomes, close };
}

/** One request over a connection of its own, and its whole answer. */
export function askProxy(port: number, asking: HttpAsking = {}): Promise<HttpAnswer> {
  return askServer({ host: "127.0.0.1", port }, asking);
}

function listenOn(server: net.Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port));
  });
}
