/**
 * A gateway in front of its origins: what a listener is given. Origins are kept by their settings, so a reload that
 * does not touch an origin keeps its connections; one that is no longer named finishes what is under way and closes.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { OriginSettings, Settings } from "../config/schema.ts";
import type { Engine } from "../core/engine.ts";
import type { World } from "../core/world.ts";
import { headerOf, PERSONAL_JSON, type Request, type Response, send } from "./exchange.ts";
import { Gateway, type OnwardAny } from "./gateway.ts";
import { withoutCode } from "./lanes/carried-code.ts";
import { renderProblem } from "./page/problem.ts";
import { isHttp2 } from "./proxy/answer.ts";
import { createProxy, type Proxy as OriginProxy } from "./proxy/proxy.ts";
import { answerRaw } from "./proxy/raw-answer.ts";

export interface OriginState {
  readonly address: string;
  readonly isUp: boolean;
  readonly inFlight: number;
}

export class ProxiedGateway {
  readonly gateway: Gateway;
  readonly #world: World;
  #proxies = new Map<string, OriginProxy>();
  /** By the very settings a request was decided with: one decided just before a reload still finds its own. */
  readonly #byOrigin = new WeakMap<OriginSettings, OriginProxy>();

  static async open(parts: { settings: Settings; engine: Engine; world: World }): Promise<ProxiedGateway> {
    const proxied = new ProxiedGateway(await Gateway.open(parts), parts.world);
    proxied.#openProxies(parts.settings);
    return proxied;
  }

  private constructor(gateway: Gateway, world: World) {
    this.gateway = gateway;
    this.#world = world;
  }

  readonly handle = (request: Request, response: Response): void => this.#serve(request, response, false);

  /** For a request that waits for "100 Continue" before it sends its body. */
  readonly handleContinue = (request: Request, response: Response): void =>
    this.#serve(request, response, true);

  readonly upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    try {
      this.gateway.upgrade(request, socket, (forward, origin) => {
        if (origin) this.#proxy(origin).upgrade(request, socket, head, forward);
        else answerRaw(socket, { status: 404, headers: [], body: Buffer.alloc(0) });
      });
    } catch (cause) {
      this.#world.log.error({ err: cause, url: withoutCode(request.url ?? "") }, "an upgrade failed");
      socket.destroy();
    }
  };

  async configure(settings: Settings): Promise<void> {
    await this.gateway.configure(settings);
    this.#openProxies(settings);
  }

  origins(): OriginState[] {
    return [...this.#proxies.values()].flatMap((proxy) => proxy.health());
  }

  async close(): Promise<void> {
    await this.gateway.close();
    await Promise.all([...this.#proxies.values()].map((proxy) => proxy.close()));
  }

  readonly #onward: OnwardAny = (request, response, forward, origin) => {
    if (isGone(response)) return;
    if (origin) this.#proxy(origin).forward(request, response, forward);
    else sendNotFound(request, response, forward.id);
  };

  #serve(request: Request, response: Response, isContinueExpected: boolean): void {
    try {
      this.gateway.serve(request, response, this.#onward, isContinueExpected);
    } catch (cause) {
      // One request's bug must not end everyone's line.
      this.#world.log.error({ err: cause, url: withoutCode(request.url ?? "") }, "a request failed");
      if (response.headersSent) response.destroy();
      else send(response, 500, PERSONAL_JSON, '{"error":"internal"}');
    }
  }

  #proxy(origin: OriginSettings): OriginProxy {
    const proxy = this.#byOrigin.get(origin);
    if (proxy) return proxy;
    // Settings that are in force already, with their proxies about to be opened.
    this.#openProxies(this.gateway.settings);
    return this.#byOrigin.get(origin)!;
  }

  #openProxies(settings: Settings): void {
    const wanted = [settings.origin, ...Object.values(settings.rooms).map((room) => room.origin)];
    const kept = new Map<string, OriginProxy>();
    for (const origin of wanted) {
      if (!origin) continue;
      const key = JSON.stringify([origin, settings.limits.bodyBytes]);
      const proxy = kept.get(key) ?? this.#proxies.get(key) ?? this.#newProxy(origin, settings);
      kept.set(key, proxy);
      this.#byOrigin.set(origin, proxy);
    }
    for (const [key, proxy] of this.#proxies) if (!kept.has(key)) void proxy.close();
    this.#proxies = kept;
  }

  #newProxy(origin: OriginSettings, settings: Settings): OriginProxy {
    const { traffic } = this.gateway;
    return createProxy({
      settings: origin,
      trust: {
        isTrusted: (address) => this.gateway.trust.isTrusted(address),
        client: (request) => this.gateway.trust.client(request),
      },
      bodyMax: settings.limits.bodyBytes,
      world: this.#world,
      renderProblem: (request, problem) => {
        traffic.requests.problems++;
        return renderProblem(headerOf(request, "accept"), headerOf(request, "accept-language"), problem);
      },
      onDone: ({ tookMs }) => traffic.originTook(tookMs),
    });
  }
}

/** True when nobody is there to get an answer: they left while an engine took its time. */
function isGone(response: Response): boolean {
  return isHttp2(response) ? response.stream.destroyed : response.destroyed;
}

function sendNotFound(request: Request, response: Response, id: string): void {
  const { headers, body } = renderProblem(request.headers.accept, headerOf(request, "accept-language"), {
    status: 404,
    id,
    kind: "notFound",
  });
  send(response, 404, headers, body);
}
