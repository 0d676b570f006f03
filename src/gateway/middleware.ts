/**
 * The gateway as Express or Connect middleware: the site is whatever comes next. It sees the request as an origin
 * would: our cookies and anything forged are gone, and `Fairgate-*` headers say who the visitor is.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Gateway } from "./gateway.ts";
import { isOurHeader, stripCookies } from "./headers.ts";

export type Next = (error?: unknown) => void;

export function asMiddleware(
  gateway: Gateway,
): (request: IncomingMessage, response: ServerResponse, next: Next) => void {
  return (request, response, next) => {
    // Express shortens `url` below a mount point; the room is found by the whole address.
    const whole = (request as { originalUrl?: string }).originalUrl;
    const { url } = request;
    if (whole !== undefined) request.url = whole;
    try {
      gateway.serve(request, response, (forward) => {
        request.url = url;
        cleanHeaders(request, forward.requestHeaders);
        for (let i = 0; i < forward.responseHeaders.length; i += 2) {
          response.appendHeader(forward.responseHeaders[i]!, forward.responseHeaders[i + 1]!);
        }
        next();
      });
    } catch (cause) {
      next(cause);
    }
  };
}

/** Replaces the request's headers by what an origin would get. */
function cleanHeaders(request: IncomingMessage, added: readonly string[]): void {
  const raw: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!;
    const value = request.rawHeaders[i + 1]!;
    const kept = name.toLowerCase() === "cookie" ? stripCookies(value) : value;
    if (!isOurHeader(name) && kept !== "") raw.push(name, kept);
  }
  request.rawHeaders = [...raw, ...added];
  for (const name of Object.keys(request.headers)) if (isOurHeader(name)) delete request.headers[name];
  const cookie = stripCookies(request.headers.cookie ?? "");
  if (cookie === "") delete request.headers.cookie;
  else request.headers.cookie = cookie;
  for (let i = 0; i < added.length; i += 2) request.headers[added[i]!.toLowerCase()] = added[i + 1]!;
}
