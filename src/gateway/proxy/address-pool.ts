/**
 * The way to one origin address: undici's pool for nearly everything, and our own connections for what undici cannot do
 * (`Expect: 100-continue`) or does not do well enough (HTTP/2).
 */
import type { OriginSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import { dispatchExpecting } from "./expect-continue.ts";
import { Http2Pool } from "./http2-pool.ts";
import { createConnector, createPool, type PoolHandler, type PoolRequest } from "./pool.ts";

export interface AddressPool {
  /** Sends a request to the address. The handler gets the result. */
  dispatch(request: PoolRequest, handler: PoolHandler): void;
  /** Resolves when every connection is closed. Nothing may be under way. */
  close(): Promise<void>;
  /** The same at once, ending requests under way. */
  destroy(): Promise<void>;
}

/** Connections to the address are made when they are first needed. */
export function createAddressPool(url: URL, settings: OriginSettings, world: World): AddressPool {
  const { connectTimeout } = settings;
  const connect = createConnector(url, connectTimeout);
  const pool = createPool(url, settings, connect);
  const own = { url, connect, settings, world };
  const isHttp2 = settings.http2 === "always" || (settings.http2 === "tls" && url.protocol === "https:");
  const http2 = isHttp2
    ? new Http2Pool({ ...own, connect: createConnector(url, connectTimeout, true) })
    : null;
  const carryPlainly = (request: PoolRequest, handler: PoolHandler) => {
    if (request.expectContinue === true) dispatchExpecting(request, handler, own);
    else pool.dispatch(request, handler);
  };
  return {
    dispatch(request, handler) {
      if (http2 === null) carryPlainly(request, handler);
      else http2.dispatch(request, handler, () => carryPlainly(request, handler));
    },
    close() {
      http2?.destroy();
      return pool.close();
    },
    destroy() {
      http2?.destroy();
      return pool.destroy();
    },
  };
}
