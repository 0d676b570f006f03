/**
 * The load of the origin behind a room, as this gateway measures it: requests, answers, errors, time to the first byte, and how
 * many are under way. Reported to the engine about once a second, for standby and the adaptive loop.
 */
import type { Load } from "../core/engine.ts";

/** The most answers of one period that are timed, picked at random among all. */
const SAMPLES_MAX = 512;
const PERCENTILE = 0.95;
const ERROR_STATUS = 500;

export class RoomLoad {
  readonly #dice: () => number;
  readonly #samples: number[] = [];
  #requests = 0;
  #answers = 0;
  #errors = 0;
  #timed = 0;
  #inFlight = 0;

  constructor(dice: () => number) {
    this.#dice = dice;
  }

  /** A request came for the room, with whatever result. */
  came(): void {
    this.#requests++;
  }

  /** One goes to the origin. */
  asked(): void {
    this.#inFlight++;
  }

  /** The origin began its answer. */
  answered(status: number, tookMs: number): void {
    this.#answers++;
    if (status >= ERROR_STATUS) this.#errors++;
    this.#timed++;
    if (this.#samples.length < SAMPLES_MAX) this.#samples.push(tookMs);
    else {
      const at = Math.floor(this.#dice() * this.#timed);
      if (at < SAMPLES_MAX) this.#samples[at] = tookMs;
    }
  }

  /** No answer came, and not because the visitor left. */
  failed(): void {
    this.#answers++;
    this.#errors++;
  }

  /** It is over, one way or another. */
  done(): void {
    this.#inFlight--;
  }

  /** The measurements since the last call. */
  take(from: string, periodMs: number): Load {
    const load: Load = {
      from,
      periodMs,
      requests: this.#requests,
      answers: this.#answers,
      errors: this.#errors,
      latencyMs: percentile(this.#samples),
      inFlight: this.#inFlight,
    };
    this.#requests = 0;
    this.#answers = 0;
    this.#errors = 0;
    this.#timed = 0;
    this.#samples.length = 0;
    return load;
  }
}

function percentile(samples: readonly number[]): number | null {
  if (samples.length === 0) return null;
  const sorted = [...samples].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * PERCENTILE))]!;
}
