/**
 * What happened to a room's line, as an operator would tell it: it formed and why, it doubled, it is past its peak, it
 * cleared. At most one line a minute for each room; what happened meanwhile is in the next one. A line that is gone for less
 * than ten seconds is the same line.
 *
 * Pure: it is shown the counts again and again, with the time. The longest wait is that of those who entered between two
 * looks, on average.
 */
import type { RoomSettings } from "../../config/schema.ts";
import type { Counts } from "../../core/engine.ts";
import { countText, spanWords } from "../../sim/what-if/words.ts";

const EVERY_MS = 60_000;
const GONE_MS = 10_000;
/** So far below its highest a line is past its peak. */
const PAST_PEAK = 0.9;

export interface StoryLine {
  readonly fields: { readonly code: string; readonly [field: string]: unknown };
  readonly message: string;
}

/** One line from its first visitor to its last. */
interface Episode {
  readonly since: number;
  readonly admittedBefore: number;
  peak: number;
  /** The length that was told last; 0: nothing was told yet. */
  told: number;
  /** The peak that was told last. */
  peakTold: number;
  longestMs: number;
  emptySince: number | null;
}

export class LineStory {
  readonly #room: string;
  #lastLineAt = Number.NEGATIVE_INFINITY;
  #episode: Episode | null = null;
  #before: Counts["totals"] | null = null;
  #wasWaiting = false;

  constructor(room: string) {
    this.#room = room;
  }

  /** A look at the room. Gives what is to be logged, if anything is. */
  observe(counts: Counts, settings: RoomSettings, now: number): StoryLine | null {
    const { waiting, totals } = counts;
    // One who waits for a moment makes no line.
    if (this.#episode === null && waiting > 0 && this.#wasWaiting) this.#episode = this.#begin(totals, now);
    this.#wasWaiting = waiting > 0;
    const episode = this.#episode;
    if (episode !== null) {
      episode.peak = Math.max(episode.peak, waiting);
      episode.longestMs = Math.max(episode.longestMs, waitBetween(this.#before, totals));
      episode.emptySince = waiting > 0 ? null : (episode.emptySince ?? now);
    }
    this.#before = totals;
    if (episode === null || now - this.#lastLineAt < EVERY_MS) return null;
    const line = this.#next(episode, { counts, settings, now });
    if (line !== null) this.#lastLineAt = now;
    return line;
  }

  #begin(totals: Counts["totals"], now: number): Episode {
    return {
      since: now,
      admittedBefore: fromLine(totals),
      peak: 0,
      told: 0,
      peakTold: 0,
      longestMs: 0,
      emptySince: null,
    };
  }

  #next(episode: Episode, seen: { counts: Counts; settings: RoomSettings; now: number }): StoryLine | null {
    const { counts, settings, now } = seen;
    const { waiting } = counts;
    if (episode.emptySince !== null) {
      if (now - episode.emptySince < GONE_MS) return null;
      this.#episode = null;
      return this.#cleared(episode, counts);
    }
    if (episode.told === 0) {
      const [limit, why] = reasonOf(counts, settings);
      episode.told = waiting;
      return this.#line("LINE_FORMED", `a line has formed: ${why}; ${countText(waiting)} waiting`, {
        waiting,
        limit,
      });
    }
    if (waiting >= 2 * episode.told) {
      episode.told = waiting;
      return this.#line("LINE_DOUBLED", `the line has doubled: ${countText(waiting)} waiting`, { waiting });
    }
    const { peak } = episode;
    if (peak <= episode.peakTold || waiting > PAST_PEAK * peak) return null;
    episode.peakTold = peak;
    const message = `the line is past its peak of ${countText(peak)}: ${countText(waiting)} waiting`;
    return this.#line("LINE_PEAK", message, { waiting, peak });
  }

  #cleared({ since, emptySince, admittedBefore, peak, longestMs }: Episode, { totals }: Counts): StoryLine {
    const lastedMs = emptySince! - since;
    const letIn = fromLine(totals) - admittedBefore;
    const message = `the line has cleared after ${spanWords(lastedMs)}: ${countText(letIn)} let in, longest wait about ${spanWords(longestMs)}, peak ${countText(peak)}`;
    return this.#line("LINE_CLEARED", message, {
      lastedMs,
      letIn,
      longestWaitMs: Math.round(longestMs),
      peak,
    });
  }

  #line(code: string, message: string, fields: object): StoryLine {
    return { fields: { code, room: this.#room, ...fields }, message: `${this.#room}: ${message}` };
  }
}

/** The setting that keeps people waiting, and the words for it. */
function reasonOf(counts: Counts, { queueAll }: RoomSettings): readonly [string, string] {
  const { state, event, onSite, admitted, limits } = counts;
  const { totalActiveUsers, newUsersPerMinute } = limits;
  if (state === "paused") return ["paused", "the room is paused"];
  if (state === "prequeue") return ["event", `people gather for the event ${event}`];
  if (state === "closed") return ["closed", "the room is closed"];
  if (totalActiveUsers !== null && onSite + admitted >= totalActiveUsers)
    return ["totalActiveUsers", `the site is full (totalActiveUsers ${countText(totalActiveUsers)})`];
  if (queueAll) return ["queueAll", "everybody is to wait (queueAll)"];
  if (newUsersPerMinute === null) return ["none", "visitors are on their way in"];
  return [
    "newUsersPerMinute",
    `more come than are let in (newUsersPerMinute ${countText(newUsersPerMinute)})`,
  ];
}

function fromLine({ admitted, straightThrough }: Counts["totals"]): number {
  return admitted - straightThrough;
}

/** How long those waited who entered between two looks, on average. */
function waitBetween(before: Counts["totals"] | null, now: Counts["totals"]): number {
  // A wait is counted when its visitor enters, up to the claim window after the turn was given.
  const fromLine = ({ entered, straightThrough }: Counts["totals"]) => entered - straightThrough;
  const entered = before === null ? 0 : fromLine(now) - fromLine(before);
  return entered <= 0 ? 0 : Math.max(0, (now.waitedMs - before!.waitedMs) / entered);
}
