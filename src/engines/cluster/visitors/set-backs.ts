/**
 * Places that missed a turn (core/missed-turns.ts), and their numbers in the line. A place keeps its key; its number is one
 * between the keys of others, right behind the place it was put behind and all that were put there before.
 *
 * The report with the most missed turns is right, so logs may be read in any order. Reports are kept apart from places, since a
 * place may be told of after its missed turns.
 *
 * Keys are `time · 64 + node number`, so there are 63 whole numbers between two keys that one node gives out in a row. The
 * remainders by 64 that are no member's number are shared out among the members: no two nodes give out the same number, and none
 * gives out a key. In a cluster with nearly all node numbers in use, a node uses its own remainder where it is free.
 */
const NODES = 64;

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
  readonly #places = new Map<number, SetBackPlace>();
  readonly #keys = new Map<number, number>();
  readonly #last = new Map<number, number>();
  /** By remainder: whether this node may give the number out. */
  #isOwn = restsOf(0, [0]);

  /** This node's number, and those of all members, lost ones included. */
  share(node: number, nodes: readonly number[]): void {
    this.#isOwn = restsOf(node, nodes);
  }

  /** The key of the place with that number in the line. */
  keyOf(sequence: number): number {
    return this.#keys.get(sequence) ?? sequence;
  }

  /** An unused number behind that one. */
  next(behind: number, isTaken: (sequence: number) => boolean): number {
    let sequence = Math.max(behind, this.#last.get(behind) ?? behind);
    do sequence = Math.floor(sequence) + 1;
    while (!this.#isOwn[sequence % NODES] || this.#keys.has(sequence) || isTaken(sequence));
    return sequence;
  }

  get(key: number): SetBackPlace | undefined {
    return this.#places.get(key);
  }

  /** Takes in a report. Returns the place's new position, or null when a later one is known. */
  tell(key: number, told: SetBackPlace): SetBackPlace | null {
    const known = this.#places.get(key);
    if (known && !isMore(told, known)) return null;
    if (known) this.#keys.delete(known.sequence);
    let { sequence } = told;
    // No number is given out twice; if one is reported twice all the same, the second moves on.
    while (this.#keys.has(sequence)) sequence++;
    const { behind } = told;
    const setBack = { ...told, sequence };
    this.#places.set(key, setBack);
    this.#keys.set(sequence, key);
    this.#last.set(behind, Math.max(sequence, this.#last.get(behind) ?? behind));
    return setBack;
  }

  /** The place is over, or no ticket can refer to it any more. */
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

/** The remainders for one node: every n-th of those that are no member's number. */
function restsOf(node: number, nodes: readonly number[]): boolean[] {
  const members = [...new Set([node, ...nodes])].sort((a, b) => a - b);
  const rests = new Array<boolean>(NODES).fill(false);
  let free = 0;
  for (let rest = 0; rest < NODES; rest++)
    if (!members.includes(rest)) rests[rest] = free++ % members.length === members.indexOf(node);
  if (!rests.includes(true)) rests[node] = true;
  return rests;
}
