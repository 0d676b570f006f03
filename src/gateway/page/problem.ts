/**
 * Small pages for when something went wrong: the site does not answer, a request was refused. They look like the
 * waiting page and speak the same languages; a program that prefers JSON gets a problem document (RFC 9457). The id is
 * also in the log, so that a visitor can quote it. Nothing of the request is repeated.
 */
import { createHash } from "node:crypto";
import { languageChooser, type ProblemKind, textsOf } from "./languages.ts";
import { colourStyle, tabIcon } from "./look.ts";
import { STYLE } from "./render.ts";
import { compileTemplate, fillTemplate, renderTemplate, type Template } from "./template.ts";
import { fill } from "./words.js";

export type { ProblemKind } from "./languages.ts";

export interface Problem {
  readonly status: number;
  /** Short, and in the log too. */
  readonly id: string;
  readonly kind: ProblemKind;
}

const COLOUR = "#1d4ed8";
const STYLE_TEXT = STYLE + colourStyle(COLOUR, null);
const STYLE_HASH = createHash("sha256").update(STYLE_TEXT).digest("base64");
/** Problems that may be over when the same address is opened again. */
const PASSING: ReadonlySet<ProblemKind> = new Set(["originAway", "originSlow", "engineAway", "formNotSent"]);
const ACCEPT_CHARACTERS_MAX = 500;

const EVERY_HEADERS: readonly string[] = [
  "Cache-Control",
  "no-store",
  "Content-Security-Policy",
  `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'`,
  "Referrer-Policy",
  "same-origin",
  "X-Content-Type-Options",
  "nosniff",
  "X-Robots-Tag",
  "noindex",
];
const HTML_HEADERS: readonly string[] = ["Content-Type", "text/html; charset=utf-8", ...EVERY_HEADERS];
const JSON_HEADERS: readonly string[] = ["Content-Type", "application/problem+json", ...EVERY_HEADERS];

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
{{#retry}}<p><a class="button" href="">{{retry}}</a></p>{{/retry}}
<p class="help">{{reference}}</p>
</main>
</body>
</html>
`,
  {
    escaped: new Set(["language", "direction", "heading", "text", "retry", "reference", "icon"]),
    raw: new Set(["style"]),
  },
);

const chooseLanguage = languageChooser("en");
const templates = new Map<string, Template>();

/** The answer's body, in the form and the language the visitor asked for. */
export function renderProblem(
  accept: string | undefined,
  acceptLanguage: string | undefined,
  problem: Problem,
): { headers: readonly string[]; body: Buffer } {
  const language = chooseLanguage(acceptLanguage);
  const { reference, [problem.kind]: words } = textsOf(language).problem;
  if (prefersJson(accept)) {
    const { status, id, kind } = problem;
    const document = { title: words.heading, status, detail: words.text, kind, id };
    return { headers: JSON_HEADERS, body: Buffer.from(`${JSON.stringify(document)}\n`) };
  }
  const values = { reference: fill(reference, { id: `${problem.id} (${problem.status})` }) };
  const body = Buffer.from(renderTemplate(templateFor(language, problem.kind), values));
  return { headers: HTML_HEADERS, body };
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

/** One template for each language and kind, with all but the reference in it. */
function templateFor(language: string, kind: ProblemKind): Template {
  const key = `${language} ${kind}`;
  const known = templates.get(key);
  if (known) return known;
  const { direction, problem } = textsOf(language);
  const template = fillTemplate(TEMPLATE, {
    ...problem[kind],
    language,
    direction,
    retry: PASSING.has(kind) ? problem.retry : "",
    icon: tabIcon(COLOUR),
    style: STYLE_TEXT,
  });
  templates.set(key, template);
  return template;
}
