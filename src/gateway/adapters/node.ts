/**
 * The gateway on Node's HTTP servers: makes facts of a request or an upgrade, and acts on the verdict. The way to the site is
 * handed in: over the proxy, or to the next middleware.
 */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import type { World } from "../../core/world.ts";
import type { AccessLog } from "../access-log/access-log.ts";
import { entryOf } from "../access-log/entry.ts";
import { BodyIntake } from "../body-intake.ts";
import type { Gateway } from "../gateway.ts";
import { withoutCode } from "../lanes/carried-code.ts";
import { PacedLog } from "../paced-log.ts";
import { discardRest, hasBody } from "../proxy/answer.ts";
import type { AnyResponse } from "../proxy/any-http.ts";
import { render, renderUpgrade } from "../render.ts";
import type { OpenStream, PassOn, TakeBody, Verdict } from "../verdict.ts";
import { type CheckedRequest, checkFor } from "./forward-auth.ts";
import { beginStream, sendOnSocket, sendRendered } from "./node-answers.ts";
import { isGivenUp, type NodeRequest } from "./node-request.ts";

export interface NodeAdapterParts {
  readonly gateway: Gateway;
  readonly world: World;
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

  /** Serves one request or upgrade. Never throws: a bug in one request must not end the process. */
  serve(call: NodeRequest): void {
    try {
      this.#begin(call);
      const decided = checkFor(call, this.#gateway, this.#world) ?? this.#gateway.visit(call);
      if (decided instanceof Promise) this.#actLater(decided, call);
      else this.#act(decided, call);
    } catch (cause) {
      if (call.onFailure) call.onFailure(cause);
      else this.#fail(call, cause);
    }
  }

  #begin(call: NodeRequest): void {
    call.now = this.#world.clock.now();
    if (call.isUpgrade) {
      this.#gateway.traffic.upgrades++;
      this.#accessLog?.beginUpgrade(call.request, call.answer as Duplex);
    } else this.#accessLog?.begin(call.request, call.answer as AnyResponse, call.now);
  }

  #actLater(decided: Promise<Verdict | CheckedRequest>, call: NodeRequest): void {
    decided
      .then((later) => {
        if (!call.isGone()) this.#act(later, call);
      })
      .catch((cause: unknown) => this.#fail(call, cause));
  }

  #act(verdict: Verdict | CheckedRequest, call: NodeRequest): void {
    const { request, answer, isUpgrade } = call;
    const { timers, clock } = this.#world;
    if (verdict.kind === "gone") return;
    if (verdict.kind === "checked") return this.#answerCheck(call, verdict);
    entryOf(answer)?.note(verdict);
    if (verdict.kind === "passOn") this.#passOn(verdict, call);
    else if (verdict.kind === "stream") this.#stream(verdict, call);
    else if (verdict.kind === "takeBody") this.#takeBody(verdict, call);
    else if (isUpgrade) sendOnSocket(answer as Duplex, renderUpgrade(verdict, clock.now()));
    else if (verdict.kind === "answer") {
      // Node's two response classes type a flat list differently; both take one.
      const response = answer as ServerResponse;
      // A body that nobody asked for is cut off.
      if (hasBody(request) && !request.complete) discardRest(request, response, timers);
      entryOf(response)?.sent(verdict.body.length);
      response.writeHead(verdict.status, verdict.headers as string[]);
      response.end(verdict.body, "latin1");
    } else sendRendered(request, answer as AnyResponse, render(verdict, this.#world), timers);
  }

  #passOn(verdict: PassOn, call: NodeRequest): void {
    const { request, answer } = call;
    const over = this.#gateway.depart(verdict, call, call.isContinueExpected);
    if (typeof over !== "function") return this.#act(over, call);
    const entry = entryOf(answer);
    if (entry) entry.passOn(verdict, over);
    else (answer as Duplex).on("close", () => over(isGivenUp(answer)));
    // The path that was routed is the path that is sent.
    request.url = verdict.target;
    call.onward(call, verdict);
  }

  #stream(verdict: OpenStream, call: NodeRequest): void {
    const response = call.answer as AnyResponse;
    const opened = verdict.open(() => beginStream(call.request, response, verdict.headers));
    if (typeof opened === "function") response.on("close", opened);
    else this.#act(opened, call);
  }

  #takeBody(verdict: TakeBody, call: NodeRequest): void {
    const { request } = call;
    const response = call.answer as AnyResponse;
    const intake = this.#gateway.receive(verdict, call, (decided) => {
      if (decided instanceof Promise) this.#actLater(decided, call);
      else this.#act(decided, call);
    });
    if (!(intake instanceof BodyIntake)) return this.#act(intake, call);
    if (intake.isOver) return;
    if (call.isContinueExpected) (response as ServerResponse).writeContinue();
    request.on("data", (chunk: Buffer) => intake.take(chunk)).on("end", () => intake.end());
    response.on("close", () => intake.cut());
    // Whoever read it before us has it now.
    if (request.readableEnded) intake.end();
  }

  /** Another proxy's question: the access log records the request it asked about. */
  #answerCheck({ request, answer: to, isUpgrade }: NodeRequest, checked: CheckedRequest): void {
    const { facts, verdict, answer } = checked;
    if (verdict.kind === "passOn") this.#gateway.traffic.requests.proxied++;
    if (verdict.kind !== "gone") entryOf(to)?.noteAsked(facts, verdict, this.#gateway.trust.client(facts));
    if (isUpgrade) sendOnSocket(to as Duplex, answer);
    else sendRendered(request, to as AnyResponse, answer, this.#world.timers);
  }

  /** A bug of ours; answered if that is still possible. A client that can cause it may do so again and again. */
  #fail({ request, answer, isUpgrade }: NodeRequest, cause: unknown): void {
    const fields = { err: cause, url: withoutCode(request.url ?? "") };
    const message = isUpgrade ? "an upgrade failed" : "a request failed";
    this.#bugs.add({ level: "error", about: String(cause), fields, message });
    if (!("statusCode" in answer) || answer.headersSent) return void answer.destroy();
    const plain = answer as ServerResponse;
    plain.writeHead(500, ["Content-Type", "application/json", "Content-Length", String(INTERNAL.length)]);
    plain.end(INTERNAL);
  }
}

const INTERNAL = '{"error":"internal"}';
