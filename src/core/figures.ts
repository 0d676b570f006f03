/** Numbers as operators read them in a sentence: "1,204", "4.2%", "1.9 s", "2 minutes". */
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;

/** A count or a rate, to one decimal. */
export function figure(value: number): string {
  return to(value, 1);
}

/** A share from 0 to 1. */
export function percentText(share: number): string {
  return `${to(share * 100, 1)}%`;
}

/** A span of time in the unit that suits it. */
export function span(ms: number): string {
  if (ms < 100) return `${to(ms, 0)} ms`;
  if (ms < SECOND_MS) return `${to(ms / SECOND_MS, 2)} s`;
  if (ms < 2 * MINUTE_MS) return `${to(ms / SECOND_MS, 1)} s`;
  return `${to(ms / MINUTE_MS, 1)} minutes`;
}

function to(value: number, maximumFractionDigits: number): string {
  return value.toLocaleString("en", { maximumFractionDigits });
}
