/**
 * Cross-origin requests (Fetch, section 3.2): which pages of other origins may call a room's own addresses and read what it
 * says to their visitors. Only origins that the operator names, each with the visitor's cookie. What the site itself answers
 * is the site's matter and stays as it is.
 */
import { NONE_ADDED } from "./answer-headers.ts";
import { type Facts, headerOf } from "./facts.ts";

/** What a page may read of our answers beside their body. */
const EXPOSED = "Fairgate-Shop, Fairgate-Token, Fairgate-Status, Retry-After";
const OWN_METHODS = "GET, POST, DELETE";
const OWN_HEADERS =
  "Accept, Content-Type, Fairgate-Customer, Fairgate-Shop, Fairgate-Token, Fairgate-Work, Idempotency-Key";
/** For calls of our own addresses, which stay as they are. */
const OWN_AGE_SECONDS = "600";
/** For calls of the site, about which the site may say something else a moment later. */
const SITE_AGE_SECONDS = "5";
const REQUESTED_CHARACTERS_MAX = 1_000;
/** Names as a browser lists them. */
const REQUESTED = /^[\w!#$%&'*+.^`|~-]+(?:, ?[\w!#$%&'*+.^`|~-]+)*$/;

export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  get isOn(): boolean {
    return this.#origins.size > 0;
  }

  /** True for a request made by a page that may. */
  allows(facts: Pick<Facts, "headers">): boolean {
    const origin = this.isOn ? headerOf(facts, "origin") : undefined;
    return origin !== undefined && this.#origins.has(origin);
  }

  /** True for a preflight of a page that keeps its token itself, of which the site knows nothing. */
  isForToken(facts: Pick<Facts, "headers">): boolean {
    const names = headerOf(facts, "access-control-request-headers") ?? "";
    return names.toLowerCase().includes("fairgate-token") && this.allows(facts);
  }

  /** Flat header list that lets such a page read the token that comes with one of the site's answers. */
  tokenHeaders(facts: Pick<Facts, "headers">): readonly string[] {
    return this.allows(facts) ? ["Access-Control-Expose-Headers", "Fairgate-Token"] : NONE_ADDED;
  }

  /** Flat header list that lets the page read the answer, where it may. */
  headersFor(facts: Pick<Facts, "headers">): readonly string[] {
    if (!this.isOn) return NONE_ADDED;
    // Another origin gets another answer, also from a cache.
    if (!this.allows(facts)) return ["Vary", "Origin"];
    return [
      ...["Access-Control-Allow-Origin", headerOf(facts, "origin")!],
      ...["Access-Control-Allow-Credentials", "true"],
      ...["Access-Control-Expose-Headers", EXPOSED],
      ...["Vary", "Origin"],
    ];
  }

  /** The same for a preflight of one of our own addresses. */
  ownPreflight(facts: Pick<Facts, "headers">): string[] {
    return [...this.headersFor(facts), ...allowing(OWN_METHODS, OWN_HEADERS, OWN_AGE_SECONDS)];
  }

  /** The same for one of the site's: the call that follows is refused or goes to the site, which then says what it thinks. */
  sitePreflight(facts: Pick<Facts, "headers">): string[] {
    const method = headerOf(facts, "access-control-request-method") ?? "";
    const names = headerOf(facts, "access-control-request-headers") ?? "";
    return [...this.headersFor(facts), ...allowing(listed(method), listed(names), SITE_AGE_SECONDS)];
  }
}

function allowing(methods: string, headers: string, seconds: string): string[] {
  return [
    ...(methods === "" ? [] : ["Access-Control-Allow-Methods", methods]),
    ...(headers === "" ? [] : ["Access-Control-Allow-Headers", headers]),
    ...["Access-Control-Max-Age", seconds],
  ];
}

/** What was asked for, if it is a list of names. */
function listed(text: string): string {
  return text.length <= REQUESTED_CHARACTERS_MAX && REQUESTED.test(text) ? text : "";
}
