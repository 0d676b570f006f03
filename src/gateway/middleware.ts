/**
 * The gateway as Express or Connect middleware: the site is whatever comes next. It sees the request as an origin
 * would: our cookies and anything forged are gone, and `Fairgate-*` headers say who the visitor is.
 */
import type http from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock } from "../core/world.ts";
import { isForSharedCaches, personalCacheControl } from "./cache-control.ts";
import type { Gateway } from "./gateway.ts";
import { COMMAND, isOurHeader, stripCookies } from "./headers.ts";
import { withoutCode } from "./lanes/carried-code.ts";
import type { Forward, Watch } from "./proxy/proxy.ts";

export type Next = (error?: unknown) => void;

export function asMiddleware(
  gateway: Gateway,
  clock: Clock,
): (request: IncomingMessage, response: ServerResponse, next: Next) => void {
  return (request, response, next) => {
    // Express shortens `url` below a mount point; the room is found by the whole address.
    const whole = (request as { originalUrl?: string }).originalUrl;
    const { url } = request;
    if (whole !== undefined) request.url = whole;
    try {
      gateway.serve(request, response, (_request, _response, forward) => {
        request.url = withoutCode(url ?? "/");
        if (whole !== undefined) (request as { originalUrl?: string }).originalUrl = withoutCode(whole);
        cleanHeaders(request, forward.requestHeaders);
        if (forward.watch) watch(response, forward, forward.watch, clock);
        else addAtHead(response, () => withoutCommand(response, forward.responseHeaders));
        next();
      });
    } catch (cause) {
      next(cause);
    }
  };
}

type Heads = http.OutgoingHttpHeaders | readonly http.OutgoingHttpHeader[];

/** Tells whoever watches how the site does, and what it has to say to us. */
function watch(response: ServerResponse, forward: Forward, watcher: Watch, clock: Clock): void {
  const startedAt = clock.now();
  watcher.asked();
  addAtHead(response, () => {
    watcher.answered(response.statusCode, clock.now() - startedAt);
    const command = response.getHeader(COMMAND);
    const instead = command === undefined ? null : watcher.commanded(forward, String(command));
    return withoutCommand(response, instead ?? forward.responseHeaders);
  });
  // A site in the same process answers whatever becomes of it; without an answer, it was the visitor who left.
  response.on("close", () => watcher.done());
}

/** The site's word to us is not for visitors. */
function withoutCommand(response: ServerResponse, headers: readonly string[]): readonly string[] {
  response.removeHeader(COMMAND);
  return headers;
}

/** Adds ours when the site's own headers are complete, so that it cannot replace them, nor offer them to a cache. */
function addAtHead(response: ServerResponse, headersToAdd: () => readonly string[]): void {
  const { writeHead } = response;
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    response.writeHead = writeHead;
    const message = typeof rest[0] === "string" ? rest[0] : undefined;
    setAll(response, (message === undefined ? (rest[0] ?? rest[1]) : rest[1]) as Heads | undefined);
    response.statusCode = status;
    const added = headersToAdd();
    if (added.length > 0) addPersonal(response, added);
    return message === undefined ? response.writeHead(status) : response.writeHead(status, message);
  };
}

function addPersonal(response: ServerResponse, added: readonly string[]): void {
  for (const name of response.getHeaderNames()) if (isForSharedCaches(name)) response.removeHeader(name);
  response.setHeader(
    "Cache-Control",
    personalCacheControl(String(response.getHeader("cache-control") ?? "")),
  );
  for (let i = 0; i < added.length; i += 2) response.appendHeader(added[i]!, added[i + 1]!);
}

/** Headers as `writeHead` takes them: they replace what was set, and a flat list may name one twice. */
function setAll(response: ServerResponse, headers: Heads = {}): void {
  if (!Array.isArray(headers)) {
    for (const [name, value] of Object.entries(headers))
      if (value !== undefined) response.setHeader(name, value);
    return;
  }
  const list: string[] = headers.flat().map(String);
  for (let i = 0; i < list.length; i += 2) response.removeHeader(list[i]!);
  for (let i = 0; i < list.length; i += 2) response.appendHeader(list[i]!, list[i + 1]!);
}

/** Replaces the request's headers by what an origin would get. */
function cleanHeaders(request: IncomingMessage, added: readonly string[]): void {
  const raw: string[] = [];
  for (let i = 0; i < request.rawHeaders.length; i += 2) {
    const name = request.rawHeaders[i]!;
    const value = request.rawHeaders[i + 1]!;
    const kept = name.toLowerCase() === "cookie" ? stripCookies(value) : value;
    if (!isOurHeader(name) && (kept !== "" || value === "")) raw.push(name, kept);
  }
  request.rawHeaders = [...raw, ...added];
  for (const name of Object.keys(request.headers)) if (isOurHeader(name)) delete request.headers[name];
  const cookie = stripCookies(request.headers.cookie ?? "");
  if (cookie === "") delete request.headers.cookie;
  else request.headers.cookie = cookie;
  for (let i = 0; i < added.length; i += 2) request.headers[added[i]!.toLowerCase()] = added[i + 1]!;
}
