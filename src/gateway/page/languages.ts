/**
 * The page's languages, and which of them a visitor gets. Each language is one file in `languages/`, named by its tag, all with
 * the same keys. To add one, add a file and run `npm run generate`, which lists it for the settings and their documentation.
 *
 * The choice follows Accept-Language (RFC 9110 section 12.5.4) by lookup (RFC 4647 section 3.4): the visitor's languages in
 * order of weight, each tag shortened from the right until a language is found.
 */
import { readdirSync, readFileSync } from "node:fs";
import type { PAGES } from "../../core/errors.ts";

/** One text for each plural category of the language; `other` is always there. */
export type PluralForms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>;

export type WaitTexts = Readonly<
  Record<"label" | "soon" | "unknown", string> & Record<"minute" | "minutes" | "hour" | "hours", PluralForms>
>;

/** The small pages in place of the site or the line. */
export type PageKind = keyof typeof PAGES;

export interface ProblemTexts {
  readonly heading: string;
  readonly text: string;
  /** For an instant, with {time} in it. */
  readonly time?: string;
  /** Where the page tries again by itself, with {n} in it: "in 2 minutes". */
  readonly again?: string;
  /** Where nothing works without JavaScript. */
  readonly noScript?: string;
}

type DrawTexts = Readonly<
  Record<"gathering" | "drawing" | "gathered" | "how" | "text" | "hash" | "seed", string> &
    Record<"checked" | "wrong" | "place" | "receipt", string>
>;

type StateTexts = Readonly<Record<"queueing" | "paused" | "prequeue" | "closed", string>>;

export interface Texts {
  readonly name: string;
  readonly direction: "ltr" | "rtl";
  readonly heading: StateTexts;
  readonly lead: StateTexts;
  readonly opensAt: string;
  readonly until: string;
  readonly ahead: PluralForms;
  readonly next: string;
  readonly wait: WaitTexts;
  readonly progress: string;
  readonly waiting: string;
  readonly behind: string;
  readonly updated: string;
  readonly message: string;
  readonly draw: DrawTexts;
  /** Where something is sold behind the room: that it is sold out, or may be by the visitor's turn. */
  readonly stock: Readonly<Record<"soldOut" | "short", string>>;
  readonly help: Readonly<Record<"heading" | "text" | "noScript", string>>;
  readonly alert: Readonly<Record<"offer" | "on" | "soundOnly", string>>;
  readonly turn: Readonly<Record<"heading" | "text" | "link", string>>;
  /** For a visitor whose form was refused, when their turn comes. */
  readonly again: Readonly<Record<"text" | "link" | "noScript", string>>;
  readonly ended: Readonly<Record<"heading" | "text" | "link", string>>;
  /** A missed turn, the place lost by the last one, and the new place given instead. */
  readonly missed: Readonly<Record<"turn" | "lost" | "anew", string>>;
  readonly notice: Readonly<
    Record<"engineAway" | "formNotSent" | "cookiesHeading" | "cookiesNeeded" | "offline" | "kept", string>
  >;
  readonly problem: Readonly<Record<PageKind, ProblemTexts>> & {
    readonly reference: string;
    readonly retry: string;
    readonly asEverybody: string;
  };
}

/** Longer than any browser's Accept-Language; the rest is ignored. */
const HEADER_CHARACTERS_MAX = 500;
const WISHES_MAX = 30;
/** How many headers are cached with their language: browsers send few different ones. */
const REMEMBERED_MAX = 1_000;

/** Tags that lookup alone would miss: older codes, Norwegian, and the Chinese regions that write in full form. */
const ALIASES: Readonly<Record<string, string>> = {
  no: "nb",
  nn: "nb",
  iw: "he",
  "zh-tw": "zh-hant",
  "zh-hk": "zh-hant",
  "zh-mo": "zh-hant",
};

const LANGUAGES = readLanguages();
const BY_LOWER_TAG = new Map([...LANGUAGES.keys()].map((tag) => [tag.toLowerCase(), tag]));

/** Every language there is a file for, by its tag. */
export function languages(): ReadonlyMap<string, Texts> {
  return LANGUAGES;
}

/** The texts of a language; English for an unknown tag. */
export function textsOf(language: string): Texts {
  return LANGUAGES.get(language) ?? LANGUAGES.get("en")!;
}

/** The language for a tag, shortened from the right until one is found; null for none. */
export function lookUpLanguage(tag: string): string | null {
  for (let rest = tag.toLowerCase(); rest !== ""; rest = rest.slice(0, Math.max(0, rest.lastIndexOf("-")))) {
    const found = BY_LOWER_TAG.get(ALIASES[rest] ?? rest);
    if (found !== undefined) return found;
  }
  return null;
}

/** A function from an Accept-Language header to the language to use, with a cache. */
export function languageChooser(defaultLanguage: string): (acceptLanguage: string | undefined) => string {
  const remembered = new Map<string, string>();
  return (acceptLanguage) => {
    if (acceptLanguage === undefined) return defaultLanguage;
    const header = acceptLanguage.slice(0, HEADER_CHARACTERS_MAX);
    const known = remembered.get(header);
    if (known !== undefined) return known;
    const chosen = choose(header, defaultLanguage);
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(header, chosen);
    return chosen;
  };
}

function choose(header: string, defaultLanguage: string): string {
  const wishes = header.split(",", WISHES_MAX).map(readWish);
  wishes.sort((a, b) => b.weight - a.weight);
  for (const { tag, weight } of wishes) {
    if (weight <= 0) break;
    if (tag === "*") return defaultLanguage;
    const language = lookUpLanguage(tag);
    if (language !== null) return language;
  }
  return defaultLanguage;
}

/** One entry, such as `pt-BR;q=0.8`. A malformed one has weight 0. */
function readWish(written: string): { tag: string; weight: number } {
  const [tag = "", ...parameters] = written.split(";").map((part) => part.trim());
  if (!/^(?:\*|[A-Za-z]{1,8}(?:-[A-Za-z0-9]{1,8})*)$/.test(tag)) return { tag: "", weight: 0 };
  const quality = parameters.find((parameter) => /^q\s*=/i.test(parameter));
  if (quality === undefined) return { tag, weight: 1 };
  const value = quality.slice(quality.indexOf("=") + 1).trim();
  return { tag, weight: /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/.test(value) ? Number(value) : 0 };
}

function readLanguages(): ReadonlyMap<string, Texts> {
  const folder = new URL("./languages/", import.meta.url);
  const files = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return new Map(
    files.sort().map((file) => {
      const texts = JSON.parse(readFileSync(new URL(file, folder), "utf8")) as Texts;
      return [file.slice(0, -".json".length), texts];
    }),
  );
}
