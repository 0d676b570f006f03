/**
 * Rules for every request and response, with or without a token. Responses are never cached, sniffed, framed or shared with
 * another site. While the office is on loopback, a request must name this machine: a page elsewhere that points its own
 * host name at 127.0.0.1 (DNS rebinding) names another host, and is refused.
 */
import type { MiddlewareHandler } from "hono";
import { isLoopback } from "../config/cluster-check.ts";
import { refuseCall } from "./refusal.ts";

export const STRICT_HEADERS: Readonly<Record<string, string>> = {
  "Cache-Control": "no-store",
  "X-Content-Type-Options": "nosniff",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};

/** Sets the strict headers on every response, refusals included. The page has its own security policy, for its style. */
export const withStrictHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  const { headers } = c.res;
  for (const [name, value] of Object.entries(STRICT_HEADERS))
    if (!headers.has(name)) headers.set(name, value);
};

/** On loopback, lets only requests through that name this machine or the configured host. */
export function requireOwnHost(host: string): MiddlewareHandler {
  if (!isLoopback(host.toLowerCase())) return (_, next) => next();
  const own = new Set([
    "localhost",
    "127.0.0.1",
    "[::1]",
    host.includes(":") ? `[${host}]` : host.toLowerCase(),
  ]);
  return async (c, next) => {
    const named = c.req.header("host") ?? new URL(c.req.url).host;
    if (own.has(named.toLowerCase().replace(/:\d+$/, ""))) return next();
    const message = "The Host header names another host. Use localhost or the configured address.";
    return refuseCall(c, "wrong_host", message);
  };
}
