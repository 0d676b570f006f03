/**
 * What of a message's header goes on to the other side, as pure functions over flat lists (name, value, name, value …)
 * that keep order, case and duplicates.
 *
 * To the origin: no hop-by-hop header, none of our cookies, nothing a visitor may have forged (`Fairgate-*`, and from
 * strangers every claim about where the request came from), then our own words at the end. Some origins take the path
 * from a header (`X-Original-URL`, `SCRIPT_NAME`), so nobody may send one: the path that was routed is the one they get.
 * The host is the one that was routed, too. Names are compared the way CGI-like origins see them, where `Fairgate_Room`
 * and `Fairgate.Room` are the same as `Fairgate-Room`.
 *
 * To the visitor: no hop-by-hop header, no `Fairgate-*`, no Set-Cookie under one of our names. What lies behind a line is
 * for its visitor alone, whatever the origin said to shared caches.
 *
 * No `Via` is added: common origins stop compressing when they see one, and compression is to pass untouched.
 */
import { isForSharedCaches, personalCacheControl } from "./cache-control.ts";
import { formatHop, parseForwarded, splitForwardedFor } from "./proxy/forwarded.ts";
import { isNamed } from "./proxy/raw-header.ts";

/** Where a request came from, and what we add to it. */
export interface RequestContext {
  readonly client: {
    readonly protocol: string;
    readonly host: string;
    readonly peer: string;
    readonly isPeerTrusted: boolean;
  };
  /** The Host the origin gets; null leaves it out, for the HTTP client to fill in. */
  readonly host: string | null;
  readonly id: string;
  /** Flat list of headers of our own to add. */
  readonly added: readonly string[];
  /** The protocol to upgrade to; null for an ordinary request. */
  readonly upgrade: string | null;
}

/** What a response is cleaned for. */
export interface ResponseContext {
  /** Flat list of headers of our own to add. */
  readonly added: readonly string[];
  /** True when the answer is for its visitor alone. */
  readonly isPersonal: boolean;
  /** True when trailers can follow, so that `Trailer` may announce them. */
  readonly canTrail: boolean;
}

/** How an origin tells us something in its answer. */
export const COMMAND = "Fairgate-Command";
const OUR_HEADER = /^fairgate[^a-z0-9]/i;
const OUR_COOKIE = /^(?:__(?:Host|Secure)-)?fairgate_/;
const WHERE_FROM =
  /^x[^a-z0-9](?:forwarded[^a-z0-9]|(?:real[^a-z0-9]ip|host|original[^a-z0-9]host|http[^a-z0-9]host[^a-z0-9]override)$)/i;
/** IIS, Symfony and Laminas take the path from the first two, Gunicorn and recipes for Flask from the others. */
const PATH_ELSEWHERE =
  /^(?:x[^a-z0-9](?:original|rewrite)[^a-z0-9]ur[il]|(?:x[^a-z0-9])?(?:script[^a-z0-9]name|path[^a-z0-9]info))$/i;
const SCRIPT_NAME_CHARACTERS = "script-name".length;
/** Said by us alone. Proxies hand on headers they do not know, so those that name a host may be a visitor's own. */
const SAID_BY_US =
  /^x[^a-z0-9](?:forwarded[^a-z0-9](?:for|host|proto)|host|original[^a-z0-9]host|http[^a-z0-9]host[^a-z0-9]override)$/i;

/** The header list for the origin. */
export function requestHeaders(raw: readonly string[], context: RequestContext): string[] {
  const gathered: Gathered = {
    out: [],
    connection: "",
    cookie: "",
    forwardedFor: "",
    forwarded: "",
    proto: "",
    id: "",
  };
  for (let i = 0; i < raw.length; i += 2) takeRequestHeader(raw[i]!, raw[i + 1]!, gathered, context);
  let { out } = gathered;
  const named = namedByConnection(gathered.connection);
  if (named !== null) out = without(out, named);
  if (gathered.cookie !== "" && !named?.has("cookie")) addCookie(out, gathered.cookie);
  addOwn(out, gathered, context);
  return out;
}

/** The header list for the visitor. */
export function responseHeaders(raw: readonly string[], context: ResponseContext): string[] {
  let out: string[] = [];
  let connection = "";
  let isChunked = false;
  let isTrailing = false;
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!;
    const value = raw[i + 1]!;
    switch (responseFate(name, value)) {
      case "keep":
        out.push(name, value);
        break;
      case "connection":
        connection = joinList(connection, value);
        break;
      case "chunked":
        isChunked = true;
        break;
      case "trailer":
        isTrailing = context.canTrail;
        if (isTrailing) out.push(name, value);
        break;
    }
  }
  const named = namedByConnection(connection);
  if (named !== null) out = without(out, named);
  // RFC 9112, section 6.3: a length beside a transfer coding means nothing, and could mislead the next reader.
  // And without the coding no trailers can follow.
  if (isChunked) out = without(out, LENGTH);
  else if (isTrailing) out = without(out, TRAILER);
  const { added, isPersonal } = context;
  if (isPersonal || added.length > 0) out = asPersonal(out);
  for (let i = 0; i < added.length; i++) out.push(added[i]!);
  return out;
}

/** What an origin's answer tells us to do; null for nothing. */
export function commandIn(raw: readonly string[]): string | null {
  for (let i = 0; i < raw.length; i += 2)
    if (isNamed(raw[i]!, COMMAND, "fairgate-command")) return raw[i + 1]!;
  return null;
}

/** A Cookie header's value without the cookies that are ours; empty when nothing is left. */
export function stripCookies(value: string): string {
  if (!value.includes("fairgate_")) return value;
  const kept: string[] = [];
  for (const part of value.split(";")) {
    const cookie = part.trim();
    if (cookie !== "" && !OUR_COOKIE.test(cookie)) kept.push(cookie);
  }
  return kept.join("; ");
}

/** True for a header that no visitor may send on to an origin: `Fairgate-*`, and one that names another path. */
export function isNeverSent(name: string): boolean {
  return OUR_HEADER.test(name) || PATH_ELSEWHERE.test(name);
}

/** What has been read of a request's header so far. */
interface Gathered {
  readonly out: string[];
  connection: string;
  cookie: string;
  forwardedFor: string;
  forwarded: string;
  proto: string;
  id: string;
}

const LENGTH: ReadonlySet<string> = new Set(["content-length"]);
const TRAILER: ReadonlySet<string> = new Set(["trailer"]);

/** Sorts by the first letter, since most headers of a browser start with one that none of ours do. */
function takeRequestHeader(name: string, value: string, gathered: Gathered, context: RequestContext): void {
  switch (name.charCodeAt(0) | 0x20) {
    case 0x3a: // a pseudo-header of HTTP/2
      return;
    case 0x63: // c
    case 0x65: // e
    case 0x66: // f
    case 0x68: // h
    case 0x6b: // k
    case 0x70: // p
    case 0x74: // t
    case 0x75: // u
    case 0x78: // x
      takeNamed(name, value, gathered, context);
      return;
    case 0x73: // s, with which browsers send many
      if (name.length !== SCRIPT_NAME_CHARACTERS || !PATH_ELSEWHERE.test(name))
        gathered.out.push(name, value);
      return;
    default:
      gathered.out.push(name, value);
  }
}

function takeNamed(name: string, value: string, gathered: Gathered, context: RequestContext): void {
  switch (name.length > 19 ? "" : name.toLowerCase()) {
    case "host":
    case "expect": // said again where the origin is to answer it (`expect-continue.ts`)
    case "keep-alive":
    case "proxy": // would become HTTP_PROXY in a CGI-like origin
    case "proxy-authenticate":
    case "proxy-authorization":
    case "proxy-connection":
    case "te":
    case "trailer":
    case "transfer-encoding":
    case "upgrade":
    case "http2-settings":
      return;
    case "connection":
      gathered.connection = joinList(gathered.connection, value);
      return;
    case "cookie":
      // HTTP/2 may send one header per cookie; HTTP/1 has to be one (RFC 9113, section 8.2.3).
      gathered.cookie = gathered.cookie === "" ? value : `${gathered.cookie}; ${value}`;
      return;
    case "forwarded":
      gathered.forwarded = joinList(gathered.forwarded, value);
      return;
    case "x-forwarded-for":
      gathered.forwardedFor = joinList(gathered.forwardedFor, value);
      return;
    case "x-forwarded-host": // always set by us
      return;
    case "x-forwarded-proto":
      gathered.proto = value;
      return;
    case "x-request-id":
      gathered.id = value;
      return;
    default:
      if (!isForgery(name, context)) gathered.out.push(name, value);
  }
}

/** True for what only we may say, and for what only a trusted proxy may say about where a request came from. */
function isForgery(name: string, { client }: RequestContext): boolean {
  const letter = name.charCodeAt(0) | 0x20;
  if (letter === 0x66) return OUR_HEADER.test(name);
  if (letter !== 0x78 && letter !== 0x70) return false;
  if (PATH_ELSEWHERE.test(name)) return true;
  if (!WHERE_FROM.test(name)) return false;
  // Even from a trusted proxy, another spelling of what we say ourselves would stand beside the true one.
  return !client.isPeerTrusted || SAID_BY_US.test(name);
}

function addCookie(out: string[], cookie: string): void {
  const kept = stripCookies(cookie);
  if (kept !== "") out.push("Cookie", kept);
}

function addOwn(out: string[], gathered: Gathered, context: RequestContext): void {
  const { client, added } = context;
  const claims = client.isPeerTrusted ? chains(gathered, client) : STRANGER;
  const { host } = client;
  if (context.host !== null) out.push("Host", context.host);
  out.push("X-Forwarded-For", joinList(claims.forwardedFor, client.peer));
  if (host !== "") out.push("X-Forwarded-Host", host);
  out.push("X-Forwarded-Proto", claims.proto || client.protocol);
  out.push("Forwarded", ownForwarded(claims.forwarded, client));
  out.push("X-Request-Id", claims.id || context.id);
  for (let i = 0; i < added.length; i++) out.push(added[i]!);
  if (context.upgrade !== null) out.push("Connection", "Upgrade", "Upgrade", context.upgrade);
}

function ownForwarded(before: string, { peer, host, protocol }: RequestContext["client"]): string {
  if (before === "") return formatHop({ address: peer, host, protocol });
  return `${before}, ${formatHop({ address: peer, host: null, protocol: null })}`;
}

type Claims = Pick<Gathered, "forwardedFor" | "forwarded" | "proto" | "id">;

const STRANGER: Claims = { forwardedFor: "", forwarded: "", proto: "", id: "" };

/**
 * What a trusted proxy said; where it gave only one of the two lists, the other says the same (RFC 7239, 7.4). The host
 * in `Forwarded` is ours, once: a proxy may have handed on what a visitor claims.
 */
function chains(gathered: Gathered, { host, protocol }: RequestContext["client"]): Claims {
  const hops =
    gathered.forwarded === ""
      ? splitForwardedFor(gathered.forwardedFor).map((address) => ({ address, protocol: null }))
      : parseForwarded(gathered.forwarded);
  if (gathered.forwarded === "" && gathered.forwardedFor === "") return gathered;
  if (gathered.forwardedFor === "")
    gathered.forwardedFor = hops.map((hop) => hop.address ?? "unknown").join(", ");
  gathered.forwarded = hops
    .map((hop, index) =>
      formatHop({
        address: hop.address,
        host: index === 0 ? host : null,
        protocol: hop.protocol ?? (index === 0 ? protocol : null),
      }),
    )
    .join(", ");
  return gathered;
}

type Fate = "keep" | "drop" | "connection" | "chunked" | "trailer";

function responseFate(name: string, value: string): Fate {
  switch (name.charCodeAt(0) | 0x20) {
    case 0x63: // c
      return name.length === 10 && name.toLowerCase() === "connection" ? "connection" : "keep";
    case 0x66: // f
      return OUR_HEADER.test(name) ? "drop" : "keep";
    case 0x73: // s
      return name.length === 10 && OUR_COOKIE.test(value.trimStart()) && name.toLowerCase() === "set-cookie"
        ? "drop"
        : "keep";
    case 0x6b: // k
    case 0x70: // p
    case 0x74: // t
    case 0x75: // u
      return hopByHopFate(name.toLowerCase());
    default:
      return "keep";
  }
}

function hopByHopFate(lower: string): Fate {
  switch (lower) {
    case "keep-alive":
    case "proxy-authenticate":
    case "proxy-connection":
    case "te":
    case "upgrade":
      return "drop";
    case "trailer":
      return "trailer";
    case "transfer-encoding":
      return "chunked";
    default:
      return "keep";
  }
}

/** The headers a Connection header makes hop-by-hop; null when it names none. Framing is not its to remove. */
function namedByConnection(connection: string): Set<string> | null {
  if (connection === "" || connection === "keep-alive" || connection === "close") return null;
  const named = new Set<string>();
  for (const token of connection.toLowerCase().split(",")) named.add(token.trim());
  for (const kept of ["", "close", "keep-alive", "upgrade", "content-length", "content-type"])
    named.delete(kept);
  return named.size > 0 ? named : null;
}

function asPersonal(headers: readonly string[]): string[] {
  const out: string[] = [];
  let given = "";
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i]!;
    if (name.length === 13 && name.toLowerCase() === "cache-control")
      given = joinList(given, headers[i + 1]!);
    else if (!isForSharedCaches(name)) out.push(name, headers[i + 1]!);
  }
  out.push("Cache-Control", personalCacheControl(given));
  return out;
}

function without(headers: readonly string[], names: ReadonlySet<string>): string[] {
  const out: string[] = [];
  for (let i = 0; i < headers.length; i += 2)
    if (!names.has(headers[i]!.toLowerCase())) out.push(headers[i]!, headers[i + 1]!);
  return out;
}

function joinList(before: string, value: string): string {
  return before === "" ? value : `${before}, ${value}`;
}
