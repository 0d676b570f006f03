/**
 * Cross-origin requests (Fetch, section 3.2): which pages of other origins may call a room's own addresses, each with the
 * visitor's cookie, and read the answers. Only origins that the operator names. Answers of the site itself are up to the site
 * and stay as they are.
 */
import { NONE_ADDED } from "./answer-headers.ts";
import { type Facts, headerOf } from "./facts.ts";

/** Headers of our answers that a page may read. */
const EXPOSED = "Fairgate-Shop, Fairgate-Token, Fairgate-Status, Retry-After";
const OWN_METHODS = "GET, POST, DELETE";
const OWN_HEADERS =
  "Accept, Content-Type, Fairgate-Customer, Fairgate-Shop, Fairgate-Token, Fairgate-Work, Idempotency-Key";
/** For calls of our own addresses, whose rules do not change. */
const OWN_AGE_SECONDS = "600";
/** For calls of the site, whose rules may change at any moment. */
const SITE_AGE_SECONDS = "5";
const REQUESTED_CHARACTERS_MAX = 1_000;
/** Header names as a browser lists them. */
const REQUESTED = /^[\w!#$%&'*+.^`|~-]+(?:, ?[\w!#$%&'*+.^`|~-]+)*$/;

export class Cors {
  readonly #origins: ReadonlySet<string>;

  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins);
  }

  get isOn(): boolean {
    return this.#origins.size > 0;
  }

  /** True for a request by a page that may call. */
  allows(facts: Pick<Facts, "headers">): boolean {
    const origin = this.isOn ? headerOf(facts, "origin") : undefined;
    return origin !== undefined && this.#origins.has(origin);
  }

  /** True for a preflight by a page that keeps its token itself: it is answered here, not by the site. */
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
    // Another origin gets another answer, so caches must tell them apart.
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

  /** The same for a preflight of one of the site's addresses: the call that follows is refused here, or answered by the site. */
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

/** The requested header names, if they are a valid list. */
function listed(text: string): string {
  return text.length <= REQUESTED_CHARACTERS_MAX && REQUESTED.test(text) ? text : "";
}
