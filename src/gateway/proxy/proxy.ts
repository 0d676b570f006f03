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
import type { ErrorPage } from "../page/problem.ts";
import type { AnyRequest, AnyResponse } from "./answer.ts";
import { Exchange } from "./exchange.ts";
import { type AddressState, createOrigin, type Origin } from "./origin.ts";
import { createOwnLinks, type OwnLinks } from "./own-links.ts";
import type { SlowVisitors } from "./slow-visitors.ts";
import type { Client, Trust } from "./trust.ts";
import { Tunnel } from "./upgrade.ts";

/** What one request carries besides itself. */
export interface Forward {
  /** In logs and on error pages, and the origin's X-Request-Id unless a trusted proxy gave one. */
  readonly id: string;
  /** Flat list of `Fairgate-*` headers for the origin. */
  readonly requestHeaders: readonly string[];
  /** Flat list of headers for the visitor, such as our Set-Cookie. */
  readonly responseHeaders: readonly string[];
  /** Behind a line: the answer is for this visitor alone, whatever the origin says to shared caches. */
  readonly isPersonal: boolean;
  /** Of someone with a visit, for whom the last of the origin's connections are kept. */
  readonly isOnSite: boolean;
  /** In whose share its connection to the origin counts: an address, or with IPv6 its /64. Null where that is not known. */
  readonly client: string | null;
  /** Whose requests go to the same address of a sticky origin. Null: to any. */
  readonly stickyKey: string | null;
  /** The visitor sent `Expect: 100-continue` and waits for our 100 before sending the body. */
  readonly isContinueExpected: boolean;
  /** Who wants to know how the origin does. Null: nobody. */
  readonly watch: Watch | null;
  /** Whose request it is, for `watch` alone. */
  readonly visitor: object | null;
  /** Counts what passes, where the visitor's socket does not tell. Null: nobody wants to know. */
  readonly connection: { moved: number } | null;
}

/** Told what becomes of requests on their way to the origin. One for all requests of a room. */
export interface Watch {
  asked(): void;
  /** The origin began its answer, so long after it was asked. */
  answered(status: number, tookMs: number): void;
  /** No answer came. */
  failed(): void;
  /** It is over, one way or another; called once for each `asked`. */
  done(): void;
  /**
   * The origin's answer had a word for us in it. Gives the headers for the visitor in place of the `responseHeaders`
   * there were; null leaves those.
   */
  commanded(forward: Forward, command: string): readonly string[] | null;
}

/** How an exchange ended: the status sent (499: the visitor left first) and how long it took. */
export interface Outcome {
  readonly status: number;
  readonly tookMs: number;
}

/** What was too slow: a request body, the reading of an answer, or that of an upgraded connection. */
export type SlowKind = "body" | "answer" | "upgraded";

/** Makes the page for a request that failed, in the form and the language that it asks for. */
export type RenderProblem = (
  request: { readonly headers: Readonly<Record<string, string | string[] | undefined>> },
  page: Pick<ErrorPage, "status" | "id" | "kind">,
) => { readonly headers: readonly string[]; readonly body: Buffer };

export interface ProxyOptions {
  readonly settings: OriginSettings;
  readonly trust: Trust;
  /** Shared by all proxies. */
  readonly slow: SlowVisitors;
  readonly world: World;
  /** Frees file handles when there are none left to connect with; nothing does when left out. */
  readonly relief?: Relief;
  readonly renderProblem: RenderProblem;
  readonly onDone?: (outcome: Outcome) => void;
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

/** What an exchange knows of the proxy it belongs to. */
export interface ProxyContext {
  readonly settings: OriginSettings;
  readonly origin: Origin;
  readonly trust: Trust;
  readonly slow: SlowVisitors;
  readonly world: World;
  /** For what visitors can cause. */
  readonly log: PacedLog;
  readonly relief: Relief;
  readonly renderProblem: RenderProblem;
  readonly onDone: ((outcome: Outcome) => void) | undefined;
  readonly onCut: ((what: SlowKind) => void) | undefined;
  /** The Host the origin gets; null for that of the address. */
  hostFor(client: Client): string | null;
  /** What becomes of the origin's links to itself; null leaves them. */
  readonly ownLinks: OwnLinks | null;
}

/** A proxy to one origin. Connections are made when they are first needed. */
export function createProxy(options: ProxyOptions): Proxy {
  const log = new PacedLog(options.world);
  const origin = createOrigin(options.settings, options.world, log);
  const context: ProxyContext = {
    settings: options.settings,
    origin,
    trust: options.trust,
    slow: options.slow,
    world: options.world,
    log,
    relief: options.relief ?? new Relief(),
    renderProblem: options.renderProblem,
    onDone: options.onDone,
    onCut: options.onCut,
    hostFor: hostRule(options.settings.hostHeader),
    ownLinks: createOwnLinks(options.settings, options.trust),
  };
  return {
    forward(request, response, forward) {
      // HTTP/2's compatibility classes have the shape of HTTP/1's; what differs is told apart where it matters.
      new Exchange(context, request as IncomingMessage, response as ServerResponse, forward).start();
    },
    upgrade(request, socket, head, forward) {
      new Tunnel(context, request, socket, head, forward).start();
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
