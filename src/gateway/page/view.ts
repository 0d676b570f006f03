/**
 * What one visitor is shown, as the values of the template's variables and as the data of the live script. All of it
 * comes from the view handed in; the words come from the visitor's language.
 */
import type { DrawNotice, RoomState, WaitRange } from "../../core/board.ts";
import type { ShowRules } from "../../core/rules.ts";
import { AHEAD_UNKNOWN } from "../../core/ticket.ts";
import type { Texts } from "./languages.ts";
import type { TemplateValues } from "./template.ts";
import { fill, form, numeral, peopleBehind, progress, tabTitle, waitWords } from "./words.js";

/** `placeLost`: their former place was given up, because its turns were not used. */
export type PageNotice = "none" | "engineAway" | "formNotSent" | "placeLost";

/** What one visitor is shown. */
export interface PageView {
  readonly room: string;
  /** As chosen by `chooseLanguage`. */
  readonly language: string;
  readonly state: RoomState;
  /** Null, or AHEAD_UNKNOWN (core/ticket.ts), when nothing can be said, or nothing may. */
  readonly ahead: number | null;
  /** Null when it may not be known. */
  readonly waiting: number | null;
  readonly waitMs: WaitRange | null;
  /** For the progress bar; null when unknown. */
  readonly aheadAtJoin: number | null;
  /** The visitor's own, to find themselves on the board; below 0 when they have no place. */
  readonly sequence: number;
  /** The lane in which that sequence counts. Left out: everybody's. */
  readonly lane?: number;
  /** What they may know. Left out: everything. */
  readonly show?: ShowRules;
  /** What everyone waits for, as the board's `nextEventAt`. Left out: nothing. */
  readonly opensAt?: number | null;
  /** As on the board. Left out: there is none. */
  readonly draw?: DrawNotice | null;
  /** True when a draw gave them their place, so that there is a receipt. Left out: whenever its seed is known. */
  readonly isDrawn?: boolean;
  /** Turns that came and were not used, when the latest of them was given, and how many may be missed. Left out: none. */
  readonly missedTurns?: number;
  readonly missedAt?: number;
  readonly missedTurnsMax?: number;
  readonly nextCheckInMs: number;
  readonly now: number;
  readonly message: string;
  readonly notice: PageNotice;
  /** The id of a place whose holder has not shown yet that they keep a cookie. Left out: they have. */
  readonly unproven?: string | null;
  /** For this answer only, and the same as in its headers. Base64 or hexadecimal. */
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

/** What a page has beyond any other. Each costs bytes, so no page has what it does not need. */
export interface Extras {
  /** It awaits an opening, and counts down to it. */
  readonly hasOpening: boolean;
  /** Its order is or was drawn by lot. */
  readonly hasDraw: boolean;
  /** It answers a form that was refused. */
  readonly hasForm: boolean;
}

/** What belongs on this visitor's page. A draw that comes later is none of theirs yet. */
export function extrasOf({ state, opensAt, draw, notice }: PageView): Extras {
  const isPrequeue = state === "prequeue";
  return {
    hasOpening: isPrequeue || (state === "closed" && isNumber(opensAt)),
    hasDraw: Boolean(draw && (isPrequeue || draw.seed)),
    hasForm: notice === "formNotSent",
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

/** Where the style is that says whether the cookie comes back. */
function cookieStyleOf({ room, unproven }: PageView): string {
  return `/.fairgate/${room}/cookies.css${unproven ? `?place=${unproven}` : ""}`;
}

/** What the live script starts from. Nothing is in it that the visitor may not know. */
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
    ...(hasOpening && { now, opensAt: view.opensAt }),
    ...(hasDraw && { draw: view.draw, isDrawn: isDrawn(view) }),
  };
}

/** The texts the live script may need, and no others. */
export function scriptTexts(texts: Texts, { hasOpening, hasDraw }: Extras): object {
  const { heading, lead, ahead, next, wait, turn, ended, notice } = texts;
  const missed = { turn: texts.missed.turn, lost: texts.missed.lost };
  const { gathering, drawing, gathered, checked, wrong, place } = texts.draw;
  const alert = { on: texts.alert.on, soundOnly: texts.alert.soundOnly };
  const offline = `${notice.offline} ${notice.kept}`;
  return {
    ...{ heading, lead, ahead, next, wait, alert, turn, ended, missed, offline },
    ...(hasOpening && { opensAt: texts.opensAt, until: texts.until }),
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
  };
}

function waitValues(view: PageView, { texts, language }: Voice): TemplateValues {
  const isHidden = view.show?.wait === false;
  const waitMs = isHidden ? null : view.waitMs;
  // Before the opening the countdown says it all, and "not known yet" would only worry people.
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

/** True while those who are here wait for their places to be drawn. */
function isGathering(view: PageView): boolean {
  return view.state === "prequeue" && Boolean(view.draw);
}

function isDrawn(view: PageView): boolean {
  return view.sequence >= 0 && Boolean(view.draw?.seed) && view.isDrawn !== false;
}

/** Before a draw nobody is ahead of anybody. */
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

function isNumber(value: number | null | undefined): value is number {
  return typeof value === "number";
}

/** Someone without a place is not told that they are in line, nor that a place is kept. */
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
