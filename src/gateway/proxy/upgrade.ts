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
import { requestHeaders, responseHeaders } from "../headers.ts";
import { diagnose } from "./diagnosis.ts";
import { OriginBusy, STATUS_VISITOR_LEFT } from "./exchange.ts";
import { originForm } from "./framing.ts";
import type { Address } from "./origin.ts";
import type { Forward, ProxyContext } from "./proxy.ts";
import { answerRaw, closeSoon, rawHead } from "./raw-answer.ts";

/** How much a visitor may send ahead of the origin's agreement before we stop reading. */
const EARLY_BYTES_MAX = 65_536;

/** Carries one upgrade request to the origin and joins the connections when it agrees. */
export class Tunnel {
  private readonly proxy: ProxyContext;
  private readonly request: IncomingMessage;
  private readonly socket: Duplex;
  private readonly head: Buffer;
  private readonly forward: Forward;
  private readonly startedAt: number;
  private readonly headers: string[];
  private address: Address | null = null;
  private outgoing: ClientRequest | null = null;
  private tried: readonly Address[] = [];
  private readonly early: Buffer[] = [];
  private earlyBytes = 0;
  private isConnected = false;
  private isReported = false;
  private stopTimer: (() => void) | null = null;

  constructor(proxy: ProxyContext, request: IncomingMessage, socket: Duplex, head: Buffer, forward: Forward) {
    this.proxy = proxy;
    this.request = request;
    this.socket = socket;
    this.head = head;
    this.forward = forward;
    this.startedAt = proxy.world.clock.now();
    this.headers = requestHeaders(request.rawHeaders, {
      client: proxy.trust.client(request),
      host: proxy.hostFor(request),
      id: forward.id,
      added: forward.requestHeaders,
      upgrade: request.headers.upgrade ?? "",
    });
  }

  start(): void {
    // Read from the start: a connection nobody reads does not tell that its other end has left.
    this.socket.on("data", this.onEarly).on("end", this.onVisitorClose);
    this.socket.on("error", this.onVisitorClose).on("close", this.onVisitorClose);
    if (this.head.length > 0) this.onEarly(this.head);
    this.ask();
  }

  private ask(): void {
    const { origin, settings } = this.proxy;
    const address = origin.pick(this.tried);
    if (address === null) {
      this.fail(new OriginBusy("no address left to try"), null);
      return;
    }
    this.address = address;
    this.isConnected = false;
    origin.take(address, "tunnels");
    const outgoing = this.send(address);
    this.outgoing = outgoing;
    outgoing.on("socket", (socket: Socket) => {
      socket.once(address.url.protocol === "https:" ? "secureConnect" : "connect", this.onConnect);
    });
    outgoing.on("upgrade", this.onUpgrade);
    outgoing.on("response", this.onResponse);
    outgoing.on("error", this.onError);
    this.limit(settings.connectTimeout, "UND_ERR_CONNECT_TIMEOUT");
  }

  private send(address: Address): ClientRequest {
    const { url, hostname: name } = address;
    const headers =
      this.proxy.hostFor(this.request) === null ? [...this.headers, "Host", url.host] : this.headers;
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

  private limit(timeoutMs: number, code: string): void {
    this.clearTimer();
    this.stopTimer = this.proxy.world.timers.after(timeoutMs, () => {
      this.outgoing?.destroy(Object.assign(new Error("origin took too long"), { code }));
    });
  }

  private readonly onConnect = (): void => {
    this.isConnected = true;
    this.proxy.origin.connected(this.address!);
    this.limit(this.proxy.settings.headersTimeout, "UND_ERR_HEADERS_TIMEOUT");
  };

  private readonly onUpgrade = (answer: IncomingMessage, origin: Socket, originHead: Buffer): void => {
    this.clearTimer();
    const headers = responseHeaders(answer.rawHeaders, {
      added: this.forward.responseHeaders,
      canTrail: false,
    });
    headers.push(
      "Connection",
      "Upgrade",
      "Upgrade",
      answer.headers.upgrade ?? this.request.headers.upgrade ?? "",
    );
    this.socket.write(rawHead(101, answer.statusMessage, headers), "latin1");
    if (originHead.length > 0) this.socket.write(originHead);
    this.socket.off("data", this.onEarly).off("end", this.onVisitorClose);
    for (const chunk of this.early) origin.write(chunk);
    this.outgoing = null;
    this.report(101);
    this.join(origin);
  };

  /** Both ways, until either side closes or both are silent for the idle time. */
  private join(origin: Socket): void {
    const visitor = this.socket as Socket;
    const { idleTimeout } = this.proxy.settings;
    origin.on("error", () => visitor.destroy());
    origin.on("close", () => {
      this.leaveAddress();
      closeSoon(visitor);
    });
    visitor.on("error", () => origin.destroy());
    visitor.on("close", () => closeSoon(origin));
    // Traffic in either direction passes the origin's socket; the visitor's is watched for a reader who stopped.
    origin.setTimeout(idleTimeout, () => origin.destroy());
    visitor.setTimeout(idleTimeout, () => visitor.destroy());
    origin.pipe(visitor);
    visitor.pipe(origin);
  }

  private readonly onResponse = (answer: IncomingMessage): void => {
    this.clearTimer();
    const headers = responseHeaders(answer.rawHeaders, {
      added: this.forward.responseHeaders,
      canTrail: false,
    });
    headers.push("Connection", "close");
    this.socket.write(rawHead(answer.statusCode!, answer.statusMessage, headers), "latin1");
    this.report(answer.statusCode!);
    this.socket.off("data", this.onEarly).off("end", this.onVisitorClose).resume();
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
    this.clearTimer();
    this.leaveAddress();
    if (this.isReported || address === null) return;
    if (!this.isConnected) {
      this.proxy.origin.failed(address, error);
      this.tried = [...this.tried, address];
    }
    if (!this.isConnected && this.tried.length < this.proxy.origin.addresses.length) this.ask();
    else this.fail(error, address);
  };

  private fail(error: Error, address: Address | null): void {
    const { status, kind, code } = diagnose(error);
    const { world, renderProblem } = this.proxy;
    const { id } = this.forward;
    const cause = (error as NodeJS.ErrnoException).code;
    const fields = { code, id, address: address?.name ?? null, status, cause, error: error.message };
    world.log.warn(fields, "upgrade not answered by the origin");
    this.report(status);
    const { headers, body } = renderProblem(this.request, { status, id, kind });
    answerRaw(this.socket, {
      status,
      headers: [...headers, ...this.forward.responseHeaders],
      body,
    });
  }

  private report(status: number): void {
    if (this.isReported) return;
    this.isReported = true;
    this.proxy.onDone?.({ status, tookMs: this.proxy.world.clock.now() - this.startedAt });
  }

  private leaveAddress(): void {
    const address = this.address;
    this.address = null;
    if (address !== null) this.proxy.origin.release(address, "tunnels");
  }

  private clearTimer(): void {
    this.stopTimer?.();
    this.stopTimer = null;
  }

  /** What the visitor sends before the origin has agreed is kept, within a limit. */
  private readonly onEarly = (chunk: Buffer): void => {
    this.early.push(chunk);
    this.earlyBytes += chunk.length;
    if (this.earlyBytes > EARLY_BYTES_MAX) this.socket.pause();
  };

  private readonly onVisitorClose = (): void => {
    this.clearTimer();
    this.report(STATUS_VISITOR_LEFT);
    this.outgoing?.destroy();
    this.socket.destroy();
  };
}
