/**
 * What one visitor is shown, as the values of the template's variables and as the data of the live script. All of it
 * comes from the view handed in; the words come from the visitor's language.
 */
import type { RoomState, WaitRange } from "../../core/board.ts";
import { AHEAD_UNKNOWN } from "../../core/ticket.ts";
import type { Texts } from "./languages.ts";
import type { TemplateValues } from "./template.ts";
import { form, numeral, progress, tabTitle, waitWords } from "./words.js";

export type PageNotice = "none" | "engineAway" | "formNotSent" | "cookiesNeeded";

/** What one visitor is shown. */
export interface PageView {
  readonly room: string;
  /** As chosen by `chooseLanguage`. */
  readonly language: string;
  readonly state: RoomState;
  /** AHEAD_UNKNOWN (core/ticket.ts) when nothing can be said. */
  readonly ahead: number;
  readonly waiting: number;
  readonly waitMs: WaitRange | null;
  /** For the progress bar; null when unknown. */
  readonly aheadAtJoin: number | null;
  /** The visitor's own, to find themselves on the board; below 0 when they have no place. */
  readonly sequence: number;
  readonly nextCheckInMs: number;
  readonly now: number;
  readonly message: string;
  readonly notice: PageNotice;
  /** For this answer only, and the same as in its headers. Base64 or hexadecimal. */
  readonly nonce: string;
}

/** What a page in one language needs to put a view into words. */
export interface Voice {
  readonly language: string;
  readonly texts: Texts;
  readonly clock: Intl.DateTimeFormat;
  readonly title: string | null;
}

const MINUTE_MS = 60_000;

/** The values of every variable that differs from visitor to visitor. */
export function viewValues(view: PageView, voice: Voice): TemplateValues {
  return {
    nonce: view.nonce,
    room: view.room,
    ...stateValues(view, voice),
    ...placeValues(view, voice),
    ...waitValues(view, voice),
    lastUpdated: `${voice.clock.format(view.now)} UTC`,
    lastUpdatedAt: new Date(view.now).toISOString(),
    refreshSeconds: Math.max(1, Math.ceil(view.nextCheckInMs / 1_000)),
    message: view.message,
    notice: noticeText(view, voice.texts),
    isEngineAway: view.notice === "engineAway",
    isFormNotSent: view.notice === "formNotSent",
    isCookiesNeeded: view.notice === "cookiesNeeded",
  };
}

/** What the live script starts from. */
export function scriptView(view: PageView, voice: Voice): object {
  const { room, state, waiting, waitMs, aheadAtJoin, sequence, nextCheckInMs } = view;
  return {
    room,
    language: voice.language,
    title: voice.title,
    state,
    ahead: knownAhead(view),
    waiting,
    waitMs,
    aheadAtJoin,
    sequence,
    nextCheckInMs,
    notice: noticeText(view, voice.texts),
    isFromForm: view.notice === "formNotSent",
  };
}

/** The texts the live script may need, and no others: each costs every visitor bytes. */
export function scriptTexts(texts: Texts): object {
  const { heading, lead, opensAt, ahead, next, wait, turn, ended, notice } = texts;
  const alert = { on: texts.alert.on, soundOnly: texts.alert.soundOnly };
  const offline = `${notice.offline} ${notice.kept}`;
  return { heading, lead, opensAt, ahead, next, wait, alert, turn, ended, offline };
}

function stateValues(view: PageView, { texts, language, title }: Voice): TemplateValues {
  const state = view.state === "open" ? "queueing" : view.state;
  const { heading, text: lead } = outsideTexts(view, texts) ?? {
    heading: texts.heading[state],
    text: texts.lead[state],
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
  const known = knownAhead(view);
  const ahead = known ?? 0;
  const aheadAtJoin = view.aheadAtJoin ?? 0;
  return {
    isInLine: view.sequence >= 0,
    hasPlace: known !== null,
    isNext: known === 0,
    ahead: numeral(language, ahead),
    aheadLabel: ahead === 0 ? texts.next : form(texts.ahead, language, ahead),
    hasProgress: aheadAtJoin > 0,
    progressPercent: progress(aheadAtJoin, ahead),
    waiting: numeral(language, view.waiting),
  };
}

function waitValues({ waitMs }: PageView, { texts, language }: Voice): TemplateValues {
  return {
    waitText: waitWords(texts.wait, language, waitMs),
    waitLowMinutes: waitMs === null ? "" : Math.floor(waitMs.low / MINUTE_MS),
    waitMiddleMinutes: waitMs === null ? "" : Math.round(waitMs.middle / MINUTE_MS),
    waitHighMinutes: waitMs === null ? "" : Math.ceil(waitMs.high / MINUTE_MS),
  };
}

function knownAhead(view: PageView): number | null {
  return view.sequence < 0 || view.ahead >= AHEAD_UNKNOWN ? null : view.ahead;
}

/** Someone without a place is not told that they are in line, nor that a place is kept. */
function outsideTexts(view: PageView, texts: Texts): { heading: string; text: string } | null {
  if (view.sequence >= 0) return null;
  const { notice } = texts;
  if (view.notice === "engineAway")
    return { heading: texts.problem.engineAway.heading, text: notice.engineAway };
  if (view.notice === "cookiesNeeded") return { heading: notice.cookiesHeading, text: notice.cookiesNeeded };
  return null;
}

function noticeText(view: PageView, texts: Texts): string {
  if (view.notice === "none" || outsideTexts(view, texts)) return "";
  const text = texts.notice[view.notice];
  return view.notice === "engineAway" ? `${text} ${texts.notice.kept}` : text;
}
