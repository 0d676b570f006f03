/**
 * What a request without a pass is after: which answer it should get, and whether its sender can keep a place.
 *
 * A visit begins with a page, with a request for JSON, with a program's `Fairgate-Token`, or when a cookie of ours comes back.
 * Everything else belongs to no visit: a picture, a manifest or a preflight, which browsers send without cookies; a prefetch,
 * which nobody may ever look at; a crawler; a program that takes anything.
 *
 * A visitor who must wait gets, at the address they asked for: the waiting page, if they navigate; JSON with 429, if they are a
 * program that asks for JSON or a script of a page; a plain line with 429, for a picture or a program that takes anything; and
 * for a form a clear refusal, since a form cannot be kept in a line.
 *
 * A navigation is known by what browsers send with one and programs do not: `text/html` in Accept, or on https
 * `Sec-Fetch-Dest` and `Sec-Fetch-Mode`. A program that takes anything would save the waiting page as its file.
 */
import type { Carrier } from "./call.ts";
import { isCrawler, isPageTaker } from "./crawlers.ts";
import { type Facts, headerOf } from "./facts.ts";

/** What a request wants: a page, an API, what a script asks for, a part of a page, or anything. */
export type Wants = "page" | "json" | "script" | "part" | "anything";

/** What a request without a pass gets while it must wait. */
export type WaitingAnswer = "page" | "formRefused" | "json" | "plain";

export interface Asking {
  readonly wanted: Wants;
  readonly answer: WaitingAnswer;
  /** They could keep a place in the line. Otherwise it belongs to no visit, unless they show that they keep our cookie. */
  readonly canWait: boolean;
  /** A browser asks whether a page of another origin may make a request (Fetch, CORS). */
  readonly isPreflight: boolean;
  readonly isPrefetch: boolean;
  readonly isCrawler: boolean;
  /** It may change something at the site: a form, or a call (RFC 9110, section 9.2.1). */
  readonly isUnsafe: boolean;
}

export interface RequestWords {
  readonly accept: string | undefined;
  /** The browser's own word on what it is loading, here and below; programs send none. */
  readonly fetchDestination: string | undefined;
  readonly fetchMode: string | undefined;
  /** `Upgrade-Insecure-Requests`, which browsers send with navigations alone. */
  readonly upgradeInsecure: string | undefined;
}

const PAGE_DESTINATIONS = new Set(["document", "iframe", "frame", "embed", "object"]);
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

export function readAsking(facts: Facts, carrier: Carrier, isJsonEnabled: boolean): Asking {
  const { method } = facts;
  const userAgent = headerOf(facts, "user-agent");
  const accept = headerOf(facts, "accept");
  const wanted = wants({
    accept: accept?.includes("text/html") && isPageTaker(userAgent) ? undefined : accept,
    fetchDestination: headerOf(facts, "sec-fetch-dest"),
    fetchMode: headerOf(facts, "sec-fetch-mode"),
    upgradeInsecure: headerOf(facts, "upgrade-insecure-requests"),
  });
  const keepsToken = carrier.programToken !== undefined;
  const isPreflight = method === "OPTIONS" && headerOf(facts, "access-control-request-method") !== undefined;
  const isPrefetch = isForLater(facts);
  const crawls = isCrawler(userAgent);
  const isNobody = isPreflight || isPrefetch || crawls;
  return {
    wanted,
    answer: isPreflight || isPrefetch ? "plain" : waitingForm(method, wanted, { isJsonEnabled, keepsToken }),
    canWait: !isNobody && (keepsToken || wanted === "page" || wanted === "json"),
    isPreflight,
    isPrefetch,
    isCrawler: crawls,
    isUnsafe: !SAFE_METHODS.has(method),
  };
}

/** True for what a browser loads ahead of a visitor who may never look at it. */
function isForLater(facts: Facts): boolean {
  const purpose = headerOf(facts, "sec-purpose") ?? headerOf(facts, "purpose") ?? headerOf(facts, "x-moz");
  return purpose?.startsWith("prefetch") === true;
}

export function wants(words: RequestWords): Wants {
  const { accept = "*/*", fetchDestination, fetchMode, upgradeInsecure } = words;
  if (fetchDestination !== undefined && PAGE_DESTINATIONS.has(fetchDestination)) return "page";
  if (accept.includes("application/json") && !accept.includes("text/html")) return "json";
  if (fetchDestination !== undefined && fetchDestination !== "empty") return "part";
  if (accept.includes("text/html")) return "page";
  if (fetchDestination === "empty") return "script";
  if (fetchMode === "navigate" || upgradeInsecure !== undefined) return "page";
  return accept.includes("*/*") ? "anything" : "part";
}

/** `keepsToken`: a program that says so. */
export function waitingForm(
  method: string,
  wanted: Wants,
  { isJsonEnabled, keepsToken }: { isJsonEnabled: boolean; keepsToken: boolean },
): WaitingAnswer {
  const isForScript = wanted === "json" || wanted === "script" || (keepsToken && wanted !== "page");
  if (isForScript && isJsonEnabled) return "json";
  if (wanted === "part" || wanted === "script" || wanted === "anything") return "plain";
  return method === "GET" || method === "HEAD" ? "page" : "formRefused";
}
