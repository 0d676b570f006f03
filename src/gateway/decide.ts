/**
 * What a request wants and what it should get, decided by its words alone.
 *
 * A waiting visitor gets, at the address they asked for: the waiting page, if they navigate; JSON with 429, if they
 * are a program that asks for JSON; a plain line with 429, if they are fetching a picture or a script; and for
 * anything that would change something, a clear refusal, since a form cannot be kept in a line.
 */
export type Wants = "page" | "json" | "part";

/** What a request with no pass gets while it must wait. */
export type WaitingAnswer = "page" | "formRefused" | "json" | "plain";

export interface RequestWords {
  readonly method: string;
  readonly accept: string | undefined;
  /** The browser's own word on what it is loading; programs send none. */
  readonly fetchDestination: string | undefined;
}

const PAGE_DESTINATIONS = new Set(["document", "iframe", "frame", "embed", "object"]);

/** Whether a request loads a page, calls an API, or fetches a part of a page. */
export function wants(words: RequestWords): Wants {
  const accept = words.accept ?? "*/*";
  if (words.fetchDestination !== undefined && PAGE_DESTINATIONS.has(words.fetchDestination)) return "page";
  if (accept.includes("application/json") && !accept.includes("text/html")) return "json";
  if (words.fetchDestination !== undefined && words.fetchDestination !== "empty") return "part";
  if (accept.includes("text/html")) return "page";
  return words.fetchDestination === "empty" ? "part" : accept.includes("*/*") ? "page" : "part";
}

export function waitingAnswer(words: RequestWords, isJsonEnabled: boolean): WaitingAnswer {
  const wanted = wants(words);
  if (wanted === "json" && isJsonEnabled) return "json";
  if (wanted === "part") return "plain";
  return words.method === "GET" || words.method === "HEAD" ? "page" : "formRefused";
}

/** True for a request whose sender will keep the cookie: only then is a place in the line worth giving. */
export function keepsPlace(answer: WaitingAnswer): boolean {
  return answer !== "plain";
}
