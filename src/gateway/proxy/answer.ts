/**
 * Writing to the visitor, over HTTP/1 or HTTP/2: heads, early hints, problem pages, and how to break off an answer so that
 * nobody takes the part for the whole.
 *
 * A problem page often goes out while the visitor is still sending. Closing then would reset the connection and lose the page,
 * so the rest of the body is read and discarded for a while first (lingering close).
 */
import type { ServerResponse } from "node:http";
import { constants, type Http2ServerRequest, type Http2ServerResponse } from "node:http2";
import type { Timers } from "../../core/world.ts";
import { entryOf } from "../access-log/entry.ts";
import { type AnyRequest, type AnyResponse, isHttp2 } from "./any-http.ts";
import { rawHeader } from "./raw-header.ts";

/** How long, and for how many bytes, the rest of an unwanted body is read before the connection is closed. */
export const LINGER_MAX_MS = 2_000;
const LINGER_BYTES_MAX = 1_048_576;

const EMPTY = Buffer.alloc(0);

/** True when bytes may follow the head of the request. */
export function hasBody(request: AnyRequest): boolean {
  // Not by the version: what speaks HTTP/1 may call itself 2.0.
  if (isHttp2(request)) return !(request as Http2ServerRequest).stream.endAfterHeaders;
  const length = rawHeader(request, "Content-Length", "content-length");
  if (length !== undefined) return length !== "0";
  return rawHeader(request, "Transfer-Encoding", "transfer-encoding") !== undefined;
}

export interface AnswerHead {
  readonly status: number;
  /** The reason phrase; the usual one for the status when left out. */
  readonly message?: string;
  /** Flat list of names and values. */
  readonly headers: string[];
}

/** Sends a head. Throws when a name, value or status is not allowed in the protocol spoken. */
export function writeHead(response: AnyResponse, { status, message, headers }: AnswerHead): void {
  // Node takes a flat list for both protocols; its types know only of HTTP/1. HTTP/2 has no reason phrase.
  const plain = response as ServerResponse;
  if (isHttp2(response) || !message) plain.writeHead(status, headers);
  else plain.writeHead(status, message, headers);
}

/** Passes on 103 Early Hints where the visitor can take them; other informational answers end here. */
export function writeHints(request: AnyRequest, response: AnyResponse, headers: readonly string[]): void {
  if (response.headersSent || request.httpVersion === "1.0") return;
  const hints: Record<string, string | string[]> = {};
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!.toLowerCase();
    const before = hints[name];
    hints[name] = before === undefined ? headers[i + 1]! : [...[before].flat(), headers[i + 1]!];
  }
  try {
    response.writeEarlyHints(hints as Record<string, string>);
  } catch {
    // A hint that does not fit is left out.
  }
}

/** Ends an incomplete answer in a way that the visitor notices. */
export function breakOff(response: AnyResponse): void {
  if (isHttp2(response)) (response as Http2ServerResponse).stream.close(constants.NGHTTP2_INTERNAL_ERROR);
  else response.destroy();
}

/** Sends a whole answer with a body of known length, even if part of the request is unread. */
export function answerWhole(
  request: AnyRequest,
  response: AnyResponse,
  answer: AnswerHead & { readonly body: Buffer; readonly isLast?: boolean; readonly timers: Timers },
): void {
  const { body, headers, timers } = answer;
  const isUnread = hasBody(request) && !request.complete;
  headers.push("Content-Length", String(body.length));
  if (!isHttp2(response) && (isUnread || answer.isLast)) headers.push("Connection", "close");
  writeHead(response, answer);
  const plain = response as ServerResponse;
  const content = request.method === "HEAD" ? EMPTY : body;
  entryOf(response)?.sent(content.length);
  if (!isUnread) plain.end(content);
  else if (isHttp2(response)) {
    plain.end(content);
    discardRest(request, response, timers);
  } else {
    plain.write(content);
    linger(request, timers, () => plain.end());
  }
}

/** Reads and throws away the rest of a body, then calls `done` once: at its end, or at the limits. */
export function linger(request: AnyRequest, timers: Timers, done: () => void): void {
  let bytes = 0;
  const finish = () => {
    stop();
    request.off("data", onData).off("end", finish).off("close", finish);
    done();
  };
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > LINGER_BYTES_MAX) finish();
  };
  const stop = timers.after(LINGER_MAX_MS, finish);
  request.on("data", onData).on("end", finish).on("close", finish).resume();
}

/** After a complete answer: discards the unread part of the request. */
export function discardRest(request: AnyRequest, response: AnyResponse, timers: Timers): void {
  linger(request, timers, () => {
    if (request.complete) return;
    // RFC 9113, section 8.1: a server that has answered may ask the client to stop sending.
    if (isHttp2(response)) (response as Http2ServerResponse).stream.close(constants.NGHTTP2_NO_ERROR);
    else request.socket.destroy();
  });
}
