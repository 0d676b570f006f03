/**
 * The variables of the page's template, ours and the operator's alike. The built-in `page.html` uses nothing else.
 * The table in docs/waiting-page.md is made from this list, and a test keeps them the same.
 */
import type { TemplateNames } from "./template.ts";

/** Those that are HTML themselves, written {{{name}}}. */
const RAW: ReadonlySet<string> = new Set(["style", "script"]);

const MEANINGS: Readonly<Record<string, string>> = {
  style: "The built-in style, as a <style> element. Leave it out to bring your own.",
  script:
    "The live script, as <script> elements. Put it last in <body>. Without it the page reloads by header.",
  nonce: "Put it in the nonce attribute of your own <style> and <script> elements, or browsers refuse them.",
  room: "The room's name.",
  language: "The visitor's language, for the lang attribute.",
  direction: "ltr or rtl, for the dir attribute.",
  title: "The title from the settings; empty when there is none.",
  tabTitle: "What the built-in page has in <title>.",
  icon: "A small picture for the tab, in your colour. Without an icon browsers ask for /favicon.ico.",
  logo: "The logo's address; empty when there is none.",
  logoAlt: "What the logo shows.",
  hasBrand: "True when there is a title or a logo.",
  colour: "The colour from the settings.",
  heading: "The state of the line in a few words.",
  lead: "What that means for the visitor, in a sentence or two.",
  isInLine: "True when the visitor has a place in the line.",
  hasPlace: "True when its numbers are known too, which they are not while the line cannot be reached.",
  hasAhead: "True when it is known how many people are ahead, and may be shown.",
  isNext: "True when nobody is ahead.",
  isFront: "The same, while the line moves: `heading` then says that they are next.",
  ahead: "How many people are ahead, as the language writes it; else empty.",
  aheadLabel: "The words after that number: people ahead of you.",
  hasProgress: "True when it is known how far the visitor has come.",
  progressPercent: "How much of the way is behind, 0 to 100.",
  progressLabel: "What that number is, in words.",
  hasWait:
    "True when there is something to say of the wait, and it may be shown. Never for those who are next.",
  waitLabel: "Estimated wait, in words.",
  waitText: "The wait as a range: about 4 to 9 minutes.",
  waitLowMinutes: "The low end of the wait in whole minutes; empty when unknown.",
  waitMiddleMinutes: "The middle of it.",
  waitHighMinutes: "The high end of it.",
  hasWaiting: "True when the number of people in the line may be shown.",
  waitingLabel: "People in line, in words; before a draw, people who are here so far.",
  waiting: "How many people are in the line, as the language writes it; else empty.",
  hasBehind: "True when people ahead and in the line may both be shown.",
  behindLabel: "People behind you, in words.",
  behind: "How many people are behind, as the language writes it; else empty.",
  isShop: "True when something is sold behind the room (`shop`).",
  stockText:
    "That everything is sold out, or probably will be by the visitor's turn, as an estimate; else empty.",
  updatedLabel: "Last updated, in words.",
  lastUpdated: "When this page was made, as a time in UTC. The live script makes it local.",
  lastUpdatedAt: "The same for machines, such as 2030-01-31T12:00:00.000Z.",
  refreshSeconds: "After how many seconds the page reloads by header when there is no live script.",
  messageLabel: "A message from the organiser, in words.",
  message: "Your message to everyone waiting; empty when there is none.",
  notice: "Something this visitor must know, such as a form that was not sent; mostly empty.",
  isQueueing: "True while the line moves.",
  isPaused: "True while nobody is let in.",
  isPrequeue: "True before the opening.",
  isClosed: "True after the end.",
  hasOpening: "True when an opening is awaited. Only then the live script counts down.",
  opensAt: "When it opens, for machines, such as 2030-01-31T12:00:00.000Z; empty when that is not awaited.",
  opensText: "The same in words, as a date and time in UTC. The live script makes it local.",
  untilLabel: "Time until the opening, in words.",
  isShuffled: "True when the order will be, or was, drawn by lot at the start.",
  isDrawn: "True when a draw gave the visitor their place, so that they have a receipt.",
  drawHow: "How the draw works, in words.",
  drawText: "The answer, in a few sentences.",
  seedHashLabel: "What the next one is, in words.",
  seedHash: "The SHA-256 of the draw's seed, as published before anyone joined.",
  seedLabel: "What the next one is, in words.",
  seed: "The draw's seed, from the start on; empty before.",
  receiptLink: "Words for a link to /.fairgate/{room}/receipt, the visitor's receipt of the draw.",
  lane: "The number of the visitor's lane; 0 is everybody's.",
  isEngineAway: "True when the line cannot be reached just now.",
  isFormNotSent: "True when this page answers a form, which was not sent on.",
  cookieStyle:
    "The address of a style that says, in place of the line, that cookies are needed, where they are not kept. For a stylesheet link in <noscript>; the live script asks for it by itself.",
  turnLink: "Enter, in words.",
  alertsOffer: "Words for the button that turns sound and notification on.",
  helpHeading: "Your place is kept, in words.",
  helpText: "What may happen to the page meanwhile, and how to come back, in a sentence or two.",
  noScriptText: "How the page works without JavaScript, for <noscript>.",
};

/** Every variable a custom page may use, with what it means. */
export const TEMPLATE_VARIABLES = Object.entries(MEANINGS).map(([name, meaning]) => ({
  name,
  meaning,
  isHtml: RAW.has(name),
}));

/** The same, as the template compiler wants them. */
export const TEMPLATE_NAMES: TemplateNames = {
  escaped: new Set(Object.keys(MEANINGS).filter((name) => !RAW.has(name))),
  raw: RAW,
};
