/**
 * Forward authentication: another proxy serves the site, and asks here about each request, at `/.fairgate/auth/<dialect>`. Facts
 * are made from its question, and the verdict on them is answered in a form that this proxy can act on. `DIALECTS` has what each
 * proxy sends and how it reads an answer; docs/forward-auth.md describes the rest.
 *
 *   passed  a status that passes, `Fairgate-Auth: pass`, what the site is to be told (every name each time, so that a
 *           visitor's own header is always replaced), and the visitor's cookie
 *   not     `Fairgate-Auth: stop`, and the very answer for the visitor
 *
 * Only `trustedProxies` may ask, and only while `forwardAuth` is on; for everybody else the address does not exist. The end of a
 * request that passed is not seen here, so limits of requests under way do not apply to it.
 */
import type { Eventually } from "../../core/engine.ts";
import type { World } from "../../core/world.ts";
import { PLAIN } from "../answer-headers.ts";
import { after } from "../ask-engine.ts";
import { type Facts, headerOf } from "../facts.ts";
import type { Gateway } from "../gateway.ts";
import { linkWithoutCode } from "../lanes/carried-code.ts";
import { plainAddress } from "../proxy/forwarded.ts";
import { type Refusal, refuseFraming } from "../proxy/framing.ts";
import { type Rendered, render, renderUpgrade } from "../render.ts";
import { ORIGIN_HEADERS } from "../tokens/origin-token.ts";
import type { PassOn, Verdict } from "../verdict.ts";

const AUTH_PREFIX = "/.fairgate/auth/";
/** Where nginx goes with a request that has passed. */
const NGINX_PASSED = "@passed";
const ASKED = /^\/\.fairgate\/auth\/([a-z]+)([/?].*)?$/;
const METHOD = /^[A-Z][A-Z-]{0,31}$/;
/** As a parser of request lines accepts it. */
const TARGET = /^\/[\x21-\x7e\x80-\xff]*$/;
const NO_STORE: readonly string[] = ["Cache-Control", "no-store"];
const PASS: readonly string[] = ["Fairgate-Auth", "pass"];
const COME_BACK: readonly string[] = ["Retry-After", "1", "Fairgate-Status", "comeBack"];
const STOP: readonly string[] = ["Fairgate-Auth", "stop"];
/** Headers about the question itself, or claims of the visitor that the proxy forwards: not part of the visitor's request. */
const NOT_THEIRS = [
  ...["x-original-method", "x-original-uri", "x-forwarded-method", "x-forwarded-uri", "x-forwarded-host"],
  ...["forwarded", "content-length", "transfer-encoding", "host"],
];

interface Dialect {
  /**
   * The headers that name the request asked about. Null: the question itself has its method and target, after the name of the
   * dialect.
   */
  readonly method: string | null;
  readonly target: string | null;
  readonly host: string;
  readonly passStatus: number;
  /** Sent with a pass. */
  readonly passHeaders: (verdict: PassOn) => readonly string[];
  /** The status of an answer that is not a pass, where this proxy gives some statuses another meaning. */
  readonly stopStatus: (status: number) => number;
  /** The proxy forwards only cookies, and resolves a relative Location against our address. */
  readonly isCookiesOnly?: boolean;
}

/** Any 2xx passes there, so no other answer may have one. */
const notGood = (status: number) => (status < 300 ? 429 : status);
const asIs = (status: number) => status;
const noStore = () => NO_STORE;
const FORWARDED = { method: "x-forwarded-method", target: "x-forwarded-uri", host: "x-forwarded-host" };
const ORIGINAL = { method: "x-original-method", target: "x-original-uri", host: "host" };

const DIALECTS: Readonly<Record<string, Dialect>> = {
  /** Forwards the whole request, and serves it again where `X-Accel-Redirect` says; our headers for caches stay. */
  nginx: {
    ...ORIGINAL,
    passStatus: 200,
    passHeaders: ({ isPersonal }) => [
      ...["X-Accel-Redirect", NGINX_PASSED],
      ...(isPersonal ? ["Cache-Control", "private"] : []),
    ],
    stopStatus: asIs,
  },
  /** Our Lua action reads `Fairgate-Auth` alone. */
  haproxy: { ...ORIGINAL, passStatus: 204, passHeaders: noStore, stopStatus: asIs },
  caddy: { ...FORWARDED, passStatus: 204, passHeaders: noStore, stopStatus: notGood },
  traefik: {
    ...FORWARDED,
    passStatus: 204,
    passHeaders: noStore,
    stopStatus: notGood,
    isCookiesOnly: true,
  },
  /** Only 200 passes, and 5xx means that the gateway is away. */
  envoy: {
    ...{ method: null, target: null, host: "host" },
    passStatus: 200,
    passHeaders: noStore,
    stopStatus: (status) => (status >= 500 ? 429 : notGood(status)),
  },
};

/** The answer to a proxy's question and, for the access log, the request asked about and the decision. */
export interface CheckedRequest {
  readonly kind: "checked";
  readonly facts: Facts;
  readonly verdict: Verdict;
  readonly answer: Rendered;
}

/** The answer to a proxy's question; null when this is no such question, or comes from a sender who may not ask. */
export function checkFor(asked: Facts, gateway: Gateway, world: World): Eventually<CheckedRequest> | null {
  if (!asked.url.startsWith(AUTH_PREFIX) || !mayAsk(asked, gateway)) return null;
  const [, name = "", rest = ""] = ASKED.exec(asked.url) ?? [];
  const dialect = Object.hasOwn(DIALECTS, name) ? DIALECTS[name]! : null;
  if (dialect === null) return null;
  const facts = originalOf(asked, dialect, rest);
  if ("reason" in facts) {
    const verdict = gateway.refuse(facts);
    return { kind: "checked", facts: asked, verdict, answer: stopped(asked, verdict, dialect, world) };
  }
  return after(gateway.visit(facts), (verdict) => {
    const answer =
      verdict.kind === "passOn" ? passed(facts, verdict, dialect) : stopped(facts, verdict, dialect, world);
    return { kind: "checked", facts, verdict, answer };
  });
}

function mayAsk({ socket }: Facts, { settings, trust }: Gateway): boolean {
  return settings.forwardAuth && trust.isTrusted(plainAddress(socket.remoteAddress ?? ""));
}

/** The request asked about, or why it cannot be read. */
function originalOf(asked: Facts, dialect: Dialect, rest: string): Facts | Refusal {
  const method = dialect.method === null ? asked.method : headerOf(asked, dialect.method);
  const url = dialect.target === null ? rest : headerOf(asked, dialect.target);
  const host = headerOf(asked, dialect.host) ?? "";
  if (!METHOD.test(method ?? "")) return { status: 400, reason: `no method in ${dialect.method}` };
  if (!TARGET.test(url ?? ""))
    return { status: 400, reason: `no path in ${dialect.target ?? "the address"}` };
  const head = { method, url, httpVersionMajor: 1, httpVersionMinor: 1, rawHeaders: ["Host", host] };
  const refusal = refuseFraming(head);
  if (refusal !== null) return refusal;
  const headers: Record<string, string | string[] | undefined> = { ...asked.headers };
  for (const name of NOT_THEIRS) delete headers[name];
  headers.host = host;
  return {
    ...{ method: method!, url: url!, headers, rawHeaders: asked.rawHeaders },
    ...{ socket: asked.socket, now: asked.now },
    // Most proxies remove the Upgrade header from their question, but not the key that comes with it (RFC 6455, 4.1).
    isUpgrade: asked.isUpgrade || headers["sec-websocket-key"] !== undefined,
    isGone: () => asked.isGone(),
  };
}

function passed(facts: Facts, verdict: PassOn, dialect: Dialect): Rendered {
  const { target, responseHeaders, requestHeaders } = verdict;
  // The proxy forwards the request as it got it. Where another path was routed, the visitor is redirected there.
  if (target !== facts.url) {
    const headers = [...NO_STORE, ...STOP, "Location", linkWithoutCode(target), ...responseHeaders];
    return { status: 308, headers: withWholeLocation(headers, facts, dialect), body: "" };
  }
  // A program's new token would be lost here, and with it the visit. So the program gets the token first, and comes back with
  // it.
  if (dialect.isCookiesOnly && responseHeaders.includes("Fairgate-Token"))
    return { status: 429, headers: [...NO_STORE, ...STOP, ...COME_BACK, ...responseHeaders], body: "" };
  const told = ORIGIN_HEADERS.flatMap((name) => [name, valueIn(requestHeaders, name)]);
  const headers = [...dialect.passHeaders(verdict), ...PASS, ...told, ...responseHeaders];
  return { status: dialect.passStatus, headers, body: "" };
}

function stopped(facts: Facts, verdict: Exclude<Verdict, PassOn>, dialect: Dialect, world: World): Rendered {
  const { status, headers, body } = shown(facts, verdict, world);
  const whole = withWholeLocation([...headers, ...STOP], facts, dialect);
  return { status: dialect.stopStatus(status), headers: whole, body };
}

function shown(facts: Facts, verdict: Exclude<Verdict, PassOn>, world: World): Rendered {
  switch (verdict.kind) {
    case "answer":
    case "stream":
    case "takeBody":
    case "gone":
      return { status: 404, headers: PLAIN, body: "ask Fairgate itself for what is under /.fairgate/\n" };
    default:
      return facts.isUpgrade ? renderUpgrade(verdict, world.clock.now()) : render(verdict, world);
  }
}

function withWholeLocation(headers: readonly string[], facts: Facts, dialect: Dialect): readonly string[] {
  const index = headers.indexOf("Location") + 1;
  if (!dialect.isCookiesOnly || index === 0) return headers;
  const protocol = headerOf(facts, "x-forwarded-proto") === "https" ? "https" : "http";
  return headers.with(index, `${protocol}://${headerOf(facts, "host")}${headers[index]}`);
}

/** The value of a name in a flat list, or empty. */
function valueIn(list: readonly string[], name: string): string {
  const index = list.indexOf(name);
  return index < 0 ? "" : list[index + 1]!;
}
