/**
 * What a request wants and what it should get, decided by its words alone.
 *
 * A waiting visitor gets, at the address they asked for: the waiting page, if they navigate; JSON with 429, if they are a
 * program that asks for JSON or a script of a page; a plain line with 429, if they are fetching a picture or are a program
 * that takes anything; and for a form a clear refusal, since a form cannot be kept in a line.
 *
 * A navigation is known by what browsers send with one and programs do not: `text/html` in Accept, or on https
 * `Sec-Fetch-Dest`, `Sec-Fetch-Mode`. A program that says only that it takes anything would save the waiting page as its file.
 */
export type Wants = "page" | "json" | "script" | "part" | "anything";

/** What a request with no pass gets while it must wait. */
export type WaitingAnswer = "page" | "formRefused" | "json" | "plain";

export interface RequestWords {
  readonly method: string;
  readonly accept: string | undefined;
  /** The browser's own word on what it is loading, here and below; programs send none. */
  readonly fetchDestination: string | undefined;
  readonly fetchMode: string | undefined;
  /** `Upgrade-Insecure-Requests`, which browsers send with navigations alone. */
  readonly upgradeInsecure: string | undefined;
}

const PAGE_DESTINATIONS = new Set(["document", "iframe", "frame", "embed", "object"]);
const SAFE_METHODS = new Set(["GET", "HEAD", "OPTIONS", "TRACE"]);

/** Whether a request loads a page, calls an API, was made by a script, fetches a part of a page, or takes anything. */
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
  { method }: Pick<RequestWords, "method">,
  wanted: Wants,
  { isJsonEnabled, keepsToken }: { isJsonEnabled: boolean; keepsToken: boolean },
): WaitingAnswer {
  const isForScript = wanted === "json" || wanted === "script" || (keepsToken && wanted !== "page");
  if (isForScript && isJsonEnabled) return "json";
  if (wanted === "part" || wanted === "script" || wanted === "anything") return "plain";
  return method === "GET" || method === "HEAD" ? "page" : "formRefused";
}

/** True for a request whose sender is somebody who waits: only then is a place in the line worth giving. */
export function keepsPlace(wanted: Wants, keepsToken: boolean): boolean {
  return keepsToken || wanted === "page" || wanted === "json";
}

/** True for a request that asks for nothing to be changed (RFC 9110, section 9.2.1). */
export function isSafe(method: string): boolean {
  return SAFE_METHODS.has(method);
}
