/**
 * Requests that go past a room's line by the operator's rules (`config/bypass-schema.ts`). Rules are made
 * ready once; what they ask of a request is worked out when the first of them asks.
 *
 * A mistake here lets people jump the line, so every doubt sends a request to the line: a path condition looks
 * only at what every origin reads alike (`plain-path.ts`), and never holds for a path with dot segments, doubled
 * slashes or backslashes; a value that is given several times must be right each time; and the method counts only
 * if no header asks the origin to take another. Our own addresses are never passed on.
 *
 * Values without a star may be secrets, so they are compared in constant time and never told.
 */
import { hash, timingSafeEqual } from "node:crypto";
import { type BypassRule, isEnding, ruleName, type WantedValue } from "../config/bypass-schema.ts";
import { isClear, isFileName, plainEnd, readPlainPath } from "../config/plain-path.ts";
import { OWN_PATH } from "../config/route.ts";
import { createTrust, type Incoming, type Trust } from "./proxy/trust.ts";

/** The parts of a request, HTTP/1 or HTTP/2, that rules look at. */
export interface BypassRequest extends Incoming {
  readonly method?: string | undefined;
}

export interface Bypass {
  /** The name of the first rule that holds, or null. `url` is the target as path and query. */
  match(request: BypassRequest, url: string, trust: Trust): string | null;
  /** What became of each rule, up to the first that holds, for people. */
  explain(request: BypassRequest, url: string, trust: Trust): RuleAnswer[];
}

export type ConditionName = Exclude<keyof BypassRule, "name">;

export interface RuleAnswer {
  readonly rule: string;
  /** The rule's conditions, in the order they are looked at. */
  readonly conditions: readonly ConditionName[];
  /** The first that does not hold; null when all do. */
  readonly failed: { readonly condition: ConditionName; readonly why: string } | null;
}

interface Condition {
  readonly name: ConditionName;
  holds(facts: Facts): boolean;
  /** Why it does not hold. */
  why(facts: Facts): string;
}

interface ReadyRule {
  readonly name: string;
  readonly conditions: readonly Condition[];
}

type Matcher = (text: string) => boolean;

const NOUNS = { header: "header", cookie: "cookie", query: "query parameter" } as const;
/** Headers by which some frameworks take another method than the request's. */
const OVERRIDE = /^x[^a-z0-9](?:http[^a-z0-9])?method(?:[^a-z0-9]override)?$/;
const NO_BYPASS: Bypass = { match: () => null, explain: () => [] };

/** Makes a room's rules ready. */
export function createBypass(rules: readonly BypassRule[]): Bypass {
  if (rules.length === 0) return NO_BYPASS;
  const ready = rules.map((rule, index) => ({ name: ruleName(rule, index), conditions: conditionsOf(rule) }));
  return {
    match(request, url, trust) {
      if (isOwn(url)) return null;
      const facts = new Facts(request, url, trust);
      for (const rule of ready) if (doHold(rule, facts)) return rule.name;
      return null;
    },
    explain(request, url, trust) {
      if (isOwn(url)) return [];
      const facts = new Facts(request, url, trust);
      const deciding = ready.findIndex((rule) => doHold(rule, facts));
      return ready.slice(0, deciding < 0 ? ready.length : deciding + 1).map((rule) => answer(rule, facts));
    },
  };
}

function isOwn(url: string): boolean {
  return url.startsWith(OWN_PATH) && /^[/?]?$/.test(url.charAt(OWN_PATH.length));
}

function doHold({ conditions }: ReadyRule, facts: Facts): boolean {
  for (const condition of conditions) if (!condition.holds(facts)) return false;
  return true;
}

function answer({ name, conditions }: ReadyRule, facts: Facts): RuleAnswer {
  const failed = conditions.find((condition) => !condition.holds(facts));
  return {
    rule: name,
    conditions: conditions.map((condition) => condition.name),
    failed: failed ? { condition: failed.name, why: failed.why(facts) } : null,
  };
}

/** The names of a path, in their plain spelling. */
interface Parts {
  readonly names: readonly string[];
  /** How many of the names, from the first, every origin reads alike. */
  readonly certain: number;
  /** True when the others are in doubt only because a file comes first. */
  readonly isClear: boolean;
}

/** What rules ask of one request, each worked out once and only when asked for. */
class Facts {
  readonly method: string;
  readonly #request: BypassRequest;
  readonly #url: string;
  readonly #trust: Trust;
  #parts: Parts | null | undefined;
  #cookies: ReadonlyMap<string, readonly string[]> | undefined;
  #query: URLSearchParams | undefined;
  #address: string | undefined;

  constructor(request: BypassRequest, url: string, trust: Trust) {
    this.method = request.method ?? "GET";
    this.#request = request;
    this.#url = url;
    this.#trust = trust;
  }

  /** Null for a path for which no condition may hold. */
  get parts(): Parts | null {
    if (this.#parts === undefined) this.#parts = partsOf(this.#url);
    return this.#parts;
  }

  /** True when an origin may take another method than the request's. */
  get isOverridden(): boolean {
    return Object.keys(this.#request.headers).some((name) => OVERRIDE.test(name));
  }

  get address(): string {
    this.#address ??= this.#trust.client(this.#request).address;
    return this.#address;
  }

  header(name: string): readonly string[] {
    const { headers } = this.#request;
    const value = Object.hasOwn(headers, name) ? headers[name] : undefined;
    return value === undefined ? [] : Array.isArray(value) ? value : [value];
  }

  cookie(name: string): readonly string[] {
    this.#cookies ??= readCookies(this.header("cookie"));
    return this.#cookies.get(name) ?? [];
  }

  query(name: string): readonly string[] {
    const start = this.#url.indexOf("?");
    this.#query ??= new URLSearchParams(start < 0 ? "" : this.#url.slice(start + 1));
    return this.#query.getAll(name);
  }
}

/** All cookies by name, read once for all rules. */
function readCookies(headers: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const cookies = new Map<string, string[]>();
  for (const pair of headers.flatMap((header) => header.split(";"))) {
    const equals = pair.indexOf("=");
    if (equals < 0) continue;
    const name = pair.slice(0, equals).trim();
    const value = pair.slice(equals + 1).trim();
    const known = cookies.get(name);
    if (known) known.push(value);
    else cookies.set(name, [value]);
  }
  return cookies;
}

function partsOf(url: string): Parts | null {
  const end = plainEnd(url);
  // A slash at the end leaves an empty last name, which is no file's.
  if (end >= 0) return whole(namesOf(url.slice(0, end)));
  const path = readPlainPath(url);
  if ("wrong" in path || path.isMoved) return null;
  const names = namesOf(path.target.split("?", 1)[0]!);
  if (path.names === null) return whole(names);
  const certain = namesOf(path.key.slice(0, path.certain)).length - 1;
  return { names, certain, isClear: isClear(path) };
}

function whole(names: readonly string[]): Parts {
  return { names, certain: names.length, isClear: true };
}

function namesOf(path: string): string[] {
  return path.split("/").slice(1);
}

/** The cheapest first. */
function conditionsOf(rule: BypassRule): Condition[] {
  const { methods, path, header, cookie, userAgent, query, addresses } = rule;
  return [
    ...(methods ? [methodCondition(methods)] : []),
    ...(path ? [pathCondition(path)] : []),
    ...valueConditions("header", header, (facts, name) => facts.header(name)),
    ...valueConditions("cookie", cookie, (facts, name) => facts.cookie(name)),
    ...(userAgent ? [userAgentCondition(userAgent)] : []),
    ...valueConditions("query", query, (facts, name) => facts.query(name)),
    ...(addresses ? [addressCondition(addresses)] : []),
  ];
}

function methodCondition(methods: readonly string[]): Condition {
  return {
    name: "methods",
    holds: (facts) => methods.includes(facts.method) && !facts.isOverridden,
    why: (facts) =>
      methods.includes(facts.method)
        ? "a header asks for another method"
        : `${facts.method} is not ${anyOf(methods)}`,
  };
}

function pathCondition(paths: readonly string[]): Condition {
  const matchers = paths.map(pathMatcher);
  return {
    name: "path",
    holds: ({ parts }) => parts !== null && matchers.some((matches) => matches(parts)),
    why: ({ parts }) =>
      parts !== null && parts.certain === parts.names.length
        ? `/${parts.names.join("/")} is not ${anyOf(paths)}`
        : "the path can be read in more than one way",
  };
}

function pathMatcher(path: string): (parts: Parts) => boolean {
  if (isEnding(path)) {
    const ending = path.slice(1);
    return (parts) => isFile(parts) && parts.names.at(-1)!.endsWith(ending);
  }
  const wanted = path === "/" ? [] : namesOf(path);
  const isForFiles = wanted.at(-1)?.includes("*") ?? false;
  // A rule that names a file means the path as it is written.
  const hasFile = wanted.some(isFileName);
  const matchers = wanted.map((part) => globMatcher(part));
  return (parts) => {
    const { names, certain, isClear } = parts;
    const isCovered = isForFiles
      ? names.length === matchers.length && isFile(parts)
      : matchers.length <= (hasFile && isClear ? names.length : certain);
    return isCovered && matchers.every((matches, index) => matches(names[index]!));
  };
}

/** True when every origin finds the same last name; not for a stream of a Windows file, which ends in another name. */
function isFile({ names, certain }: Parts): boolean {
  return certain === names.length && !/:|%3A/.test(names.at(-1)!);
}

function valueConditions(
  condition: "header" | "cookie" | "query",
  wanted: Readonly<Record<string, WantedValue>> | null,
  given: (facts: Facts, name: string) => readonly string[],
): Condition[] {
  return Object.entries(wanted ?? {}).map(([name, value]) => {
    const isWanted = valueMatcher(value);
    return {
      name: condition,
      holds: (facts) => isEach(given(facts, name), isWanted),
      why: (facts) =>
        given(facts, name).length === 0
          ? `there is no ${NOUNS[condition]} ${name}`
          : `the ${NOUNS[condition]} ${name} is not what the rule asks for`,
    };
  });
}

/** Without regard to case, and not a secret. */
function userAgentCondition(wanted: WantedValue): Condition {
  const patterns = wanted === true ? ["*"] : wanted;
  const matchers = patterns.map((pattern) => globMatcher(pattern.toLowerCase()));
  const isWanted: Matcher = (value) => matchers.some((matches) => matches(value.toLowerCase()));
  return {
    name: "userAgent",
    holds: (facts) => isEach(facts.header("user-agent"), isWanted),
    why: (facts) => {
      const [given] = facts.header("user-agent");
      return given === undefined ? "there is no user agent" : `${given} is not ${anyOf(patterns)}`;
    },
  };
}

function addressCondition(networks: readonly string[]): Condition {
  // The same lookup that finds trusted proxies.
  const { isTrusted: isAmong } = createTrust(networks);
  return {
    name: "addresses",
    holds: ({ address }) => isAmong(address),
    why: ({ address }) =>
      address === "" ? "the visitor's address is not known" : `${address} is not in ${anyOf(networks)}`,
  };
}

/** True when there is a value and no value is wrong: which of several an origin goes by is not known. */
function isEach(given: readonly string[], isWanted: Matcher): boolean {
  return given.length > 0 && given.every(isWanted);
}

function valueMatcher(wanted: WantedValue): Matcher {
  if (wanted === true) return () => true;
  const matchers = wanted.map((value) => (value.includes("*") ? globMatcher(value) : secretMatcher(value)));
  return (text) => matchers.some((matches) => matches(text));
}

/** Takes the same time whatever is given, but for its length. */
function secretMatcher(value: string): Matcher {
  const expected = digest(value);
  return (text) => timingSafeEqual(digest(text), expected);
}

function digest(value: string): Buffer {
  return hash("sha256", value, "buffer");
}

/** A star is any text. Texts between stars are looked for one after the other, so the time is bounded. */
function globMatcher(pattern: string): Matcher {
  const [first = "", ...middle] = pattern.split("*");
  const last = middle.pop();
  if (last === undefined) return (text) => text === pattern;
  return (text) => {
    const end = text.length - last.length;
    if (end < first.length || !text.startsWith(first) || !text.endsWith(last)) return false;
    let at = first.length;
    for (const part of middle) {
      const found = text.indexOf(part, at);
      if (found < 0 || found + part.length > end) return false;
      at = found + part.length;
    }
    return true;
  };
}

function anyOf(values: readonly string[]): string {
  return values.length === 1 ? values[0]! : `${values.slice(0, -1).join(", ")} or ${values.at(-1)}`;
}
