/**
 * The listener for visitors: plain HTTP/1.1, or with a certificate TLS with HTTP/2 and HTTP/1.1 on one port. Either may follow a
 * PROXY header.
 *
 * Every request passes `refuseFraming` before anyone acts on it; after that its target is a path. Slowness has limits
 * of its own: a header must arrive in time, and a body must keep arriving. A large upload may take hours, but not fall
 * silent for longer than `requestTimeoutMs`. An answer must be read, too.
 *
 * Closing: accepts no more connections, lets requests under way finish, closes idle connections, and at the deadline closes the
 * rest.
 */
import { readFile } from "node:fs/promises";
import http, { type IncomingMessage, type ServerResponse } from "node:http";
import http2, { type Http2SecureServer, type ServerHttp2Session, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { HostPort } from "../../config/kinds.ts";
import type { LimitSettings, TlsSettings } from "../../config/schema.ts";
import type { Timers, World } from "../../core/world.ts";
import { AwaitedHeaders, type HeaderSettings } from "../../sockets/awaited-headers.ts";
import { type ConnectionCounts, type ConnectionLimits, Connections } from "../../sockets/connections.ts";
import { FairTurns } from "../../sockets/fair-turns.ts";
import { IdleConnections } from "../../sockets/idle-connections.ts";
import type { AccessLog } from "../access-log/access-log.ts";
import { refuse, refuseUpgrade } from "../adapters/refuse.ts";
import { PLAIN, PLAIN_TYPE } from "../answer-headers.ts";
import { answerWhole, breakOff, hasBody, writeHead } from "../proxy/answer.ts";
import { type AnyRequest, type AnyResponse, isHttp2 } from "../proxy/any-http.ts";
import { plainAddress } from "../proxy/forwarded.ts";
import { HEADERS_MAX, originForm, type Refusal, refuseFraming } from "../proxy/framing.ts";
import { answerRaw } from "../proxy/raw-answer.ts";
import { ClientErrors } from "./client-errors.ts";
import { Http2Sessions } from "./http2-sessions.ts";
import { LeanRequest } from "./lean-request.ts";
import { UnreadAnswers, type UnreadLimits } from "./unread-answers.ts";

/** The most requests one HTTP/2 connection may have open. */
const STREAMS_MAX = 128;
/** Requests over HTTP/2 handled in one turn of the event loop: two or three milliseconds. One packet brings a hundred. */
const STREAMS_PER_TURN = 64;
/** The most requests that one HTTP/2 connection may cancel at once, and for each second after that. */
const RESETS_AT_ONCE_MAX = 2 * STREAMS_MAX;
const RESETS_PER_SECOND_MAX = 32;
/** How often slow headers are checked, and idle connections while closing. */
const LOOK_EVERY_MS = 1_000;
const CLOSING_LOOK_EVERY_MS = 50;
const UNLIMITED: ConnectionLimits = {
  max: Number.POSITIVE_INFINITY,
  perAddressMax: Number.POSITIVE_INFINITY,
};

/** The limits that the listener enforces. */
export type ListenLimits = Pick<
  LimitSettings,
  | "headerBytes"
  | "bodyBytes"
  | "headersTimeoutMs"
  | "requestTimeoutMs"
  | "keepAliveTimeoutMs"
  | "shutdownTimeoutMs"
> &
  UnreadLimits;

export interface ListenSettings {
  readonly listen: HostPort;
  readonly tls: TlsSettings | null;
  readonly limits: ListenLimits;
  /** The most connections. Left out: unlimited. */
  readonly connections?: ConnectionLimits;
  /** True: trusted proxies begin their connections with a PROXY header. */
  readonly proxyProtocol?: boolean;
}

export interface ListenOptions {
  readonly settings: ListenSettings;
  handle(request: AnyRequest, response: AnyResponse): void;
  /** The same for a request that waits for `100 Continue` before it sends its body. */
  handleContinue(request: AnyRequest, response: AnyResponse): void;
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** True for the address of a proxy that all visitors may come from. */
  isTrusted?(address: string): boolean;
  /** Gets answers that are given before the handler is called. */
  readonly accessLog?: AccessLog;
  readonly world: World;
}

export interface Listener {
  readonly address: HostPort;
  readonly connections: ConnectionCounts;
  /** Takes over new limits and reads the certificate again; the address stays. Fails, changing nothing, on bad files. */
  reload(settings: ListenSettings): Promise<void>;
  /** No file handle was left for another part: closes idle connections. True when a retry is worthwhile. */
  ranOut(error: Error): boolean;
  /** Resolves when every connection is closed, at the latest after `shutdownTimeoutMs`. */
  close(): Promise<void>;
}

type Server = http.Server | Http2SecureServer;

const NO_UPGRADE: Refusal = { status: 400, reason: "cannot upgrade to this protocol" };

/** Listens; rejects when the address cannot be used or the certificate cannot be read. */
export async function listen(options: ListenOptions): Promise<Listener> {
  const { settings, world } = options;
  const intake = new Intake(options);
  const server = await createServer(settings);
  intake.attach(server);
  await open(server, settings.listen);
  const { address, port } = server.address() as AddressInfo;
  let closing: Promise<void> | null = null;
  return {
    address: { host: address, port },
    connections: intake.connections.counts,
    ranOut: (error) => intake.connections.ranOut(error),
    async reload(next) {
      if (next.tls !== null && server instanceof http.Server === false)
        (server as Http2SecureServer).setSecureContext(await readCertificate(next.tls));
      applyLimits(server, next.limits);
      intake.turnTo(next);
    },
    close: () =>
      (closing ??= closeGently(server, { intake, world, deadlineMs: intake.limits.shutdownTimeoutMs })),
  };
}

async function createServer({ tls, limits }: ListenSettings): Promise<Server> {
  const http1 = {
    maxHeaderSize: limits.headerBytes,
    connectionsCheckingInterval: LOOK_EVERY_MS,
    requestTimeout: 0,
    headersTimeout: limits.headersTimeoutMs,
    // Idle connections are closed by `IdleConnections`, without a timer for every request.
    keepAliveTimeout: 0,
    optimizeEmptyRequests: true,
    IncomingMessage: LeanRequest,
    insecureHTTPParser: false,
  };
  const server =
    tls === null
      ? http.createServer(http1)
      : http2.createSecureServer({
          ...(await readCertificate(tls)),
          ...http1,
          allowHTTP1: true,
          Http1IncomingMessage: LeanRequest,
          handshakeTimeout: limits.headersTimeoutMs,
          maxHeaderListPairs: HEADERS_MAX,
          streamResetBurst: RESETS_AT_ONCE_MAX,
          streamResetRate: RESETS_PER_SECOND_MAX,
          settings: { maxConcurrentStreams: STREAMS_MAX, maxHeaderListSize: limits.headerBytes },
        });
  applyLimits(server, limits);
  return server;
}

function applyLimits(server: Server, limits: ListenLimits): void {
  const http1 = server as http.Server;
  http1.headersTimeout = limits.headersTimeoutMs;
  // One more than allowed, so that excess headers are noticed and refused, not silently dropped.
  http1.maxHeadersCount = HEADERS_MAX + 1;
}

async function readCertificate({
  certificateFile,
  keyFile,
}: TlsSettings): Promise<{ cert: Buffer; key: Buffer }> {
  const [cert, key] = await Promise.all([readFile(certificateFile), readFile(keyFile)]);
  return { cert, key };
}

function open(server: Server, { host, port }: HostPort): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    const onListening = () => {
      server.off("error", reject);
      resolve();
    };
    if (host === "") server.listen(port, onListening);
    else server.listen(port, host, onListening);
  });
}

/** Answers a request that two parsers could read differently, or that nobody may make. True when it did. */
export function isRefused(
  request: AnyRequest,
  response: AnyResponse,
  world: World,
  accessLog?: AccessLog,
): boolean {
  const refusal = refuseFraming(request);
  if (refusal === null) return false;
  accessLog?.begin(request, response);
  refuse(request, response, refusal, { world, isLast: true });
  return true;
}

/**
 * The same for an upgrade, including one to a protocol that would carry requests past us. Node no longer handles errors of its
 * socket, so that is done here: an unhandled error ends the process.
 */
export function isUpgradeRefused(
  request: IncomingMessage,
  socket: Duplex,
  world: World,
  accessLog?: AccessLog,
): boolean {
  socket.on("error", () => socket.destroy());
  const refusal = refuseFraming(request) ?? (canUpgrade(request) ? null : NO_UPGRADE);
  if (refusal === null) return false;
  accessLog?.beginUpgrade(request, socket);
  refuseUpgrade(socket, refusal, world);
  return true;
}

/** The checks between the server's events and the handlers. */
class Intake {
  limits: ListenLimits;
  isClosing = false;
  readonly sessions: Http2Sessions;
  readonly connections: Connections;
  readonly headers: AwaitedHeaders;
  readonly #options: ListenOptions;
  readonly #idle: IdleConnections;
  readonly #unread: UnreadAnswers;
  readonly #turns = new FairTurns(STREAMS_PER_TURN);
  readonly #stopLooking: () => void;

  constructor(options: ListenOptions) {
    const { settings, world, isTrusted } = options;
    this.#options = options;
    this.limits = settings.limits;
    this.#idle = new IdleConnections(this.limits.keepAliveTimeoutMs, world);
    this.headers = new AwaitedHeaders(headerSettings(settings), world.clock);
    this.connections = new Connections({
      limits: settings.connections ?? UNLIMITED,
      headers: this.headers,
      whose: "visitors",
      world,
      ...(isTrusted && { isTrusted: (address) => isTrusted(plainAddress(address)) }),
    });
    this.sessions = new Http2Sessions(this.limits, (session) => this.connections.cut(session), world);
    this.#unread = new UnreadAnswers(this.limits);
    this.#stopLooking = world.timers.every(LOOK_EVERY_MS, () => {
      this.connections.look();
      this.headers.look();
      this.#unread.look(world.clock.now());
    });
  }

  turnTo(settings: ListenSettings): void {
    const { limits, connections } = settings;
    this.limits = limits;
    this.headers.settings = headerSettings(settings);
    this.#idle.maxIdleMs = limits.keepAliveTimeoutMs;
    this.sessions.limits = limits;
    this.#unread.limits = limits;
    this.connections.turnTo(connections ?? UNLIMITED);
  }

  attach(server: Server): void {
    const { handle, handleContinue, accessLog } = this.#options;
    const { timers } = this.#options.world;
    const http1 = server as http.Server;
    http1.on("request", (request, response) => this.#receive(request, response, handle));
    http1.on("checkContinue", (request, response) => this.#receive(request, response, handleContinue));
    http1.on("upgrade", (request, socket, head) => this.#upgrade(request, socket, head));
    http1.on("connect", (request, other) => refuseConnect(request, other, timers, accessLog));
    const clientErrors = new ClientErrors(timers, accessLog);
    http1.on("clientError", (error, socket) => clientErrors.take(error, socket));
    // With a body or for HTTP/2 in the clear the offer to upgrade is ignored, as RFC 9110, section 7.8 allows.
    Object.assign(server, { shouldUpgradeCallback: canUpgrade });
    const isPlain = server instanceof http.Server;
    this.connections.guard(server, { isTls: !isPlain });
    server.on("session", (session: ServerHttp2Session) => {
      this.connections.openSession(session);
      this.sessions.watch(session);
    });
    server.on("stream", (stream: ServerHttp2Stream) => {
      this.connections.useStream(stream);
      this.sessions.use(stream);
      this.#unread.open(stream);
    });
    server.on(isPlain ? "connection" : "secureConnection", (socket: Socket & { alpnProtocol?: unknown }) => {
      if (socket.alpnProtocol === "h2") return;
      this.#idle.watch(socket);
      this.#unread.watch(socket);
    });
    server.on("close", () => {
      this.#idle.close();
      this.sessions.close();
      this.#stopLooking();
    });
    server.on("sessionError", () => {});
  }

  #receive(request: AnyRequest, response: AnyResponse, handle: ListenOptions["handle"]): void {
    if (!isHttp2(response)) this.#admit(request, response, handle);
    else if (response.stream.session)
      this.#turns.take(response.stream.session, () => {
        // A request that was cancelled meanwhile costs nothing more (CVE-2023-44487).
        if (!response.stream.closed) this.#admit(request, response, handle);
      });
  }

  #admit(request: AnyRequest, response: AnyResponse, handle: ListenOptions["handle"]): void {
    if (request instanceof LeanRequest) {
      request.handOver();
      if (!this.#unread.admit(request.socket, response as ServerResponse)) return;
      this.connections.use(request.socket);
    }
    const { world, accessLog } = this.#options;
    if (isRefused(request, response, world, accessLog)) return;
    if (request.url === "*") {
      const entry = accessLog?.begin(request, response);
      entry?.note({ decision: "own", room: null, visitor: null });
      entry?.sent(0);
      // Such a request is about the server as a whole (RFC 9110, section 9.3.7), so the gateway answers it.
      writeHead(response, { status: 204, headers: [] });
      (response as ServerResponse).end();
      return;
    }
    if (request.url!.charCodeAt(0) !== 0x2f) request.url = originForm(request.url!);
    if (this.isClosing && !isHttp2(response)) (response as ServerResponse).shouldKeepAlive = false;
    if (hasBody(request)) this.#watchUpload(request, response);
    handle(request, response);
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    this.#idle.release(socket);
    this.connections.upgrade(socket);
    const { world, accessLog } = this.#options;
    if (isUpgradeRefused(request, socket, world, accessLog)) return;
    request.url = originForm(request.url!);
    this.#options.upgrade(request, socket, head);
  }

  /** Checks a body now and then. A body that has not moved since, and that nothing holds back, has stalled. */
  #watchUpload(request: AnyRequest, response: AnyResponse): void {
    const { timers } = this.#options.world;
    let seen = bytesRead(request);
    const look = () => {
      if (request.readableEnded || request.destroyed) return;
      const bytes = bytesRead(request);
      if (bytes === seen && !request.isPaused()) {
        this.#giveUp(request, response);
        return;
      }
      seen = bytes;
      stop = timers.after(this.limits.requestTimeoutMs, look);
    };
    let stop = timers.after(this.limits.requestTimeoutMs, look);
    response.on("close", () => stop());
  }

  #giveUp(request: AnyRequest, response: AnyResponse): void {
    if (response.headersSent) {
      breakOff(response);
      return;
    }
    const { timers } = this.#options.world;
    const body = Buffer.from("body took too long\n");
    answerWhole(request, response, { status: 408, headers: [...PLAIN], body, isLast: true, timers });
  }
}

function headerSettings({ proxyProtocol = false, limits }: ListenSettings): HeaderSettings {
  return { isOn: proxyProtocol, timeoutMs: limits.headersTimeoutMs };
}

/** HTTP/2 in the clear would carry requests past us unseen; an upgrade with a body could hide one in it. */
function canUpgrade(request: IncomingMessage): boolean {
  if (request instanceof LeanRequest) request.handOver();
  return !hasBody(request) && !/\bh2c?\b/i.test(request.headers.upgrade ?? "");
}

/** The progress of a body, as a rising number. HTTP/2 counts the whole connection. */
function bytesRead(request: AnyRequest): number {
  return request.socket.bytesRead;
}

/** This is no forward proxy. HTTP/2 passes a response where HTTP/1 passes the socket. */
function refuseConnect(
  request: AnyRequest,
  other: Duplex | AnyResponse,
  timers: Timers,
  accessLog?: AccessLog,
): void {
  const body = Buffer.from("method not allowed\n");
  if (!isHttp2(request)) {
    (other as Duplex).on("error", () => {});
    accessLog?.beginUpgrade(request, other as Duplex)?.decide("refused");
    answerRaw(other as Duplex, { status: 405, headers: PLAIN_TYPE, body });
    return;
  }
  accessLog?.begin(request, other as AnyResponse)?.decide("refused");
  answerWhole(request, other as AnyResponse, { status: 405, headers: [...PLAIN], body, timers });
}

function closeGently(
  server: Server,
  { intake, world, deadlineMs }: { intake: Intake; world: World; deadlineMs: number },
): Promise<void> {
  intake.isClosing = true;
  return new Promise((resolve) => {
    const stopLooking = world.timers.every(CLOSING_LOOK_EVERY_MS, () =>
      (server as http.Server).closeIdleConnections?.(),
    );
    const stopDeadline = world.timers.after(deadlineMs, () => {
      for (const socket of intake.connections.sockets()) socket.destroy();
    });
    server.close(() => {
      stopLooking();
      stopDeadline();
      resolve();
    });
    intake.sessions.closeGently();
    intake.headers.close();
  });
}
