/**
 * Fairgate as a library: a waiting room for a Node server.
 *
 *   const gateway = await createGateway({ secret, origin: { addresses: ["http://127.0.0.1:3000"] }, rooms: { main: { totalActiveUsers: 200 } } });
 *   const server = http.createServer(gateway.handler);
 *   server.on("upgrade", gateway.upgrade).on("checkContinue", gateway.checkContinue).listen(8080);
 *
 *   app.use(gateway.middleware);          // Express, Connect: the site is the next middleware, no origin needed
 */
import "./needs-node.ts";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { GatewayOptions } from "./assembly/open-for-program.ts";
import type { Engine } from "./core/engine.ts";

export type { GatewayOptions } from "./assembly/open-for-program.ts";
export type { SettingsInput } from "./config/schema.ts";
export type { Board, RoomState, WaitRange } from "./core/board.ts";
export type { Counts, Engine } from "./core/engine.ts";
export type { Log } from "./core/world.ts";

export interface RunningGateway {
  /** For `http.createServer`: requests with a pass go on to the origin. */
  readonly handler: (request: IncomingMessage, response: ServerResponse) => void;
  /**
   * For a server's `checkContinue` event, so that an upload is refused before it is sent. Without it Node tells every
   * visitor to go on.
   */
  readonly checkContinue: (request: IncomingMessage, response: ServerResponse) => void;
  /** For a server's `upgrade` event. */
  readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void;
  /** For Express and Connect: requests with a pass go on to the next middleware. */
  readonly middleware: (
    request: IncomingMessage,
    response: ServerResponse,
    next: (error?: unknown) => void,
  ) => void;
  readonly engine: Engine;
  /** Finishes what is under way and lets go of everything. */
  close(): Promise<void>;
}

/** Opens a gateway. Settings that are not right throw one Error that names every problem. */
export async function createGateway(options: GatewayOptions): Promise<RunningGateway> {
  const { openForProgram } = await import("./assembly/open-for-program.ts");
  const { asMiddleware } = await import("./gateway/adapters/connect.ts");
  const { isRefused, isUpgradeRefused } = await import("./gateway/listener/listen.ts");
  const { nodeWorld } = await import("./node.ts");
  const { engine, world, proxied, accessLog, close } = await openForProgram(options, nodeWorld);
  const { log: accesses } = accessLog;
  return {
    handler: (request, response) => {
      if (!isRefused(request, response, world, accesses)) proxied.handle(request, response);
    },
    checkContinue: (request, response) => {
      if (!isRefused(request, response, world, accesses)) proxied.handleContinue(request, response);
    },
    upgrade: (request, socket, head) => {
      if (!isUpgradeRefused(request, socket, world, accesses)) proxied.upgrade(request, socket, head);
    },
    middleware: asMiddleware(proxied.adapter, world),
    engine,
    close,
  };
}
