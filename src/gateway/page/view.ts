/**
 * What one visitor is shown, as values of the template's variables and as data for the live script. Everything comes from the
 * view passed in; the words come from the visitor's language.
 */
import type { DrawNotice, RoomState, StockNotice, WaitRange } from "../../core/board.ts";
import type { ShowRules } from "../../core/rules.ts";
import { AHEAD_UNKNOWN } from "../../core/ticket.ts";
import type { Texts } from "./languages.ts";
import { stockWords } from "./stock-words.js";
import type { TemplateValues } from "./template.ts";
import { fill, form, numeral, peopleBehind, progress, tabTitle, waitWords } from "./words.js";

/** `placeLost`: their former place was forfeited by missed turns. */
export type PageNotice = "none" | "engineAway" | "formNotSent" | "placeLost";

/** What one visitor is shown. */
export interface PageView {
  readonly room: string;
  /** As chosen by `chooseLanguage`. */
  readonly language: string;
  readonly state: RoomState;
  /** Null, or AHEAD_UNKNOWN (core/ticket.ts), when unknown or hidden. */
  readonly ahead: number | null;
  /** Null when hidden. */
  readonly waiting: number | null;
  readonly waitMs: WaitRange | null;
  /** For the progress bar; null when unknown. */
  readonly aheadAtJoin: number | null;
  /** The visitor's own sequence, to find their place on the board; below 0 without a place. */
  readonly sequence: number;
  /** The lane of that sequence. Default: 0. */
  readonly lane?: number;
  /** What they may see. Default: everything. */
  readonly show?: ShowRules;
  /** The awaited opening, the board's `nextEventAt`. Default: none. */
  readonly opensAt?: number | null;
  /** As on the board. Default: none. */
  readonly draw?: DrawNotice | null;
  /** As on the board. Default: nothing is sold behind the room. */
  readonly stock?: StockNotice | undefined;
  /** True when a draw gave them their place, so that there is a receipt. Default: true once its seed is known. */
  readonly isDrawn?: boolean;
  /** Missed turns, when the latest of them was given, and how many forfeit the place. Default: none. */
  readonly missedTurns?: number;
  readonly missedAt?: number;
  readonly missedTurnsMax?: number;
  readonly nextCheckInMs: number;
  readonly now: number;
  readonly message: string;
  readonly notice: PageNotice;
  /** The id of a place whose holder has not yet proved that they keep cookies. Default: they have. */
  readonly unproven?: string | null;
  /** For this response only, the same as in its headers. Base64 or hexadecimal. */
  readonly nonce: string;
}

/** What a page in one language needs to put a view into words. */
export interface Voice {
  readonly language: string;
  readonly texts: Texts;
  readonly clock: Intl.DateTimeFormat;
  readonly calendar: Intl.DateTimeFormat;
  readonly title: string | null;
}

const MINUTE_MS = 60_000;
const SHOW_ALL: ShowRules = { ahead: true, behind: true, wait: true };

/** Optional parts of a page. Each costs bytes, so a page has only those it needs. */
export interface Extras {
  /** It awaits an opening, and counts down to it. */
  readonly hasOpening: boolean;
  /** Its order is or was drawn by lot. */
  readonly hasDraw: boolean;
  /** It answers a form that was refused. */
  readonly hasForm: boolean;
  /** Something is sold behind the room. */
  readonly isShop: boolean;
}

/** The parts that this visitor's page needs. A later event's draw is not shown yet. */
export function extrasOf({ state, opensAt, draw, notice, stock }: PageView): Extras {
  const isPrequeue = state === "prequeue";
  return {
    hasOpening: isPrequeue || (state === "closed" && typeof opensAt === "number"),
    hasDraw: Boolean(draw && (isPrequeue || draw.seed)),
    hasForm: notice === "formNotSent",
    isShop: stock !== undefined,
  };
}

/** The values of every variable that differs from visitor to visitor. */
export function viewValues(view: PageView, voice: Voice): TemplateValues {
  return {
    nonce: view.nonce,
    room: view.room,
    lane: view.lane ?? 0,
    ...stateValues(view, voice),
    ...placeValues(view, voice),
    ...waitValues(view, voice),
    ...eventValues(view, voice),
    lastUpdated: `${voice.clock.format(view.now)} UTC`,
    lastUpdatedAt: new Date(view.now).toISOString(),
    refreshSeconds: Math.ceil(view.nextCheckInMs / 1_000),
    message: view.message,
    notice: noticeText(view, voice),
    isEngineAway: view.notice === "engineAway",
    isFormNotSent: view.notice === "formNotSent",
    cookieStyle: cookieStyleOf(view),
    noScriptText: view.notice === "formNotSent" ? voice.texts.again.noScript : voice.texts.help.noScript,
  };
}

/** The address of the style that says when the cookie is missing. */
function cookieStyleOf({ room, unproven }: PageView): string {
  return `/.fairgate/${room}/cookies.css${unproven ? `?place=${unproven}` : ""}`;
}

/** The data of the live script, without anything the visitor may not see. */
export function scriptView(view: PageView, voice: Voice): object {
  const { room, state, sequence, nextCheckInMs, now } = view;
  const { hasOpening, hasDraw } = extrasOf(view);
  const { again } = voice.texts;
  const show = view.show ?? SHOW_ALL;
  return {
    room,
    language: voice.language,
    title: voice.title,
    state,
    ahead: knownAhead(view),
    waiting: knownWaiting(view),
    waitMs: show.wait ? view.waitMs : null,
    aheadAtJoin: show.ahead && isKnown(view.aheadAtJoin) ? view.aheadAtJoin : null,
    sequence,
    ...(view.lane && { lane: view.lane }),
    show,
    nextCheckInMs,
    notice: noticeText(view, voice),
    ...(view.unproven && { cookieStyle: cookieStyleOf(view) }),
    ...(view.notice === "formNotSent" && { again: { text: again.text, link: again.link } }),
    ...(view.notice === "placeLost" && { isAnew: true }),
    ...(view.missedTurns && { missedTurns: view.missedTurns, missedAt: view.missedAt }),
    missedTurnsMax: view.missedTurnsMax ?? 0,
    ...(view.stock && { stock: view.stock }),
    ...(hasOpening && { now, opensAt: view.opensAt }),
    ...(hasDraw && { draw: view.draw, isDrawn: isDrawn(view) }),
  };
}

/** The texts that the live script may need. */
export function scriptTexts(texts: Texts, { hasOpening, hasDraw, isShop }: Extras): object {
  const { heading, lead, ahead, next, wait, turn, ended, notice } = texts;
  const missed = { turn: texts.missed.turn, lost: texts.missed.lost };
  const { gathering, drawing, gathered, checked, wrong, place } = texts.draw;
  const alert = { on: texts.alert.on, soundOnly: texts.alert.soundOnly };
  const offline = `${notice.offline} ${notice.kept}`;
  return {
    ...{ heading, lead, ahead, next, wait, alert, turn, ended, missed, offline },
    ...(hasOpening && { opensAt: texts.opensAt, until: texts.until }),
    ...(isShop && { stock: texts.stock }),
    ...(hasDraw && {
      waiting: texts.waiting,
      draw: { gathering, drawing, gathered, checked, wrong, place },
    }),
  };
}

function stateValues(view: PageView, { texts, language, title }: Voice): TemplateValues {
  const state = view.state === "open" ? "queueing" : view.state;
  const { heading, text: lead } = outsideTexts(view, texts) ?? {
    heading: isFront(view) ? texts.next : texts.heading[state],
    text: isGathering(view) ? texts.draw.gathering : texts.lead[state],
  };
  return {
    heading,
    lead,
    tabTitle: tabTitle({ heading, ahead: knownAhead(view), language, title }),
    isQueueing: state === "queueing",
    isPaused: state === "paused",
    isPrequeue: state === "prequeue",
    isClosed: state === "closed",
  };
}

function placeValues(view: PageView, { texts, language }: Voice): TemplateValues {
  const ahead = knownAhead(view);
  const waiting = knownWaiting(view);
  const behind = peopleBehind(ahead, waiting);
  const aheadAtJoin = ahead !== null && isKnown(view.aheadAtJoin) ? view.aheadAtJoin : 0;
  const count = (number: number | null) => (number === null ? "" : numeral(language, number));
  return {
    isInLine: view.sequence >= 0,
    hasPlace: ahead !== null || (view.sequence >= 0 && view.notice !== "engineAway"),
    hasAhead: ahead !== null,
    isNext: ahead === 0,
    isFront: isFront(view),
    ahead: count(ahead),
    aheadLabel: ahead === null ? "" : ahead === 0 ? texts.next : form(texts.ahead, language, ahead),
    hasProgress: ahead === 0 || aheadAtJoin > 0,
    progressPercent: progress(aheadAtJoin, ahead ?? Infinity),
    hasWaiting: waiting !== null,
    waitingLabel: isGathering(view) ? texts.draw.gathered : texts.waiting,
    waiting: count(waiting),
    hasBehind: behind !== null,
    behind: count(behind),
    isShop: view.stock !== undefined,
    stockText: view.stock ? stockWords(texts.stock, view.stock, ahead) : "",
  };
}

function waitValues(view: PageView, { texts, language }: Voice): TemplateValues {
  const isHidden = view.show?.wait === false;
  const waitMs = isHidden ? null : view.waitMs;
  // Before the opening the countdown says enough, and "not known yet" would only worry people.
  const hasWait = !isHidden && knownAhead(view) !== 0 && (waitMs !== null || view.state !== "prequeue");
  return {
    hasWait,
    waitText: hasWait ? waitWords(texts.wait, language, waitMs) : "",
    waitLowMinutes: waitMs === null ? "" : Math.floor(waitMs.low / MINUTE_MS),
    waitMiddleMinutes: waitMs === null ? "" : Math.round(waitMs.middle / MINUTE_MS),
    waitHighMinutes: waitMs === null ? "" : Math.ceil(waitMs.high / MINUTE_MS),
  };
}

function eventValues(view: PageView, { texts, calendar }: Voice): TemplateValues {
  const { hasOpening, hasDraw } = extrasOf(view);
  const opensAt = hasOpening ? (view.opensAt ?? null) : null;
  return {
    hasOpening,
    opensAt: opensAt === null ? "" : new Date(opensAt).toISOString(),
    opensText: opensAt === null ? "" : fill(texts.opensAt, { time: `${calendar.format(opensAt)} UTC` }),
    isShuffled: hasDraw,
    isDrawn: isDrawn(view),
    seedHash: hasDraw ? view.draw!.seedHash : "",
    seed: view.draw?.seed ?? "",
  };
}

/** True for the visitor at the front of a moving line: "you are next" then takes the place of numbers and wait. */
function isFront(view: PageView): boolean {
  return knownAhead(view) === 0 && (view.state === "queueing" || view.state === "open");
}

/** True while visitors gather for a draw. */
function isGathering(view: PageView): boolean {
  return view.state === "prequeue" && Boolean(view.draw);
}

function isDrawn(view: PageView): boolean {
  return view.sequence >= 0 && Boolean(view.draw?.seed) && view.isDrawn !== false;
}

/** Before a draw there is no order. */
function knownAhead(view: PageView): number | null {
  if (view.sequence < 0 || view.show?.ahead === false || isGathering(view)) return null;
  return isKnown(view.ahead) ? view.ahead : null;
}

function knownWaiting(view: PageView): number | null {
  return view.show?.behind === false ? null : view.waiting;
}

function isKnown(ahead: number | null): ahead is number {
  return ahead !== null && ahead < AHEAD_UNKNOWN;
}

/** The texts for a visitor without a place, who must not be told that they are in line or that a place is kept. */
function outsideTexts(view: PageView, texts: Texts): { heading: string; text: string } | null {
  if (view.sequence >= 0 || view.notice !== "engineAway") return null;
  return { heading: texts.problem.engineAway.heading, text: texts.notice.engineAway };
}

function noticeText(view: PageView, { language, texts, clock }: Voice): string {
  if (outsideTexts(view, texts)) return "";
  if (view.notice === "none") {
    if (!view.missedTurns) return "";
    const time = `${clock.format(view.missedAt)} UTC`;
    const max = numeral(language, view.missedTurnsMax ?? 0);
    return fill(texts.missed.turn, { time, n: numeral(language, view.missedTurns), max });
  }
  if (view.notice === "placeLost") return texts.missed.anew;
  const text = texts.notice[view.notice];
  return view.notice === "engineAway" ? `${text} ${texts.notice.kept}` : text;
}
