/**
 * Places that missed a turn (core/missed-turns.ts), and their numbers in the line. A place stays known by its key; its number is
 * one between the keys of others, right behind the one it was put behind and all that were put there before.
 *
 * Whoever tells of the most missed turns is right, so it does not matter in which order nodes' logs are read; and it is kept beside
 * the places, since a place may be told of later than its missed turns.
 *
 * Keys are `time · 64 + slot`, so there are 63 whole numbers between two keys that one node gives out in a row. Those whose rest
 * by 64 is no member's slot are shared out among the members: no two nodes give out the same number, and none gives out a key.
 * Where members have nearly all slots, a node uses its own one, as far as nobody is there.
 */
const SLOTS = 64;

export interface SetBackPlace {
  /** Its number in the line. */
  readonly sequence: number;
  /** The key that it was put behind. */
  readonly behind: number;
  readonly missedTurns: number;
  /** When the turn that was missed last was given. */
  readonly missedAt: number;
}

export class SetBacks {
  /** By key. */
  readonly #places = new Map<number, SetBackPlace>();
  /** Their keys by number. */
  readonly #keys = new Map<number, number>();
  /** The last number that was given behind another. */
  readonly #last = new Map<number, number>();
  /** By the rest of a number: whether this node may give it out. */
  #isOwn = restsOf(0, [0]);

  /** This node's slot, and those of all members, lost ones as well. */
  share(slot: number, slots: readonly number[]): void {
    this.#isOwn = restsOf(slot, slots);
  }

  /** The key of the place with that number in the line. */
  keyOf(sequence: number): number {
    return this.#keys.get(sequence) ?? sequence;
  }

  /** A number behind that one that nobody has. */
  next(behind: number, isTaken: (sequence: number) => boolean): number {
    let sequence = Math.max(behind, this.#last.get(behind) ?? behind);
    do sequence = Math.floor(sequence) + 1;
    while (!this.#isOwn[sequence % SLOTS] || this.#keys.has(sequence) || isTaken(sequence));
    return sequence;
  }

  get(key: number): SetBackPlace | undefined {
    return this.#places.get(key);
  }

  /** A place was set back, as somebody tells. Gives how it is from now on; null when more is known already. */
  tell(key: number, told: SetBackPlace): SetBackPlace | null {
    const known = this.#places.get(key);
    if (known && !isMore(told, known)) return null;
    if (known) this.#keys.delete(known.sequence);
    let { sequence } = told;
    // Nobody gives out a number twice; should it be told twice all the same, one of them goes on.
    while (this.#keys.has(sequence)) sequence++;
    const { behind } = told;
    const setBack = { ...told, sequence };
    this.#places.set(key, setBack);
    this.#keys.set(sequence, key);
    this.#last.set(behind, Math.max(sequence, this.#last.get(behind) ?? behind));
    return setBack;
  }

  /** The place is over, or no ticket can be about it any more. */
  forget(key: number): void {
    const known = this.#places.get(key);
    if (!known) return;
    this.#places.delete(key);
    this.#keys.delete(known.sequence);
    if (this.#places.size === 0) this.#last.clear();
  }
}

function isMore(a: SetBackPlace, b: SetBackPlace): boolean {
  return a.missedTurns > b.missedTurns || (a.missedTurns === b.missedTurns && a.sequence > b.sequence);
}

/** Which rests by 64 are for the node with that slot: of those that are no member's, every so many-th. */
function restsOf(slot: number, slots: readonly number[]): boolean[] {
  const members = [...new Set([slot, ...slots])].sort((a, b) => a - b);
  const rests = new Array<boolean>(SLOTS).fill(false);
  let free = 0;
  for (let rest = 0; rest < SLOTS; rest++)
    if (!members.includes(rest)) rests[rest] = free++ % members.length === members.indexOf(slot);
  if (!rests.includes(true)) rests[slot] = true;
  return rests;
}
