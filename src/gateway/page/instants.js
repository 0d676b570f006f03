/**
 * The script of problem pages: times in the visitor's own zone and region, and the countdown to an opening. At its end the
 * page reloads by its header, with or without this script. Plain JavaScript, inlined after `clock.js`.
 */
import { drawTimeLeft, secondsLeft } from "./clock.js";

const { lang: language } = document.documentElement;
const { numberingSystem } = new Intl.NumberFormat(language).resolvedOptions();
const locale = navigator.languages.find((tag) => tag.split("-")[0] === language) ?? language;

for (const time of document.querySelectorAll("time")) {
  const style = { dateStyle: "long", timeStyle: "short", numberingSystem };
  time.textContent = new Date(time.dateTime).toLocaleString(locale, style);
}

for (const countdown of document.querySelectorAll("[data-at]")) {
  const { at, now } = countdown.dataset;
  const openingAt = Date.now() + (Number(at) - Number(now));
  const tick = () => {
    const leftMs = openingAt - Date.now();
    drawTimeLeft(countdown, language, secondsLeft(leftMs));
    countdown.hidden = false;
    if (leftMs > 0) setTimeout(tick, leftMs % 1_000 || 1_000);
  };
  tick();
}
