/**
 * The script of a page that awaits an opening: writes its time in the visitor's own zone and counts down to it by the
 * server's clock, since the visitor's may be wrong.
 *
 * Plain JavaScript, inlined after `clock.js` and `page.js`.
 */
import { drawTimeLeft, passedMark, secondsLeft, unitWords } from "./clock.js";
import {
  all,
  language,
  later,
  latest,
  locale,
  numberingSystem,
  put,
  reveal,
  seen,
  texts,
  view,
  watchers,
} from "./page.js";
import { fill } from "./words.js";

/** How far the server's clock is ahead of this one. Messages take time to arrive, so the largest value is the most exact. */
let clockAheadMs = view.now - Date.now();
let secondsShown;

function isAwaited() {
  return seen.opensAt && (seen.state === "prequeue" || seen.state === "closed");
}

function drawOpening() {
  clockAheadMs = Math.max(clockAheadMs, (latest.madeAt ?? 0) - Date.now());
  reveal("opening", isAwaited());
  if (!isAwaited()) return;
  const style = { dateStyle: "long", timeStyle: "short", numberingSystem };
  put("opens", fill(texts.opensAt, { time: new Date(seen.opensAt).toLocaleString(locale, style) }));
  tick();
}

function tick() {
  if (!isAwaited()) return;
  const leftMs = seen.opensAt - Date.now() - clockAheadMs;
  const seconds = secondsLeft(leftMs);
  const mark = passedMark(secondsShown, seconds);
  if (mark) put("announce", `${texts.until}: ${unitWords(language, ...mark)}`);
  if (seconds !== secondsShown)
    for (const element of all("countdown")) drawTimeLeft(element, language, seconds);
  secondsShown = seconds;
  reveal("countdown", true);
  if (leftMs > 0) later("tick", leftMs % 1_000 || 1_000, tick);
}

watchers.push(drawOpening);
