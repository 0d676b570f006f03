/**
 * One request and its answer, over HTTP/1.1 or HTTP/2, with the few things the gateway asks of them. Answers go out
 * whole, with their length, in one write.
 */
import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { entryOf } from "./access-log/entry.ts";
import { type AnyRequest, type AnyResponse, isHttp2 } from "./proxy/any-http.ts";

export type Request = AnyRequest;
export type Response = AnyResponse;

/** Sends a whole answer. `headers` is a flat list of names and values; a text is sent as UTF-8. */
export function send(
  response: Response,
  status: number,
  headers: readonly string[],
  body: Buffer | string,
): void {
  const length = typeof body === "string" ? Buffer.byteLength(body) : body.length;
  sendWhole(response, status, [...headers, "Content-Length", String(length)], body, "utf8");
}

/**
 * Sends an answer whose headers, its length among them, are ready. A text in Latin-1 is the fastest there is: Node then
 * puts head and body into one write.
 */
export function sendWhole(
  response: Response,
  status: number,
  headers: readonly string[],
  body: Buffer | string,
  encoding: "latin1" | "utf8",
): void {
  // Node's two response classes type a flat list differently; both take one.
  const plain = response as ServerResponse;
  entryOf(response)?.sent(typeof body === "string" ? Buffer.byteLength(body, encoding) : body.length);
  plain.writeHead(status, headers as string[]);
  plain.end(body, encoding);
}

/** True when nobody is there to get an answer: they left while an engine took its time. */
export function isGone(response: Response): boolean {
  return isHttp2(response) ? response.stream.destroyed : response.destroyed;
}

/** True for what was closed before its answer had been sent whole, and for every upgraded connection that is closed. */
export function isGivenUp(closed: Response | Duplex): boolean {
  if (!("statusCode" in closed)) return true;
  return isHttp2(closed) ? closed.stream.rstCode !== 0 : !closed.writableFinished;
}

/** One header's value; a repeated one as its first. */
export function headerOf(
  request: { readonly headers: Request["headers"] },
  name: string,
): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** For answers that are about one visitor. */
export const PERSONAL_JSON: readonly string[] = [
  "Content-Type",
  "application/json; charset=utf-8",
  "Cache-Control",
  "no-store",
  "X-Content-Type-Options",
  "nosniff",
];
