/**
 * The gateway on Node's HTTP servers: a request, an upgrade or a request that waits for "100 Continue" becomes facts, and
 * the verdict is acted on. How a request reaches the site is handed in: over the proxy, or to the next middleware.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { Eventually } from "../../core/engine.ts";
import type { World } from "../../core/world.ts";
import type { AccessLog } from "../access-log/access-log.ts";
import { entryOf } from "../access-log/entry.ts";
import type { Gateway } from "../gateway.ts";
import { withoutCode } from "../lanes/carried-code.ts";
import { PacedLog } from "../paced-log.ts";
import type { AnyRequest, AnyResponse } from "../proxy/any-http.ts";
import type { Forward } from "../proxy/proxy.ts";
import type { OpenStream, PassOn, Shown, Verdict } from "../verdict.ts";
import { type CheckedRequest, checkFor } from "./forward-auth.ts";
import { beginStream, sendAnswer, sendOnSocket, sendRendered } from "./node-answers.ts";
import { isGivenUp, NodeRequest } from "./node-request.ts";

/** Hands a request on to the site. Its `url` is the verdict's target. */
export type Onward = (request: AnyRequest, response: AnyResponse, verdict: PassOn, forward: Forward) => void;

/** The same for one whose request is known. */
type UpgradeOnward = (verdict: PassOn, forward: Forward) => void;

export interface NodeAdapterParts {
  readonly gateway: Gateway;
  readonly world: World;
  /** What becomes of requests is noted there. */
  readonly accessLog?: AccessLog | undefined;
}

export class NodeAdapter {
  readonly #gateway: Gateway;
  readonly #world: World;
  readonly #accessLog: AccessLog | undefined;
  readonly #bugs: PacedLog;

  constructor({ gateway, world, accessLog }: NodeAdapterParts) {
    this.#gateway = gateway;
    this.#world = world;
    this.#accessLog = accessLog;
    this.#bugs = new PacedLog(world);
  }

  /** Serves one request. Throws what is thrown before anything was answered or waited for. */
  serve(request: AnyRequest, response: AnyResponse, onward: Onward, isContinueExpected = false): void {
    const call = new NodeRequest(request, response, this.#world.clock.now(), false);
    this.#accessLog?.begin(request, response, call.now);
    this.#visit(call, (verdict, forward) => onward(request, response, verdict, forward), isContinueExpected);
  }

  /** Serves an upgrade (WebSocket). */
  upgrade(request: IncomingMessage, socket: Duplex, onward: UpgradeOnward): void {
    this.#gateway.traffic.upgrades++;
    const call = new NodeRequest(request, socket, this.#world.clock.now(), true);
    this.#accessLog?.beginUpgrade(request, socket);
    this.#visit(call, onward, false);
  }

  /** Whoever found out how to cause a bug may do so again and again. */
  tellBug(request: AnyRequest, cause: unknown, message: string): void {
    const fields = { err: cause, url: withoutCode(request.url ?? "") };
    this.#bugs.add({ level: "error", about: String(cause), fields, message });
  }

  #visit(call: NodeRequest, onward: UpgradeOnward, isContinueExpected: boolean): void {
    const check = checkFor(call, this.#gateway);
    if (check !== null) this.#settle(call, check, (checked) => this.#answerCheck(call, checked));
    else
      this.#settle(call, this.#gateway.visit(call), (verdict) =>
        this.#act(verdict, call, onward, isContinueExpected),
      );
  }

  /** Acts on what is decided, at once where it is. */
  #settle<T>(call: NodeRequest, decided: Eventually<T>, act: (decided: T) => void): void {
    if (!(decided instanceof Promise)) return act(decided);
    decided
      .then((later) => {
        if (!call.isGone()) act(later);
      })
      .catch((cause: unknown) => {
        // One request's bug must not end everyone's line.
        this.tellBug(call.request, cause, "a request failed");
        failed(call.answer);
      });
  }

  /** Another proxy asks about a request of its own; that is what the log is to tell of. */
  #answerCheck(
    { request, answer: to, isUpgrade }: NodeRequest,
    { facts, verdict, answer }: CheckedRequest,
  ): void {
    if (verdict.kind === "passOn") this.#gateway.traffic.requests.proxied++;
    if (verdict.kind !== "gone") entryOf(to)?.noteAsked(facts, verdict, this.#gateway.trust.client(facts));
    if (isUpgrade) sendOnSocket(to as Duplex, answer);
    else sendRendered(request, to as AnyResponse, answer, this.#world.timers);
  }

  #act(verdict: Verdict, call: NodeRequest, onward: UpgradeOnward, isContinueExpected: boolean): void {
    if (verdict.kind === "gone") return;
    entryOf(call.answer)?.note(verdict);
    if (verdict.kind === "passOn") this.#passOn(verdict, call, onward, isContinueExpected);
    else if (verdict.kind === "stream") this.#stream(verdict, call);
    else this.#show(verdict, call);
  }

  #passOn(verdict: PassOn, call: NodeRequest, onward: UpgradeOnward, isContinueExpected: boolean): void {
    const { request, answer } = call;
    const departed = this.#gateway.depart(verdict, call, isContinueExpected);
    if ("kind" in departed) return this.#act(departed, call, onward, false);
    const entry = entryOf(answer);
    if (entry) entry.passOn(verdict, departed.over);
    else (answer as Duplex).on("close", () => departed.over(isGivenUp(answer)));
    // What was routed is what is sent.
    request.url = verdict.target;
    onward(verdict, departed.forward);
  }

  #stream(verdict: OpenStream, call: NodeRequest): void {
    const { streams } = this.#gateway;
    const response = call.answer as AnyResponse;
    const opened = streams.open(verdict, () => beginStream(call.request, response, verdict.headers));
    if (typeof opened === "string") this.#show(this.#gateway.noStream(verdict, opened), call);
    else response.on("close", () => streams.closed(opened));
  }

  #show(verdict: Shown, { request, answer, isUpgrade }: NodeRequest): void {
    const { timers } = this.#world;
    if (isUpgrade) sendOnSocket(answer as Duplex, this.#gateway.renderUpgrade(verdict));
    else if (verdict.kind === "answer") sendAnswer(request, answer as AnyResponse, verdict, timers);
    else sendRendered(request, answer as AnyResponse, this.#gateway.render(verdict), timers);
  }
}

const INTERNAL = '{"error":"internal"}';

/** Something of ours broke: whoever asked is told so, if that can still be said. */
export function failed(answer: AnyResponse | Duplex): void {
  if (!("statusCode" in answer) || answer.headersSent) return void answer.destroy();
  const plain = answer as ServerResponse;
  plain.writeHead(500, ["Content-Type", "application/json", "Content-Length", String(INTERNAL.length)]);
  plain.end(INTERNAL);
}
