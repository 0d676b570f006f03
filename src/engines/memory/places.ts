/**
 * What has become of each sequence: one byte of state and four of deadline, in segments of 65,536 sequences. The
 * ticket carries everything else about a visitor, so ten million waiting cost five bytes each here.
 *
 * The deadline means: for someone waiting, when they lapse; for someone admitted, when the turn is lost. It is kept
 * in tenths of a second since `epoch`. A segment is dropped when nothing in it is under way and the last ticket that
 * could name it has run out; a good ticket from a dropped or unknown segment is therefore one this process never saw.
 *
 * What is worth keeping on disk is the state alone, in blocks of 4,096: deadlines are given anew after a restart.
 */
export const UNKNOWN = 0;
export const WAITING = 1;
export const LAPSED = 2;
export const ADMITTED = 3;
export const ON_SITE = 4;
export const GONE = 5;
export type State = 0 | 1 | 2 | 3 | 4 | 5;

const STATE_BITS = 0x0f;
/** Set once a place has lapsed: its holder was late by their own doing. */
const WAS_LATE = 0x10;
const SEGMENT_SIZE = 65_536;
/** Places in one piece of what is kept on disk. */
export const BLOCK_SIZE = 4_096;
const BLOCK_SHIFT = 12;
const BLOCKS_PER_SEGMENT = SEGMENT_SIZE / BLOCK_SIZE;
const TENTH_MS = 100;

export class Places {
  readonly #epoch: number;
  #segments = new Map<number, Segment>();
  #found: Segment | undefined;
  #sweepNumber = 0;
  readonly #isKept: boolean;
  readonly #changed = new Set<Segment>();
  #dropped: number[] = [];

  /** `isKept`: someone takes the changes. */
  constructor(now: number, isKept: boolean) {
    this.#isKept = isKept;
    this.#epoch = Math.floor(now / TENTH_MS) * TENTH_MS;
  }

  state(sequence: number): State {
    const segment = this.#find(numberOf(sequence));
    return segment ? ((segment.states[offsetOf(sequence)]! & STATE_BITS) as State) : UNKNOWN;
  }

  wasLate(sequence: number): boolean {
    const segment = this.#find(numberOf(sequence));
    return segment !== undefined && (segment.states[offsetOf(sequence)]! & WAS_LATE) !== 0;
  }

  deadline(sequence: number): number {
    const segment = this.#find(numberOf(sequence));
    return this.#epoch + (segment?.deadlines[offsetOf(sequence)] ?? 0) * TENTH_MS;
  }

  /** Sets state and deadline (a whole tenth of a second). */
  set(sequence: number, state: State, deadline: number): void {
    const segment = this.#segment(numberOf(sequence));
    const offset = offsetOf(sequence);
    const before = segment.states[offset]!;
    segment.underWay += Number(isUnderWay(state)) - Number(isUnderWay(before & STATE_BITS));
    const after = state | (before & WAS_LATE) | (state === LAPSED ? WAS_LATE : 0);
    if (this.#isKept && after !== before) this.#note(segment, offset);
    segment.states[offset] = after;
    segment.deadlines[offset] = (deadline - this.#epoch) / TENTH_MS;
  }

  /** Remembers that a ticket naming this sequence may be good until `expiresAt`. */
  keepUntil(sequence: number, expiresAt: number): void {
    const segment = this.#find(numberOf(sequence));
    if (segment && expiresAt > segment.keepUntil) segment.keepUntil = expiresAt;
  }

  /**
   * Looks at up to `placesMax` places, going on where the last sweep stopped, and calls `onLapse` for those waiting
   * past their deadline.
   */
  sweep(now: number, placesMax: number, onLapse: (sequence: number) => void): void {
    const numbers = [...this.#segments.keys()];
    const tenths = Math.floor((now - this.#epoch) / TENTH_MS);
    const segmentsMax = Math.min(numbers.length, Math.max(1, Math.floor(placesMax / SEGMENT_SIZE)));
    for (let i = 0; i < segmentsMax; i++) {
      const number = numbers[this.#sweepNumber++ % numbers.length]!;
      this.#sweepSegment(number, tenths, onLapse);
    }
    if (this.#sweepNumber >= numbers.length) this.#sweepNumber = 0;
  }

  /** Drops segments that no good ticket can name any more. */
  forget(now: number): void {
    for (const [number, segment] of this.#segments) {
      if (segment.underWay > 0 || segment.keepUntil >= now) continue;
      this.#segments.delete(number);
      this.#changed.delete(segment);
      if (!this.#isKept) continue;
      for (let i = 0; i < BLOCKS_PER_SEGMENT; i++) this.#dropped.push(number * BLOCKS_PER_SEGMENT + i);
    }
    this.#found = undefined;
  }

  get hasChanges(): boolean {
    return this.#changed.size > 0 || this.#dropped.length > 0;
  }

  /** Blocks whose states changed since this was last asked, as bytes; null for one that was dropped. */
  takeChanges(): Map<number, Uint8Array | null> {
    const changes = new Map<number, Uint8Array | null>();
    for (const block of this.#dropped) changes.set(block, null);
    for (const segment of this.#changed) {
      for (let i = 0; i < BLOCKS_PER_SEGMENT; i++) {
        if ((segment.changed & (1 << i)) === 0) continue;
        const bytes = segment.states.slice(i * BLOCK_SIZE, (i + 1) * BLOCK_SIZE);
        changes.set(segment.number * BLOCKS_PER_SEGMENT + i, bytes);
      }
      segment.changed = 0;
    }
    this.#dropped = [];
    this.#changed.clear();
    return changes;
  }

  /** Takes a block in again as `takeChanges` gave it, telling of each place in it; `deadlineOf` gives it a deadline. */
  restore(block: number, bytes: Uint8Array, deadlineOf: (sequence: number, state: State) => number): void {
    const segment = this.#segment(Math.floor(block / BLOCKS_PER_SEGMENT));
    const from = (block % BLOCKS_PER_SEGMENT) * BLOCK_SIZE;
    for (let i = 0; i < bytes.length; i++) {
      const state = (bytes[i]! & STATE_BITS) as State;
      if (state === UNKNOWN) continue;
      segment.states[from + i] = bytes[i]!;
      const deadline = deadlineOf(segment.number * SEGMENT_SIZE + from + i, state);
      segment.deadlines[from + i] = (deadline - this.#epoch) / TENTH_MS;
      segment.underWay += Number(isUnderWay(state));
    }
  }

  #note(segment: Segment, offset: number): void {
    if (segment.changed === 0) this.#changed.add(segment);
    segment.changed |= 1 << (offset >> BLOCK_SHIFT);
  }

  #sweepSegment(number: number, tenths: number, onLapse: (sequence: number) => void): void {
    const { states, deadlines } = this.#segments.get(number)!;
    for (let offset = 0; offset < SEGMENT_SIZE; offset++) {
      if (deadlines[offset]! > tenths || (states[offset]! & STATE_BITS) !== WAITING) continue;
      onLapse(number * SEGMENT_SIZE + offset);
    }
  }

  /** The same segment is asked for several times in a row. */
  #find(number: number): Segment | undefined {
    if (this.#found?.number === number) return this.#found;
    this.#found = this.#segments.get(number);
    return this.#found;
  }

  #segment(number: number): Segment {
    let segment = this.#find(number);
    if (!segment) {
      segment = {
        number,
        states: new Uint8Array(SEGMENT_SIZE),
        deadlines: new Uint32Array(SEGMENT_SIZE),
        underWay: 0,
        keepUntil: 0,
        changed: 0,
      };
      this.#segments.set(number, segment);
      this.#found = segment;
    }
    return segment;
  }
}

function numberOf(sequence: number): number {
  return Math.floor(sequence / SEGMENT_SIZE);
}

/** Not by `%`: for numbers beyond 32 bits that is a call, and a slow one. */
function offsetOf(sequence: number): number {
  return sequence - numberOf(sequence) * SEGMENT_SIZE;
}

interface Segment {
  readonly number: number;
  readonly states: Uint8Array;
  readonly deadlines: Uint32Array;
  /** Places waiting, admitted or on the site. */
  underWay: number;
  keepUntil: number;
  /** One bit for each block whose states changed since changes were last taken. */
  changed: number;
}

function isUnderWay(state: number): boolean {
  return state === WAITING || state === ADMITTED || state === ON_SITE;
}
