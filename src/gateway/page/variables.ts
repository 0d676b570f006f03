/**
 * The variables of the page's template, ours and the operator's alike. The built-in `page.html` uses nothing else.
 * The table in docs/waiting-page.md is made from this list, and a test keeps them the same.
 */
import type { TemplateNames } from "./template.ts";

export interface TemplateVariable {
  readonly name: string;
  readonly meaning: string;
  /** True for a variable that is HTML itself and is written {{{name}}}. */
  readonly isHtml?: true;
}

/** Every variable a custom page may use. */
export const TEMPLATE_VARIABLES: readonly TemplateVariable[] = [
  {
    name: "style",
    meaning: "The built-in style, as a <style> element. Leave it out to bring your own.",
    isHtml: true,
  },
  {
    name: "script",
    meaning:
      "The live script, as <script> elements. Put it last in <body>. Without it the page reloads by header.",
    isHtml: true,
  },
  {
    name: "nonce",
    meaning:
      "Put it in the nonce attribute of your own <style> and <script> elements, or browsers refuse them.",
  },
  { name: "room", meaning: "The room's name." },
  { name: "language", meaning: "The visitor's language, for the lang attribute." },
  { name: "direction", meaning: "ltr or rtl, for the dir attribute." },
  { name: "title", meaning: "The title from the settings; empty when there is none." },
  { name: "tabTitle", meaning: "What the built-in page has in <title>." },
  {
    name: "icon",
    meaning: "A small picture for the tab, in your colour. Without an icon browsers ask for /favicon.ico.",
  },
  { name: "logo", meaning: "The logo's address; empty when there is none." },
  { name: "logoAlt", meaning: "What the logo shows." },
  { name: "hasBrand", meaning: "True when there is a title or a logo." },
  { name: "colour", meaning: "The colour from the settings." },
  { name: "heading", meaning: "The state of the line in a few words." },
  { name: "lead", meaning: "What that means for the visitor, in a sentence or two." },
  { name: "isInLine", meaning: "True when the visitor has a place in the line." },
  {
    name: "hasPlace",
    meaning: "True when its numbers are known too, which they are not while the line cannot be reached.",
  },
  {
    name: "hasAhead",
    meaning: "True when it is known how many people are ahead, and may be shown.",
  },
  { name: "isNext", meaning: "True when nobody is ahead." },
  { name: "isFront", meaning: "The same, while the line moves: `heading` then says that they are next." },
  { name: "ahead", meaning: "How many people are ahead, as the language writes it; else empty." },
  { name: "aheadLabel", meaning: "The words after that number: people ahead of you." },
  { name: "hasProgress", meaning: "True when it is known how far the visitor has come." },
  { name: "progressPercent", meaning: "How much of the way is behind, 0 to 100." },
  { name: "progressLabel", meaning: "What that number is, in words." },
  {
    name: "hasWait",
    meaning:
      "True when there is something to say of the wait, and it may be shown. Never for those who are next.",
  },
  { name: "waitLabel", meaning: "Estimated wait, in words." },
  { name: "waitText", meaning: "The wait as a range: about 4 to 9 minutes." },
  { name: "waitLowMinutes", meaning: "The low end of the wait in whole minutes; empty when unknown." },
  { name: "waitMiddleMinutes", meaning: "The middle of it." },
  { name: "waitHighMinutes", meaning: "The high end of it." },
  { name: "hasWaiting", meaning: "True when the number of people in the line may be shown." },
  {
    name: "waitingLabel",
    meaning: "People in line, in words; before a draw, people who are here so far.",
  },
  { name: "waiting", meaning: "How many people are in the line, as the language writes it; else empty." },
  { name: "hasBehind", meaning: "True when people ahead and in the line may both be shown." },
  { name: "behindLabel", meaning: "People behind you, in words." },
  { name: "behind", meaning: "How many people are behind, as the language writes it; else empty." },
  { name: "updatedLabel", meaning: "Last updated, in words." },
  {
    name: "lastUpdated",
    meaning: "When this page was made, as a time in UTC. The live script makes it local.",
  },
  { name: "lastUpdatedAt", meaning: "The same for machines, such as 2030-01-31T12:00:00.000Z." },
  {
    name: "refreshSeconds",
    meaning: "After how many seconds the page reloads by header when there is no live script.",
  },
  { name: "messageLabel", meaning: "A message from the organiser, in words." },
  { name: "message", meaning: "Your message to everyone waiting; empty when there is none." },
  {
    name: "notice",
    meaning: "Something this visitor must know, such as a form that was not sent; mostly empty.",
  },
  { name: "isQueueing", meaning: "True while the line moves." },
  { name: "isPaused", meaning: "True while nobody is let in." },
  { name: "isPrequeue", meaning: "True before the opening." },
  { name: "isClosed", meaning: "True after the end." },
  {
    name: "hasOpening",
    meaning: "True when an opening is awaited. Only then the live script counts down.",
  },
  {
    name: "opensAt",
    meaning: "When it opens, for machines, such as 2030-01-31T12:00:00.000Z; empty when that is not awaited.",
  },
  {
    name: "opensText",
    meaning: "The same in words, as a date and time in UTC. The live script makes it local.",
  },
  { name: "untilLabel", meaning: "Time until the opening, in words." },
  { name: "isShuffled", meaning: "True when the order will be, or was, drawn by lot at the start." },
  { name: "isDrawn", meaning: "True when a draw gave the visitor their place, so that they have a receipt." },
  { name: "drawHow", meaning: "How the draw works, in words." },
  { name: "drawText", meaning: "The answer, in a few sentences." },
  { name: "seedHashLabel", meaning: "What the next one is, in words." },
  { name: "seedHash", meaning: "The SHA-256 of the draw's seed, as published before anyone joined." },
  { name: "seedLabel", meaning: "What the next one is, in words." },
  { name: "seed", meaning: "The draw's seed, from the start on; empty before." },
  {
    name: "receiptLink",
    meaning: "Words for a link to /.fairgate/{room}/receipt, the visitor's receipt of the draw.",
  },
  { name: "lane", meaning: "The number of the visitor's lane; 0 is everybody's." },
  { name: "isEngineAway", meaning: "True when the line cannot be reached just now." },
  { name: "isFormNotSent", meaning: "True when this page answers a form, which was not sent on." },
  {
    name: "cookieStyle",
    meaning:
      "The address of a style that says, in place of the line, that cookies are needed, where they are not kept. For a stylesheet link in <noscript>; the live script asks for it by itself.",
  },
  { name: "turnLink", meaning: "Enter, in words." },
  { name: "alertsOffer", meaning: "Words for the button that turns sound and notification on." },
  { name: "helpHeading", meaning: "Your place is kept, in words." },
  {
    name: "helpText",
    meaning: "What may happen to the page meanwhile, and how to come back, in a sentence or two.",
  },
  { name: "noScriptText", meaning: "What becomes of the page without JavaScript, for <noscript>." },
];

/** The same, as the template compiler wants them. */
export const TEMPLATE_NAMES: TemplateNames = {
  escaped: new Set(TEMPLATE_VARIABLES.filter(({ isHtml }) => !isHtml).map(({ name }) => name)),
  raw: new Set(TEMPLATE_VARIABLES.filter(({ isHtml }) => isHtml).map(({ name }) => name)),
};
