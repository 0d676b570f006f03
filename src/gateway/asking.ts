/**
 * What a request without a pass is after, read once: which answer it should get, and whether its sender is somebody who can
 * keep a place.
 *
 * A visit begins with a page, with a request for JSON, with a program's `Fairgate-Token`, or when a cookie of ours comes
 * back. Everything else belongs to no visit: a picture, a manifest or a preflight, which browsers send without cookies; a
 * prefetch, which nobody may ever look at; a crawler; a program that takes anything.
 */
import type { Carrier } from "./carrier.ts";
import { isCrawler, isPageTaker } from "./crawlers.ts";
import { isSafe, keepsPlace, type WaitingAnswer, type Wants, waitingForm, wants } from "./decide.ts";
import { type Facts, headerOf } from "./facts.ts";

export interface Asking {
  readonly wanted: Wants;
  readonly answer: WaitingAnswer;
  /** They could keep a place in the line. Otherwise it belongs to no visit, unless its sender shows that they keep our cookie. */
  readonly canWait: boolean;
  /** A browser asks whether a page of another origin may make a request (Fetch, CORS). */
  readonly isPreflight: boolean;
  readonly isPrefetch: boolean;
  readonly isCrawler: boolean;
  /** It may change something at the site: a form, or a call. */
  readonly isUnsafe: boolean;
}

export function readAsking(facts: Facts, carrier: Carrier, isJsonEnabled: boolean): Asking {
  const { method } = facts;
  const userAgent = headerOf(facts, "user-agent");
  const accept = headerOf(facts, "accept");
  const words = {
    method,
    accept: accept?.includes("text/html") && isPageTaker(userAgent) ? undefined : accept,
    fetchDestination: headerOf(facts, "sec-fetch-dest"),
    fetchMode: headerOf(facts, "sec-fetch-mode"),
    upgradeInsecure: headerOf(facts, "upgrade-insecure-requests"),
  };
  const wanted = wants(words);
  const keepsToken = carrier.programToken !== undefined;
  const isPreflight = method === "OPTIONS" && headerOf(facts, "access-control-request-method") !== undefined;
  const isPrefetch = isForLater(facts);
  const crawls = isCrawler(userAgent);
  const isNobody = isPreflight || isPrefetch || crawls;
  const canWait = !isNobody && keepsPlace(wanted, keepsToken);
  return {
    wanted,
    answer: isPreflight || isPrefetch ? "plain" : waitingForm(words, wanted, { isJsonEnabled, keepsToken }),
    canWait,
    isPreflight,
    isPrefetch,
    isCrawler: crawls,
    isUnsafe: !isSafe(method),
  };
}

/** True for what a browser loads ahead of a visitor who may never look at it. */
function isForLater(facts: Facts): boolean {
  const purpose = headerOf(facts, "sec-purpose") ?? headerOf(facts, "purpose") ?? headerOf(facts, "x-moz");
  return purpose?.startsWith("prefetch") === true;
}
