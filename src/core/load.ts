/**
 * The origin's load, combined from the reports that gateways send about once a second: the request rate of the last minute,
 * and the latency and errors of the last ten seconds. Standby and the adaptive loop use it.
 *
 * A gateway that fell silent may be gone, so what it reported of the origin no longer counts; its requests did come, so they
 * stay in the minute. The latency is the mean of the gateways' 95th percentiles, weighted by their answers: not quite the
 * percentile of all answers together, but between the least and the greatest, and without samples. The percentile of three
 * answers is only the slowest of three, and mostly far too low; so small reports of all gateways are merged until the slowest
 * of about a dozen answers stands for them.
 *
 * Reports come over the network. Whatever they say, the results are finite and memory is bounded.
 */
import type { Load } from "./engine.ts";

/** Fewer answers than this in the ten seconds say nothing about latency or errors. */
export const ANSWERS_MIN = 50;
/** Fewer errors than this may be chance. */
export const ERRORS_MIN = 3;
/** The period that latency and errors are measured over. */
export const SEEN_OVER_MS = 10_000;

const SECOND_MS = 1_000;
const RATE_SECONDS = 60;
const SEEN_SECONDS = SEEN_OVER_MS / SECOND_MS;
const SILENT_AFTER_MS = 5_000;
const GATEWAYS_MAX = 64;
/** The slowest of this many answers is on average about the 95th percentile, if times have an exponential tail. */
const GROUP_MIN = 11;
const COUNT_MAX = 1e9;
const LATENCY_MAX_MS = 3_600_000;

export interface SeenLoad {
  /** Over the last minute. */
  readonly requestsPerSecond: number;
  readonly answers: number;
  /** Share of the answers that are errors, 0 to 1. */
  readonly errors: number;
  /** 95th percentile. Null: no answers. */
  readonly latencyMs: number | null;
  /** Requests under way now. */
  readonly inFlight: number;
}

/** The share of errors; 0 while there are too few answers or errors to tell it from chance. */
export function errorsBeyondChance({ answers, errors }: Pick<SeenLoad, "answers" | "errors">): number {
  return answers >= ANSWERS_MIN && Math.round(errors * answers) >= ERRORS_MIN ? errors : 0;
}

interface Gateway {
  heardAt: number;
  inFlight: number;
  readonly answers: LastSeconds;
  readonly errors: LastSeconds;
  readonly latency: LastLatency;
}

/** Small reports, merged until they are enough. */
interface Few {
  readonly answers: number;
  readonly slowestMs: number;
  readonly since: number;
}

export class LoadMeter {
  readonly #requests = new LastSeconds(RATE_SECONDS);
  /** In the order of their latest reports. */
  readonly #gateways = new Map<string, Gateway>();
  readonly #fewLatency = new LastLatency();
  #few: Few | null = null;

  /** One gateway's report, as it comes in. */
  hear(load: Load, now: number): void {
    this.#requests.add(count(load.requests), now);
    const gateway = this.#gatewayOf(load.from);
    gateway.heardAt = now;
    gateway.inFlight = count(load.inFlight);
    const answers = count(load.answers);
    gateway.answers.add(answers, now);
    gateway.errors.add(Math.min(count(load.errors), answers), now);
    if (load.latencyMs === null || !(load.latencyMs >= 0) || answers === 0) return;
    const latencyMs = Math.min(load.latencyMs, LATENCY_MAX_MS);
    if (answers >= GROUP_MIN) gateway.latency.add(answers, latencyMs, now);
    else this.#addFew(answers, latencyMs, now);
  }

  /** All of them together, at `now`. */
  seen(now: number): SeenLoad {
    const living = [...this.#gateways.values()].filter(({ heardAt }) => now - heardAt <= SILENT_AFTER_MS);
    const sum = (of: (gateway: Gateway) => number) => living.reduce((total, one) => total + of(one), 0);
    const answers = sum((gateway) => gateway.answers.sum(now));
    const timed = sum(({ latency }) => latency.answers.sum(now)) + this.#fewLatency.answers.sum(now);
    const spentMs = sum(({ latency }) => latency.spentMs.sum(now)) + this.#fewLatency.spentMs.sum(now);
    return {
      requestsPerSecond: this.#requests.sum(now) / RATE_SECONDS,
      answers,
      errors: answers === 0 ? 0 : sum((gateway) => gateway.errors.sum(now)) / answers,
      latencyMs: timed === 0 ? null : spentMs / timed,
      inFlight: sum((gateway) => gateway.inFlight),
    };
  }

  #addFew(answers: number, latencyMs: number, now: number): void {
    const before = this.#few && now - this.#few.since < SEEN_OVER_MS ? this.#few : null;
    const few: Few = {
      answers: answers + (before?.answers ?? 0),
      slowestMs: Math.max(latencyMs, before?.slowestMs ?? 0),
      since: before?.since ?? now,
    };
    const isEnough = few.answers >= GROUP_MIN;
    if (isEnough) this.#fewLatency.add(few.answers, few.slowestMs, now);
    this.#few = isEnough ? null : few;
  }

  /** Beyond the maximum, the gateway silent for longest is forgotten. */
  #gatewayOf(from: string): Gateway {
    const gateway = this.#gateways.get(from) ?? {
      heardAt: 0,
      inFlight: 0,
      answers: new LastSeconds(SEEN_SECONDS),
      errors: new LastSeconds(SEEN_SECONDS),
      latency: new LastLatency(),
    };
    this.#gateways.delete(from);
    this.#gateways.set(from, gateway);
    if (this.#gateways.size > GATEWAYS_MAX) {
      const [silentLongest] = this.#gateways.keys();
      this.#gateways.delete(silentLongest!);
    }
    return gateway;
  }
}

/** Answers with a known latency, and their total latency. */
class LastLatency {
  readonly answers = new LastSeconds(SEEN_SECONDS);
  readonly spentMs = new LastSeconds(SEEN_SECONDS);

  add(answers: number, latencyMs: number, now: number): void {
    this.answers.add(answers, now);
    this.spentMs.add(answers * latencyMs, now);
  }
}

/** A sum over the last `length` seconds, the current one included. */
class LastSeconds {
  readonly #amounts: Float64Array;
  /** The second that each amount belongs to. */
  readonly #seconds: Float64Array;

  constructor(length: number) {
    this.#amounts = new Float64Array(length);
    this.#seconds = new Float64Array(length).fill(Number.NEGATIVE_INFINITY);
  }

  add(amount: number, now: number): void {
    const second = Math.floor(now / SECOND_MS);
    const index = second % this.#amounts.length;
    if (this.#seconds[index] !== second) {
      this.#seconds[index] = second;
      this.#amounts[index] = 0;
    }
    this.#amounts[index]! += amount;
  }

  sum(now: number): number {
    const last = Math.floor(now / SECOND_MS);
    let total = 0;
    for (let index = 0; index < this.#amounts.length; index++) {
      const age = last - this.#seconds[index]!;
      if (age >= 0 && age < this.#amounts.length) total += this.#amounts[index]!;
    }
    return total;
  }
}

/** A count within bounds; 0 for anything else. */
function count(value: number): number {
  return value > 0 ? Math.min(value, COUNT_MAX) : 0;
}
