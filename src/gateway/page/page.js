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
 * Plain JavaScript, put into the page behind `words.js`. A browser too old for it keeps the page that reloads itself
 * by header.
 */
import { aheadOn, fill, form, numeral, progress, tabTitle, waitOn, waitWords } from "./words.js";

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

const { view, texts } = JSON.parse(document.getElementById("fairgate-data").textContent);
const { language, sequence } = view;
const { numberingSystem } = new Intl.NumberFormat(language).resolvedOptions();
/** The visitor's own region, for times: one language writes them in several ways. */
const locale = navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;
const address = `/.fairgate/${view.room}/`;
const seen = { ...view };
const timers = {};
let spoken = { state: view.state, isNext: view.ahead === 0, at: Date.now() };
let latest = { version: -1 };
let checkInMs = view.nextCheckInMs;
let confirmAt = 0;
let errors = 0;
let misses = 0;
let isStarted = false;
let isLive = false;
let isDone = false;
let isAlerting = false;
let stream;
let audio;

function cancel(name) {
  clearTimeout(timers[name]);
  timers[name] = 0;
}

function later(name, delayMs, work) {
  cancel(name);
  timers[name] = setTimeout(() => {
    timers[name] = 0;
    work();
  }, delayMs);
}

function around(ms) {
  return ms * (0.8 + 0.4 * Math.random());
}

function all(name) {
  return document.querySelectorAll(`[data-live="${name}"]`);
}

function show(name, text) {
  for (const element of all(name)) if (element.textContent !== text) element.textContent = text;
}

function reveal(name, isShown) {
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

async function ask(what, method) {
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

/** Takes news in. The only place where `ahead` changes, and it only goes down. */
function take(news) {
  const ahead = Math.min(seen.ahead ?? news.ahead, news.ahead);
  Object.assign(seen, news, { ahead, waiting: Math.max(news.waiting, ahead + 1) });
  // What is lost or away has come back; that a form was not sent stays true.
  if (!view.isFromForm) seen.notice = "";
  seen.aheadAtJoin ??= ahead;
  remember({ ahead, aheadAtJoin: seen.aheadAtJoin });
  misses = 0;
  draw();
}

function draw() {
  const { ahead, state, message, opensAt } = seen;
  const heading = texts.heading[state] ?? texts.heading.queueing;
  let lead = texts.lead[state] ?? texts.lead.queueing;
  if (state === "prequeue" && opensAt) {
    const style = { dateStyle: "medium", timeStyle: "short", numberingSystem };
    lead += ` ${fill(texts.opensAt, { time: new Date(opensAt).toLocaleString(locale, style) })}`;
  }
  const count = numeral(language, ahead);
  const label = ahead ? form(texts.ahead, language, ahead) : texts.next;
  const wait = waitWords(texts.wait, language, seen.waitMs);
  show("heading", heading);
  show("lead", lead);
  show("ahead", count);
  reveal("ahead", ahead);
  show("aheadLabel", label);
  show("wait", wait);
  show("waiting", numeral(language, seen.waiting));
  if (message !== undefined) {
    show("message", message);
    reveal("messageBox", message);
  }
  reveal("place", true);
  reveal("progress", seen.aheadAtJoin);
  for (const bar of all("progress")) bar.value = progress(seen.aheadAtJoin, ahead);
  drawTime();
  drawNotice();
  document.title = tabTitle({ heading, ahead, language, title: view.title });
  announce([heading, ahead ? `${count} ${label}` : label, `${texts.wait.label}: ${wait}`].join(". "));
}

function drawTime() {
  show("updated", new Date().toLocaleTimeString(locale, { numberingSystem }));
}

function drawNotice() {
  const text = misses > 1 || !navigator.onLine ? texts.offline : seen.notice;
  show("notice", text);
  reveal("notice", text);
}

/** Tells a screen reader, calmly: at once when something turned, else now and then. */
function announce(text) {
  const now = { state: seen.state, isNext: !seen.ahead, at: Date.now() };
  const isTurned = now.state !== spoken.state || now.isNext !== spoken.isNext;
  if (!isTurned && now.at - spoken.at < ANNOUNCE_MS) return;
  spoken = now;
  show("announce", text);
}

/** The wait is over, one way or the other: says so and offers the one way on. */
function end({ heading, text, link }) {
  isDone = true;
  stream?.close();
  for (const name in timers) cancel(name);
  for (const name of ["place", "notice", "alerts", "help"]) reveal(name, false);
  show("heading", heading);
  show("lead", text);
  show("go", link);
  reveal("goBox", true);
  show("announce", `${heading}. ${text}`);
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
    for (const name of ["poll", "checkIn", "first"]) cancel(name);
    later("listen", around(QUIET_MS), listen);
    takeBoard(JSON.parse(event.data));
  });
  stream.addEventListener("turn", (event) => turn(JSON.parse(event.data).claimByMs));
  stream.addEventListener("bye", () => {
    stream.close();
    isLive = false;
    later("listen", around(3_000), listen);
  });
  stream.onerror = () => {
    isLive = false;
    if (++errors > 2 || stream.readyState === EventSource.CLOSED) {
      stream.close();
      later("listen", around(RETRY_MAX_MS), listen);
    }
    fallBack();
  };
  later("first", around(FIRST_EVENT_MS), fallBack);
}

function fallBack() {
  if (isDone || isLive) return;
  if (!timers.poll) later("poll", around(1_000), poll);
  if (!timers.checkIn) later("checkIn", checkInMs, checkIn);
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
  const { version, madeAt, state, waiting, message, nextEventAt: opensAt } = board;
  // A board from before we joined does not know us; what we were told when we did still holds.
  const ahead = aheadOn(board, sequence) ?? seen.ahead ?? waiting;
  if (isDone || (version < latest.version && madeAt < latest.madeAt)) return;
  latest = board;
  const waitMs = waitOn(board.secondsPerHundred, Math.min(seen.ahead ?? ahead, ahead));
  take({ state, waiting, message, ahead, waitMs, opensAt });
  // Someone who was away may be behind the admitted number and still be waiting, so the board alone is no turn.
  if (board.admitted[0] >= sequence && Date.now() >= confirmAt) {
    confirmAt = Date.now() + checkInMs;
    later("confirm", isLive ? around(2_000) : 0, checkIn);
  }
}

async function checkIn() {
  try {
    takeAnswer(await ask("check-in", "POST"));
  } catch {
    miss();
  }
  if (!isDone && !isLive) later("checkIn", around(checkInMs), checkIn);
}

function takeAnswer({ status, nextCheckInMs, claimByMs, ...news }) {
  if (isDone) return;
  if (status === "admitted" || status === "entered") return turn(claimByMs, true);
  if (status === "expired" || status === "refused") return end(texts.ended);
  if (status !== "waiting") throw status;
  checkInMs = nextCheckInMs;
  confirmAt = Date.now() + checkInMs;
  take(news);
}

function miss() {
  misses++;
  if (!isDone) drawNotice();
}

function turn(claimByMs, isSure) {
  if (isDone) return;
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

/** A page that answered a form must not send the form again: it is asked for anew, not reloaded. */
function loadAgain() {
  if (view.isFromForm) location.replace(location.pathname + location.search);
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
  show("alertsStatus", isOn ? texts.alert.on : "");
  if (!isOn) return;
  // After a reload nobody has touched the page yet, and browsers then allow no sound.
  if (navigator.userActivation?.hasBeenActive ?? true) {
    audio ??= new AudioContext();
    chime([660]);
  }
  if (window.Notification?.permission === "default") await Notification.requestPermission();
  if (isAlerting && !mayNotify()) show("alertsStatus", texts.alert.soundOnly);
}

function alertVisitor() {
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
  if (kept.ahead < (seen.ahead ?? Infinity)) {
    seen.ahead = kept.ahead;
    draw();
  }
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
