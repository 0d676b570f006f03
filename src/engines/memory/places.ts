/**
 * The state of each place, by the sequence it was given: one byte of state and four of deadline, in segments of 65,536
 * sequences. The ticket carries everything else about a visitor, so ten million waiting visitors cost five bytes each here.
 *
 * The deadline of a waiting visitor is when they lapse; that of an admitted one, when the turn is lost. It is stored in tenths
 * of a second since `epoch`. A segment is dropped when nothing in it is active and the last ticket that could name it has
 * expired. So a valid ticket from a dropped or unknown segment is one that this process never saw.
 *
 * Each segment has its soonest deadline, and its places are not read before that. Invariant: it is never later than the deadline
 * of any visitor waiting there. It may be sooner, since a check-in or a departure does not update it; the next sweep does.
 *
 * In rooms with lanes one more byte says which lane a place is in; the default lane needs none.
 *
 * State and lane are stored on disk, in blocks of 4,096; deadlines are set anew after a restart.
 */
import { EVERYBODY } from "../../core/rules.ts";

export const UNKNOWN = 0;
export const WAITING = 1;
export const LAPSED = 2;
export const ADMITTED = 3;
export const ON_SITE = 4;
export const GONE = 5;
/** Lost by missed turns. */
export const FORFEITED = 6;
export type State = 0 | 1 | 2 | 3 | 4 | 5 | 6;

const STATE_BITS = 0x0f;
/** Set once a place has lapsed. */
const WAS_LATE = 0x10;
/** Since its last missed turn, its holder came with a loose turn to a full site and went back to the front. */
const HAS_RETURNED = 0x20;
const SEGMENT_SIZE = 65_536;
/** Places in one block on disk. */
export const BLOCK_SIZE = 4_096;
const BLOCK_SHIFT = 12;
const BLOCKS_PER_SEGMENT = SEGMENT_SIZE / BLOCK_SIZE;
const TENTH_MS = 100;
const NEVER = Number.POSITIVE_INFINITY;

/** The most lanes that one byte can tell apart. */
const LANES_MAX = 255;

export class Places {
  /** Lane numbers by their code, less one: code 0 is everybody's lane. */
  #lanes: number[] = [];
  readonly #epoch: number;
  #segments = new Map<number, Segment>();
  #found: Segment | undefined;
  #sweepNumber = 0;
  readonly #isKept: boolean;
  readonly #changed = new Set<Segment>();
  #dropped: number[] = [];

  /** `isKept`: records changes for `takeChanges`. */
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

  hasReturned(sequence: number): boolean {
    const segment = this.#find(numberOf(sequence));
    return segment !== undefined && (segment.states[offsetOf(sequence)]! & HAS_RETURNED) !== 0;
  }

  /** Records that its holder went back to the front, or clears that. */
  setReturned(sequence: number, hasReturned: boolean): void {
    const segment = this.#segment(numberOf(sequence));
    const offset = offsetOf(sequence);
    const before = segment.states[offset]!;
    const after = hasReturned ? before | HAS_RETURNED : before & ~HAS_RETURNED;
    if (this.#isKept && after !== before) this.#note(segment, offset);
    segment.states[offset] = after;
  }

  /** The lane a place was given in. */
  lane(sequence: number): number {
    if (this.#lanes.length === 0) return EVERYBODY;
    const code = this.#find(numberOf(sequence))?.lanes?.[offsetOf(sequence)] ?? 0;
    return code === 0 ? EVERYBODY : this.#lanes[code - 1]!;
  }

  setLane(sequence: number, lane: number): void {
    if (lane === EVERYBODY && this.#lanes.length === 0) return;
    const segment = this.#segment(numberOf(sequence));
    const code = this.#codeOf(lane);
    if (code === 0 && segment.lanes === null) return;
    segment.lanes ??= new Uint8Array(SEGMENT_SIZE);
    const offset = offsetOf(sequence);
    if (segment.lanes[offset] === code) return;
    segment.lanes[offset] = code;
    if (this.#isKept) this.#note(segment, offset);
  }

  /** The lanes that codes in stored blocks stand for. */
  get lanes(): readonly number[] {
    return this.#lanes;
  }

  restoreLanes(lanes: readonly number[]): void {
    this.#lanes = [...lanes];
  }

  /**
   * Moves the state of each `from` to its `to`. No two have the same `to`, and each `to` is also a `from`, so nothing is
   * overwritten.
   */
  move(from: Float64Array, to: Float64Array): void {
    const states = new Uint8Array(from.length);
    const deadlines = new Uint32Array(from.length);
    const codes = new Uint8Array(from.length);
    for (let i = 0; i < from.length; i++) {
      const segment = this.#segment(numberOf(from[i]!));
      const offset = offsetOf(from[i]!);
      states[i] = segment.states[offset]!;
      deadlines[i] = segment.deadlines[offset]!;
      codes[i] = segment.lanes?.[offset] ?? 0;
    }
    for (let i = 0; i < to.length; i++) {
      const segment = this.#segment(numberOf(to[i]!));
      const offset = offsetOf(to[i]!);
      const before = segment.states[offset]!;
      segment.underWay +=
        Number(isUnderWay(states[i]! & STATE_BITS)) - Number(isUnderWay(before & STATE_BITS));
      segment.states[offset] = states[i]!;
      segment.deadlines[offset] = deadlines[i]!;
      lowerSoonest(segment, offset);
      if (codes[i]! > 0) segment.lanes ??= new Uint8Array(SEGMENT_SIZE);
      if (segment.lanes) segment.lanes[offset] = codes[i]!;
      if (this.#isKept) this.#note(segment, offset);
    }
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
    const after = state | (before & ~STATE_BITS) | (state === LAPSED ? WAS_LATE : 0);
    if (this.#isKept && after !== before) this.#note(segment, offset);
    segment.states[offset] = after;
    segment.deadlines[offset] = (deadline - this.#epoch) / TENTH_MS;
    if (state === WAITING) lowerSoonest(segment, offset);
  }

  /** Records that a ticket with this sequence may be valid until `expiresAt`. */
  keepUntil(sequence: number, expiresAt: number): void {
    const segment = this.#find(numberOf(sequence));
    if (segment && expiresAt > segment.keepUntil) segment.keepUntil = expiresAt;
  }

  /**
   * Calls `onLapse` for visitors past their deadline, which ends their waiting. Reads at most `placesMax` places, all in
   * segments where one may be due, and continues where the last sweep stopped.
   */
  sweep(now: number, placesMax: number, onLapse: (sequence: number) => void): void {
    const segments = [...this.#segments.values()];
    const tenths = Math.floor((now - this.#epoch) / TENTH_MS);
    let looksLeft = Math.max(1, Math.floor(placesMax / SEGMENT_SIZE));
    for (let i = 0; i < segments.length && looksLeft > 0; i++) {
      const segment = segments[this.#sweepNumber++ % segments.length]!;
      if (segment.soonest > tenths) continue;
      sweepSegment(segment, tenths, onLapse);
      looksLeft--;
    }
    this.#sweepNumber %= Math.max(1, segments.length);
  }

  /** Drops segments that no valid ticket can name any more. */
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

  /** Blocks whose states changed since the last call, as bytes; null for one that was dropped. */
  takeChanges(): Map<number, Uint8Array | null> {
    const changes = new Map<number, Uint8Array | null>();
    for (const block of this.#dropped) changes.set(block, null);
    for (const segment of this.#changed) {
      for (let i = 0; i < BLOCKS_PER_SEGMENT; i++) {
        if ((segment.changed & (1 << i)) === 0) continue;
        changes.set(segment.number * BLOCKS_PER_SEGMENT + i, blockBytes(segment, i * BLOCK_SIZE));
      }
      segment.changed = 0;
    }
    this.#dropped = [];
    this.#changed.clear();
    return changes;
  }

  /** Restores a block that `takeChanges` returned; `deadlineOf` gets each place in it and returns its deadline. */
  restore(block: number, bytes: Uint8Array, deadlineOf: (sequence: number, state: State) => number): void {
    const segment = this.#segment(Math.floor(block / BLOCKS_PER_SEGMENT));
    const from = (block % BLOCKS_PER_SEGMENT) * BLOCK_SIZE;
    if (bytes.length > BLOCK_SIZE) {
      segment.lanes ??= new Uint8Array(SEGMENT_SIZE);
      segment.lanes.set(bytes.subarray(BLOCK_SIZE), from);
    }
    for (let i = 0; i < BLOCK_SIZE; i++) {
      const state = (bytes[i]! & STATE_BITS) as State;
      if (state === UNKNOWN) continue;
      segment.states[from + i] = bytes[i]!;
      const deadline = deadlineOf(segment.number * SEGMENT_SIZE + from + i, state);
      segment.deadlines[from + i] = (deadline - this.#epoch) / TENTH_MS;
      lowerSoonest(segment, from + i);
      segment.underWay += Number(isUnderWay(state));
    }
  }

  /** The code of a lane. When there are too many, further lanes count as everybody's. */
  #codeOf(lane: number): number {
    if (lane === EVERYBODY) return 0;
    const known = this.#lanes.indexOf(lane);
    if (known >= 0) return known + 1;
    return this.#lanes.length < LANES_MAX ? this.#lanes.push(lane) : 0;
  }

  #note(segment: Segment, offset: number): void {
    if (segment.changed === 0) this.#changed.add(segment);
    segment.changed |= 1 << (offset >> BLOCK_SHIFT);
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
        lanes: null,
        deadlines: new Uint32Array(SEGMENT_SIZE),
        soonest: NEVER,
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

function sweepSegment(segment: Segment, tenths: number, onLapse: (sequence: number) => void): void {
  const { number, states, deadlines } = segment;
  let soonest = NEVER;
  for (let offset = 0; offset < SEGMENT_SIZE; offset++) {
    if ((states[offset]! & STATE_BITS) !== WAITING) continue;
    const deadline = deadlines[offset]!;
    if (deadline <= tenths) onLapse(number * SEGMENT_SIZE + offset);
    else if (deadline < soonest) soonest = deadline;
  }
  segment.soonest = soonest;
}

/** Makes sure that a sweep reads a waiting place once its deadline, as stored, has passed. */
function lowerSoonest(segment: Segment, offset: number): void {
  if ((segment.states[offset]! & STATE_BITS) !== WAITING) return;
  segment.soonest = Math.min(segment.soonest, segment.deadlines[offset]!);
}

/** States, followed by lanes where there are any. */
function blockBytes({ states, lanes }: Segment, from: number): Uint8Array {
  if (lanes === null) return states.slice(from, from + BLOCK_SIZE);
  const bytes = new Uint8Array(BLOCK_SIZE * 2);
  bytes.set(states.subarray(from, from + BLOCK_SIZE));
  bytes.set(lanes.subarray(from, from + BLOCK_SIZE), BLOCK_SIZE);
  return bytes;
}

function numberOf(sequence: number): number {
  return Math.floor(sequence / SEGMENT_SIZE);
}

/** Not by `%`, which is a slow call for numbers beyond 32 bits. */
function offsetOf(sequence: number): number {
  return sequence - numberOf(sequence) * SEGMENT_SIZE;
}

interface Segment {
  readonly number: number;
  readonly states: Uint8Array;
  /** Null while all of it is in the default lane. */
  lanes: Uint8Array | null;
  readonly deadlines: Uint32Array;
  /** In tenths, like deadlines: no visitor waiting here lapses earlier. */
  soonest: number;
  /** Places waiting, admitted or on the site. */
  underWay: number;
  keepUntil: number;
  /** One bit for each block whose states changed since changes were last taken. */
  changed: number;
}

function isUnderWay(state: number): boolean {
  return state === WAITING || state === ADMITTED || state === ON_SITE;
}
