/**
 * The time left until an opening, counted down once a second, each number above its unit. The words for units come
 * from the browser, in the page's language. Screen readers are left in peace: a timer is not read out by itself, and
 * whoever shows it may announce the few marks that `passedMark` finds.
 *
 * Plain JavaScript, put into the pages that wait for something.
 */
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];
/** What is left, in seconds, when it is worth saying, and how to say it. */
const MARKS = [
  [10, 10, "second"],
  [60, 1, "minute"],
  [600, 10, "minute"],
  [3_600, 1, "hour"],
];

/** The whole seconds left, never fewer than none. */
export function secondsLeft(leftMs) {
  return Math.max(0, Math.ceil(leftMs / 1_000));
}

/** Seconds as numbers and units: minutes and seconds always, larger units from the first that is not nothing. */
export function timeParts(seconds) {
  const parts = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count || parts.length || size < 3_600) parts.push([count, unit]);
  }
  return parts;
}

/** The mark between what was left a moment ago and what is left now, as number and unit; undefined when there is none. */
export function passedMark(before, now) {
  return MARKS.find(([mark]) => before > mark && now <= mark)?.slice(1);
}

/** A number with its unit, as the language says it: "10 minutes". */
export function unitWords(language, count, unit) {
  return unitFormat(language, unit).format(count);
}

/** Shows the seconds left in an element. */
export function drawTimeLeft(element, language, seconds) {
  const children = timeParts(seconds).map(([count, unit]) => {
    const part = document.createElement("span");
    const number = document.createElement("b");
    number.textContent = new Intl.NumberFormat(language).format(count);
    part.append(number, ` ${unitName(language, count, unit)}`);
    return part;
  });
  element.replaceChildren(...children);
}

function unitName(language, count, unit) {
  const parts = unitFormat(language, unit).formatToParts(count);
  return parts.find(({ type }) => type === "unit")?.value ?? "";
}

function unitFormat(language, unit) {
  return new Intl.NumberFormat(language, { style: "unit", unit, unitDisplay: "long" });
}
