/**
 * The connections to one origin address: an undici pool, set up for a reverse proxy.
 *
 * HTTP/1.1 only and one request per connection at a time: what an origin answers then depends on that request alone.
 * HTTP/2 has a pool of its own (`http2-pool.ts`).
 * The server name of a TLS connection is that of the address, never the visitor's Host, or connections would be thrown
 * away whenever two visitors ask for different hosts.
 */
import { isIP, type Socket } from "node:net";
import { buildConnector, Client, type Dispatcher, Pool } from "undici";
import type { OriginSettings } from "../../config/schema.ts";

/** The largest response header taken from an origin. */
export const RESPONSE_HEADER_BYTES_MAX = 64 * 1_024;
/** How long an unused connection is kept when the origin does not say; shorter than what origins commonly allow. */
export const UNUSED_MAX_MS = 4_000;

/** A handler that knows whether its request was refused before it was queued. */
export interface PoolHandler extends Dispatcher.DispatchHandler {
  readonly isInvalid: boolean;
}

/** undici takes the server name per request; its types leave it out. */
export type PoolRequest = Dispatcher.DispatchOptions & {
  readonly servername: string;
  /** The visitor's TE, which says whether trailers are wanted. Of use over HTTP/2 alone. */
  readonly te: string | string[] | undefined;
};

/** A pool of connections to the address. */
export function createPool(url: URL, settings: OriginSettings, connect: buildConnector.connector): Pool {
  return new Pool(url.origin, {
    connect,
    connections: settings.connectionsMax,
    pipelining: 1,
    allowH2: false,
    headersTimeout: settings.headersTimeout,
    bodyTimeout: settings.idleTimeout,
    keepAliveTimeout: UNUSED_MAX_MS,
    maxHeaderSize: RESPONSE_HEADER_BYTES_MAX,
    factory: (origin, options) => new SteadyClient(origin, options),
  });
}

/** undici returns the socket that is being connected; its types leave it out. */
export type Connector = (
  options: buildConnector.Options,
  callback: buildConnector.Callback,
) => Socket | undefined;

/** Connects to the address, with its own name where TLS wants one. HTTP/2 is offered where that is asked for. */
export function createConnector(url: URL, timeoutMs: number, isHttp2 = false): Connector {
  const connect = buildConnector({ timeout: timeoutMs, allowH2: isHttp2, preferH2: isHttp2 }) as Connector;
  if (url.protocol !== "https:") return connect;
  const name = hostnameOf(url);
  const servername = isIP(name) === 0 ? name : "";
  return (options, callback) => connect({ ...options, servername }, callback);
}

/** The address's host without the brackets of IPv6. */
export function hostnameOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, "");
}

/**
 * A client that a malformed request cannot stop. A pool takes `false` from `dispatch` for "busy until I drain"; undici
 * also answers `false` to a request it finds invalid, and then no drain ever comes.
 */
class SteadyClient extends Client {
  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    return super.dispatch(options, handler) || (handler as PoolHandler).isInvalid;
  }
}
