/**
 * Small pages for visitors who cannot be served or get no place: the site isn't responding, a request was refused, the room is
 * closed or full, something must be done first. They have the look and the languages of the waiting page; a program that
 * prefers JSON gets a problem document (RFC 9457). The id is also in the log, so that a visitor can quote it. Of the request
 * only the address of a link is repeated.
 *
 * Pages with an instant carry a script that writes it in the visitor's own zone and counts down; the proof-of-work page
 * carries the script that solves the task. Scripts and style are allowed by their hashes.
 */
import { createHash } from "node:crypto";
import { languageChooser, type PageKind, type Texts, textsOf } from "./languages.ts";
import { lookStyle, SAFE_HEADERS, tabIcon } from "./look.ts";
import { EVENT_STYLE, readAsset, STYLE } from "./render.ts";
import { squeezeScript } from "./squeeze.ts";
import {
  compileTemplate,
  fillTemplate,
  renderTemplate,
  type Template,
  type TemplateValues,
} from "./template.ts";
import { fill } from "./words.js";

export interface ErrorPage {
  readonly status: number;
  /** Short, and also in the log. Empty: nothing to quote. */
  readonly id: string;
  readonly kind: PageKind;
  /** When it opens (`opensLater`), or when they may come again (`visitsUsed`). */
  readonly at?: number;
  /** The time of this response. Without it there is no countdown. */
  readonly now?: number;
  /** When to try again: shown by `tooManyJoins`; it and `checking` reload by then. */
  readonly retryAfterSeconds?: number;
  /** Where else to go: a path of this site, or "" for the same address. Its words are the kind's own unless given. */
  readonly link?: { readonly href: string; readonly text?: string };
  /** The task of `proofOfWork`. */
  readonly work?: { readonly room: string; readonly challenge: string; readonly bits: number };
}

interface Script {
  /** The whole element. */
  readonly element: string;
  /** What the content policy must say to let it run. */
  readonly policy: string;
}

const COLOUR = "#1d4ed8";
const STYLE_TEXT = STYLE + EVENT_STYLE + lookStyle({ colour: COLOUR });
/** Problems that may be over at the next try: these pages have a button for it. */
const PASSING: ReadonlySet<PageKind> = new Set([
  "originAway",
  "originSlow",
  "tooManyRequests",
  "engineAway",
  "rejected",
  "notPrivileged",
]);
/** Pages that await an opening reload at least this often, since its time may change. */
const REFRESH_SECONDS_MAX = 300;
/** They spread their reloads over this time. */
const REFRESH_SPREAD_SECONDS = 3;
const CHECKING_SECONDS = 2;
const ACCEPT_CHARACTERS_MAX = 500;
const HREF_CHARACTERS_MAX = 2_000;
const MINUTE_SECONDS = 60;

const NO_SCRIPT: Script = { element: "", policy: "" };
const TIME_SCRIPT = createScript(["clock.js", "instants.js"], "");
const WORK_SCRIPT = createScript(["pow.js", "work.js"], " connect-src 'self';");
const JSON_HEADERS: readonly string[] = [
  "Content-Type",
  "application/problem+json",
  ...headersWith(NO_SCRIPT),
];
const HTML_TYPE: readonly string[] = ["Content-Type", "text/html; charset=utf-8"];
const HTML_HEADERS: ReadonlyMap<Script, readonly string[]> = new Map(
  [NO_SCRIPT, TIME_SCRIPT, WORK_SCRIPT].map((script) => [script, [...HTML_TYPE, ...headersWith(script)]]),
);

/** The variables that differ between visitors; the others are filled in once for each language and kind. */
const OWN_NAMES = ["reference", "at", "atTime", "openingAt", "now", "again", "href", "linkText"];
const WORK_NAMES = ["challenge", "bits", "room"];
const TEMPLATE = compileTemplate(
  `<!doctype html>
<html lang="{{language}}" dir="{{direction}}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{{heading}}</title>
<link rel="icon" href="{{icon}}">
<style>{{{style}}}</style>
</head>
<body>
<main>
<h1>{{heading}}</h1>
<p class="lead">{{text}}</p>
{{#at}}<p>{{beforeTime}}<time datetime="{{at}}">{{atTime}}</time>{{afterTime}}</p>{{/at}}
{{#openingAt}}<p class="countdown" role="timer" aria-label="{{until}}" data-at="{{openingAt}}" data-now="{{now}}" hidden></p>{{/openingAt}}
{{#again}}<p>{{again}}</p>{{/again}}
{{#challenge}}<progress max="1" value="0" aria-label="{{heading}}" data-room="{{room}}" data-challenge="{{challenge}}" data-bits="{{bits}}" hidden></progress>
<noscript><p class="notice">{{noScript}}</p></noscript>{{/challenge}}
{{#retry}}<p><a class="button" href="">{{retry}}</a></p>{{/retry}}
{{#linkText}}<p><a class="button" href="{{href}}">{{linkText}}</a></p>{{/linkText}}
{{#reference}}<p class="help">{{reference}}</p>{{/reference}}
</main>
{{{script}}}</body>
</html>
`.replace(/\}\}\n(?=\{\{#|<\/main>)/g, "}}"),
  {
    escaped: new Set([
      ...["language", "direction", "heading", "text", "retry", "icon", "beforeTime", "afterTime", "until"],
      ...["noScript", ...OWN_NAMES, ...WORK_NAMES],
    ]),
    raw: new Set(["style", "script"]),
  },
);

const chooseLanguage = languageChooser("en");
const templates = new Map<string, Template>();
const calendars = new Map<string, Intl.DateTimeFormat>();

/** The response in the form and language the visitor asked for, with a `Refresh` header where the page reloads. */
export function renderProblem(
  accept: string | undefined,
  acceptLanguage: string | undefined,
  problem: ErrorPage,
): { headers: readonly string[]; body: Buffer } {
  const language = chooseLanguage(acceptLanguage);
  if (prefersJson(accept)) return { headers: JSON_HEADERS, body: jsonBody(problem, language) };
  const script = scriptOf(problem);
  const values = { ...ownValues(problem, language), script: script.element };
  const body = Buffer.from(renderTemplate(templateFor(language, problem.kind), values));
  const seconds = refreshSeconds(problem);
  const headers = HTML_HEADERS.get(script)!;
  return { headers: seconds === null ? headers : [...headers, "Refresh", String(seconds)], body };
}

/** True when an Accept header names JSON and wants it more than HTML. */
export function prefersJson(accept: string | undefined): boolean {
  if (accept === undefined || !accept.includes("json")) return false;
  let json = 0;
  let html = 0;
  for (const range of accept.slice(0, ACCEPT_CHARACTERS_MAX).toLowerCase().split(",")) {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim());
    const quality = parameters.find((parameter) => parameter.startsWith("q="));
    const weight = quality === undefined ? 1 : Number(quality.slice(2)) || 0;
    if (/^application\/(?:[\w.-]+\+)?json$/.test(type)) json = Math.max(json, weight);
    if (type === "text/html" || type === "application/xhtml+xml") html = Math.max(html, weight);
  }
  return json > html;
}

function jsonBody({ status, id, kind, at, retryAfterSeconds, work }: ErrorPage, language: string): Buffer {
  const { heading: title, text: detail } = textsOf(language).problem[kind];
  const document = {
    ...{ title, status, detail, kind },
    ...(id !== "" && { id }),
    ...(at !== undefined && { at: new Date(at).toISOString() }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    ...(work && { work: { challenge: work.challenge, bits: work.bits } }),
  };
  return Buffer.from(`${JSON.stringify(document)}\n`);
}

function ownValues(problem: ErrorPage, language: string): TemplateValues {
  const texts = textsOf(language);
  const { id, status, kind, at, now, work } = problem;
  const isCounted = kind === "opensLater" && at !== undefined && now !== undefined;
  return {
    reference: id === "" ? "" : fill(texts.problem.reference, { id: `${id} (${status})` }),
    ...(at !== undefined && { at: new Date(at).toISOString(), atTime: timeText(at, language) }),
    ...(isCounted && { openingAt: at, now }),
    again: againText(problem, language),
    ...linkValues(problem, texts),
    ...work,
  };
}

function timeText(at: number, language: string): string {
  let calendar = calendars.get(language);
  if (calendar === undefined) {
    calendar = new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
    calendars.set(language, calendar);
  }
  return `${calendar.format(at)} UTC`;
}

/** "This page will try again automatically in 2 minutes." */
function againText({ kind, retryAfterSeconds }: ErrorPage, language: string): string {
  const { again } = textsOf(language).problem[kind];
  if (again === undefined || retryAfterSeconds === undefined) return "";
  const format = new Intl.RelativeTimeFormat(language, { numeric: "always" });
  const isShort = retryAfterSeconds < 2 * MINUTE_SECONDS;
  const count = Math.max(1, Math.ceil(isShort ? retryAfterSeconds : retryAfterSeconds / MINUTE_SECONDS));
  return fill(again, { n: format.format(count, isShort ? "second" : "minute") });
}

function linkValues({ kind, link }: ErrorPage, texts: Texts): TemplateValues {
  if (link === undefined) return {};
  const ownText = kind === "wrongBrowser" ? texts.ended.link : texts.problem.asEverybody;
  return { href: ownPath(link.href), linkText: link.text ?? ownText };
}

/** A path that stays on this site: one that begins with two slashes would name another. */
function ownPath(href: string): string {
  if (href === "" || href.length > HREF_CHARACTERS_MAX) return "";
  return href.startsWith("?") ? href : `/${href.replace(/^[/\\\s\p{Cc}]+/u, "")}`;
}

function refreshSeconds({ kind, at, now, retryAfterSeconds }: ErrorPage): number | null {
  if (kind === "checking") return Math.max(1, Math.ceil(retryAfterSeconds ?? CHECKING_SECONDS));
  const spread = spreadOf(now ?? 0);
  if (kind === "tooManyJoins" && retryAfterSeconds !== undefined)
    return Math.max(1, Math.ceil(retryAfterSeconds)) + spread;
  if (kind !== "opensLater") return null;
  const seconds = at === undefined || now === undefined ? Infinity : Math.ceil((at - now) / 1_000);
  return Math.min(Math.max(1, seconds), REFRESH_SECONDS_MAX) + spread;
}

/** 0 to 3 seconds, by the fraction of the second of the request. */
function spreadOf(now: number): number {
  return Math.floor(((now % 1_000) / 1_000) * (REFRESH_SPREAD_SECONDS + 1));
}

function scriptOf({ at, work }: ErrorPage): Script {
  if (work) return WORK_SCRIPT;
  return at === undefined ? NO_SCRIPT : TIME_SCRIPT;
}

/** The template for a language and kind, with everything filled in that is the same for all visitors. */
function templateFor(language: string, kind: PageKind): Template {
  const key = `${language} ${kind}`;
  const known = templates.get(key);
  if (known) return known;
  const { direction, problem, opensAt, until } = textsOf(language);
  const { heading, text, time = opensAt, noScript = "" } = problem[kind];
  const [beforeTime = "", afterTime = ""] = time.split("{time}");
  const template = fillTemplate(TEMPLATE, {
    ...{ language, direction, heading, text, beforeTime, afterTime, until, noScript },
    retry: PASSING.has(kind) ? problem.retry : "",
    icon: tabIcon(COLOUR),
    style: STYLE_TEXT,
  });
  templates.set(key, template);
  return template;
}

function createScript(files: readonly string[], more: string): Script {
  const text = squeezeScript(files.map(readAsset));
  return {
    element: `<script type="module">${text}</script>\n`,
    policy: ` script-src 'sha256-${hashOf(text)}';${more}`,
  };
}

function headersWith({ policy }: Script): readonly string[] {
  return [
    "Cache-Control",
    "no-store",
    "Content-Security-Policy",
    `default-src 'none'; style-src 'sha256-${hashOf(STYLE_TEXT)}';${policy} img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`,
    ...SAFE_HEADERS,
  ];
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
