/**
 * Adaptive capacity: a loop that lowers the limits fast when the origin suffers and raises them slowly when it is well,
 * between `least` and what is set, and says why in a sentence each time.
 *
 * One number says how the origin does, its strain: the 95th percentile against what is usual and what is set, errors
 * and requests under way against what is set. The worst of them counts.
 *
 *   strain   0 ───────── 0.7 ───────── 1 ─────────────▶
 *             raise slowly     hold      lower fast, the more the worse
 *
 * Lowering starts from how many are on the site, not from the limit: a site that suffers at 300 visitors is not helped
 * by going from 1,000 to 700. (TCP does the same with its flight size, RFC 5681 section 3.1.) And while more are on the
 * site than may be, nobody is admitted anyway; lowering further then would only overshoot, so it waits.
 *
 * Raising is in quick steps up to near where the origin suffered last, and in careful ones from there: latency rises
 * late and then steeply, so that a quick step would fall over the edge each time. Well past that place they are quick
 * again.
 *
 * What is usual for the origin, its baseline, is learned from the 95th percentile itself. It follows a faster origin
 * within minutes and a slower one only over hours, and the latter only while the site is lightly loaded and either
 * nothing is lowered or nothing more can be: in between, slowness is most likely our visitors' doing.
 *
 * Limits never rise above what is set. Nobody who is on the site is sent away. It cannot help a site that suffers from
 * something other than its visitors; `least` bounds what is lost by trying.
 */
import type { Limits, Remark } from "./engine.ts";
import { figure, percentText, span } from "./figures.ts";
import { ANSWERS_MIN, errorsBeyondChance, SEEN_OVER_MS, type SeenLoad } from "./load.ts";
import { NO_SHOWS_MAX } from "./no-shows.ts";
import type { AdaptiveRules } from "./rules.ts";

/** At or below this strain there is room for more. */
const WELL_STRAIN = 0.7;
/** One lowering takes between a tenth and a half. */
const LOWER_LEAST = 0.9;
const LOWER_MOST = 0.5;
/** What is seen must be of the time since the last lowering, or one bad moment would be answered twice. */
const LOWER_EVERY_MS = SEEN_OVER_MS;
/** Of the set limits. */
const RAISE_STEP = 0.03;
const RAISE_EVERY_MS = 10_000;
/** Within a tenth of where the origin suffered before, the steps are careful ones. */
const NEAR = 0.1;
const CAREFUL_STEP = 0.01;
const CAREFUL_EVERY_MS = 30_000;
/** After this long without news of the origin, limits rise again. */
const SILENCE_MS = 60_000;
/** Nobody minds the difference between 1 ms and 3 ms. */
const BASELINE_FLOOR_MS = 50;
const BASELINE_FALLS_IN_MS = 60_000;
const BASELINE_DOUBLES_IN_MS = 3_600_000;
/** The site is lightly loaded up to this share of the set capacity. */
const LIGHT_LOAD = 0.5;
/** A longer pause between two turns was not watched. */
const WATCHED_MAX_MS = 10_000;

export interface AdaptiveSeen extends Pick<SeenLoad, "latencyMs" | "answers" | "errors" | "inFlight"> {
  /** Visitors on the site. Turns not yet used are no load. */
  readonly onSite: number;
  /** Smoothed share of turns that nobody uses. */
  readonly noShows: number;
}

export interface AdaptiveMemo {
  readonly share: number;
  readonly baselineMs: number | null;
  readonly sufferedAt: number | null;
}

interface Strain {
  /** Above 1 is too much. */
  readonly times: number;
  /** True while there is room for more. */
  readonly isWell: boolean;
  readonly why: () => string;
}

export class Adaptive {
  #share = 1;
  #baselineMs: number | null = null;
  #turnedAt: number | null = null;
  #newsAt = 0;
  #loweredAt = Number.NEGATIVE_INFINITY;
  /** Share of the set limits that was in use when the origin last suffered. Null: it never did. */
  #sufferedAt: number | null = null;
  /** Since then nothing has spoken against raising, and nothing was raised. */
  #wellSince = 0;

  /** Of the set limits, 0 to 1. */
  get share(): number {
    return this.#share;
  }

  /** The 95th percentile that is usual for the origin. Null: nothing learned yet. */
  get baselineMs(): number | null {
    return this.#baselineMs;
  }

  /** The limits that hold, of those set. */
  limits(set: Limits): Limits {
    return limitsAt(set, this.#share);
  }

  /** One look at the origin. The remark says what changed and why; null: nothing did. */
  turn(rules: AdaptiveRules, set: Limits, seen: AdaptiveSeen, now: number): Remark | null {
    const watchedMs = this.#pass(now);
    const least = within(rules.least, 0, 1);
    if (this.#share < least) return this.#change(least, "it may not be less", now);
    const hasNews = seen.answers >= ANSWERS_MIN;
    if (hasNews) {
      this.#newsAt = now;
      if (!(seen.errors > rules.errors))
        this.#learn(seen.latencyMs, this.#isLight(set, seen, least), watchedMs);
    }
    const strain = this.#strain(rules, seen, hasNews);
    if (strain.times > 1) {
      this.#wellSince = now;
      return this.#lower(strain, set, { onSite: seen.onSite, least, now });
    }
    if (!strain.isWell) {
      this.#wellSince = now;
      return null;
    }
    if (!hasNews && now - this.#newsAt < SILENCE_MS) return null;
    return this.#raise(set, seen, hasNews ? wellness : silence, now);
  }

  memo(): AdaptiveMemo {
    return { share: this.#share, baselineMs: this.#baselineMs, sufferedAt: this.#sufferedAt };
  }

  restore({ share, baselineMs, sufferedAt }: AdaptiveMemo): void {
    this.#share = share > 0 ? Math.min(share, 1) : 1;
    this.#baselineMs = isLatency(baselineMs) ? baselineMs : null;
    this.#sufferedAt = sufferedAt;
  }

  /** Time since the last turn. A clock set back starts every wait anew. */
  #pass(now: number): number {
    const passedMs = this.#turnedAt === null ? 0 : now - this.#turnedAt;
    if (this.#turnedAt === null || passedMs < 0) {
      this.#newsAt = now;
      this.#wellSince = now;
      this.#loweredAt = Math.min(this.#loweredAt, now);
    }
    this.#turnedAt = now;
    return within(passedMs, 0, WATCHED_MAX_MS);
  }

  #isLight(set: Limits, { onSite }: AdaptiveSeen, least: number): boolean {
    const isMoving = this.#share < 1 && this.#share > least;
    return !isMoving && (set.totalActiveUsers === null || onSite <= set.totalActiveUsers * LIGHT_LOAD);
  }

  #learn(latencyMs: number | null, isLight: boolean, watchedMs: number): void {
    if (!isLatency(latencyMs)) return;
    const before = this.#baselineMs;
    if (before === null) this.#baselineMs = latencyMs;
    else if (latencyMs < before)
      this.#baselineMs = latencyMs + (before - latencyMs) * Math.exp(-watchedMs / BASELINE_FALLS_IN_MS);
    else if (isLight)
      this.#baselineMs = Math.min(
        latencyMs,
        Math.max(before, BASELINE_FLOOR_MS) * 2 ** (watchedMs / BASELINE_DOUBLES_IN_MS),
      );
  }

  /** The worst of all strains. Requests under way are known even when nothing is answered. */
  #strain(rules: AdaptiveRules, seen: AdaptiveSeen, hasNews: boolean): Strain {
    const strains = [inFlightStrain(rules, seen)];
    if (hasNews)
      strains.push(this.#unusualStrain(rules, seen), latencyStrain(rules, seen), errorsStrain(rules, seen));
    const times = Math.max(...strains.map((strain) => strain.times));
    return {
      times,
      isWell: strains.every((strain) => strain.isWell),
      why: strains.find((strain) => strain.times === times)!.why,
    };
  }

  #unusualStrain({ latencyFactor }: AdaptiveRules, { latencyMs }: AdaptiveSeen): Strain {
    if (latencyMs === null) return NO_STRAIN;
    const usualMs = Math.max(this.#baselineMs ?? 0, BASELINE_FLOOR_MS);
    const times = ratio(latencyMs, usualMs * latencyFactor);
    const why = () => `the site takes ${span(latencyMs)} where ${span(usualMs)} is usual`;
    return { times, isWell: times <= WELL_STRAIN, why };
  }

  #lower(strain: Strain, set: Limits, at: { onSite: number; least: number; now: number }): Remark | null {
    if (at.now - this.#loweredAt < LOWER_EVERY_MS) return null;
    const limit = this.limits(set).totalActiveUsers;
    if (limit !== null && at.onSite > limit) return null;
    const taken = Math.min(this.#taken(set, at.onSite), this.#share);
    const part = within(1 / strain.times, LOWER_MOST, LOWER_LEAST);
    const to = Math.max(at.least, wholePercent(Math.max(taken * part, this.#share * LOWER_MOST)));
    if (to >= this.#share) return null;
    this.#loweredAt = at.now;
    this.#sufferedAt = taken;
    return this.#change(to, strain.why(), at.now);
  }

  /** Of a raise by three, with every third turn not used, only two arrive: the step is larger by that. */
  #raise(set: Limits, seen: AdaptiveSeen, why: (seen: AdaptiveSeen) => string, now: number): Remark | null {
    const [step, everyMs] = this.#isNearSuffering(this.#taken(set, seen.onSite))
      ? [CAREFUL_STEP, CAREFUL_EVERY_MS]
      : [RAISE_STEP, RAISE_EVERY_MS];
    if (this.#share >= 1 || now - this.#wellSince < everyMs) return null;
    const unused = within(seen.noShows, 0, NO_SHOWS_MAX);
    const to = Math.min(1, wholePercent(this.#share + step / (1 - unused)));
    this.#wellSince = now;
    const also = unused > 0 ? `, and ${percentText(unused)} of turns are not used` : "";
    return this.#change(to, `${why(seen)}${also}`, now);
  }

  /** The limit is near that place; or it is past it and those on the site are not, so that it is not tried yet. */
  #isNearSuffering(taken: number): boolean {
    if (this.#sufferedAt === null) return false;
    const [from, until] = [this.#sufferedAt * (1 - NEAR), this.#sufferedAt * (1 + NEAR)];
    return this.#share >= from && (this.#share <= until || (taken >= from && taken <= until));
  }

  /** How much of the set capacity is on the site; with a rate alone, how much may come. */
  #taken({ totalActiveUsers }: Limits, onSite: number): number {
    return totalActiveUsers ? within(onSite / totalActiveUsers, 0, 1) : this.#share;
  }

  #change(to: number, why: string, now: number): Remark {
    const from = this.#share;
    this.#share = to;
    const way = to < from ? "down" : "up";
    return { at: now, text: `Capacity ${way} from ${percentText(from)} to ${percentText(to)}: ${why}.` };
  }
}

/** The limits that hold at a share of those set. */
export function limitsAt(set: Limits, share: number): Limits {
  return {
    totalActiveUsers: partOf(set.totalActiveUsers, share),
    newUsersPerMinute: partOf(set.newUsersPerMinute, share),
  };
}

function partOf(set: number | null, share: number): number | null {
  // A hair of tolerance: 7% of a hundred is seven, whatever floating point says.
  return set === null ? null : Math.min(set, Math.ceil(set * share - 1e-9));
}

const NO_STRAIN: Strain = { times: 0, isWell: true, why: () => "" };

function latencyStrain({ latencyMs: limit }: AdaptiveRules, { latencyMs }: AdaptiveSeen): Strain {
  if (limit === null || latencyMs === null) return NO_STRAIN;
  const times = ratio(latencyMs, limit);
  const why = () => `the site takes ${span(latencyMs)}, more than ${span(limit)}`;
  return { times, isWell: times <= WELL_STRAIN, why };
}

/** Errors do not grow smoothly with the load, so there is no band below the limit in which to hold. */
function errorsStrain(rules: AdaptiveRules, seen: AdaptiveSeen): Strain {
  const times = ratio(errorsBeyondChance(seen), rules.errors);
  const why = () =>
    `${percentText(seen.errors)} of the site's answers are errors, more than ${percentText(rules.errors)}`;
  return { times, isWell: times <= 1, why };
}

function inFlightStrain({ inFlight: limit }: AdaptiveRules, { inFlight }: AdaptiveSeen): Strain {
  if (limit === null) return NO_STRAIN;
  const times = ratio(inFlight, limit);
  const why = () => `${figure(inFlight)} requests are under way, more than ${figure(limit)}`;
  return { times, isWell: times <= WELL_STRAIN, why };
}

function wellness({ latencyMs }: AdaptiveSeen): string {
  return isLatency(latencyMs) ? `the site is well and takes ${span(latencyMs)}` : "the site is well";
}

function silence(): string {
  return "hardly anything is asked of the site";
}

/** How many times the limit a value is; what is no number is no strain. */
function ratio(value: number, limit: number): number {
  if (!(value > 0) || !(limit < Number.POSITIVE_INFINITY)) return 0;
  return limit > 0 ? Math.min(value / limit, Number.MAX_VALUE) : Number.MAX_VALUE;
}

function isLatency(ms: number | null): ms is number {
  return ms !== null && ms >= 0 && ms < Number.POSITIVE_INFINITY;
}

/** The nearest number in the range; what is no number is its lower end. */
function within(value: number, low: number, high: number): number {
  return value > low ? Math.min(value, high) : low;
}

function wholePercent(share: number): number {
  return Math.round(share * 100) / 100;
}
