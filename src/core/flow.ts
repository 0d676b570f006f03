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

  /** Admissions of the last minute, those of one second together and said to be at its end. */
  bySecond(now: number): Map<number, number> {
    this.#forget(now);
    const seconds = new Map<number, number>();
    for (let i = this.#head; i < this.#at.length; i++) {
      const end = Math.ceil(this.#at[i]! / SECOND_MS) * SECOND_MS;
      seconds.set(end, (seconds.get(end) ?? 0) + this.#count[i]!);
    }
    return seconds;
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
