/**
 * An even flow of visitors: at most `perMinute` in any minute, spread out and not in a burst at its start.
 *
 * Two limits hold together. A leaky bucket spaces turns by 60 s / perMinute and saves up at most two seconds' worth (so
 * a quiet room lets a handful of people who click together straight through). And no 60-second window, wherever it
 * starts, ever holds more than `perMinute` who entered: a turn is given only while those who entered in the last minute,
 * and the turns that are out and may be used at any moment, are fewer than that.
 *
 * A turn therefore counts in the minute from when it is given until a minute after it is used. One that was not used gives
 * its share back: the caller no longer counts it as out, and `giveTurnsBack` takes it out of the spacing, so that another
 * turn can be given at once.
 *
 * A caller that counts turns and not those who enter (`take`) bounds the turns of a minute, not the entries.
 */
const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const BURST_MS = 2_000;
/** The door turns at least this often: time that passes between a gap's end and the next turn is not lost. */
const TURN_MAX_MS = 1_000;
/** A flow that is handed over reports its entries in steps of this length. */
const HANDED_STEP_MS = 250;

/** Turns given and not used yet, and the share of turns that will never be used. */
export interface TurnsOut {
  readonly firm: number;
  readonly noShows: number;
}

const NONE_OUT: TurnsOut = { firm: 0, noShows: 0 };

/** The state of a flow that continues elsewhere. */
export interface HandedFlow {
  readonly emptyAt: number;
  readonly steps: readonly (readonly [end: number, count: number])[];
  /** Turns given back and not given again, and when the latest was given back. */
  readonly back: number;
  readonly backAt: number;
}

export class Flow {
  /** The instant at which the bucket was, or will be, empty. */
  #emptyAt = Number.NEGATIVE_INFINITY;
  /** Entries of the last minute, oldest first, added up by the millisecond. */
  #at: number[] = [];
  #count: number[] = [];
  #head = 0;
  #lastMinute = 0;
  /** Turns given back, and when the latest was. They may be given again on top of what is saved up. */
  #back = 0;
  #backAt = Number.NEGATIVE_INFINITY;

  /** How many more turns may be given at `now`, with these out. */
  allowance(perMinute: number | null, now: number, { firm, noShows }: TurnsOut = NONE_OUT): number {
    if (perMinute === null) return Number.POSITIVE_INFINITY;
    const gapMs = (MINUTE_MS / perMinute) * (1 - noShows);
    // A hair of tolerance: sums of a gap that is not a whole number must not cost a visitor a turn.
    const toFill = Math.floor(this.entriesLeft(perMinute, now) / (1 - noShows) + 1e-6);
    const leftInMinute = Math.max(0, toFill - firm);
    // Time during which the minute held people back is not saved up, or it would come out as a burst.
    const savedMaxMs = Math.min(Math.max(BURST_MS, gapMs + TURN_MAX_MS), (leftInMinute + 1) * gapMs);
    this.#emptyAt = Math.max(this.#emptyAt, now - savedMaxMs);
    const back = this.#backAt + BURST_MS < now ? 0 : this.#back;
    const spaced = Math.floor((now - this.#emptyAt) / gapMs + 1e-6);
    return Math.max(0, Math.min(spaced + back, leftInMinute));
  }

  /** How many more may enter in the minute up to `now`. */
  entriesLeft(perMinute: number | null, now: number): number {
    if (perMinute === null) return Number.POSITIVE_INFINITY;
    this.#forget(now);
    return Math.max(0, Math.floor(perMinute) - this.#lastMinute);
  }

  /** Records that `count` got a turn, after asking `allowance`: those after them are spaced by it. */
  giveTurns(perMinute: number | null, count: number, now: number): void {
    if (perMinute === null) return;
    const again = Math.min(this.#backAt + BURST_MS < now ? 0 : this.#back, count);
    this.#back -= again;
    this.#emptyAt += ((count - again) * MINUTE_MS) / perMinute;
  }

  /** Records that `count` turns were not used and may be given again. */
  giveTurnsBack(count: number, now: number): void {
    this.#back = (this.#backAt + BURST_MS < now ? 0 : this.#back) + count;
    this.#backAt = now;
  }

  /** Records that `count` entered at `now`: they count in every minute that holds this instant. */
  enter(count: number, now: number): void {
    if (count === 0) return;
    this.#forget(now);
    this.#lastMinute += count;
    if (this.#at[this.#at.length - 1] === now) this.#count[this.#count.length - 1]! += count;
    else {
      this.#at.push(now);
      this.#count.push(count);
    }
  }

  /** A turn and an entry at once: for visitors who go straight through, and where turns count when they are given. */
  take(perMinute: number | null, count: number, now: number): void {
    this.giveTurns(perMinute, count, now);
    this.enter(count, now);
  }

  /** Takes back `count` of what was taken, the latest first: they are not let in after all. */
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

  /** Entries of the last minute, added up by the second and dated at its end. */
  bySecond(now: number): Map<number, number> {
    return this.#byStep(SECOND_MS, now);
  }

  /** The whole state, for a flow that continues from it at once. */
  handOver(now: number): HandedFlow {
    const steps = [...this.#byStep(HANDED_STEP_MS, now)];
    return { emptyAt: this.#emptyAt, steps, back: this.#back, backAt: this.#backAt };
  }

  /** Continues from another flow's state and forgets its own. */
  takeOver({ emptyAt, steps, back, backAt }: HandedFlow, now: number): void {
    this.#at = steps.map(([end]) => end);
    this.#count = steps.map(([, count]) => count);
    this.#head = 0;
    this.#lastMinute = this.#count.reduce((sum, count) => sum + count, 0);
    this.#emptyAt = emptyAt;
    this.#back = back;
    this.#backAt = backAt;
    this.#forget(now);
  }

  /** Restores what `bySecond` returned before a restart. Nothing is saved up, since the last entries may be missing. */
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
