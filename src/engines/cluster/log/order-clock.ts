/**
 * Order keys that every member gives out by itself, and that still follow the order of events.
 *
 * A hybrid logical clock (Kulkarni, Demirbas, Madappa, Avva, Leone 2014, "Logical Physical Clocks"): the larger of the wall clock
 * and everything given out or heard, with a counter for events of the same millisecond. A key that was given out after hearing of
 * another is larger, whatever the wall clocks say; otherwise keys follow the clocks.
 *
 *   key = milliseconds since 2025 · 8192 + counter · 64 + node number      (below 2^53 until the autumn of 2059)
 *
 * The node number makes keys of different members different. A counter that overflows borrows the next millisecond. Peers tell
 * each other the time with the counter as its fraction (128 steps a millisecond), which a double holds exactly. So hearing costs
 * one step, not a millisecond, and busy peers do not drive each other ahead.
 *
 * Unlike Kulkarni and others we ignore a reading that is too far ahead: one wrong clock must not carry all others along.
 *
 * Invariant: keys rise strictly, also when the wall clock jumps back and when the node number changes.
 */
const EPOCH_AT = Date.UTC(2025, 0, 1);
const NODES = 64;
const COUNTS = 128;
const KEYS_PER_MS = NODES * COUNTS;
const END_AT = EPOCH_AT + Math.floor(Number.MAX_SAFE_INTEGER / KEYS_PER_MS);

export class OrderClock {
  #node: number;
  readonly #skewMaxMs: number;
  /** The last step given out or heard: milliseconds since 1970, with the counter as fraction. */
  #time = EPOCH_AT;

  constructor({ node, skewMaxMs }: { node: number; skewMaxMs: number }) {
    this.#node = checkedNode(node);
    this.#skewMaxMs = skewMaxMs;
  }

  /** The number of the node that gives out the keys from now on. */
  set node(node: number) {
    this.#node = checkedNode(node);
  }

  get node(): number {
    return this.#node;
  }

  /** A key larger than all that were given out here, and than all that a peer gave out before it told its time. */
  next(now: number): number {
    this.#time = Math.max(this.#time + 1 / COUNTS, Math.floor(now));
    return keyOf(this.#time, this.#node);
  }

  /** Takes in a peer's `time`. Returns false, and ignores it, when it is too far ahead of `now` or invalid. */
  hear(time: number, now: number): boolean {
    if (!(Number.isFinite(time) && time <= now + this.#skewMaxMs && time <= END_AT)) return false;
    // Rounded up to a whole step: our keys must come after those of the step that was heard.
    this.#time = Math.max(this.#time, Math.ceil(time * COUNTS) / COUNTS);
    return true;
  }

  /** What peers are told: milliseconds since 1970, with a fraction that must not be cut off. */
  time(now: number): number {
    return Math.max(this.#time, Math.floor(now));
  }
}

/** The number of the node that gave a key out. */
export function nodeOfKey(key: number): number {
  return key % NODES;
}

/** The millisecond since 1970 in which a key was given out, by the clock of the node that did. */
export function timeOfKey(key: number): number {
  return EPOCH_AT + Math.floor(key / KEYS_PER_MS);
}

/** The smallest key that a node can give out in the millisecond `at`. */
export function keyAt({ at, node }: { at: number; node: number }): number {
  return keyOf(Math.floor(at), checkedNode(node));
}

function keyOf(time: number, node: number): number {
  if (!(time >= EPOCH_AT && time < END_AT + 1))
    throw new RangeError(`there are no order keys for the time ${time}, only from ${EPOCH_AT} to ${END_AT}`);
  return (time - EPOCH_AT) * KEYS_PER_MS + node;
}

function checkedNode(node: number): number {
  if (Number.isInteger(node) && node >= 0 && node < NODES) return node;
  throw new RangeError(`node number ${node} is not a whole number from 0 to ${NODES - 1}`);
}
