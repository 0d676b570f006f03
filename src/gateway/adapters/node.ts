/**
 * The gateway on Node's HTTP servers: a request, an upgrade or a request that waits for "100 Continue" becomes facts, and
 * the verdict is acted on. How a request reaches the site is handed in: over the proxy, or to the next middleware.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Eventually } from "../../core/engine.ts";
import type { Clock, World } from "../../core/world.ts";
import type { AccessLog } from "../access-log/access-log.ts";
import { type AccessEntry, entryOf } from "../access-log/entry.ts";
import type { Facts } from "../facts.ts";
import type { Gateway } from "../gateway.ts";
import { withoutCode } from "../lanes/carried-code.ts";
import { PacedLog } from "../paced-log.ts";
import type { AnyRequest, AnyResponse } from "../proxy/answer.ts";
import type { Forward } from "../proxy/proxy.ts";
import type { OpenStream, PassOn, Shown, Verdict } from "../verdict.ts";
import { type Checked, checkFor } from "./forward-auth.ts";
import {
  beginStream,
  isGivenUp,
  isGone,
  NodeAnswer,
  NodeTunnel,
  sendAnswer,
  sendOnSocket,
  sendRendered,
} from "./node-answers.ts";

/** Hands a request on to the site. Its `url` is the verdict's target. */
export type Onward = (request: AnyRequest, response: AnyResponse, verdict: PassOn, forward: Forward) => void;

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
    const facts = new NodeFacts(request, this.#world.clock, response, null);
    const entry = this.#accessLog?.begin(request, response) ?? null;
    const check = checkFor(facts, this.#gateway);
    if (check !== null) {
      const send = ({ answer }: Checked) => sendRendered(request, response, answer, this.#world.timers);
      return this.#answerCheck(request, check, entry, send, () => failed(response));
    }
    const verdict = this.#gateway.visit(facts);
    if (verdict instanceof Promise)
      this.#later(
        request,
        verdict,
        (later) => this.#act(later, request, response, onward, isContinueExpected, entry),
        () => failed(response),
      );
    else this.#act(verdict, request, response, onward, isContinueExpected, entry);
  }

  /** Serves an upgrade (WebSocket). */
  upgrade(
    request: IncomingMessage,
    socket: Duplex,
    onward: (verdict: PassOn, forward: Forward) => void,
  ): void {
    this.#gateway.traffic.upgrades++;
    const facts = new NodeFacts(request, this.#world.clock, null, socket);
    const entry = this.#accessLog?.beginUpgrade(request, socket) ?? null;
    const check = checkFor(facts, this.#gateway);
    if (check !== null)
      return this.#answerCheck(
        request,
        check,
        entry,
        ({ answer }) => sendOnSocket(socket, answer),
        () => socket.destroy(),
      );
    const act = (verdict: Verdict) => this.#actOnUpgrade(verdict, request, socket, onward, entry);
    const verdict = this.#gateway.visit(facts);
    if (verdict instanceof Promise) this.#later(request, verdict, act, () => socket.destroy());
    else act(verdict);
  }

  /** Whoever found out how to cause a bug may do so again and again. */
  tellBug(request: AnyRequest, cause: unknown, message: string): void {
    const fields = { err: cause, url: withoutCode(request.url ?? "") };
    this.#bugs.add({ level: "error", about: String(cause), fields, message });
  }

  #act(
    verdict: Verdict,
    request: AnyRequest,
    response: AnyResponse,
    onward: Onward,
    isContinueExpected: boolean,
    entry: AccessEntry | null,
  ): void {
    if (verdict.kind === "gone") return;
    if (entry) entry.note(verdict);
    if (verdict.kind === "passOn")
      return this.#passOn(verdict, request, response, onward, isContinueExpected);
    if (verdict.kind === "stream") return this.#stream(verdict, request, response);
    this.#show(verdict, request, response);
  }

  #passOn(
    verdict: PassOn,
    request: AnyRequest,
    response: AnyResponse,
    onward: Onward,
    isContinueExpected: boolean,
  ): void {
    const departed = this.#gateway.depart(verdict, new NodeAnswer(response), isContinueExpected);
    if ("kind" in departed) {
      entryOf(response)?.note(departed);
      return this.#show(departed, request, response);
    }
    const entry = entryOf(response);
    const atEnd = () => departed.over(isGivenUp(response));
    if (entry) {
      entry.id = verdict.id;
      entry.client = verdict.client;
      entry.atEnd = atEnd;
    } else (response as { on(event: "close", listener: () => void): void }).on("close", atEnd);
    // What was routed is what is sent.
    if (verdict.target !== request.url) request.url = verdict.target;
    onward(request, response, verdict, departed.forward);
  }

  #stream(verdict: OpenStream, request: AnyRequest, response: AnyResponse): void {
    const { streams } = this.#gateway;
    const opened = streams.open(verdict, () => beginStream(request, response, verdict.headers));
    if (typeof opened === "string")
      return this.#show(this.#gateway.noStream(verdict, opened), request, response);
    response.on("close", () => streams.closed(opened));
  }

  #show(verdict: Shown, request: AnyRequest, response: AnyResponse): void {
    const { timers } = this.#world;
    if (verdict.kind === "answer") sendAnswer(request, response, verdict, timers);
    else sendRendered(request, response, this.#gateway.render(verdict), timers);
  }

  #actOnUpgrade(
    verdict: Verdict,
    request: IncomingMessage,
    socket: Duplex,
    onward: (verdict: PassOn, forward: Forward) => void,
    entry: AccessEntry | null,
  ): void {
    if (verdict.kind === "gone" || verdict.kind === "stream") return;
    entry?.note(verdict);
    if (verdict.kind !== "passOn") return sendOnSocket(socket, this.#gateway.renderUpgrade(verdict));
    const departed = this.#gateway.depart(verdict, new NodeTunnel(socket), false);
    if ("kind" in departed) {
      entry?.note(departed);
      return sendOnSocket(socket, this.#gateway.renderUpgrade(departed));
    }
    if (entry) {
      entry.id = verdict.id;
      entry.client = verdict.client;
    }
    socket.on("close", () => departed.over(true));
    request.url = verdict.target;
    onward(verdict, departed.forward);
  }

  /** Another proxy asks about a request of its own; that is what the log is to tell of. */
  #answerCheck(
    request: AnyRequest,
    check: Eventually<Checked>,
    entry: AccessEntry | null,
    send: (checked: Checked) => void,
    onBug: () => void,
  ): void {
    const act = (checked: Checked) => {
      const { facts, verdict } = checked;
      if (facts.isGone()) return;
      if (verdict.kind === "passOn") this.#gateway.traffic.requests.proxied++;
      if (verdict.kind !== "gone") entry?.noteAsked(facts, verdict, this.#gateway.trust.client(facts));
      send(checked);
    };
    if (check instanceof Promise) this.#later(request, check, act, onBug);
    else act(check);
  }

  /** One request's bug must not end everyone's line. */
  #later<T>(request: AnyRequest, verdict: Eventually<T>, act: (verdict: T) => void, onBug: () => void): void {
    Promise.resolve(verdict)
      .then(act)
      .catch((cause: unknown) => {
        this.tellBug(request, cause, "a request failed");
        onBug();
      });
  }
}

const INTERNAL = '{"error":"internal"}';

/** Something of ours broke: whoever asked is told so, if that can still be said. */
export function failed(response: AnyResponse): void {
  if (response.headersSent) return void response.destroy();
  const plain = response as import("node:http").ServerResponse;
  plain.writeHead(500, ["Content-Type", "application/json", "Content-Length", String(INTERNAL.length)]);
  plain.end(INTERNAL);
}

/** A request of Node's as facts. Its headers become an object only when somebody asks for more than a few. */
class NodeFacts implements Facts {
  readonly now: number;
  readonly isUpgrade: boolean;
  readonly url: string;
  readonly #request: AnyRequest;
  readonly #response: AnyResponse | null;
  readonly #socket: Duplex | null;

  constructor(request: AnyRequest, clock: Clock, response: AnyResponse | null, socket: Duplex | null) {
    this.#request = request;
    this.#response = response;
    this.#socket = socket;
    this.url = request.url ?? "/";
    this.now = clock.now();
    this.isUpgrade = response === null;
  }

  get method(): string {
    return this.#request.method ?? "GET";
  }

  get headers(): Facts["headers"] {
    return this.#request.headers;
  }

  get rawHeaders(): readonly string[] {
    return this.#request.rawHeaders;
  }

  get socket(): Facts["socket"] {
    return this.#request.socket as Facts["socket"];
  }

  isGone(): boolean {
    return this.#response !== null ? isGone(this.#response) : this.#socket!.destroyed;
  }
}
