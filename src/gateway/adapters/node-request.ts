/**
 * One request of Node's HTTP/1.1 or HTTP/2 server, as facts, and with what carries its answer. Headers become an object only
 * when more than a few are read.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Facts } from "../facts.ts";
import { breakOff } from "../proxy/answer.ts";
import { type AnyRequest, type AnyResponse, isHttp2 } from "../proxy/any-http.ts";
import type { OpenAnswer } from "../streams/open-answer.ts";
import type { PassOn } from "../verdict.ts";

/** Hands a request on to the site. Its `url` is the verdict's target. */
export type Onward = (call: NodeRequest, verdict: PassOn) => void;

export class NodeRequest implements Facts, OpenAnswer {
  readonly request: AnyRequest;
  /** A response, or for an upgrade its connection. */
  readonly answer: AnyResponse | Duplex;
  readonly method: string;
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly socket: Facts["socket"];
  readonly onward: Onward;
  readonly isUpgrade: boolean;
  /** Set when the adapter takes it up. */
  now = 0;
  /** The client waits for "100 Continue" before it sends the body. */
  isContinueExpected = false;
  /** Gets errors thrown before anything was answered or awaited. Null: they are answered with 500. */
  onFailure: ((cause: unknown) => void) | null = null;

  constructor(request: AnyRequest, answer: AnyResponse | Duplex, onward: Onward, isUpgrade = false) {
    this.request = request;
    this.answer = answer;
    this.method = request.method ?? "GET";
    this.url = request.url ?? "/";
    this.rawHeaders = request.rawHeaders;
    this.socket = request.socket as Facts["socket"];
    this.onward = onward;
    this.isUpgrade = isUpgrade;
  }

  get headers(): Facts["headers"] {
    return this.request.headers;
  }

  get isUpgraded(): boolean {
    return this.isUpgrade;
  }

  isGone(): boolean {
    return isGone(this.answer);
  }

  /** An HTTP/1 connection carries one request at a time, so its socket counts for that. */
  bytes(): number | null {
    const { answer } = this;
    if ("statusCode" in answer && isHttp2(answer)) return null;
    const socket = ("statusCode" in answer ? answer.socket : answer) as Counting;
    return socket === null ? null : (socket.bytesRead ?? 0) + (socket.bytesWritten ?? 0);
  }

  end(): void {
    const { answer } = this;
    if ("statusCode" in answer) breakOff(answer);
    else answer.destroy();
  }
}

/** True when the client left, such as while an engine took its time. */
export function isGone(answer: AnyResponse | Duplex): boolean {
  return "statusCode" in answer && isHttp2(answer) ? answer.stream.destroyed : (answer as Duplex).destroyed;
}

/** True when it was closed before its whole answer was sent, and for every upgraded connection that is closed. */
export function isGivenUp(closed: AnyResponse | Duplex): boolean {
  if (!("statusCode" in closed)) return true;
  if (!isHttp2(closed)) return !closed.writableFinished;
  // A client may reset a request with NO_ERROR.
  const { rstCode, aborted } = closed.stream;
  return rstCode !== 0 || aborted;
}

type Counting = Partial<Pick<Socket, "bytesRead" | "bytesWritten">> | null;
