/**
 * Requests over HTTP/2 to one address: as few connections as will do, each with many requests at once. With https, whether
 * the address speaks HTTP/2 is settled when a connection is made (ALPN). Where it does not, requests go the usual way, and
 * it is asked again after a while. With http it has to (h2c with prior knowledge, RFC 9113, section 3.3).
 *
 * Not undici's: 8.12 takes an answer that was reset for a whole one, loses the rest of a paused answer when its trailers
 * come, and closes the connection, with everybody's requests on it, for one request with a header twice.
 */
import type { ClientHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { buildConnector } from "undici";
import type { OriginSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import { beginSession, OriginSession, type RequestCounts } from "./http2-session.ts";
import { OriginCall, OriginClosed } from "./origin-call.ts";
import { hostnameOf, type PoolHandler, type PoolRequest } from "./pool.ts";

/** How long an address that speaks HTTP/1.1 alone is not asked again. */
export const ASK_AGAIN_MS = 600_000;

export interface Http2PoolOptions {
  readonly url: URL;
  /** Connects, and offers HTTP/2 where TLS settles that. */
  readonly connect: buildConnector.connector;
  readonly settings: OriginSettings;
  readonly world: World;
}

/** A request without a connection. */
interface Waiting {
  readonly call: OriginCall;
  /** How to carry it over HTTP/1.1; null where HTTP/2 has begun to. */
  readonly carryPlainly: (() => void) | null;
}

class ConnectTimeout extends Error {
  readonly code = "UND_ERR_CONNECT_TIMEOUT";
}

export class Http2Pool {
  readonly #options: Http2PoolOptions;
  readonly #sessions = new Set<OriginSession>();
  /** At most `connectionsMax` together, since each request has taken one of these. Those begun before go first. */
  #again: Waiting[] = [];
  #waiting: Waiting[] = [];
  /** How many requests are sent over one connection. */
  #requestsMax = Number.POSITIVE_INFINITY;
  /** After how many requests the last connection that the origin ended in good order was over. */
  #endedAfter = 0;
  #isConnecting = false;
  #isDestroyed = false;
  #plainUntil = Number.NEGATIVE_INFINITY;

  constructor(options: Http2PoolOptions) {
    this.#options = options;
  }

  /** Carries the request over HTTP/2, or calls `carryPlainly` where the address does not speak it. */
  dispatch(request: PoolRequest, handler: PoolHandler, carryPlainly: () => void): void {
    if (this.#options.world.clock.now() < this.#plainUntil) {
      carryPlainly();
      return;
    }
    this.#waiting.push({ call: new OriginCall(request, handler, this.#options), carryPlainly });
    this.#serve();
  }

  destroy(): void {
    this.#isDestroyed = true;
    this.#fail(new OriginClosed("no more requests to this address"));
    for (const session of this.#sessions) session.destroy();
  }

  /** Sends what waits over the connections with room. Where that is not enough, one more is made. */
  #serve(): void {
    for (const session of this.#sessions) {
      if (session.isClosed) this.#sessions.delete(session);
      while (session.hasRoom && this.#isAwaited)
        session.send((this.#again.shift() ?? this.#waiting.shift()!).call);
    }
    if (this.#isAwaited && !this.#isConnecting) this.#connect();
  }

  get #isAwaited(): boolean {
    return this.#again.length + this.#waiting.length > 0;
  }

  #connect(): void {
    const { url, connect } = this.#options;
    const { protocol, port, host } = url;
    this.#isConnecting = true;
    connect({ hostname: hostnameOf(url), host, protocol, port }, (error, socket) => {
      if (error) this.#fail(error);
      else if (protocol === "http:" || (socket as TLSSocket).alpnProtocol === "h2") this.#begin(socket);
      else this.#turnPlain(socket);
    });
  }

  /** Waits for what the origin allows, which is the first thing it has to say. */
  #begin(socket: Socket): void {
    const { url, settings, world } = this.#options;
    const session = beginSession(url, socket);
    const late = new ConnectTimeout("origin did not begin to speak HTTP/2");
    const stop = world.timers.after(settings.connectTimeout, () => session.destroy(late));
    let problem: Error = new OriginClosed("origin closed the connection");
    const onError = (error: Error) => {
      problem = error;
    };
    const onClose = () => {
      stop();
      this.#fail(problem);
    };
    session.on("error", onError).once("close", onClose);
    session.once("remoteSettings", () => {
      stop();
      session.off("error", onError).off("close", onClose);
      this.#add(session);
    });
  }

  #add(session: ClientHttp2Session): void {
    const { url, world } = this.#options;
    const options = { url, timers: world.timers, requestsMax: () => this.#requestsMax };
    this.#isConnecting = false;
    if (this.#isDestroyed) {
      session.destroy();
      return;
    }
    this.#sessions.add(
      new OriginSession(session, options, {
        onChange: () => this.#serve(),
        onCounts: (counts) => this.#learn(counts),
        onEnd: (requests) => this.#learnEnd(requests),
        onRefused: (call) => {
          this.#again.push({ call, carryPlainly: null });
          this.#serve();
        },
      }),
    );
    this.#serve();
  }

  /**
   * Many servers take a fixed number of requests on a connection and refuse the next. We stop before that, since not every
   * request can be sent again. A limit that turns out not to be one is raised.
   */
  #learn({ taken, refused, isGone }: RequestCounts): void {
    if (isGone && refused > 0) this.#requestsMax = Math.max(1, taken);
    else if (!isGone && taken >= this.#requestsMax) this.#requestsMax *= 2;
  }

  /** Two ends in a row after as many requests are a limit, which need not wait for a refusal; a single one may be anything. */
  #learnEnd(requests: number): void {
    if (requests > 0 && requests === this.#endedAfter) this.#requestsMax = requests;
    this.#endedAfter = requests;
  }

  #turnPlain(socket: Socket): void {
    socket.destroy();
    this.#plainUntil = this.#options.world.clock.now() + ASK_AGAIN_MS;
    for (const { call, carryPlainly } of this.#takeWaiting()) {
      if (carryPlainly !== null) carryPlainly();
      else call.fail(new OriginClosed("origin speaks HTTP/2 no more"));
    }
  }

  #fail(error: Error): void {
    for (const { call } of this.#takeWaiting()) call.fail(error);
  }

  /** The next request makes a new connection. */
  #takeWaiting(): Waiting[] {
    const waiting = [...this.#again, ...this.#waiting];
    this.#isConnecting = false;
    this.#again = [];
    this.#waiting = [];
    return waiting;
  }
}
