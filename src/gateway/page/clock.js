/**
 * The countdown to an opening, each number above its unit. The names of units come from the browser, in the page's language.
 * Screen readers do not read a timer aloud; the page may announce the few marks that `passedMark` finds.
 *
 * Plain JavaScript, inlined into pages that await an opening.
 */
const UNITS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];
/** The seconds left that are worth announcing, as number and unit. */
const MARKS = [
  [10, 10, "second"],
  [60, 1, "minute"],
  [600, 10, "minute"],
  [3_600, 1, "hour"],
];

/** The whole seconds left, at least 0. */
export function secondsLeft(leftMs) {
  return Math.max(0, Math.ceil(leftMs / 1_000));
}

/** Seconds as numbers and units: minutes and seconds always, larger units from the first that is not 0. */
export function timeParts(seconds) {
  const parts = [];
  for (const [unit, size] of UNITS) {
    const count = Math.floor(seconds / size);
    seconds -= count * size;
    if (count || parts.length || size < 3_600) parts.push([count, unit]);
  }
  return parts;
}

/** The mark that was passed since `before` seconds were left, as number and unit; undefined for none. */
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
