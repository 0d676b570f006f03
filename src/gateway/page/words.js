/**
 * A place in the line, in numbers and words. These pure functions run on the server, for the first view and for visitors
 * without JavaScript, and in the page for every update. So both say the same.
 *
 * Plain JavaScript, because its text is inlined into the page; `words.d.ts` gives it types.
 */

/** What is shown follows what is told within this time; a change by more than e^0.7, to half or double, shows at once. */
const CALM_MS = 15_000;
const CALM_CHANGE_MAX = 0.7;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
/** From this wait on, hours say more than minutes. */
const HOURS_FROM_MS = 5_400_000;

/** People ahead of `sequence`; null on a board older than the place, or without it. The same as core's aheadOnBoard. */
export function aheadOn(board, sequence) {
  let before;
  for (const mark of board.marks ?? []) {
    if (mark[0] === sequence) return mark[1];
    if (mark[0] > sequence) {
      if (!before) return 0;
      const share = (sequence - before[0]) / (mark[0] - before[0]);
      return Math.round(before[1] + share * (mark[1] - before[1]));
    }
    before = mark;
  }
  return null;
}

/** The wait in milliseconds, from the board's points [ahead, low, middle, high]. The same as core's waitOn. */
export function waitOn(points, ahead) {
  if (!points?.length) return null;
  let at = 1;
  while (at < points.length - 1 && points[at][0] < ahead) at++;
  const from = points[at - 1];
  const to = points[at] ?? from;
  const share = Math.max(0, (ahead - from[0]) / (to[0] - from[0] || 1));
  const [, low, middle, high] = from.map((seconds, n) => (seconds + share * (to[n] - seconds)) * 1000);
  return { low, middle, high };
}

/** Moves what is shown towards what is told, a little with every second; at once where everything has changed. */
export function calmWait(shown, told, elapsedMs) {
  if (!shown || !told) return told;
  const left = (ms) => Math.max(0, ms - elapsedMs);
  const change = Math.abs(Math.log((told.middle + CALM_MS) / (left(shown.middle) + CALM_MS)));
  if (change > CALM_CHANGE_MAX) return told;
  const share = 1 - Math.exp(-elapsedMs / CALM_MS);
  const move = (was, is) => left(was) + share * (is - left(was));
  return {
    low: move(shown.low, told.low),
    middle: move(shown.middle, told.middle),
    high: move(shown.high, told.high),
  };
}

/** How many people are behind; null where one of the numbers is unknown or hidden. */
export function peopleBehind(ahead, waiting) {
  return ahead === null || waiting === null ? null : Math.max(0, waiting - ahead - 1);
}

/** Progress to the front, 0 to 100. Only those who are next are at 100. */
export function progress(aheadAtJoin, ahead) {
  if (ahead === 0) return 100;
  return aheadAtJoin > 0 ? Math.min(99, Math.max(0, Math.round(100 - (100 * ahead) / aheadAtJoin))) : 0;
}

/** A whole or half number as the language writes it. */
export function numeral(language, number) {
  return rulesOf(language).numbers.format(number);
}

/** The form of a text that the language uses with `number`. With a range, its end decides. */
export function form(forms, language, number) {
  return forms[rulesOf(language).plurals.select(number)] || forms.other;
}

/** Puts values where a text has {names}. */
export function fill(text, values) {
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

/** The wait as people say it: "about 4 to 9 minutes". */
export function waitWords(words, language, waitMs) {
  if (!waitMs) return words.unknown;
  if (waitMs.high <= MINUTE_MS) return words.soon;
  const isHours = waitMs.high >= HOURS_FROM_MS;
  const unitMs = isHours ? HOUR_MS : MINUTE_MS;
  const low = roundTo(Math.floor, waitMs.low / unitMs, isHours);
  const high = roundTo(Math.ceil, waitMs.high / unitMs, isHours);
  if (low === high) {
    const forms = isHours ? words.hour : words.minute;
    return fill(form(forms, language, low), { n: numeral(language, low) });
  }
  const forms = isHours ? words.hours : words.minutes;
  const values = { low: numeral(language, low), high: numeral(language, high) };
  return fill(form(forms, language, high), values);
}

/** The title of the tab: first what changes, because tabs are narrow. */
export function tabTitle({ heading, ahead, language, title }) {
  const start = ahead > 0 ? `${numeral(language, ahead)} · ${heading}` : heading;
  return title ? `${start} – ${title}` : start;
}

/** Coarser for longer waits, and never 0: half hours up to ten hours, steps of five minutes from twenty. */
function roundTo(round, value, isHours) {
  const step = isHours ? (value < 10 ? 0.5 : 1) : value < 20 ? 1 : 5;
  return Math.max(isHours ? 0.5 : 1, round(value / step) * step);
}

/** One per language, since they are slow to create. */
const rules = new Map();

function rulesOf(language) {
  let made = rules.get(language);
  if (!made) {
    const numbers = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
    made = { numbers, plurals: new Intl.PluralRules(language) };
    rules.set(language, made);
  }
  return made;
}
