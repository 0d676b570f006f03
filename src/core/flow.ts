/**
 * An even flow of admissions: at most `perMinute` in any minute, spread out and not in a burst at its start.
 *
 * Two limits hold together. A leaky bucket spaces admissions by 60 s / perMinute and saves up at most two seconds'
 * worth (so a quiet room lets a handful of people who click together straight through). And no 60-second window,
 * wherever it starts, ever holds more than `perMinute`: what was let through early is held back later.
 */
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const BURST_MS = 2_000;
/** The door turns at least this often: time that passes between a gap's end and the next turn is not lost. */
const TURN_MAX_MS = 1_000;
/** A flow that is handed over tells its admissions by so much of a second. */
const HANDED_STEP_MS = 250;

/** A flow as it is handed over to go on elsewhere. */
export interface HandedFlow {
  readonly emptyAt: number;
  readonly steps: readonly (readonly [end: number, count: number])[];
}

export class Flow {
  /** The instant at which the bucket was, or will be, empty. */
  #emptyAt = Number.NEGATIVE_INFINITY;
  /** Admissions of the last minute, oldest first, those of one millisecond together. */
  #at: number[] = [];
  #count: number[] = [];
  #head = 0;
  #lastMinute = 0;

  /** How many more may be admitted at `now`. */
  allowance(perMinute: number | null, now: number): number {
    if (perMinute === null) return Number.POSITIVE_INFINITY;
    this.#forget(now);
    const gapMs = MINUTE_MS / perMinute;
    const leftInMinute = Math.max(0, Math.floor(perMinute) - this.#lastMinute);
    // Time during which the minute held people back is not saved up, or it would come out as a burst.
    const savedMaxMs = Math.min(Math.max(BURST_MS, gapMs + TURN_MAX_MS), (leftInMinute + 1) * gapMs);
    this.#emptyAt = Math.max(this.#emptyAt, now - savedMaxMs);
    // A hair of tolerance: sums of a gap that is not a whole number must not cost a visitor a turn.
    return Math.max(0, Math.min(Math.floor((now - this.#emptyAt) / gapMs + 1e-6), leftInMinute));
  }

  /** Records that `count` were admitted at `now`, after asking `allowance`. */
  take(perMinute: number | null, count: number, now: number): void {
    if (count === 0) return;
    if (perMinute !== null) {
      this.#emptyAt += (count * MINUTE_MS) / perMinute;
    }
    this.#forget(now);
    this.#lastMinute += count;
    if (this.#at[this.#at.length - 1] === now) this.#count[this.#count.length - 1]! += count;
    else {
      this.#at.push(now);
      this.#count.push(count);
    }
  }

  /** So many that were taken are not let in after all. The latest are taken back first. */
  giveBack(perMinute: number | null, count: number): void {
    if (perMinute !== null) this.#emptyAt -= (count * MINUTE_MS) / perMinute;
    for (let left = count; left > 0 && this.#at.length > this.#head; ) {
      const last = this.#count.length - 1;
      const back = Math.min(left, this.#count[last]!);
      left -= back;
      this.#lastMinute -= back;
      this.#count[last]! -= back;
      if (this.#count[last] === 0) {
        this.#at.pop();
        this.#count.pop();
      }
    }
  }

  /** Admissions of the last minute, those of one second together and said to be at its end. */
  bySecond(now: number): Map<number, number> {
    return this.#byStep(SECOND_MS, now);
  }

  /** All of it, for someone who goes on with it at once. */
  handOver(now: number): HandedFlow {
    return { emptyAt: this.#emptyAt, steps: [...this.#byStep(HANDED_STEP_MS, now)] };
  }

  /** Goes on with what another handed over, and forgets its own. */
  takeOver({ emptyAt, steps }: HandedFlow, now: number): void {
    this.#at = steps.map(([end]) => end);
    this.#count = steps.map(([, count]) => count);
    this.#head = 0;
    this.#lastMinute = this.#count.reduce((sum, count) => sum + count, 0);
    this.#emptyAt = emptyAt;
    this.#forget(now);
  }

  /** Takes over what `bySecond` told before a restart. Nothing is saved up: who knows what was let through last. */
  restore(seconds: Iterable<[end: number, count: number]>, now: number): void {
    for (const [end, count] of [...seconds].sort(([a], [b]) => a - b)) {
      this.#at.push(end);
      this.#count.push(count);
      this.#lastMinute += count;
    }
    this.#emptyAt = now;
    this.#forget(now);
  }

  #byStep(stepMs: number, now: number): Map<number, number> {
    this.#forget(now);
    const steps = new Map<number, number>();
    for (let i = this.#head; i < this.#at.length; i++) {
      const end = Math.ceil(this.#at[i]! / stepMs) * stepMs;
      steps.set(end, (steps.get(end) ?? 0) + this.#count[i]!);
    }
    return steps;
  }

  #forget(now: number): void {
    while (this.#head < this.#at.length && this.#at[this.#head]! <= now - MINUTE_MS) {
      this.#lastMinute -= this.#count[this.#head++]!;
    }
    if (this.#head > 1_024 && this.#head * 2 > this.#at.length) {
      this.#at = this.#at.slice(this.#head);
      this.#count = this.#count.slice(this.#head);
      this.#head = 0;
    }
  }
}
