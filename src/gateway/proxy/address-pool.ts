/**
 * The way to one origin address: undici's pool for nearly everything, and our own connections for what undici cannot do.
 */
import type { OriginSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import { dispatchExpecting } from "./expect-continue.ts";
import { createConnector, createPool, type PoolHandler, type PoolRequest } from "./pool.ts";

export interface AddressPool {
  /** Carries a request to the address. The handler hears what becomes of it. */
  dispatch(request: PoolRequest, handler: PoolHandler): void;
  /** Resolves when every connection is closed. Nothing may be under way. */
  close(): Promise<void>;
}

/** Connections to the address are made when they are first needed. */
export function createAddressPool(url: URL, settings: OriginSettings, world: World): AddressPool {
  const connect = createConnector(url, settings.connectTimeout);
  const pool = createPool(url, settings, connect);
  const own = { url, connect, settings, world };
  return {
    dispatch(request, handler) {
      if (request.expectContinue === true) dispatchExpecting(request, handler, own);
      else pool.dispatch(request, handler);
    },
    close: () => pool.close(),
  };
}
