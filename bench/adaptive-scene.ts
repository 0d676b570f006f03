/**
 * One hour of a busy site in virtual time: a few quiet minutes, then a line that never ends before a door whose limits
 * are set too high, and for a while a quarter of the site's machines is gone. The door, the flow, the meter and the loop
 * are the product's own; only the site and its visitors are models. The same seed gives the same hour.
 *
 *   quiet │ a long line │ three quarters of the machines │ all machines again
 *         5            25                               40                   60 minutes
 */
import { Adaptive } from "../src/core/adaptive.ts";
import { Deadlines } from "../src/core/deadlines.ts";
import { door } from "../src/core/door.ts";
import type { Limits, Load } from "../src/core/engine.ts";
import { Flow } from "../src/core/flow.ts";
import { LoadMeter } from "../src/core/load.ts";
import { NoShows } from "../src/core/no-shows.ts";
import { type AdaptiveRules, DEFAULT_RULES } from "../src/core/rules.ts";
import { seededFraction } from "../src/sim/hand-world.ts";
import { ModelOrigin } from "../src/testing/model-origin.ts";

const MINUTE_MS = 60_000;
export const SCENE_MS = 60 * MINUTE_MS;
export const CROWD_AT_MS = 5 * MINUTE_MS;
export const FAILS_AT_MS = 25 * MINUTE_MS;
export const REPAIRED_AT_MS = 40 * MINUTE_MS;
/** Plots and goals use averages over this time. */
const MOMENT_MS = 5_000;
/** Nearly twice what the site can serve. */
export const SET = { totalActiveUsers: 2_000, newUsersPerMinute: 800 };
const RULES: AdaptiveRules = {
  least: 0.2,
  latencyFactor: 2.5,
  latencyMs: null,
  errors: 0.02,
  inFlight: null,
};

const SHAPE = { serviceMs: 200, crowdedAt: 300, inFlightMax: 900 };
/** What the idle site would be allowed: the 95th percentile of its service times, times the factor. */
export const TARGET_MS = RULES.latencyFactor * SHAPE.serviceMs * (0.5 + 0.5 * Math.log(20));
/** A period with a larger share of errors is outside the target, too. */
export const ERRORS_MAX = RULES.errors;

const START = Date.UTC(2026, 5, 1, 10);
const TICK_MS = 10;
const DOOR_MS = 200;
const REPORT_MS = 1_000;
const WORKERS = 40;
const WORKERS_LEFT = 30;
const GATEWAYS = ["first", "second"];
/** An answer that takes longer counts as an error. */
const TIMEOUT_MS = 15_000;
const QUIET_ARRIVALS_PER_SECOND = 1;
const LINE = 1_000_000;
const PAGES = 30;
const THINK_MS = 5_000;
const RETRY_MS = 2_000;
const COMES_AFTER_MS = 3_000;
const CLAIM_WINDOW_MS = 60_000;
const MISSED_SHARE = 0.1;

export interface Moment {
  readonly atMs: number;
  /** 95th percentile; null: nothing was answered. */
  readonly latencyMs: number | null;
  readonly errors: number;
  readonly onSite: number;
  readonly capacity: number;
  readonly answers: number;
  /** Visitors who had all the pages they came for. */
  readonly content: number;
}

interface Visitor {
  readonly gateway: Books;
  pagesLeft: number;
}

export interface Hour {
  readonly moments: readonly Moment[];
  /** Of every answer since the crowd came. */
  readonly latencies: readonly number[];
}

/** Plays the hour. Only the adaptive loop is on or off; nothing else differs. */
export function playHour(seed: number, isAdaptive: boolean): Hour {
  const scene = new Scene(seed, isAdaptive);
  const moments: Moment[] = [];
  for (let ms = TICK_MS; ms <= SCENE_MS; ms += TICK_MS) {
    scene.tick(ms);
    if (ms % MOMENT_MS === 0) moments.push(scene.moment(ms));
  }
  return { moments, latencies: scene.latencies };
}

/** The 95th of a hundred. */
export function percentile95(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * 0.95))] ?? null;
}

class Scene {
  readonly #isAdaptive: boolean;
  readonly #dice: () => number;
  readonly #origin: ModelOrigin<Visitor>;
  readonly #due = new Deadlines<() => void>();
  readonly #gateways = GATEWAYS.map((name) => new Books(name));
  readonly #seen = new Books("the bench's own");
  readonly #flow = new Flow();
  readonly #meter = new LoadMeter();
  readonly #adaptive = new Adaptive();
  readonly #noShows = new NoShows();
  readonly latencies: number[] = [];
  #now = START;
  #waiting = 0;
  #turnsOut = 0;
  #onSite = 0;
  #content = 0;

  constructor(seed: number, isAdaptive: boolean) {
    this.#isAdaptive = isAdaptive;
    this.#dice = seededFraction(seed);
    this.#origin = new ModelOrigin(SHAPE, { workers: WORKERS, dice: this.#dice, now: START });
  }

  tick(ms: number): void {
    this.#now = START + ms;
    for (const { caller, tookMs } of this.#origin.pass(TICK_MS)) this.#answer(caller, tookMs);
    for (let work = this.#due.takeDue(this.#now); work; work = this.#due.takeDue(this.#now)) work();
    if (ms === CROWD_AT_MS) this.#waiting = LINE;
    if (ms === FAILS_AT_MS) this.#origin.workers = WORKERS_LEFT;
    if (ms === REPAIRED_AT_MS) this.#origin.workers = WORKERS;
    if (ms < CROWD_AT_MS && ms % (1_000 / QUIET_ARRIVALS_PER_SECOND) === 0) this.#waiting++;
    if (ms % DOOR_MS === 0) this.#turnDoor();
    if (ms % REPORT_MS === 0) this.#weigh();
  }

  moment(atMs: number): Moment {
    const { answers, errors, latencies } = this.#seen;
    if (atMs > CROWD_AT_MS) for (const latencyMs of latencies) this.latencies.push(latencyMs);
    const moment = {
      atMs,
      latencyMs: percentile95(latencies),
      errors: answers === 0 ? 0 : errors / answers,
      onSite: this.#onSite,
      capacity: this.#limits().totalActiveUsers!,
      answers: answers - errors,
      content: this.#content,
    };
    this.#seen.clear();
    this.#content = 0;
    return moment;
  }

  #limits(): Limits {
    return this.#isAdaptive ? this.#adaptive.limits(SET) : SET;
  }

  #turnDoor(): void {
    const rules = { ...DEFAULT_RULES, ...this.#limits() };
    const at = {
      waiting: this.#waiting,
      admitted: this.#turnsOut,
      onSite: this.#onSite,
      isPrequeue: false,
      isActive: true,
      budgetFree: Number.POSITIVE_INFINITY,
      noShows: this.#noShows.share,
      expected: this.#turnsOut,
    };
    const { admit } = door(rules, at, this.#flow, this.#now);
    this.#flow.take(rules.newUsersPerMinute, admit, this.#now);
    this.#waiting -= admit;
    this.#turnsOut += admit;
    for (let i = 0; i < admit; i++) this.#giveTurn();
  }

  #giveTurn(): void {
    const isMissed = this.#dice() < MISSED_SHARE;
    const afterMs = isMissed ? CLAIM_WINDOW_MS : this.#spread(COMES_AFTER_MS);
    this.#after(afterMs, () => {
      this.#turnsOut--;
      if (isMissed) return this.#noShows.missed();
      this.#noShows.used(afterMs / CLAIM_WINDOW_MS);
      this.#onSite++;
      const gateway = this.#gateways[Math.floor(this.#dice() * this.#gateways.length)]!;
      this.#ask({ gateway, pagesLeft: Math.ceil(PAGES * (0.5 + this.#dice())) });
    });
  }

  #ask(visitor: Visitor): void {
    visitor.gateway.requests++;
    if (this.#origin.take(visitor)) visitor.gateway.inFlight++;
    else {
      this.#note(visitor, 0, true);
      this.#after(this.#spread(RETRY_MS), () => this.#ask(visitor));
    }
  }

  #answer(visitor: Visitor, tookMs: number): void {
    visitor.gateway.inFlight--;
    this.#note(visitor, tookMs, tookMs > TIMEOUT_MS);
    visitor.pagesLeft--;
    if (visitor.pagesLeft > 0) return this.#after(this.#spread(THINK_MS), () => this.#ask(visitor));
    this.#onSite--;
    this.#content++;
  }

  #note(visitor: Visitor, tookMs: number, isError: boolean): void {
    visitor.gateway.note(tookMs, isError);
    this.#seen.note(tookMs, isError);
  }

  #weigh(): void {
    for (const gateway of this.#gateways) this.#meter.hear(gateway.report(), this.#now);
    const seen = { ...this.#meter.seen(this.#now), onSite: this.#onSite, noShows: this.#noShows.share };
    if (this.#isAdaptive) this.#adaptive.turn(RULES, SET, seen, this.#now);
  }

  #after(ms: number, work: () => void): void {
    this.#due.add(this.#now + ms, work);
  }

  /** Around the mean, never less than half of it. */
  #spread(meanMs: number): number {
    return meanMs * (0.5 - 0.5 * Math.log(1 - this.#dice()));
  }
}

/** What one gateway sees. */
class Books {
  readonly #name: string;
  requests = 0;
  inFlight = 0;
  answers = 0;
  errors = 0;
  latencies: number[] = [];

  constructor(name: string) {
    this.#name = name;
  }

  note(tookMs: number, isError: boolean): void {
    this.answers++;
    if (isError) this.errors++;
    else this.latencies.push(tookMs);
  }

  report(): Load {
    const { requests, answers, errors, inFlight } = this;
    const latencyMs = percentile95(this.latencies);
    this.clear();
    return { from: this.#name, periodMs: REPORT_MS, requests, answers, errors, latencyMs, inFlight };
  }

  clear(): void {
    this.requests = 0;
    this.answers = 0;
    this.errors = 0;
    this.latencies = [];
  }
}
