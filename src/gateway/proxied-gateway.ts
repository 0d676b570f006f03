/**
 * A gateway in front of its origins, as a listener gets it. Proxies are kept by their settings: a reload that does not change an
 * origin keeps its connections, and a removed origin finishes its requests and closes.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { OriginSettings, Settings } from "../config/schema.ts";
import type { World } from "../core/world.ts";
import { Relief } from "../sockets/relief.ts";
import type { AccessLog } from "./access-log/access-log.ts";
import { NodeAdapter } from "./adapters/node.ts";
import { sendRendered } from "./adapters/node-answers.ts";
import { NodeRequest, type Onward } from "./adapters/node-request.ts";
import { headerOf } from "./facts.ts";
import { Gateway, type GatewayParts, type Prepared } from "./gateway.ts";
import { renderProblem } from "./page/problem.ts";
import type { AnyRequest, AnyResponse } from "./proxy/any-http.ts";
import type { AddressState } from "./proxy/origin.ts";
import { createProxy, type Proxy as OriginProxy } from "./proxy/proxy.ts";
import { answerRaw } from "./proxy/raw-answer.ts";
import { SlowVisitors } from "./proxy/slow-visitors.ts";

export interface ProxiedGatewayParts extends GatewayParts {
  /** Notes every request. */
  readonly accessLog?: AccessLog;
  /** Frees file handles when there are none left to connect with. */
  readonly relief?: Relief;
  /** The settings to begin with in place of `settings`. The gateway has no rooms yet; it can validate them. */
  readonly amend?: (gateway: Gateway) => Promise<Settings>;
}

/** The name of the origin at the top of the settings. No room can have this name. */
const SHARED_ORIGIN = "(default)";

/** An address of an origin, with its owner: a room's name or `SHARED_ORIGIN`. */
export interface ShownOriginAddress extends AddressState {
  readonly origin: string;
}

/** What a change needs to be put in force: everything is built, nothing is in use. */
export interface PreparedAll {
  readonly prepared: Prepared;
  readonly proxies: ReadonlyMap<string, OriginProxy>;
}

export class ProxiedGateway {
  readonly gateway: Gateway;
  readonly adapter: NodeAdapter;
  readonly #world: World;
  readonly #relief: Relief;
  readonly #slow: SlowVisitors;
  #proxies: ReadonlyMap<string, OriginProxy> = new Map();
  /** Finds the proxy of the very settings that decided the request, even just after a reload. */
  readonly #byOrigin = new WeakMap<OriginSettings, OriginProxy>();

  /** Opens a gateway with its rooms configured. Fails when the engine does. */
  static async open(parts: ProxiedGatewayParts): Promise<ProxiedGateway> {
    const { settings, world, amend } = parts;
    const gateway = new Gateway(parts);
    const adapter = new NodeAdapter({ gateway, world, accessLog: parts.accessLog });
    const proxied = new ProxiedGateway(gateway, adapter, world, parts.relief ?? new Relief());
    try {
      await proxied.configure((await amend?.(proxied.gateway)) ?? settings);
      return proxied;
    } catch (cause) {
      await proxied.close();
      throw cause;
    }
  }

  private constructor(gateway: Gateway, adapter: NodeAdapter, world: World, relief: Relief) {
    this.gateway = gateway;
    this.adapter = adapter;
    this.#world = world;
    this.#relief = relief;
    this.#slow = new SlowVisitors(() => gateway.settings.limits, world);
  }

  readonly handle = (request: AnyRequest, response: AnyResponse): void =>
    this.adapter.serve(new NodeRequest(request, response, this.#onward));

  /** For a request that waits for "100 Continue" before it sends its body. */
  readonly handleContinue = (request: AnyRequest, response: AnyResponse): void => {
    const call = new NodeRequest(request, response, this.#onward);
    call.isContinueExpected = true;
    this.adapter.serve(call);
  };

  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const onward: Onward = (_call, verdict) => {
      if (verdict.origin) this.#byOrigin.get(verdict.origin)!.upgrade(request, socket, head, verdict);
      else answerRaw(socket, { status: 404, headers: [], body: Buffer.alloc(0) });
    };
    this.adapter.serve(new NodeRequest(request, socket, onward, true));
  };

  /** Why a room cannot be built from its settings; null when it can. */
  problemOf(settings: Settings, room: string): string | null {
    return this.gateway.problemOf(settings, room);
  }

  /** Builds everything that depends on the settings, and changes nothing. Throws when they cannot be used. */
  prepare(settings: Settings): PreparedAll {
    return { prepared: this.gateway.prepare(settings), proxies: this.#prepareProxies(settings) };
  }

  /** Puts in force what was prepared from the settings before. Fails, changing nothing, when the engine does. */
  async putInForce({ prepared, proxies }: PreparedAll): Promise<void> {
    try {
      await this.gateway.putInForce(prepared);
    } catch (cause) {
      this.discard({ prepared, proxies });
      throw cause;
    }
    for (const proxy of missingFrom(proxies, this.#proxies)) void proxy.close();
    this.#proxies = proxies;
  }

  /** Discards what was prepared and is not used. */
  discard({ proxies }: PreparedAll): void {
    for (const proxy of missingFrom(this.#proxies, proxies)) void proxy.close();
  }

  /** Puts settings in force, or fails and changes nothing. */
  async configure(settings: Settings): Promise<void> {
    await this.putInForce(this.prepare(settings));
  }

  /** The state of every origin address, with its owner: a room, or all rooms that have no origin of their own. */
  origins(): ShownOriginAddress[] {
    const { origin: shared, rooms } = this.gateway.settings;
    const settingsOf = new Map(Object.entries(rooms).map(([room, { origin }]) => [room, origin]));
    // Those with the same settings share their connections, and are shown once.
    const owners = new Map<OriginProxy, string>();
    for (const [origin, settings] of [[SHARED_ORIGIN, shared] as const, ...settingsOf]) {
      const proxy = settings && this.#byOrigin.get(settings);
      if (proxy && !owners.has(proxy)) owners.set(proxy, origin);
    }
    return [...owners].flatMap(([proxy, origin]) => proxy.health().map((state) => ({ origin, ...state })));
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.close()));
    this.#slow.close();
  }

  readonly #onward: Onward = ({ request, answer }, verdict) => {
    const response = answer as AnyResponse;
    if (verdict.origin) this.#byOrigin.get(verdict.origin)!.forward(request, response, verdict);
    else this.#sendNotFound(request, response, verdict.id);
  };

  #sendNotFound(request: AnyRequest, response: AnyResponse, id: string): void {
    const problem = { status: 404, id, kind: "notFound" } as const;
    const language = headerOf(request, "accept-language");
    const { headers, body } = renderProblem(request.headers.accept, language, problem);
    sendRendered(request, response, { status: 404, headers, body }, this.#world.timers);
  }

  /** Makes a proxy for each origin in these settings, or reuses the one that exists. */
  #prepareProxies(settings: Settings): ReadonlyMap<string, OriginProxy> {
    const wanted = [settings.origin, ...Object.values(settings.rooms).map((room) => room.origin)];
    const proxies = new Map<string, OriginProxy>();
    for (const origin of wanted) {
      if (!origin) continue;
      const key = JSON.stringify(origin);
      const proxy = proxies.get(key) ?? this.#proxies.get(key) ?? this.#newProxy(origin);
      proxies.set(key, proxy);
      this.#byOrigin.set(origin, proxy);
    }
    return proxies;
  }

  #newProxy(origin: OriginSettings): OriginProxy {
    const { traffic } = this.gateway;
    return createProxy({
      settings: origin,
      slow: this.#slow,
      world: this.#world,
      relief: this.#relief,
      renderProblem: (request, problem) => {
        traffic.requests.problems++;
        return renderProblem(headerOf(request, "accept"), headerOf(request, "accept-language"), problem);
      },
      onDone: ({ tookMs }) => traffic.originTook(tookMs),
      onCut: (what) => traffic.count("slowCut", what),
    });
  }
}

/** Proxies that are among `before` and not among `now`. */
function missingFrom(
  now: ReadonlyMap<string, OriginProxy>,
  before: ReadonlyMap<string, OriginProxy>,
): OriginProxy[] {
  return [...before].flatMap(([key, proxy]) => (now.has(key) ? [] : [proxy]));
}
