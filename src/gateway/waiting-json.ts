/** What a waiting visitor is told, as JSON in ASCII: the parts that `RoomFront.waitingJson` puts together. */
import type { WaitRange } from "../core/board.ts";
import type { Ticket } from "../core/ticket.ts";

/** How the answer to one ticket begins; writing out a number beyond 31 bits is slow, so it is done once. */
export function waitingOpening({ sequence, missedTurns, missedAt }: Ticket): string {
  const missed = missedTurns === 0 ? "" : `"missedTurns":${missedTurns},"missedAt":${missedAt},`;
  return flattened(`{"status":"waiting","sequence":${sequence},${missed}"ahead":`);
}

/** The answer to someone who gets this place because the former one was given up, which is told once. */
export function withFormerPlace(waitingJson: string): string {
  return `{"formerPlace":"turnsMissed",${waitingJson.slice(1)}`;
}

/** A concatenated string stays a tree inside V8, which is walked each time it is sent. This flattens one that is sent often. */
export function flattened(ascii: string): string {
  return Buffer.from(ascii, "latin1").toString("latin1");
}

/** How many wait, by a board that may not know of the latest to join: someone with `ahead` before them is one more. */
export function atLeast(waiting: number | null, ahead: number | null): number | null {
  return waiting === null || ahead === null || waiting > ahead ? waiting : ahead + 1;
}

export function rangeJson(range: WaitRange | null): string {
  if (range === null) return "null";
  return `{"low":${wholeMs(range.low)},"middle":${wholeMs(range.middle)},"high":${wholeMs(range.high)}}`;
}

/** Nobody waits longer than this many milliseconds, which is the largest number that is quick to write out. */
const WAIT_MS_MAX = 2 ** 30 - 1;

function wholeMs(ms: number): number {
  return Math.min(ms, WAIT_MS_MAX) | 0;
}

/** JSON in ASCII: as many bytes as characters. */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
