/**
 * The waiting page: one small HTML response with everything in it, in the visitor's language, complete without JavaScript and
 * kept up to date by its script.
 *
 * Constant parts are prepared once: the squeezed style at start, the template with the look when a room is set up, and with a
 * language's texts at its first use, as are the squeezed scripts. Each visitor adds a few dozen values. All values are escaped: nothing that a
 * visitor or operator writes becomes HTML, except in a custom page.
 */
import { readFileSync } from "node:fs";
import { languageChooser, lookUpLanguage, type Texts, textsOf } from "./languages.ts";
import { type CardLook, contentPolicy, lookStyle, readPicture, SAFE_HEADERS, tabIcon } from "./look.ts";
import { squeezeScript, squeezeStyle } from "./squeeze.ts";
import {
  compileTemplate,
  fillTemplate,
  renderTemplate,
  type Template,
  type TemplateValues,
} from "./template.ts";
import { TEMPLATE_NAMES } from "./variables.ts";
import {
  type Extras,
  extrasOf,
  type PageView,
  scriptTexts,
  scriptView,
  type Voice,
  viewValues,
} from "./view.ts";

export type { PageNotice, PageView } from "./view.ts";

/** The settings of the page. */
export interface PageLook extends CardLook {
  readonly title: string | null;
  readonly logo: string | null;
  readonly logoAlt: string;
  readonly defaultLanguage: string;
  readonly customPageHtml: string | null;
}

export interface Page {
  render(view: PageView): Buffer;
  /** Names and values in turn, as node:http takes them. */
  headers(nonce: string): string[];
  chooseLanguage(acceptLanguage: string | undefined): string;
}

/** The page in one language: its voice, the template with its texts, and the texts for the script. */
interface Spoken extends Voice {
  readonly template: Template;
  /** In the order of `VARIANTS`. */
  readonly scriptTexts: readonly string[];
}

/** The script with each combination of its optional parts; see `variantOf`. */
const VARIANTS: readonly (Extras & { readonly script: () => string })[] = Array.from(
  { length: 16 },
  (_, variant) => {
    const extras = {
      hasOpening: (variant & 1) > 0,
      hasDraw: (variant & 2) > 0,
      hasForm: (variant & 4) > 0,
      isShop: (variant & 8) > 0,
    };
    const opening = extras.hasOpening ? ["clock.js", "opening.js"] : [];
    const draw = extras.hasDraw ? ["draw.js"] : [];
    const form = extras.hasForm ? ["again.js"] : [];
    const shop = extras.isShop ? ["stock-words.js", "stock.js"] : [];
    const files = ["words.js", "page.js", ...opening, ...draw, ...form, ...shop];
    // Read now: while this runs, another version may be put in the files' place.
    const modules = files.map(readAsset);
    let squeezed: string | undefined;
    return {
      ...extras,
      script: () => {
        squeezed ??= squeezeScript(modules);
        return squeezed;
      },
    };
  },
);
/** The built-in style without its colours, which come from the look. */
export const STYLE = squeezeStyle(readAsset("page.css"));
/** Appended to it on pages with a countdown or a draw. */
export const EVENT_STYLE = squeezeStyle(readAsset("event.css"));
/** Lines with only a section's tag or a comment are removed. */
const BUILT_IN = compileTemplate(
  readAsset("page.html").replace(/^(\{\{[#^/!][^{}]*\}\})\n/gm, "$1"),
  TEMPLATE_NAMES,
);

/** Sets the page up; throws an Error that says what is wrong with the look or the custom page. */
export function createPage(look: PageLook): Page {
  const template = fillTemplate(compile(look.customPageHtml), lookValues(look));
  const ownStyle = lookStyle(look);
  const pictures = [look.logo, look.backgroundImage];
  const policy = contentPolicy({ pictures, isCustom: look.customPageHtml !== null });
  const spokenIn = new Map<string, Spoken>();
  return {
    render(view) {
      let spoken = spokenIn.get(view.language);
      if (spoken === undefined) {
        spoken = speak(view.language, template, look.title);
        spokenIn.set(spoken.language, spoken);
      }
      const values = {
        ...viewValues(view, spoken),
        style: styleElement(view, ownStyle),
        script: scriptElements(view, spoken),
      };
      return Buffer.from(renderTemplate(spoken.template, values));
    },
    headers: (nonce) => pageHeaders(policy(nonce)),
    chooseLanguage: languageChooser(readDefaultLanguage(look.defaultLanguage)),
  };
}

/** What is wrong with a custom page, for people; null when it can be used. */
export function checkTemplate(html: string): string | null {
  try {
    compileTemplate(html, TEMPLATE_NAMES);
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function compile(customPageHtml: string | null): Template {
  if (customPageHtml === null) return BUILT_IN;
  const wrong = checkTemplate(customPageHtml);
  if (wrong !== null) throw new Error(`the custom page cannot be used: ${wrong}`);
  return compileTemplate(customPageHtml, TEMPLATE_NAMES);
}

function readDefaultLanguage(tag: string): string {
  const language = lookUpLanguage(tag);
  if (language === null)
    throw new Error(`the page does not speak the default language "${tag.slice(0, 40)}"`);
  return language;
}

/** An unknown language becomes English. */
function speak(wanted: string, look: Template, title: string | null): Spoken {
  const language = lookUpLanguage(wanted) ?? "en";
  const texts = textsOf(language);
  return {
    language,
    texts,
    title,
    clock: new Intl.DateTimeFormat(language, { timeStyle: "short", timeZone: "UTC" }),
    calendar: new Intl.DateTimeFormat(language, { dateStyle: "long", timeStyle: "short", timeZone: "UTC" }),
    template: fillTemplate(look, textValues(language, texts)),
    scriptTexts: VARIANTS.map((extras) => toScriptJson(scriptTexts(texts, extras))),
  };
}

function lookValues(look: PageLook): TemplateValues {
  return {
    title: look.title ?? "",
    logo: look.logo === null ? "" : readPicture(look.logo, "logo"),
    logoAlt: look.logoAlt,
    hasBrand: look.title !== null || look.logo !== null,
    colour: look.colour,
    icon: tabIcon(look.colour),
  };
}

function textValues(language: string, texts: Texts): TemplateValues {
  return {
    language,
    direction: texts.direction,
    progressLabel: texts.progress,
    waitLabel: texts.wait.label,
    behindLabel: texts.behind,
    untilLabel: texts.until,
    drawHow: texts.draw.how,
    drawText: texts.draw.text,
    seedHashLabel: texts.draw.hash,
    seedLabel: texts.draw.seed,
    receiptLink: texts.draw.receipt,
    updatedLabel: texts.updated,
    messageLabel: texts.message,
    turnLink: texts.turn.link,
    alertsOffer: texts.alert.offer,
    helpHeading: texts.help.heading,
    helpText: texts.help.text,
  };
}

function styleElement(view: PageView, ownStyle: string): string {
  return `<style nonce="${view.nonce}">${STYLE}${variantOf(view) % 4 > 0 ? EVENT_STYLE : ""}${ownStyle}</style>`;
}

function scriptElements(view: PageView, spoken: Spoken): string {
  const variant = variantOf(view);
  const data = `{"view":${toScriptJson(scriptView(view, spoken))},"texts":${spoken.scriptTexts[variant]}}`;
  return (
    `<script type="application/json" id="fairgate-data">${data}</script>` +
    `<script type="module" nonce="${view.nonce}">${VARIANTS[variant]!.script()}</script>`
  );
}

function variantOf(view: PageView): number {
  const { hasOpening, hasDraw, hasForm, isShop } = extrasOf(view);
  return (hasOpening ? 1 : 0) + (hasDraw ? 2 : 0) + (hasForm ? 4 : 0) + (isShop ? 8 : 0);
}

/** JSON that cannot end the script element it stands in. */
function toScriptJson(value: object): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function pageHeaders(policy: string): string[] {
  return [
    "Content-Type",
    "text/html; charset=utf-8",
    "Content-Security-Policy",
    policy,
    "X-Frame-Options",
    "SAMEORIGIN",
    ...SAFE_HEADERS,
  ];
}

/** One of the files beside this one, as text. */
export function readAsset(name: string): string {
  return readFileSync(new URL(`./${name}`, import.meta.url), "utf8");
}
