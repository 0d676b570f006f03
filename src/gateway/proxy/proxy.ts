/**
 * The reverse proxy: requests and upgrades in, to one origin with its addresses. It decides nothing about waiting; it is
 * told by `Forward` what to add on either side, and costs the same without it.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { OriginSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import { Relief } from "../../sockets/relief.ts";
import { PacedLog } from "../paced-log.ts";
import type { AnyRequest, AnyResponse } from "./any-http.ts";
import { Exchange } from "./exchange.ts";
import type { ExchangeOutcome, Forward, ProxyContext, RenderProblem, SlowKind } from "./forward.ts";
import { type AddressState, createOrigin } from "./origin.ts";
import { createOwnLinks } from "./own-links.ts";
import type { SlowVisitors } from "./slow-visitors.ts";
import { UpgradedConnection } from "./upgrade.ts";

export type { ExchangeOutcome, Forward, RenderProblem, Watch } from "./forward.ts";

export interface ProxyOptions {
  readonly settings: OriginSettings;
  /** Shared by all proxies. */
  readonly slow: SlowVisitors;
  readonly world: World;
  /** Frees file handles when there are none left to connect with; nothing does when left out. */
  readonly relief?: Relief;
  readonly renderProblem: RenderProblem;
  readonly onDone?: (outcome: ExchangeOutcome) => void;
  /** A visitor was cut off for being too slow. */
  readonly onCut?: (what: SlowKind) => void;
}

export interface Proxy {
  /** Passes a request to the origin and its answer back. Never throws. */
  forward(request: AnyRequest, response: AnyResponse, forward: Forward): void;
  /** The same for a request to change the protocol. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer, forward: Forward): void;
  health(): AddressState[];
  /** Requests and upgraded connections under way. */
  inFlight(): number;
  /** Resolves when everything under way has finished and all connections are closed. */
  close(): Promise<void>;
}

/** A proxy to one origin. Connections are made when they are first needed. */
export function createProxy(options: ProxyOptions): Proxy {
  const log = new PacedLog(options.world);
  const origin = createOrigin(options.settings, options.world, log);
  const context: ProxyContext = {
    settings: options.settings,
    origin,
    slow: options.slow,
    world: options.world,
    log,
    relief: options.relief ?? new Relief(),
    renderProblem: options.renderProblem,
    onDone: options.onDone,
    onCut: options.onCut,
    hostFor: hostRule(options.settings.hostHeader),
    ownLinks: createOwnLinks(options.settings),
  };
  return {
    forward(request, response, forward) {
      // HTTP/2's compatibility classes have the shape of HTTP/1's; what differs is told apart where it matters.
      new Exchange(context, request as IncomingMessage, response as ServerResponse, forward).start();
    },
    upgrade(request, socket, head, forward) {
      new UpgradedConnection(context, request, socket, head, forward).start();
    },
    health: origin.health,
    inFlight: origin.inFlight,
    close: origin.close,
  };
}

function hostRule(hostHeader: string): ProxyContext["hostFor"] {
  if (hostHeader === "origin") return () => null;
  if (hostHeader !== "preserve") return () => hostHeader;
  // The host by which the room was found.
  return ({ host }) => host || null;
}
