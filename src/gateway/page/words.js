/**
 * A place in the line, in numbers and words. These pure functions run on the server, for the first view and for visitors
 * without JavaScript, and in the page for every update. So both say the same.
 *
 * Plain JavaScript, because its text is inlined into the page; `words.d.ts` gives it types.
 */

/** The 10th and 90th percentile of a normal distribution lie this many deviations out. As in core/eta.ts. */
const TENTH_DEVIATIONS = 1.2816;
const DOUBT_MAX = 1.2;
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

/** The wait in milliseconds, from the board's speed. Near the front single visitors matter, so the range is wide. */
export function waitOn(secondsPerHundred, ahead) {
  if (!secondsPerHundred) return null;
  // A line faster than the board can say has 0 for both, and no doubt.
  const doubt = Math.log(secondsPerHundred.high / secondsPerHundred.middle) / TENTH_DEVIATIONS || 0;
  const spread = Math.exp(
    TENTH_DEVIATIONS * Math.min(Math.hypot(doubt, 1 / Math.sqrt(ahead + 1)), DOUBT_MAX),
  );
  const middle = (ahead + 1) * secondsPerHundred.middle * 10;
  return { low: middle / spread, middle, high: middle * spread };
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
