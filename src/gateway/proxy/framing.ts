/**
 * Requests that two readers could understand differently, and so are refused before anyone acts on them.
 *
 * Smuggling lives on disagreement: where a body ends (RFC 9112, section 6), which host is meant, what the target is.
 * Node's parser already refuses conflicting and repeated lengths, a length beside a transfer coding, bad chunks, folded
 * lines, bare line feeds and spaces before a colon. What it lets through and we do not: any transfer coding but a
 * single `chunked`, one in HTTP/1.0, versions other than 1.0 and 1.1, a second or malformed Host, targets with a
 * fragment, targets for another host than Host says, and over HTTP/2 methods in lower case.
 *
 * Lengths are checked here too, so that nothing rests on one parser alone.
 */
import { isNamed } from "./raw-header.ts";

/** The parts of a request that say how to read it. */
export interface RequestHead {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly httpVersionMajor: number;
  readonly httpVersionMinor: number;
  readonly rawHeaders: readonly string[];
  /** HTTP/2 alone has one. The version does not tell: what speaks HTTP/1 may call itself 2.0. */
  readonly stream?: unknown;
}

/** Why a request is refused, and with which status. */
export interface Refusal {
  readonly status: 400 | 405 | 421 | 431 | 505;
  readonly reason: string;
}

/** The most header lines in one request. */
export const HEADERS_MAX = 200;

/** Names between single dots, one of which may close it; or an IPv6 address. Then a port. */
const HOST = /^(?:[\w-]+(?:\.[\w-]+)*\.?|\[[0-9a-fA-F:.]+\])(?::\d{0,5})?$/;
const DIGITS = /^\d{1,15}$/;
const ABSOLUTE = /^https?:\/\/([^/?]*)(.*)$/is;

/** Why this request must not be acted on; null for a sound one. */
export function refuseFraming(head: RequestHead): Refusal | null {
  if (head.rawHeaders.length > HEADERS_MAX * 2) return refuse(431, "too many headers");
  if (!isMethodAllowed(head)) return refuse(405, "method not allowed");
  const framing = head.stream !== undefined ? readHttp2(head.rawHeaders) : readHttp1(head);
  if (typeof framing === "object") return framing;
  return refuseTarget(head.method, head.url ?? "", framing);
}

/**
 * Methods are in upper case. Over HTTP/2 they may be any word, and an origin that takes `head` for HEAD would send no body
 * where its reader waits for one.
 */
function isMethodAllowed({ method = "", stream }: RequestHead): boolean {
  if (method === "TRACE" || method === "CONNECT") return false;
  return stream === undefined || (method === method.toUpperCase() && method !== "PRI");
}

/** The target as a path, for a request that was not refused: `http://host/path` becomes `/path`. */
export function originForm(url: string): string {
  const rest = url.charCodeAt(0) === 0x2f ? url : ABSOLUTE.exec(url)?.[2];
  if (rest === undefined) return url;
  return rest.startsWith("/") ? rest : `/${rest}`;
}

/** True for a host, with or without a port, as a Host header may name it. */
export function isHost(text: string): boolean {
  return text.length <= 255 && HOST.test(text);
}

/** The host of an HTTP/1 request ("" for none), or why its header cannot be trusted to frame it. */
function readHttp1({ httpVersionMajor, httpVersionMinor, rawHeaders }: RequestHead): string | Refusal {
  if (httpVersionMajor !== 1 || httpVersionMinor > 1) return refuse(505, "HTTP version not supported");
  let host: string | null = null;
  let length: string | null = null;
  let coding: string | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    const value = rawHeaders[i + 1]!;
    if (name.length === 4 && isNamed(name, "Host", "host")) {
      if (host !== null) return refuse(400, "more than one Host");
      host = value;
    } else if (name.length === 14 && isNamed(name, "Content-Length", "content-length")) {
      if (length !== null) return refuse(400, "more than one Content-Length");
      length = value;
    } else if (name.length === 17 && isNamed(name, "Transfer-Encoding", "transfer-encoding")) {
      if (coding !== null) return refuse(400, "more than one Transfer-Encoding");
      coding = value;
    }
  }
  return refuseBody(length, coding, httpVersionMinor) ?? refuseHost(host, httpVersionMinor) ?? host ?? "";
}

function refuseBody(length: string | null, coding: string | null, minor: number): Refusal | null {
  if (length !== null && length !== "0" && !DIGITS.test(length))
    return refuse(400, "malformed Content-Length");
  if (coding === null) return null;
  if (length !== null) return refuse(400, "both Content-Length and Transfer-Encoding");
  if (minor === 0) return refuse(400, "Transfer-Encoding in HTTP/1.0");
  return coding.toLowerCase() === "chunked" ? null : refuse(400, "unknown Transfer-Encoding");
}

function refuseHost(host: string | null, minor: number): Refusal | null {
  if (host === null) return minor === 0 ? null : refuse(400, "no Host");
  if (host === soundHost) return null;
  if (host === "" || !isHost(host)) return refuse(400, "malformed Host");
  soundHost = host;
  return null;
}

/** The last Host found sound: most requests to a gateway name the same one, and comparing is quicker than matching. */
let soundHost = "";

/** HTTP/2 frames bodies itself; what remains is that it may name the host twice (RFC 9113, section 8.3.1). */
function readHttp2(rawHeaders: readonly string[]): string | Refusal {
  let host: string | null = null;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name !== ":authority" && name !== "host") continue;
    const value = rawHeaders[i + 1]!;
    if (host !== null && host.toLowerCase() !== value.toLowerCase()) return refuse(400, "more than one Host");
    host = value;
  }
  return refuseHost(host, 1) ?? host ?? "";
}

function refuseTarget(method: string | undefined, url: string, host: string): Refusal | null {
  if (url.includes("#")) return refuse(400, "fragment in the request target");
  if (url.charCodeAt(0) === 0x2f) return null;
  if (url === "*") return method === "OPTIONS" ? null : refuse(400, "malformed request target");
  const authority = ABSOLUTE.exec(url)?.[1];
  if (authority === undefined || authority === "") return refuse(400, "malformed request target");
  // RFC 9112, section 3.2.2 lets the target win. An honest client names the same host in both, so two names are refused.
  return authority.toLowerCase() === host.toLowerCase() ? null : refuse(400, "target and Host differ");
}

function refuse(status: Refusal["status"], reason: string): Refusal {
  return { status, reason };
}
