/**
 * A small template language for the page: the part of Mustache an operator needs and no more.
 *
 *   {{name}}                    the value, escaped for HTML
 *   {{{name}}}                  the value as it is; only for the few variables that are HTML themselves
 *   {{#name}}…{{/name}}         only when the value is not empty, zero or false
 *   {{^name}}…{{/name}}         only when it is
 *   {{! comment }}              nothing
 *
 * A template is checked whole when it is compiled: an unknown name, an open section or a wrong brace is an error that
 * says where. Rendering therefore cannot fail. There are no loops, no lookups and no code in a template.
 */
import { nearest } from "../../config/nearest.ts";

export type TemplateValue = string | number | boolean;
export type TemplateValues = Readonly<Record<string, TemplateValue>>;

export interface TemplateNames {
  /** Names that may stand in {{name}} and in sections. */
  readonly escaped: ReadonlySet<string>;
  /** Names whose values are HTML already, for {{{name}}}. */
  readonly raw: ReadonlySet<string>;
}

export type Template = readonly Part[];

interface Variable {
  readonly kind: "escaped" | "raw";
  readonly name: string;
}

interface Section {
  readonly kind: "section";
  readonly name: string;
  readonly isInverted: boolean;
  /** Where it was opened in the source. */
  readonly index: number;
  readonly parts: Part[];
}

type Part = string | Variable | Section;

/** Sections inside sections; rendering goes as deep. */
const SECTIONS_DEEP_MAX = 50;
const TAG = /\{\{\{([^{}]*)\}\}\}|\{\{([#^/!]?)([^{}]*)\}\}/g;

/** Compiles a template, or throws an Error that names the line and what to write instead. */
export function compileTemplate(source: string, names: TemplateNames): Template {
  const root: Part[] = [];
  const open: Section[] = [];
  let end = 0;
  for (const match of source.matchAll(TAG)) {
    const parts = open.at(-1)?.parts ?? root;
    const text = source.slice(end, match.index);
    checkText(source, { start: end, text });
    if (text !== "") parts.push(text);
    end = match.index + match[0].length;
    takeTag(match, { names, open, parts, source });
  }
  const rest = source.slice(end);
  checkText(source, { start: end, text: rest });
  const unclosed = open.at(-1);
  if (unclosed) {
    const opening = `{{${unclosed.isInverted ? "^" : "#"}${unclosed.name}}}`;
    throw wrong(source, unclosed.index, `${opening} is never closed; put {{/${unclosed.name}}} after it`);
  }
  if (rest !== "") root.push(rest);
  return root;
}

/** The template's text with the values in it. */
export function renderTemplate(template: Template, values: TemplateValues): string {
  let text = "";
  for (const part of template) {
    if (typeof part === "string") text += part;
    else if (part.kind === "escaped") text += escapeHtml(String(values[part.name] ?? ""));
    else if (part.kind !== "section") text += values[part.name] ?? "";
    else if (isShown(part, values)) text += renderTemplate(part.parts, values);
  }
  return text;
}

/** Fills in the values that are known already. */
export function fillTemplate(template: Template, values: TemplateValues): Template {
  const parts: Part[] = [];
  for (const part of template) {
    if (typeof part === "string") addText(parts, part);
    else if (part.name in values) {
      for (const settled of settle(part, values)) {
        if (typeof settled === "string") addText(parts, settled);
        else parts.push(settled);
      }
    } else if (part.kind === "section") parts.push({ ...part, parts: [...fillTemplate(part.parts, values)] });
    else parts.push(part);
  }
  return parts;
}

/** Escapes a text for use between tags and inside a quoted attribute. */
export function escapeHtml(text: string): string {
  return /[&<>"']/.test(text) ? text.replace(/[&<>"']/g, (character) => ESCAPES[character]!) : text;
}

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

function settle(part: Variable | Section, values: TemplateValues): Template {
  if (part.kind !== "section") return [renderTemplate([part], values)];
  return isShown(part, values) ? fillTemplate(part.parts, values) : [];
}

function isShown(section: Section, values: TemplateValues): boolean {
  return Boolean(values[section.name]) !== section.isInverted;
}

function addText(parts: Part[], text: string): void {
  const last = parts.at(-1);
  if (typeof last === "string") parts[parts.length - 1] = last + text;
  else if (text !== "") parts.push(text);
}

interface Place {
  readonly names: TemplateNames;
  readonly open: Section[];
  readonly parts: Part[];
  readonly source: string;
}

function takeTag(match: RegExpExecArray, { names, open, parts, source }: Place): void {
  const [tag, rawName, sign, written = ""] = match;
  const { index } = match;
  const name = (rawName ?? written).trim();
  if (rawName !== undefined) {
    if (!names.raw.has(name)) throw wrong(source, index, notRaw(name, names));
    parts.push({ kind: "raw", name });
  } else if (sign === "/") closeSection(name, index, { open, source });
  else if (sign !== "!") {
    if (!names.escaped.has(name)) throw wrong(source, index, unknownName(tag, name, names));
    if (sign === "") return void parts.push({ kind: "escaped", name });
    if (open.length >= SECTIONS_DEEP_MAX)
      throw wrong(source, index, `${tag} is inside ${SECTIONS_DEEP_MAX} other sections, which is too deep`);
    const section: Section = { kind: "section", name, isInverted: sign === "^", index, parts: [] };
    parts.push(section);
    open.push(section);
  }
}

function closeSection(name: string, index: number, { open, source }: Pick<Place, "open" | "source">): void {
  const section = open.pop();
  if (section === undefined) throw wrong(source, index, `{{/${name}}} closes nothing`);
  if (section.name === name) return;
  const opened = `for the section opened in line ${lineAt(source, section.index)}`;
  throw wrong(source, index, `{{/${name}}} comes where {{/${section.name}}} should, ${opened}`);
}

function notRaw(name: string, names: TemplateNames): string {
  if (names.escaped.has(name)) return `{{{${name}}}} would not be safe; write {{${name}}}`;
  return unknownName(`{{{${name}}}}`, name, names);
}

function unknownName(tag: string, name: string, names: TemplateNames): string {
  if (names.raw.has(name)) return `${tag} is HTML itself; write {{{${name}}}}`;
  const near = nearest(name, [...names.escaped, ...names.raw]);
  if (near === null) return `there is no variable ${tag}`;
  return `there is no variable ${tag}; did you mean ${names.raw.has(near) ? `{{{${near}}}}` : `{{${near}}}`}?`;
}

/** Refuses text with braces that look like a broken tag. */
function checkText(source: string, { start, text }: { start: number; text: string }): void {
  const at = text.search(/\{\{[{#^/!]?\s*\w/);
  if (at < 0) return;
  const broken = text.slice(at, at + 20).split("\n")[0];
  throw wrong(source, start + at, `${broken} has no closing braces`);
}

function wrong(source: string, index: number, reason: string): Error {
  return new Error(`line ${lineAt(source, index)}: ${reason}`);
}

function lineAt(source: string, index: number): number {
  return source.slice(0, index).split("\n").length;
}
