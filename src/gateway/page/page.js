/**
 * The live half of the waiting page. It listens to the room's events; where those do not come through it reads the
 * board, and where that fails too it only checks in. Whatever happens it never shows more people ahead than before,
 * and when the turn comes it says so and loads the same address again.
 *
 *   listen ──events──▶ live            board and check-in rest while events come
 *      │  an error, or nothing within a few seconds
 *      ▼
 *   poll (the board, the same for everyone)  and  checkIn (personal, when the server said to come back)
 *
 * A draw gives everyone who gathered a new sequence. When the gathering is over, a check-in tells it; until then no
 * number is shown, for the old sequence would say whatever the lot did not. What belongs to events alone (countdown,
 * draw) is in `opening.js` and `draw.js`, which only pages that need them carry.
 *
 * Plain JavaScript, put into the page behind `words.js`. A browser too old for it keeps the page that reloads itself
 * by header.
 */
import {
  aheadOn,
  fill,
  form,
  numeral,
  peopleBehind,
  progress,
  tabTitle,
  waitOn,
  waitWords,
} from "./words.js";

const FIRST_EVENT_MS = 4_000;
const POLL_MS = 4_000;
const HIDDEN_POLL_MS = 25_000;
const RETRY_MAX_MS = 30_000;
/** Events this long silent may come from a dead connection, so a new one is made. */
const QUIET_MS = 90_000;
const ASK_TIMEOUT_MS = 10_000;
/** Screen readers hear news no more often than this, unless something turned. */
const ANNOUNCE_MS = 120_000;
/** How long a tab in the background says "your turn" before it goes in: never more than a quarter of the time left. */
const HIDDEN_TURN_MS = 8_000;
const UNSURE_TURN_MS = 3_000;
const CHIME_MS = 1_500;
/** A turn that led back to this page within this time makes the next one more careful. */
const TRIES_KEPT_MS = 120_000;
/** All who gathered ask for their new place within this time: a millisecond for each of them, within these bounds. */
const SETTLE_LEAST_MS = 4_000;
const SETTLE_MOST_MS = 30_000;
const SETTLE_AGAIN_MS = 5_000;
/** Answers that tell no number. Where none is to be known they would never end. */
const SETTLE_TRIES_MAX = 3;
/** The same for pages made before an event, which are asked for anew to get its words. There is no hurry. */
const ANEW_LEAST_MS = 10_000;
const ANEW_MOST_MS = 600_000;
/** How many people there are where that may not be known. */
const CROWD = 15_000;

export const { view, texts } = JSON.parse(document.getElementById("fairgate-data").textContent);
export const { language, lane, show: may } = view;
export const { numberingSystem } = new Intl.NumberFormat(language).resolvedOptions();
/** The visitor's own region, for times: one language writes them in several ways. */
export const locale = navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;
export const address = `/.fairgate/${view.room}/`;
export const seen = { ...view };
/** Called after everything that is drawn. */
export const watchers = [];
/** How a turn is used, where loading the page again is not the way. */
export const ways = {};
const timers = {};
let { sequence } = view;
/** The fewest people ahead that were shown for this sequence. */
let least = view.ahead ?? Infinity;
/** More than none from the end of a gathering until a check-in has told the place. */
let settling = 0;
/** True where the board does not tell the people ahead, and so not the wait: then check-ins go on while events come. */
let isBlind = false;
let spoken = { what: whatIsSaid(), at: Date.now() };
export let latest = { version: -1 };
let checkInMs = view.nextCheckInMs;
let confirmAt = 0;
let errors = 0;
let misses = 0;
let isStarted = false;
let isLive = false;
let isDone = false;
let isAlerting = false;
let hasCheckedCookies = false;
let stream;
let audio;

function cancel(name) {
  clearTimeout(timers[name]);
  timers[name] = 0;
}

export function later(name, delayMs, work) {
  cancel(name);
  timers[name] = setTimeout(() => {
    timers[name] = 0;
    work();
  }, delayMs);
}

function around(ms) {
  return ms * (0.8 + 0.4 * Math.random());
}

/** A moment within so many milliseconds as there are people, between two bounds. */
function among(people, leastMs, mostMs) {
  return Math.random() * Math.min(Math.max(people ?? CROWD, leastMs), mostMs);
}

export function all(name) {
  return document.querySelectorAll(`[data-live="${name}"]`);
}

export function put(name, text) {
  for (const element of all(name)) if (element.textContent !== text) element.textContent = text;
}

export function reveal(name, isShown) {
  for (const element of all(name)) element.hidden = !isShown;
}

/** What this tab remembers of this place over a reload. */
function recall() {
  try {
    const kept = JSON.parse(sessionStorage.getItem(address));
    if (kept.sequence === sequence) return kept;
  } catch {}
  return {};
}

function remember(news) {
  try {
    sessionStorage.setItem(address, JSON.stringify({ ...recall(), ...news, sequence }));
  } catch {}
}

export async function ask(what, method) {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(), ASK_TIMEOUT_MS);
  try {
    const headers = { accept: "application/json" };
    const answer = await fetch(address + what, { method, headers, signal: abort.signal });
    return await answer.json();
  } finally {
    clearTimeout(timer);
  }
}

/** A draw gives another sequence, and nothing shown for the one before holds for it. */
function follow(given) {
  if (!given || given === sequence) return;
  sequence = given;
  least = Infinity;
  seen.aheadAtJoin = null;
  remember({ isAlerting });
}

/** Takes news in. The only place where `ahead` changes, and for one sequence it only goes down. */
function take(news) {
  const ahead = may.ahead && news.ahead != null ? Math.min(least, news.ahead) : null;
  const waiting = may.behind && news.waiting != null ? Math.max(news.waiting, ahead + 1) : null;
  Object.assign(seen, news, { ahead, waiting });
  // What is lost or away has come back; that a form was not sent, or that a place is new, stays true.
  if (!view.again && (!view.isAnew || news.missedTurns)) seen.notice = "";
  if (ahead !== null) {
    least = ahead;
    seen.aheadAtJoin ??= ahead;
    remember({ ahead, aheadAtJoin: seen.aheadAtJoin });
  }
  misses = 0;
  redraw();
}

/** True while those who are here wait for their places to be drawn. */
export function isGathering() {
  return seen.state === "prequeue" && seen.draw;
}

function leadNow() {
  const { draw: words, lead } = texts;
  if (words && isGathering()) return words.gathering;
  return (settling && seen.draw && words?.drawing) || (lead[seen.state] ?? lead.queueing);
}

function count(number) {
  return number === null ? "" : numeral(language, number);
}

function redraw() {
  const { ahead, state, waiting, waitMs, message } = seen;
  const isMoving = state === "queueing" || state === "open";
  const isFront = isMoving && ahead === 0;
  const heading = isFront ? texts.next : (texts.heading[state] ?? texts.heading.queueing);
  const label = ahead === null ? "" : ahead ? form(texts.ahead, language, ahead) : texts.next;
  const wait =
    may.wait && ahead !== 0 && (waitMs || state !== "prequeue")
      ? waitWords(texts.wait, language, waitMs)
      : "";
  const behind = peopleBehind(ahead, waiting);
  put("heading", heading);
  put("lead", leadNow());
  put("ahead", count(ahead));
  reveal("count", !isFront);
  reveal("ahead", ahead);
  put("aheadLabel", label);
  put("wait", wait);
  reveal("waitRow", wait);
  put("waiting", count(waiting));
  reveal("waitingRow", waiting !== null);
  put("behind", count(behind));
  reveal("behindRow", behind !== null);
  if (message !== undefined) {
    put("message", message);
    reveal("messageBox", message);
  }
  reveal("place", true);
  reveal("progress", ahead === 0 || (ahead && seen.aheadAtJoin));
  for (const bar of all("progress")) {
    bar.value = progress(seen.aheadAtJoin, ahead);
    bar.classList.toggle("moves", isMoving);
  }
  drawTime();
  drawNotice();
  document.title = tabTitle({ heading, ahead, language, title: view.title });
  const news = [
    heading,
    ahead ? `${count(ahead)} ${label}` : !isFront && label,
    wait && `${texts.wait.label}: ${wait}`,
  ];
  announce(news.filter(Boolean).join(". "));
  for (const watch of watchers) watch();
}

function drawTime() {
  put("updated", new Date().toLocaleTimeString(locale, { numberingSystem }));
}

/** What became of a turn that came and was not used. */
function missedText() {
  const { missedTurns, missedAt, missedTurnsMax: max } = seen;
  if (!missedTurns) return "";
  const time = new Date(missedAt).toLocaleTimeString(locale, { timeStyle: "short", numberingSystem });
  return fill(texts.missed.turn, { time, n: count(missedTurns), max: count(max) });
}

function drawNotice() {
  const text = misses > 1 || !navigator.onLine ? texts.offline : seen.notice || missedText();
  put("notice", text);
  reveal("notice", text);
}

/** Of all that is said, what turns: the state, whether a place is known, and whether it is the first. */
function whatIsSaid() {
  return [seen.state, seen.ahead === null, seen.ahead === 0].join();
}

/** Tells a screen reader, calmly: at once when something turned, else now and then. */
function announce(text) {
  const now = { what: whatIsSaid(), at: Date.now() };
  if (now.what === spoken.what && now.at - spoken.at < ANNOUNCE_MS) return;
  spoken = now;
  put("announce", text);
}

/** The wait is over, one way or the other: says so and offers the one way on. */
export function end({ heading, text, link }) {
  isDone = true;
  stream?.close();
  for (const name in timers) cancel(name);
  for (const name of ["opening", "place", "notice", "draw", "alerts", "help"]) reveal(name, false);
  put("heading", heading);
  put("lead", text);
  put("go", link);
  reveal("goBox", true);
  put("announce", `${heading}. ${text}`);
  document.title = heading;
}

function listen() {
  stream?.close();
  isLive = false;
  if (!window.EventSource) return fallBack();
  stream = new EventSource(`${address}events`);
  stream.addEventListener("board", (event) => {
    isLive = true;
    errors = 0;
    cancel("poll");
    cancel("first");
    later("listen", around(QUIET_MS), listen);
    takeBoard(JSON.parse(event.data));
    paceCheckIns();
  });
  stream.addEventListener("turn", (event) => turn(JSON.parse(event.data).claimByMs));
  stream.addEventListener("bye", () => {
    stream.close();
    isLive = false;
    later("listen", around(3_000), listen);
  });
  stream.onerror = () => {
    isLive = false;
    const isRefused = stream.readyState === EventSource.CLOSED;
    if (++errors > 2 || isRefused) {
      stream.close();
      later("listen", around(RETRY_MAX_MS), listen);
    }
    if (isRefused && latest.version < 0) checkCookies();
    fallBack();
  };
  later("first", around(FIRST_EVENT_MS), fallBack);
}

/** Events may have been refused for want of a cookie. The style that is asked for with it says so to the visitor. */
function checkCookies() {
  if (hasCheckedCookies) return;
  hasCheckedCookies = true;
  const style = document.createElement("link");
  document.head.append(
    Object.assign(style, { rel: "stylesheet", href: view.cookieStyle ?? `${address}cookies.css` }),
  );
}

function fallBack() {
  if (isDone || isLive) return;
  if (!timers.poll) later("poll", around(1_000), poll);
  paceCheckIns();
}

/** Check-ins rest while events come, unless they alone can tell what must be known. */
function paceCheckIns() {
  if (isDone) return;
  if (isLive && !settling && !isBlind) return cancel("checkIn");
  if (timers.checkIn) return;
  const soonMs = settling ? SETTLE_AGAIN_MS * 1.5 ** misses : Infinity;
  later("checkIn", around(Math.min(checkInMs, soonMs)), checkIn);
}

async function poll() {
  try {
    takeBoard(await ask("board"));
  } catch {
    miss();
  }
  if (isDone || isLive) return;
  const periodMs = document.hidden ? HIDDEN_POLL_MS : POLL_MS;
  later("poll", around(Math.min(periodMs * 1.5 ** misses, RETRY_MAX_MS)), poll);
}

function takeBoard(board) {
  const { version, madeAt, state, waiting, message, nextEventAt: opensAt, draw } = board;
  if (isDone || (version < latest.version && madeAt < latest.madeAt)) return;
  latest = board;
  if (state === "prequeue") settling = 0;
  else if (seen.state === "prequeue") {
    settling = SETTLE_TRIES_MAX;
    later("checkIn", among(waiting, SETTLE_LEAST_MS, SETTLE_MOST_MS), checkIn);
  }
  const isPlaced = !(draw && (settling || state === "prequeue"));
  const own = (lane ? board.lanes?.[lane] : board) ?? {};
  // A board from before we joined does not know us; what we were told when we did still holds. One that has no marks
  // though people wait is not to tell.
  const told = own.marks && !own.marks.length && waiting ? null : seen.ahead;
  const ahead = isPlaced ? (aheadOn(own, sequence) ?? told) : null;
  const kept = isPlaced ? seen.waitMs : null;
  const waitMs = ahead === null ? kept : waitOn(own.secondsPerHundred, Math.min(least, ahead));
  isBlind = may.wait && isPlaced && ahead === null;
  take({ state, waiting, message, ahead, waitMs, opensAt, draw });
  if (state === "prequeue" && !texts.until && !view.again && !timers.anew)
    later("anew", among(waiting, ANEW_LEAST_MS, ANEW_MOST_MS), loadAgain);
  // Someone who was away may be behind the admitted number and still be waiting, so the board alone is no turn.
  if (isPlaced && own.admitted >= sequence && Date.now() >= confirmAt) {
    confirmAt = Date.now() + checkInMs;
    later("confirm", isLive ? around(2_000) : 0, checkIn);
  }
}

async function checkIn() {
  cancel("checkIn");
  try {
    takeAnswer(await ask("check-in", "POST"));
  } catch {
    miss();
  }
  paceCheckIns();
}

function takeAnswer({ status, reason, nextCheckInMs, claimByMs, sequence: given, ...news }) {
  if (isDone) return;
  if (status === "admitted" || status === "entered") return turn(claimByMs, true);
  // We were given a place and come without it: this browser does not keep our cookie.
  if (reason === "noTicket") return checkCookies();
  if (reason === "turnsMissed") return end({ ...texts.ended, text: texts.missed.lost });
  if (status === "expired" || status === "refused") return end(texts.ended);
  if (status !== "waiting") throw status;
  checkInMs = nextCheckInMs;
  confirmAt = Date.now() + checkInMs;
  // Early check-ins get the last answer again, and that may be one from before the draw.
  if (settling && news.state === "prequeue") return;
  follow(given);
  settling = news.ahead == null && settling ? settling - 1 : 0;
  take(news);
}

export function miss() {
  misses++;
  if (!isDone) drawNotice();
}

function turn(claimByMs, isSure) {
  if (isDone) return;
  if (ways.in) return ways.in();
  const { tries, triedAt } = recall();
  const lately = Date.now() - triedAt < TRIES_KEPT_MS ? tries : 0;
  if (lately && !isSure) return checkIn();
  end(texts.turn);
  let delayMs = lately ? Math.min(1_000 * 2 ** lately, RETRY_MAX_MS) : 0;
  if (isAlerting) {
    alertVisitor();
    delayMs = Math.max(delayMs, CHIME_MS);
  }
  const goIn = () => {
    remember({ tries: lately + 1, triedAt: Date.now() });
    loadAgain();
  };
  if (document.hidden) {
    delayMs = Math.max(delayMs, claimByMs ? Math.min(claimByMs / 4, HIDDEN_TURN_MS) : UNSURE_TURN_MS);
    document.addEventListener("visibilitychange", goIn);
  }
  setTimeout(goIn, delayMs);
}

/** Only the visitor sends a form again: a page that answered one is asked for anew, not reloaded. */
function loadAgain() {
  if (view.again) location.replace(location.origin + location.pathname + location.search);
  else location.reload();
}

function mayNotify() {
  return window.Notification?.permission === "granted";
}

function offerAlerts() {
  const button = all("alertsButton")[0];
  if (!button || !window.AudioContext) return;
  reveal("alerts", true);
  button.onclick = () => setAlerts(button, !isAlerting);
  if (recall().isAlerting && mayNotify()) setAlerts(button, true);
}

async function setAlerts(button, isOn) {
  isAlerting = isOn;
  remember({ isAlerting });
  button.setAttribute("aria-pressed", isOn);
  put("alertsStatus", isOn ? texts.alert.on : "");
  if (!isOn) return;
  // After a reload nobody has touched the page yet, and browsers then allow no sound.
  if (navigator.userActivation?.hasBeenActive ?? true) {
    audio ??= new AudioContext();
    chime([660]);
  }
  if (window.Notification?.permission === "default") await Notification.requestPermission();
  if (isAlerting && !mayNotify()) put("alertsStatus", texts.alert.soundOnly);
}

export function alertVisitor() {
  chime([660, 880, 990]);
  try {
    if (mayNotify())
      new Notification(texts.turn.heading, { body: view.title ?? "", tag: address }).onclick = () => focus();
  } catch {
    // Some phones allow notifications only from a service worker. The sound and the title are left.
  }
}

function chime(notes) {
  audio?.resume();
  notes.forEach((frequency, index) => {
    if (!audio) return;
    const at = audio.currentTime + index * 0.25;
    const tone = audio.createOscillator();
    const volume = audio.createGain();
    tone.frequency.value = frequency;
    volume.gain.setValueAtTime(0.3, at);
    volume.gain.exponentialRampToValueAtTime(0.001, at + 0.5);
    tone.connect(volume).connect(audio.destination);
    tone.start(at);
    tone.stop(at + 0.5);
  });
}

function start() {
  // Without a place there is nothing to watch: the page reloads by its header until there is one.
  if (isStarted || sequence < 0) return;
  isStarted = true;
  // From here on the page knows better than the reload its header ordered.
  window.stop();
  drawTime();
  const kept = recall();
  seen.aheadAtJoin ??= kept.aheadAtJoin ?? seen.ahead;
  if (kept.ahead < least && may.ahead && !isGathering()) {
    seen.ahead = least = kept.ahead;
    redraw();
  }
  for (const watch of watchers) watch();
  addEventListener("offline", wake);
  addEventListener("online", wake);
  document.addEventListener("visibilitychange", wake);
  offerAlerts();
  listen();
}

function wake() {
  if (isDone) return;
  drawNotice();
  if (!isLive && !document.hidden) later("poll", around(300), poll);
}

addEventListener("pageshow", (event) => event.persisted && loadAgain());
// The header's reload is armed once everything has loaded; a slow logo must not hold the page up for long.
addEventListener("load", () => setTimeout(start));
setTimeout(start, 3_000);
