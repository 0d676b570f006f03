/**
 * Standby: no line until one is needed. It starts at once when a threshold is crossed, and stops when everything has stayed
 * well below its threshold for a while and nobody waits any more.
 *
 *                 one above its threshold
 *   standing by ────────────────────────────▶ active
 *        ▲                                      │
 *        └──────────────────────────────────────┘
 *          all at most stopBelow × threshold for quietFor, nobody waiting
 *
 * So a load that swings around a threshold starts the line once, and it stays for at least `quietForMs`. Unknown values (too few
 * answers for latency or errors) neither start a line nor keep it.
 */
import type { Remark } from "./engine.ts";
import { figure, percentText, span } from "./figures.ts";
import { ANSWERS_MIN, errorsBeyondChance, type SeenLoad } from "./load.ts";
import type { StandbyRules } from "./rules.ts";

export interface StandbySeen
  extends Pick<SeenLoad, "requestsPerSecond" | "answers" | "latencyMs" | "errors"> {
  readonly activeUsers: number;
  /** Living tickets in the line. */
  readonly waiting: number;
}

export interface StandbyMemo {
  readonly isActive: boolean;
}

/** One threshold and the current value. */
interface Measure {
  readonly value: number;
  readonly threshold: number;
  readonly words: (value: number) => string;
  readonly limit: (threshold: number) => string;
}

export class Standby {
  #isActive = false;
  #quietSince: number | null = null;

  get isActive(): boolean {
    return this.#isActive;
  }

  /** One look at the load. The remark says what changed and why; null: nothing did. */
  turn(rules: StandbyRules, seen: StandbySeen, now: number): Remark | null {
    const measures = measuresOf(rules, seen);
    return this.#isActive ? this.#stop(rules, measures, seen, now) : this.#start(measures, now);
  }

  /** For a restart. How long it was quiet is not kept, since the time in between was not observed. */
  memo(): StandbyMemo {
    return { isActive: this.#isActive };
  }

  restore({ isActive }: StandbyMemo): void {
    this.#isActive = isActive;
  }

  #start(measures: readonly Measure[], now: number): Remark | null {
    const above = measures.filter(({ value, threshold }) => value > threshold);
    if (above.length === 0) return null;
    this.#isActive = true;
    this.#quietSince = null;
    const why = above.map(
      ({ value, threshold, words, limit }) => `${words(value)}, more than ${limit(threshold)}`,
    );
    return { at: now, text: `The line starts: ${why.join("; ")}.` };
  }

  #stop(rules: StandbyRules, measures: readonly Measure[], seen: StandbySeen, now: number): Remark | null {
    if (!measures.every(({ value, threshold }) => value <= threshold * rules.stopBelow)) {
      this.#quietSince = null;
      return null;
    }
    // A clock set back must not make the quiet look longer than it was.
    this.#quietSince = Math.min(this.#quietSince ?? now, now);
    if (seen.waiting > 0 || now - this.#quietSince < rules.quietForMs) return null;
    this.#isActive = false;
    const why = measures.map(
      ({ value, threshold, words, limit }) => `${words(value)} (starts above ${limit(threshold)})`,
    );
    const quiet = `quiet for ${span(rules.quietForMs)}`;
    return { at: now, text: `The line stops: ${[quiet, ...why].join(", ")}.` };
  }
}

/** Every threshold that is set and whose value is known. */
function measuresOf(rules: StandbyRules, seen: StandbySeen): Measure[] {
  const measures: Measure[] = [];
  const add = (value: number | null, threshold: number | null, how: Pick<Measure, "words" | "limit">) => {
    if (value !== null && threshold !== null) measures.push({ value, threshold, ...how });
  };
  add(seen.requestsPerSecond, rules.requestsPerSecond, REQUESTS);
  add(seen.activeUsers, rules.activeUsers, ACTIVE_USERS);
  if (!(seen.answers >= ANSWERS_MIN)) return measures;
  add(seen.latencyMs, rules.originLatencyMs, LATENCY);
  add(errorsBeyondChance(seen), rules.originErrors, ERRORS);
  return measures;
}

const REQUESTS = { words: (value: number) => `${figure(value)} requests a second`, limit: figure };
const ACTIVE_USERS = { words: (value: number) => `${figure(value)} visitors on the site`, limit: figure };
const LATENCY = { words: (value: number) => `the site takes ${span(value)}`, limit: span };
const ERRORS = {
  words: (value: number) => `${percentText(value)} of the site's answers are errors`,
  limit: percentText,
};
