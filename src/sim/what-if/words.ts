/** Numbers of a what-if as text: "45,000", "18 min", "1 h 5 min", "three in four". */
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Below this, seconds count. */
const EXACT_MS = 10 * MINUTE_MS;

export function countText(value: number): string {
  return Math.round(value).toLocaleString("en");
}

/** "1 visitor", "2 visitors". */
export function counted(value: number, noun: string): string {
  return `${countText(value)} ${noun}${Math.round(value) === 1 ? "" : "s"}`;
}

/** A duration in the two units that matter. */
export function spanWords(ms: number): string {
  if (ms < MINUTE_MS - SECOND_MS / 2) return `${tenth(ms / SECOND_MS)} s`;
  if (ms < EXACT_MS) return two(Math.round(ms / SECOND_MS), 60, ["min", "s"]);
  const minutes = Math.round(ms / MINUTE_MS);
  if (ms < DAY_MS) return minutes < 60 ? `${minutes} min` : two(minutes, 60, ["h", "min"]);
  return two(Math.round(ms / HOUR_MS), 24, ["d", "h"]);
}

/** A share from 0 to 1, never rounded to all or nothing unless it is. */
export function shareWords(share: number): string {
  if (share > 0 && share < 0.001) return "under 0.1%";
  if (share < 1 && share > 0.999) return "over 99.9%";
  return `${(share * 100).toLocaleString("en", { maximumFractionDigits: 1 })}%`;
}

/** A setting that may be off. */
export function limitWords(limit: number | null): string {
  return limit === null ? "none" : countText(limit);
}

function two(amount: number, per: number, [large, small]: readonly [string, string]): string {
  const rest = amount % per;
  const whole = `${countText(Math.floor(amount / per))} ${large}`;
  return rest === 0 ? whole : `${whole} ${rest} ${small}`;
}

/** Tenths, where whole seconds would say nothing. */
function tenth(seconds: number): string {
  return seconds.toLocaleString("en", { maximumFractionDigits: seconds < 10 ? 1 : 0 });
}

/** Text in lines of at most `columns`, broken at spaces: the first begins with `lead`, the others are indented as far. */
export function wrapped(text: string, columns: number, lead = ""): string[] {
  const lines: string[] = [];
  let line = lead;
  let isEmpty = true;
  for (const word of text.split(" ")) {
    if (!isEmpty && line.length + 1 + word.length > columns) {
      lines.push(line);
      line = " ".repeat(lead.length);
      isEmpty = true;
    }
    line += isEmpty ? word : ` ${word}`;
    isEmpty = false;
  }
  return [...lines, line];
}
