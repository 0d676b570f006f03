/**
 * The live script of the waiting page. It listens to the room's events; if those do not come through it polls the board,
 * and if that fails too it only checks in. It never shows more people ahead than before, except after a missed turn. When
 * the turn comes it says so and reloads the address.
 *
 *   listen ──events──▶ live            no polls and no check-ins while events come
 *      │  an error, or nothing within a few seconds
 *      ▼
 *   poll (the board, the same for everyone)  and  checkIn (personal, when the server said to come back)
 *
 * A draw gives everyone who gathered a new sequence, which a check-in returns. Until then no number is shown, since the old
 * sequence is wrong. `opening.js` (countdown) and `draw.js` are only on pages that need them.
 *
 * Plain JavaScript, inlined after `words.js`. In a browser too old for it the page reloads by its header.
 */
import {
  aheadOn,
  calmWait,
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
/** After this long without an event the connection may be dead and is made anew. */
const QUIET_MS = 90_000;
const ASK_TIMEOUT_MS = 10_000;
/** Screen readers are told news at most this often, except for changes of state. */
const ANNOUNCE_MS = 120_000;
/** How long a background tab says "your turn" before it enters: at most a quarter of the time left. */
const HIDDEN_TURN_MS = 8_000;
const UNSURE_TURN_MS = 3_000;
const CHIME_MS = 1_500;
/** If a turn led back to this page within this time, the next one is confirmed first and used more slowly. */
const TRIES_KEPT_MS = 120_000;
/** After a draw everyone asks for their new place within a millisecond per visitor, within these bounds. */
const SETTLE_LEAST_MS = 4_000;
const SETTLE_MOST_MS = 30_000;
const SETTLE_AGAIN_MS = 5_000;
/** How many answers without a number are accepted: where numbers are hidden there will never be one. */
const SETTLE_TRIES_MAX = 3;
/** The bounds for pages from before an event, which reload to get its texts. There is no hurry. */
const ANEW_LEAST_MS = 10_000;
const ANEW_MOST_MS = 600_000;
/** The assumed number of people where it is hidden. */
const CROWD = 15_000;

export const { view, texts } = JSON.parse(document.getElementById("fairgate-data").textContent);
export const { language, lane, show: may } = view;
export const { numberingSystem } = new Intl.NumberFormat(language).resolvedOptions();
/** The visitor's own region: one language writes times in several ways. */
export const locale = navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;
export const address = `/.fairgate/${view.room}/`;
export const seen = { ...view };
/** Called after each redraw. */
export const watchers = [];
/** `ways.in`: how a turn is used where reloading the page is wrong. */
export const ways = {};
const timers = {};
let { sequence } = view;
/** The lowest number ahead that was shown for this sequence. */
let least = view.ahead ?? Infinity;
/** When the wait shown was last moved. */
let calmAt = Date.now();
/** Above 0 from the end of a gathering until a check-in has returned the new place. */
let settling = 0;
/** True where the board does not say how many are ahead: then check-ins go on while events come. */
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

/** A random delay of up to a millisecond per person, with the maximum between two bounds. */
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

/** What this tab has stored about this place. */
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

/** Follows a new sequence, for which nothing shown before holds. */
function follow(given) {
  if (!given || given === sequence) return;
  sequence = given;
  least = Infinity;
  seen.aheadAtJoin = null;
  remember({ isAlerting });
}

/** Takes news in. `ahead` changes only here, and for one sequence it only falls. */
function take(news) {
  const ahead = may.ahead && news.ahead != null ? Math.min(least, news.ahead) : null;
  const waiting = may.behind && news.waiting != null ? Math.max(news.waiting, ahead + 1) : null;
  Object.assign(seen, news, { ahead, waiting });
  // An outage is over; that a form was not sent, or that the place is new, stays true.
  if (!view.again && (!view.isAnew || news.missedTurns)) seen.notice = "";
  if (ahead !== null) {
    least = ahead;
    seen.aheadAtJoin ??= ahead;
    remember({ ahead, aheadAtJoin: seen.aheadAtJoin });
  }
  misses = 0;
  redraw();
}

/** True while visitors gather for a draw. */
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

/** What screen readers must hear of at once: the state, and whether the place is known and the first. */
function whatIsSaid() {
  return [seen.state, seen.ahead === null, seen.ahead === 0].join();
}

/** Tells screen readers: a change of state at once, other news now and then. */
function announce(text) {
  const now = { what: whatIsSaid(), at: Date.now() };
  if (now.what === spoken.what && now.at - spoken.at < ANNOUNCE_MS) return;
  spoken = now;
  put("announce", text);
}

/** Ends the wait, for whatever reason: says why and offers the one way on. */
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

/** Events may be refused for lack of a cookie. This style is requested with it, and says so if it is missing. */
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

/** Plans the next check-in. While events come there is none, unless the board lacks this visitor's numbers. */
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
  // A board from before we joined does not have our place, and the number given at joining holds. One without marks
  // although people wait hides the numbers.
  const told = own.marks && !own.marks.length && waiting ? null : seen.ahead;
  const ahead = isPlaced ? (aheadOn(own, sequence) ?? told) : null;
  const kept = isPlaced ? seen.waitMs : null;
  const now = Date.now();
  const waitMs =
    ahead === null ? kept : calmWait(seen.waitMs, waitOn(own.waits, Math.min(least, ahead)), now - calmAt);
  calmAt = now;
  isBlind = may.wait && isPlaced && ahead === null;
  take({ state, waiting, message, ahead, waitMs, opensAt, draw });
  if (state === "prequeue" && !texts.until && !view.again && !timers.anew)
    later("anew", among(waiting, ANEW_LEAST_MS, ANEW_MOST_MS), loadAgain);
  // A visitor who was away may still wait although later ones were admitted, so the board alone is no turn.
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
  // We got a place and come without it: this browser does not keep our cookie.
  if (reason === "noTicket") return checkCookies();
  if (reason === "turnsMissed") return end({ ...texts.ended, text: texts.missed.lost });
  if (status === "expired" || status === "refused") return end(texts.ended);
  if (status !== "waiting") throw status;
  checkInMs = nextCheckInMs;
  confirmAt = Date.now() + checkInMs;
  // An early check-in gets the previous answer, which may be from before the draw.
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

/** Only the visitor may send a form again: a page that answered one is requested with GET, not reloaded. */
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
  // Browsers allow no sound until the visitor has touched the page, which after a reload they have not.
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
    // Some phones allow notifications only from a service worker. Sound and title remain.
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
  // Without a place there is nothing to watch: the page reloads by its header until it has one.
  if (isStarted || sequence < 0) return;
  isStarted = true;
  // From here on the script replaces the reload by header.
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
// Browsers schedule the header's reload once everything has loaded; a slow logo must not delay the start for long.
addEventListener("load", () => setTimeout(start));
setTimeout(start, 3_000);
