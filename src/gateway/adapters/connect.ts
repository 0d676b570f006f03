/**
 * The gateway as Express or Connect middleware: the site is the next handler. It sees the request as an origin would: the path
 * is the routed one, our cookies and forged headers are removed, and `Fairgate-*` headers describe the visitor.
 */
import type http from "node:http";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Clock, World } from "../../core/world.ts";
import { isForSharedCaches, personalCacheControl } from "../cache-control.ts";
import { COMMAND, stripCookies } from "../headers.ts";
import type { Refusal } from "../proxy/framing.ts";
import type { Forward, Watch } from "../proxy/proxy.ts";
import { headersForSite, isHidden } from "./in-process-site.ts";
import type { NodeAdapter } from "./node.ts";
import { NodeRequest, type Onward } from "./node-request.ts";
import { refuse } from "./refuse.ts";

export type Next = (error?: unknown) => void;

export function asMiddleware(
  adapter: NodeAdapter,
  world: World,
): (request: IncomingMessage, response: ServerResponse, next: Next) => void {
  return (request, response, next) => {
    const mounted = request as Mounted;
    // Express shortens `url` below a mount point; the room is found by the whole address.
    const { url: below = "/", originalUrl: whole = below } = mounted;
    request.url = whole;
    const onward: Onward = (_call, forward) => {
      const { target, sender } = forward;
      const rest = belowMount(target, { whole, below });
      if (rest === null) return refuse(request, response, LEFT_MOUNT, { world, isLast: false });
      request.url = rest;
      if (mounted.originalUrl !== undefined) mounted.originalUrl = target;
      cleanHeaders(request, { added: forward.requestHeaders, host: sender.host });
      if (forward.watch) watch(response, forward, forward.watch, world.clock);
      else addAtHead(response, forward, () => withoutCommand(response, forward.responseHeaders));
      next();
    };
    const call = new NodeRequest(request, response, onward);
    call.onFailure = next;
    adapter.serve(call);
  };
}

interface Mounted extends IncomingMessage {
  originalUrl?: string;
}

const LEFT_MOUNT: Refusal = { status: 400, reason: "path that leads elsewhere" };

/** The part of the plain address below the mount point; null when it leads outside. */
function belowMount(sent: string, { whole, below }: { whole: string; below: string }): string | null {
  if (whole === below) return sent;
  // Express adds a slash where nothing is left.
  const mountEnd = whole.length - (whole.endsWith(below) ? below.length : below.length - 1);
  const mount = whole.slice(0, mountEnd);
  if (!sent.startsWith(mount)) return null;
  const rest = sent.slice(mountEnd);
  if (rest === "" || rest.startsWith("?")) return `/${rest}`;
  return rest.startsWith("/") ? rest : null;
}

type Heads = http.OutgoingHttpHeaders | readonly http.OutgoingHttpHeader[];

/** Watches the site's answer: its timing for the room's load, and its command to the gateway. */
function watch(response: ServerResponse, forward: Forward, watcher: Watch, clock: Clock): void {
  const startedAt = clock.now();
  watcher.asked();
  addAtHead(response, forward, () => {
    watcher.answered(response.statusCode, clock.now() - startedAt);
    const command = response.getHeader(COMMAND);
    const instead = command === undefined ? null : watcher.commanded(forward, String(command));
    return withoutCommand(response, instead ?? forward.responseHeaders);
  });
  // A site in the same process always answers; when there is no answer, the visitor left.
  response.on("close", () => watcher.done());
}

/** The site's command to the gateway is not for visitors. */
function withoutCommand(response: ServerResponse, headers: readonly string[]): readonly string[] {
  response.removeHeader(COMMAND);
  return headers;
}

/** Adds our headers once the site's own are complete, so that the site can neither replace them nor offer them to a cache. */
function addAtHead(
  response: ServerResponse,
  { isPersonal }: Forward,
  headersToAdd: () => readonly string[],
): void {
  const { writeHead } = response;
  response.writeHead = (status: number, ...rest: unknown[]): ServerResponse => {
    response.writeHead = writeHead;
    const message = typeof rest[0] === "string" ? rest[0] : undefined;
    setAll(response, (message === undefined ? (rest[0] ?? rest[1]) : rest[1]) as Heads | undefined);
    response.statusCode = status;
    const added = headersToAdd();
    if (isPersonal || added.length > 0) addPersonal(response, added);
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

/** Replaces the request's headers by those that an origin would get. */
function cleanHeaders(request: IncomingMessage, ours: { added: readonly string[]; host: string }): void {
  const { headers } = request;
  const { kept, added } = headersForSite(request.rawHeaders, ours);
  request.rawHeaders = [...kept, ...added];
  for (const [name, value] of Object.entries(headers)) if (isHidden(name, value)) delete headers[name];
  const cookie = stripCookies(headers.cookie ?? "");
  if (cookie === "") delete headers.cookie;
  else headers.cookie = cookie;
  for (let i = 0; i < added.length; i += 2) headers[added[i]!.toLowerCase()] = added[i + 1]!;
}
