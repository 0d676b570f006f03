/**
 * Upgraded connections: WebSocket and whatever else an origin agrees to with 101. The origin is asked over a connection
 * of its own; only its 101 joins the two connections, and from then on bytes flow both ways untouched until either side
 * closes. Any other answer is passed on as it is and the connection closed, so a refused upgrade can never be used to
 * slip requests past the gateway.
 */
import http, { type ClientRequest, type IncomingMessage } from "node:http";
import https from "node:https";
import { isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { entryOf } from "../access-log/entry.ts";
import { requestHeaders, responseHeaders } from "../headers.ts";
import type { OriginAddress } from "./address.ts";
import { hasBody, LINGER_MAX_MS } from "./answer.ts";
import { diagnose } from "./diagnosis.ts";
import { STATUS_VISITOR_LEFT } from "./exchange.ts";
import type { Forward, ProxyContext } from "./forward.ts";
import { originForm } from "./framing.ts";
import { OriginRequest } from "./origin-request.ts";
import { answerRaw, closeSoon, rawHead } from "./raw-answer.ts";
import { PRESSED_WINDOW_MS, StreamPace, type WatchedFlow } from "./slow-visitors.ts";

/** How much a visitor may send ahead of the origin's agreement before we stop reading. */
const EARLY_BYTES_MAX = 65_536;

/** Carries one upgrade request to the origin and joins the connections when it agrees. */
export class UpgradedConnection extends OriginRequest implements WatchedFlow {
  readonly use = "tunnels";
  readonly isComing = false;
  private readonly socket: Duplex;
  private readonly head: Buffer;
  private readonly startedAt: number;
  private readonly headers: string[];
  private readonly hasHost: boolean;
  private outgoing: ClientRequest | null = null;
  /** The origin's connection, once it has agreed. */
  private joined: Socket | null = null;
  private readonly early: Buffer[] = [];
  private earlyBytes = 0;
  private readonly pace: StreamPace;

  constructor(proxy: ProxyContext, request: IncomingMessage, socket: Duplex, head: Buffer, forward: Forward) {
    super(proxy, request, forward, entryOf(socket));
    this.socket = socket;
    this.head = head;
    this.startedAt = proxy.world.clock.now();
    const { sender: client } = forward;
    const host = proxy.hostFor(client);
    this.hasHost = host !== null;
    this.pace = new StreamPace(this.startedAt);
    this.headers = requestHeaders(request.rawHeaders, {
      client,
      host,
      id: forward.id,
      added: forward.requestHeaders,
      upgrade: request.headers.upgrade ?? "",
    });
  }

  /** What the visitor sent early is kept until the origin agrees. */
  get isRepeatable(): boolean {
    return this.request.method === "GET" && !hasBody(this.request);
  }

  start(): void {
    // Read from the start: a connection nobody reads does not tell that its other end has left.
    this.socket.on("data", this.onEarly).on("end", this.onVisitorClose);
    this.socket.on("error", this.onVisitorClose).on("close", this.onVisitorClose);
    if (this.head.length > 0) this.onEarly(this.head);
    this.proxy.origin.count();
    this.ask();
  }

  protected send(address: OriginAddress): void {
    const { url } = address;
    const outgoing = this.begin(address);
    this.outgoing = outgoing;
    outgoing.on("socket", (socket: Socket) => {
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", this.onConnect);
    });
    outgoing.on("upgrade", this.onUpgrade).on("response", this.onResponse).on("error", this.onError);
    this.limitOrigin(this.proxy.settings.connectTimeout, "UND_ERR_CONNECT_TIMEOUT");
  }

  private begin({ url, hostname: name }: OriginAddress): ClientRequest {
    const headers = this.hasHost ? this.headers : [...this.headers, "Host", url.host];
    const options = {
      host: name,
      port: url.port,
      method: this.request.method,
      path: originForm(this.request.url!),
      headers,
      agent: false,
    };
    const outgoing =
      url.protocol === "https:"
        ? https.request({ ...options, servername: isIP(name) === 0 ? name : "" } as https.RequestOptions)
        : http.request(options as http.RequestOptions);
    outgoing.end();
    return outgoing;
  }

  private limitOrigin(timeoutMs: number, code: string): void {
    this.limit(timeoutMs, () =>
      this.outgoing?.destroy(Object.assign(new Error("origin took too long"), { code })),
    );
  }

  private readonly onConnect = (): void => {
    // A connection that was given up may still be made.
    if (this.address === null) return;
    this.proxy.origin.connected(this.address, this);
    this.limitOrigin(this.proxy.settings.headersTimeout, "UND_ERR_HEADERS_TIMEOUT");
  };

  private readonly onUpgrade = (answer: IncomingMessage, origin: Socket, originHead: Buffer): void => {
    this.clearTimer();
    const protocol = answer.headers.upgrade ?? this.request.headers.upgrade ?? "";
    this.passHead(answer, ["Connection", "Upgrade", "Upgrade", protocol]);
    if (originHead.length > 0) this.socket.write(originHead);
    this.socket.off("data", this.onEarly).off("end", this.onVisitorClose);
    for (const chunk of this.early) origin.write(chunk);
    this.outgoing = null;
    this.report(101);
    this.watchReading();
    this.join(origin);
  };

  /** Passes on the head of the origin's answer. What follows on the connection is its body. */
  private passHead({ statusCode, statusMessage, rawHeaders }: IncomingMessage, connection: string[]): void {
    const { proxy, forward, entry } = this;
    const status = statusCode!;
    proxy.ownLinks?.rewrite(rawHeaders, forward.sender);
    proxy.origin.answered(this.address!, this, status);
    const { isPersonal } = forward;
    const headers = responseHeaders(rawHeaders, {
      added: forward.responseHeaders,
      isPersonal,
      canTrail: false,
    });
    this.socket.write(rawHead(status, statusMessage, [...headers, ...connection]), "latin1");
    if (entry === null) return;
    entry.status = status;
    entry.originMs = proxy.world.clock.now() - this.startedAt;
    entry.countOn(this.socket as Socket);
  }

  /** Cuts off a visitor who takes too little of what is waiting for them. */
  judge(now: number): void {
    const visitor = this.socket as Socket;
    const { answerPace: perSecond, paceWindowMs: windowMs } = this.proxy.slow.limits;
    const waiting = visitor.writableLength;
    const taken = visitor.bytesWritten - waiting;
    if (waiting === 0) this.pace.restart(now, taken);
    else if (this.pace.isTooSlow(now, taken, { windowMs, perSecond, step: waiting })) this.cut();
  }

  /** Upgraded connections may be silent for as long as nobody needs theirs (`carriedPace`). */
  holdingUp(): number {
    return Number.POSITIVE_INFINITY;
  }

  carriedPace(now: number): number {
    const { bytesRead, bytesWritten } = this.socket as Socket;
    const lastedMs = now - this.startedAt;
    return lastedMs < PRESSED_WINDOW_MS
      ? Number.POSITIVE_INFINITY
      : ((bytesRead + bytesWritten) / lastedMs) * 1_000;
  }

  cut(): void {
    this.proxy.onCut?.("upgraded");
    this.outgoing?.destroy();
    this.joined?.destroy();
    this.leaveAddress();
    this.socket.destroy();
  }

  private watchReading(): void {
    const { slow } = this.proxy;
    slow.watch(this);
    this.socket.on("close", () => slow.release(this));
  }

  /** Both ways, until either side closes or both are silent for the idle time. */
  private join(origin: Socket): void {
    const visitor = this.socket as Socket;
    const { idleTimeout } = this.proxy.settings;
    this.joined = origin;
    origin.on("error", () => visitor.destroy());
    origin.on("close", () => {
      this.leaveAddress();
      closeSoon(visitor);
    });
    visitor.on("error", () => origin.destroy());
    visitor.on("close", () => this.letGo(origin));
    // Traffic in either direction passes the origin's socket; the visitor's is watched for a reader who stopped.
    origin.setTimeout(idleTimeout, () => origin.destroy());
    visitor.setTimeout(idleTimeout, () => visitor.destroy());
    origin.pipe(visitor);
    visitor.pipe(origin);
  }

  /** The visitor is gone: what they sent last may still go out, but an origin that does not take it is not waited for. */
  private letGo(origin: Socket): void {
    closeSoon(origin);
    const stop = this.proxy.world.timers.after(LINGER_MAX_MS, () => origin.destroy());
    origin.on("close", stop);
  }

  private readonly onResponse = (answer: IncomingMessage): void => {
    this.clearTimer();
    this.passHead(answer, ["Connection", "close"]);
    this.report(answer.statusCode!);
    this.socket.off("data", this.onEarly).off("end", this.onVisitorClose).resume();
    this.watchReading();
    answer.on("error", () => this.socket.destroy());
    answer.on("close", () => {
      this.leaveAddress();
      closeSoon(this.socket as Socket);
    });
    answer.setTimeout(this.proxy.settings.idleTimeout, () => answer.destroy(new Error("origin fell silent")));
    answer.pipe(this.socket);
  };

  private readonly onError = (error: Error): void => {
    const address = this.address;
    const wasConnected = this.phase !== "connecting";
    this.clearTimer();
    if (address !== null && !this.isOver) this.proxy.origin.failed(address, this, error);
    this.leaveAddress();
    if (!this.isOver && address !== null) this.retry(address, error, wasConnected);
  };

  protected fail(error: Error, address: OriginAddress | null): void {
    const { status, kind, code } = diagnose(error);
    const { log, renderProblem } = this.proxy;
    const { id } = this.forward;
    const cause = (error as NodeJS.ErrnoException).code;
    const fields = { code, id, address: address?.name ?? null, status, cause, error: error.message };
    const message = "upgrade not answered by the origin";
    log.add({ level: "warn", about: `${code} ${fields.address}`, fields, message });
    this.report(status);
    const { headers, body } = renderProblem(this.request, { status, id, kind });
    answerRaw(this.socket, {
      status,
      headers: [...headers, ...this.forward.responseHeaders],
      body,
    });
  }

  private report(status: number): void {
    if (this.isOver) return;
    this.isOver = true;
    this.proxy.onDone?.({ status, tookMs: this.proxy.world.clock.now() - this.startedAt });
  }

  /** What the visitor sends before the origin has agreed is kept, within a limit. */
  private readonly onEarly = (chunk: Buffer): void => {
    this.early.push(chunk);
    this.earlyBytes += chunk.length;
    if (this.earlyBytes > EARLY_BYTES_MAX) this.socket.pause();
  };

  private readonly onVisitorClose = (): void => {
    this.clearTimer();
    if (this.isWaiting) this.leaveAddress();
    this.report(STATUS_VISITOR_LEFT);
    this.outgoing?.destroy();
    this.socket.destroy();
  };
}
