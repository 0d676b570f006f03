/**
 * `fairgate check --url …`: what would become of one request, and why. It asks the gateway's own parts what
 * the gateway asks them, in the same order, so the answer is what would happen. Nothing is sent anywhere.
 *
 * What is looked at once the room is known is a list (`EXPLANATIONS`), each part with its words for people
 * and its facts for programs. The first that sends the request past the line gives the verdict.
 */
import { isEnding, ruleName } from "../config/bypass-schema.ts";
import { safeText } from "../config/problem.ts";
import { toRules } from "../config/rules.ts";
import type { EventSettings, RoomSettings, Route, Settings } from "../config/schema.ts";
import { settingsDuring } from "../config/settings-during.ts";
import type { Eventually } from "../core/engine.ts";
import { phaseAt } from "../core/schedule.ts";
import { createBypass, type RuleAnswer } from "../gateway/bypass.ts";
import { OWN_PREFIX } from "../gateway/own-addresses.ts";
import type { Refusal } from "../gateway/proxy/framing.ts";
import { createTrust } from "../gateway/proxy/trust.ts";
import { createRouter } from "../gateway/route.ts";
import { type AnswerPart, type AskedRequest, type Explained, explainLane } from "./explain-lane.ts";
import type { Question } from "./question.ts";

export interface UrlAnswer {
  readonly request: { readonly method: string; readonly url: string; readonly address: string | null };
  readonly room: string | null;
  readonly parts: readonly AnswerPart[];
  /** `refused`: it gets 400 or 421. */
  readonly goesTo: "origin" | "line" | "fairgate" | "nowhere" | "refused";
  readonly verdict: string;
}

/** What the gateway looks at once it knows the room. */
export interface Explanation {
  readonly about: string;
  explain(asked: AskedRequest): Eventually<Explained>;
}

/** In the order they are shown; the first that applies decides. */
const EXPLANATIONS: readonly Explanation[] = [
  { about: "bypass", explain: explainBypass },
  { about: "suspended", explain: explainSuspended },
  { about: "lane", explain: explainLane },
];

const LINE_CHARACTERS_MAX = 400;
const ABOUT_COLUMNS = 11;

/** What the settings do with the request at `now`. */
export async function answerQuestion(
  question: Question,
  settings: Settings,
  now: number,
): Promise<UrlAnswer> {
  const trust = createTrust(settings.trustedProxies, settings.forwardedHost);
  const client = trust.client(question.arrival);
  const { method, url } = question;
  const request = { method, url, address: client.address || null };
  if (question.target.startsWith(OWN_PREFIX)) return own(request);
  const routed = createRouter(settings).route(client.host, question.target);
  if ("status" in routed) return refused(request, routed, client.host);
  const { room: name, route, target } = routed;
  if (target.startsWith(OWN_PREFIX)) return own(request);
  if (name === null || route === null)
    return outside(request, { host: client.host, question, target }, settings);
  const event = eventAt(name, settings, now);
  const room = event ? settingsDuring(settings.rooms[name]!, event) : settings.rooms[name]!;
  const asked: AskedRequest = { question, target, settings, trust, name, room };
  const parts = [
    explainRoute(name, route, { host: client.host, question, target }),
    ...(event ? [explainEvent(event)] : []),
  ];
  let straight: string | null = null;
  for (const { about, explain } of EXPLANATIONS) {
    const { straight: reason, ...part } = await explain(asked);
    parts.push({ about, ...part });
    straight ??= reason;
  }
  if (straight !== null)
    return { request, room: name, parts, goesTo: "origin", verdict: `goes to the origin: ${straight}` };
  const verdict = `joins the line of room ${name}, unless there is none or the visitor has a pass`;
  return { request, room: name, parts, goesTo: "line", verdict };
}

/** For people: what was asked, each part, and the verdict. */
export function answerText({ request, parts, verdict }: UrlAnswer): string {
  const { method, url, address } = request;
  const from = address === null ? "an address that is not known (--address)" : address;
  const rows = [
    row("request", [`${method} ${url}`, `from ${from}`]),
    ...parts.map(({ about, lines }) => row(about, lines)),
    row("verdict", [verdict]),
  ];
  return rows.join("");
}

/** For programs: the facts of each part by its name. */
export function answerJson({ request, room, parts, goesTo, verdict }: UrlAnswer): object {
  const facts = Object.fromEntries(parts.map((part) => [part.about, part.facts]));
  return { request, room, ...facts, goesTo, verdict };
}

function row(about: string, lines: readonly string[]): string {
  const safe = lines.map((line) => safeText(line, LINE_CHARACTERS_MAX));
  return `${about.padEnd(ABOUT_COLUMNS)}${safe.join(`\n${" ".repeat(ABOUT_COLUMNS)}`)}\n`;
}

function elsewhere(request: UrlAnswer["request"], goesTo: UrlAnswer["goesTo"], verdict: string): UrlAnswer {
  return { request, room: null, parts: [], goesTo, verdict };
}

function own(request: UrlAnswer["request"]): UrlAnswer {
  return elsewhere(request, "fairgate", "is answered by Fairgate itself: the address is its own");
}

function refused(request: UrlAnswer["request"], { status, reason }: Refusal, host: string): UrlAnswer {
  const hint = status === 421 ? `, ${host || "which is not given"} (see otherHosts and forwardedHost)` : "";
  return elsewhere(request, "refused", `gets ${status}: ${reason}${hint}`);
}

/** Where a request goes by its host and path. */
interface Where {
  readonly host: string;
  readonly question: Question;
  readonly target: string;
}

function outside(request: UrlAnswer["request"], where: Where, settings: Settings): UrlAnswer {
  const answer = settings.origin
    ? elsewhere(request, "origin", "goes to the origin: no room is for this address")
    : elsewhere(
        request,
        "nowhere",
        "gets 404: no room is for this address, and there is no origin at the top",
      );
  const lines = [`no room has one for ${where.host}${pathOf(where.target)}`, ...sentAs(where)];
  return { ...answer, parts: [{ about: "route", lines, facts: null }] };
}

function pathOf(target: string): string {
  return target.split("?", 1)[0]!;
}

/** Tells of a path that is sent in another form than it was asked in. */
function sentAs({ question, target }: Where): string[] {
  return target === question.target ? [] : [`the path is odd; it is routed and sent as ${pathOf(target)}`];
}

function explainRoute(room: string, route: Route, where: Where): AnswerPart {
  const path = pathOf(where.target);
  return {
    about: "route",
    lines: [
      `room ${room}, by its route ${route.host ?? "(every host)"}${route.path}`,
      `${hostWords(route.host, where.host)}; ${pathWords(route.path, path)}`,
      ...sentAs(where),
    ],
    facts: { host: route.host, path: route.path, sent: path },
  };
}

/** The event whose settings hold for a room now. */
function eventAt(name: string, { rooms, budgets }: Settings, now: number): EventSettings | undefined {
  const room = rooms[name]!;
  // Which event is on does not depend on its draw.
  const { event } = phaseAt(toRules(name, room, { budgets, seedOf: () => "" }), now);
  return room.events.find((candidate) => candidate.name === event?.name);
}

function explainEvent({ name }: EventSettings): AnswerPart {
  return { about: "event", lines: [`${name} is on, so its settings hold`], facts: name };
}

function hostWords(wanted: string | null, host: string): string {
  if (wanted === null) return "it is for every host";
  return wanted.startsWith("*.") ? `${host} is below ${wanted.slice(2)}` : `the host is ${host}`;
}

function pathWords(wanted: string, path: string): string {
  if (wanted === "/") return "it is for every path";
  const written = path.toLowerCase();
  const isItself = written === wanted.toLowerCase() || written === `${wanted.toLowerCase()}/`;
  if (isItself) return `${path} is its path`;
  return written.startsWith(`${wanted.toLowerCase()}/`)
    ? `${path} is below ${wanted}`
    : `${path} can be read as ${wanted} or below it`;
}

function explainBypass({ question, target, trust, room }: AskedRequest): Explained {
  const answers = createBypass(room.bypass).explain(question.arrival, target, trust);
  const decides = answers.find(({ failed }) => failed === null);
  return {
    lines:
      answers.length === 0 ? ["the room has no rules"] : answers.flatMap((answer) => ruleLines(answer, room)),
    facts: answers.map(({ rule, failed }) => ({ rule, holds: failed === null, failed })),
    straight: decides ? `bypass rule "${decides.rule}" holds` : null,
  };
}

function ruleLines({ rule, conditions, failed }: RuleAnswer, { bypass }: RoomSettings): string[] {
  if (failed) return [`"${rule}" does not hold: ${failed.condition}: ${failed.why}`];
  const endings =
    bypass.find((written, index) => ruleName(written, index) === rule)?.path?.filter(isEnding) ?? [];
  const caution = `caution: it lets every address past that ends like ${endings.join(" or ")}`;
  return [
    `"${rule}" holds: ${[...new Set(conditions)].join(", ")}`,
    ...(endings.length > 0 ? [caution] : []),
  ];
}

function explainSuspended({ name, room: { suspended } }: AskedRequest): Explained {
  return {
    lines: [suspended ? "yes" : "no"],
    facts: suspended,
    straight: suspended ? `room ${name} is suspended` : null,
  };
}
