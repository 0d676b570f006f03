/**
 * Rules by which requests skip a room's line: assets, webhooks, health checks, the operator's own pages. All conditions
 * of a rule must hold; a condition with a list holds if one entry does. `gateway/bypass.ts` applies them.
 *
 * Values of headers, cookies and queries may be secrets that partners were given, so no message shows them.
 */
import { z } from "zod";
import { listOf, PATH_LENGTH_MAX, readable, reject, setting } from "./kinds.ts";
import { network } from "./network.ts";
import { isClear, readPlainPath } from "./plain-path.ts";
import { type Finding, formatPath, type Path, safeText } from "./problem.ts";
import { inAscii, OWN_PATH, type Read, withoutSlash } from "./route.ts";
import { isRecord } from "./salvage.ts";

/** The methods that Node's servers accept. */
export const METHODS: readonly string[] = [
  "ACL BIND CHECKOUT CONNECT COPY DELETE GET HEAD LINK LOCK M-SEARCH MERGE MKACTIVITY MKCALENDAR MKCOL",
  "MOVE NOTIFY OPTIONS PATCH POST PROPFIND PROPPATCH PURGE PUT QUERY REBIND REPORT SEARCH SOURCE",
  "SUBSCRIBE TRACE UNBIND UNLINK UNLOCK UNSUBSCRIBE",
].flatMap((line) => line.split(" "));

export const BYPASS_RULES_MAX = 50;
export const BYPASS_ENTRIES_MAX = 50;
const NAME_CHARACTERS_MAX = 60;
const VALUE_CHARACTERS_MAX = 500;
const KEY_CHARACTERS_MAX = 100;

/** What a header, cookie or query value must be: present (`true`), or like one of these. */
export type WantedValue = true | readonly string[];
export type WantedValues = Readonly<Record<string, WantedValue>>;
type ValueInput = true | string | readonly string[];
type ValuesInput = Readonly<Record<string, ValueInput>>;

const VALUE_SHAPE = "true for any value, a value in which * is any text, or a list of such values";
/** Characters allowed in a header, and so in a cookie. */
const ASCII = /^[\x20-\x7e]+$/;
const PRINTABLE = /^[^\x00-\x1f\x7f-\x9f]+$/;
/** A token of RFC 9110, section 5.6.2, without the star, which would be read as "any". */
const TOKEN = /^[\w!#$%&'+.^`|~-]+$/;

const ruleSchema = z
  .strictObject({
    name: setting(
      readable(readRuleName, {
        kind: "text",
        max: NAME_CHARACTERS_MAX,
        shape: `a name of 1 to ${NAME_CHARACTERS_MAX} characters`,
      }),
      null,
    ).describe("Name of the rule in `fairgate check --url` and in metrics. null: its number."),
    path: oneOf(
      readable(readPathRule, {
        kind: "path",
        max: PATH_LENGTH_MAX,
        shape: "a path such as /hook or /shops/*/pictures, or an ending such as *.css",
      }),
      "paths such as /hook, /shops/*/pictures or *.css",
    ).describe(
      "A path covers everything below it; * is any text without a slash, and a path with * in its last part ends there. Case matters. A request whose path can be read in more than one way goes to the line.",
    ),
    methods: oneOf(
      readable(readMethod, { kind: "method", max: 32, shape: "a method such as GET or POST" }),
      "methods such as POST",
    ).describe("The request's method."),
    header: values({ read: readHeaderName, isText: ASCII }).describe(
      "Headers by name. Anyone can send a header, so use a value that nobody can guess.",
    ),
    cookie: values({ read: readToken, isText: ASCII }).describe("Cookies by name."),
    userAgent: setting(
      z
        .custom<ValueInput>()
        .transform((written, context) => taken(readValue(written, ASCII), context))
        .meta({ kind: "values", shape: VALUE_SHAPE }),
      null,
    ).describe("The User-Agent header, without regard to case. Anyone can send any."),
    query: values({ read: readQueryName, isText: PRINTABLE }).describe("Query parameters by name."),
    addresses: oneOf(network(), "addresses or networks such as 10.0.0.0/8").describe(
      "The visitor's IP address. Behind a proxy this needs `trustedProxies`, or it is the proxy's.",
    ),
  })
  .superRefine((rule, context) => {
    // A rule with a mistyped condition has its own problem already.
    if (context.issues.length === 0 && isForEveryone(rule))
      reject(context, "has no condition that anyone could fail, so it would let everyone past the line");
  });

export const bypassSchema = z
  .array(ruleSchema)
  .max(BYPASS_RULES_MAX)
  .superRefine((rules, context) => {
    const names = rules.map(ruleName);
    for (const [index, name] of names.entries())
      if (names.indexOf(name) !== index) reject(context, "is another rule's name", [index, "name"]);
  })
  .prefault([])
  .meta({ shape: `a list of at most ${BYPASS_RULES_MAX} rules, each with a condition such as path: [/hook]` })
  .describe(
    "Requests that go straight to the origin, without a place, a pass or a slot. All conditions of a rule must hold; a list holds if one entry does.",
  );

export type BypassRule = z.output<typeof ruleSchema>;

/** The name a rule goes by. */
export function ruleName({ name }: Pick<BypassRule, "name">, index: number): string {
  return name ?? `rule ${index + 1}`;
}

/** True for a path rule that is only an ending, such as `*.css`. */
export function isEnding(path: string): boolean {
  return path.startsWith("*");
}

/** Warnings for rules that let more past than it seems. `at` is the path of the list. */
export function bypassCautions(rules: readonly BypassRule[], at: Path): Finding[] {
  return rules.flatMap((rule, index) =>
    (rule.path ?? []).flatMap((written, entry): Finding[] => {
      if (!isEnding(written)) return [];
      const path = [...at, index, "path", entry];
      const message = `${formatPath(path)} is "${written}", which lets every address with this ending past the line`;
      const hint = `Many sites answer /booking/x${written.slice(1)} with the booking page. Name the folder that such files are in instead.`;
      return [{ code: "caution", path, at: "value", message, hint }];
    }),
  );
}

function isForEveryone({ name: _, ...conditions }: BypassRule): boolean {
  const { path, userAgent, addresses, ...others } = conditions;
  return (
    Object.values(others).every((condition) => condition === null) &&
    (path === null || path.includes("/")) &&
    (userAgent === null || userAgent === true || userAgent.some((value) => /^\*+$/.test(value))) &&
    (addresses === null || addresses.some((network) => network.endsWith("/0")))
  );
}

function oneOf<T extends z.ZodType>(entry: T, of: string) {
  return setting(listOf(entry, { min: 1, max: BYPASS_ENTRIES_MAX, of }), null);
}

interface ValueKind {
  readonly read: (name: string) => Read<string>;
  readonly isText: RegExp;
}

/** A mapping of names to what is wanted of each. A wrong entry is reported by its name, never by its value. */
function values(kind: ValueKind) {
  const shape = `a mapping of 1 to ${BYPASS_ENTRIES_MAX} names, each with ${VALUE_SHAPE}`;
  const mapping = z
    .custom<ValuesInput>()
    .transform((written, context) => taken(readValues(written, kind), context))
    .meta({ kind: "values", shape, isSecret: true });
  return setting(mapping, null);
}

function readValues(written: unknown, { read, isText }: ValueKind): Read<WantedValues> {
  if (!isRecord(written)) return { wrong: "is not a mapping" };
  const entries = Object.entries(written);
  if (entries.length === 0) return { wrong: "names nothing" };
  if (entries.length > BYPASS_ENTRIES_MAX) return { wrong: `has ${entries.length} names` };
  const wanted = new Map<string, WantedValue>();
  for (const [given, value] of entries) {
    const name = given.length <= KEY_CHARACTERS_MAX ? read(given) : { wrong: "is too long a name" };
    const shown = safeText(given, KEY_CHARACTERS_MAX);
    if ("wrong" in name) return { wrong: `has "${shown}" in it, which ${name.wrong}` };
    if (wanted.has(name.value)) return { wrong: `has ${name.value} in it twice` };
    const answer = readValue(value, isText);
    if ("wrong" in answer) return { wrong: `has a value for ${shown} that ${answer.wrong}` };
    wanted.set(name.value, answer.value);
  }
  return { value: Object.fromEntries(wanted) };
}

function readValue(written: unknown, isText: RegExp): Read<WantedValue> {
  if (written === true) return { value: true };
  const list: readonly unknown[] = Array.isArray(written) ? written : [written];
  if (list.length === 0) return { wrong: "is an empty list" };
  if (list.length > BYPASS_ENTRIES_MAX) return { wrong: `has ${list.length} entries` };
  const texts: string[] = [];
  for (const entry of list) {
    if (typeof entry === "number") return { wrong: "is a number without quotes" };
    if (typeof entry !== "string") return { wrong: "is neither true nor text" };
    if (entry === "") return { wrong: "is empty" };
    if (entry.length > VALUE_CHARACTERS_MAX) return { wrong: `has ${entry.length} characters` };
    if (!isText.test(entry)) return { wrong: "has a character in it that cannot be sent" };
    texts.push(entry);
  }
  return { value: texts };
}

function readRuleName(written: string): Read<string> {
  return written.trim() !== "" && PRINTABLE.test(written)
    ? { value: written.trim() }
    : { wrong: "cannot be a name" };
}

function readHeaderName(written: string): Read<string> {
  const token = readToken(written);
  return "value" in token ? { value: token.value.toLowerCase() } : token;
}

function readToken(written: string): Read<string> {
  return TOKEN.test(written) ? { value: written } : { wrong: "cannot be a name" };
}

function readQueryName(written: string): Read<string> {
  return PRINTABLE.test(written) ? { value: written } : { wrong: "cannot be a name" };
}

/** The server accepts no other methods, so a rule for one would never match. */
function readMethod(written: string): Read<string> {
  const method = written.trim().toUpperCase();
  return METHODS.includes(method) ? { value: method } : { wrong: "is not a method" };
}

// The language of path rules:
//
//   /hook                this path and everything below it, by whole parts, as in a room's path
//   /shops/*/pictures    a * is any text without a slash
//   /files/*.css         a path with * in its last part ends there
//   *.css                every path with this ending; use it with care

/** The normal form of a path rule. */
function readPathRule(written: string): Read<string> {
  if (isEnding(written)) {
    const isGood = /^\*\.[A-Za-z0-9][\w.-]*$/.test(written);
    return isGood ? { value: written } : { wrong: "is neither a path nor an ending" };
  }
  if (!written.startsWith("/")) return { wrong: "does not start with a slash" };
  if (/[?#]/.test(written)) return { wrong: "has a query or a fragment in it" };
  if (/[\x00-\x20\x7f\\]/.test(written))
    return { wrong: "has a space, control character or backslash in it" };
  if (written.includes("**")) return { wrong: "has ** in it; a path covers everything below it without" };
  if (/\/\*\/?$/.test(written)) return { wrong: "ends in /*; a path covers everything below it without" };
  const plain = readPlainPath(inAscii(written));
  if ("wrong" in plain || plain.isMoved || !isClear(plain))
    return { wrong: "can be read in more than one way, so it would never match" };
  const path = withoutSlash(plain.target);
  if (path === OWN_PATH || path.startsWith(`${OWN_PATH}/`)) return { wrong: "is Fairgate's own" };
  return { value: path };
}

function taken<T>(answer: Read<T>, context: z.RefinementCtx): T {
  return "value" in answer ? answer.value : reject(context, answer.wrong);
}
