/**
 * Fairgate as a library: a waiting room for a Node server.
 *
 *   const gateway = await createGateway({ secret, origin: { addresses: ["http://127.0.0.1:3000"] }, rooms: { main: { totalActiveUsers: 200 } } });
 *   const server = http.createServer(gateway.handler);
 *   server.on("upgrade", gateway.upgrade).on("checkContinue", gateway.checkContinue).listen(8080);
 *
 *   app.use(gateway.middleware);          // Express, Connect: the site is the next middleware, no origin needed
 */
import { readFileSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { withKeptSecret } from "./assembly/data.ts";
import { openAccessLog } from "./assembly/open-access-log.ts";
import { openEngine } from "./assembly/open-engine.ts";
import { explain } from "./config/explain.ts";
import { settingsFrom } from "./config/load.ts";
import type { SettingsInput } from "./config/schema.ts";
import type { Engine } from "./core/engine.ts";
import type { Log } from "./core/world.ts";
import { asMiddleware } from "./gateway/adapters/connect.ts";
import { isRefused, isUpgradeRefused } from "./gateway/listener/listen.ts";
import { checkTemplate } from "./gateway/page/render.ts";
import { ProxiedGateway } from "./gateway/proxied-gateway.ts";
import type { Trust } from "./gateway/proxy/trust.ts";
import { nodeWorld } from "./node.ts";
import { fileLimit } from "./sockets/file-limit.ts";

export type { SettingsInput } from "./config/schema.ts";
export type { Board, RoomState, WaitRange } from "./core/board.ts";
export type { Counts, Engine } from "./core/engine.ts";
export type { Log } from "./core/world.ts";

/** The settings file's keys as an object, and what only a program can give. */
export type GatewayOptions = SettingsInput & {
  /** Where the line lives; one of your own, or what the settings say when left out. */
  readonly engine?: Engine;
  /** A logger with debug, info, warn and error, such as pino. Lines of JSON on standard output when left out. */
  readonly log?: Log;
};

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
  const { engine: ownEngine, log, ...input } = options;
  const readFile = (name: string) => readFileSync(name, "utf8");
  const result = settingsFrom(input, {
    environment: process.env,
    readFile,
    checkPage: checkTemplate,
    needsOrigin: false,
  });
  if (!result.ok) throw new Error(`the gateway's settings are not right\n${explain(result.problems)}`);
  const settings = withKeptSecret(result.settings);
  const machine = nodeWorld(log ? { log } : { level: settings.log.level });
  const trust = (): Trust => proxied.gateway.trust;
  const accessLog = await openAccessLog(settings.accessLog, { world: machine, trust });
  const { log: accesses } = accessLog;
  const opened = ownEngine ? null : await openEngine(settings, machine);
  const world = opened?.world ?? machine;
  const engine = ownEngine ?? opened!.engine;
  const parts = { settings, engine, world, fileLimit: fileLimit(), accessLog: accesses };
  const proxied: ProxiedGateway = await ProxiedGateway.open(parts);
  await opened?.cluster?.joined;
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
    close: async () => {
      await proxied.close();
      await opened?.close();
      await accessLog.close();
    },
  };
}
