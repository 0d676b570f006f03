/** Types of the part of `clock.js` that needs no page; its own text is put into pages. */
export type TimeUnit = "day" | "hour" | "minute" | "second";

export function secondsLeft(leftMs: number): number;
export function timeParts(seconds: number): [count: number, unit: TimeUnit][];
export function passedMark(
  before: number | undefined,
  now: number,
): [count: number, unit: TimeUnit] | undefined;
export function unitWords(language: string, count: number, unit: TimeUnit): string;
