/**
 * Fairgate as a library for servers that speak the Fetch API: Hono, Next.js, and whatever else hands over a `Request` and
 * takes a `Response`.
 *
 *   const gateway = await createFetchGateway({ secret, rooms: { main: { totalActiveUsers: 200 } }, address });
 *   const answer = await gateway.handle(request, (request) => app.fetch(request));
 *
 * All requests have to come by here, those for `/.fairgate/` as well. WebSockets do not: a server that speaks this API
 * hands them over by other ways, and their connections do not end with the visit.
 */
import "./needs-node.ts";
import type { GatewayOptions } from "./assembly/open-for-program.ts";
import type { Engine } from "./core/engine.ts";
import type { Site } from "./gateway/adapters/fetch.ts";

export type { GatewayOptions } from "./assembly/open-for-program.ts";
export type { SettingsInput } from "./config/schema.ts";
export type { Board, RoomState, WaitRange } from "./core/board.ts";
export type { Counts, Engine } from "./core/engine.ts";
export type { Log } from "./core/world.ts";
export type { Site } from "./gateway/adapters/fetch.ts";

/** `Context`: what the server knows of a connection beside the request. */
export type FetchGatewayOptions<Context = void> = GatewayOptions & {
  /**
   * The IP address at the other end of the connection, which a `Request` does not tell. Where that is a proxy of yours,
   * name it in `trustedProxies`, and the visitor's address is read from what the proxy says. There is no default: without
   * addresses all visitors would have to share what a single one may have.
   */
  readonly address: (request: Request, context: Context) => string | undefined;
};

export interface FetchGateway<Context = void> {
  /**
   * Answers a request, or hands it on to the site and gives its answer. The site gets it cleaned, with the `Fairgate-*`
   * headers. Rejects when the site does.
   */
  readonly handle: (request: Request, site: Site, context: Context) => Promise<Response>;
  readonly engine: Engine;
  /** Ends all event streams and lets go of everything. */
  close(): Promise<void>;
}

/** Opens a gateway. Settings that are not right throw one Error that names every problem. */
export async function createFetchGateway<Context = void>(
  options: FetchGatewayOptions<Context>,
): Promise<FetchGateway<Context>> {
  const { address, ...given } = options;
  if (typeof address !== "function")
    throw new TypeError("a fetch gateway needs `address`, a function that gives a request's IP address");
  const { openForProgram } = await import("./assembly/open-for-program.ts");
  const { FetchAdapter } = await import("./gateway/adapters/fetch.ts");
  const { nodeWorld } = await import("./node.ts");
  const { proxied, engine, world, accessLog, close } = await openForProgram(given, nodeWorld);
  const { gateway } = proxied;
  const adapter = new FetchAdapter({ gateway, world, address, accessLog: accessLog.log });
  return { handle: (request, site, context) => adapter.handle(request, site, context), engine, close };
}
