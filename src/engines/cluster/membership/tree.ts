/**
 * The spanning tree of a cluster, as a function of its members.
 *
 * Koopmans 2024 (section 4.7) changes a tree edge by edge and must prove after each change that it still is a tree. Here the node
 * numbers of the members are sorted and laid out like a heap with three children each: every node that knows the members
 * knows the tree, it is balanced, and no message is about an edge. The price is that one change of members can move many edges,
 * which costs nothing since the queue is rebuilt for each set of members anyway.
 *
 * Invariant: the same set of node numbers gives the same tree, in whatever order and however often each is listed.
 */
const FAN_OUT = 3;
const NODES_MAX = 64;

/** Asking about a number that is not a member's throws a RangeError, except in `has`. */
export interface Tree {
  /** The lowest node number. */
  readonly root: number;
  /** The number of edges from the root to the farthest member. */
  readonly depth: number;
  has(node: number): boolean;
  parentOf(node: number): number | null;
  childrenOf(node: number): readonly number[];
  /** The parent, if any, then the children. */
  neighboursOf(node: number): readonly number[];
  /** The neighbour of `from` on the way to `to`; `from` itself when they are the same. */
  towards(from: number, to: number): number;
}

/** The tree of these members, at least one. */
export function treeOf(nodes: readonly number[]): Tree {
  const members = [...new Set(nodes)].sort((a, b) => a - b);
  if (members.length === 0) throw new RangeError("a tree needs at least one member");
  const wrong = members.find((node) => !(Number.isInteger(node) && node >= 0 && node < NODES_MAX));
  if (wrong !== undefined)
    throw new RangeError(`node number ${wrong} is not a whole number from 0 to ${NODES_MAX - 1}`);
  return new HeapTree(members);
}

class HeapTree implements Tree {
  readonly root: number;
  readonly depth: number;
  readonly #members: readonly number[];
  readonly #indexes: ReadonlyMap<number, number>;
  readonly #children: readonly (readonly number[])[];
  readonly #neighbours: readonly (readonly number[])[];

  constructor(members: readonly number[]) {
    this.#members = members;
    this.#indexes = new Map(members.map((node, index) => [node, index]));
    this.#children = members.map((_, index) => members.slice(FAN_OUT * index + 1, FAN_OUT * (index + 1) + 1));
    this.#neighbours = members.map((_, index) =>
      index === 0 ? this.#children[0]! : [members[parentIndex(index)]!, ...this.#children[index]!],
    );
    this.root = members[0]!;
    this.depth = depthOf(members.length - 1);
  }

  has(node: number): boolean {
    return this.#indexes.has(node);
  }

  parentOf(node: number): number | null {
    const index = this.#indexOf(node);
    return index === 0 ? null : this.#members[parentIndex(index)]!;
  }

  childrenOf(node: number): readonly number[] {
    return this.#children[this.#indexOf(node)]!;
  }

  neighboursOf(node: number): readonly number[] {
    return this.#neighbours[this.#indexOf(node)]!;
  }

  towards(from: number, to: number): number {
    const start = this.#indexOf(from);
    let index = this.#indexOf(to);
    if (index === start) return from;
    // Below `from` every index is larger, so the climb from `to` either ends right under it or passes it by.
    while (parentIndex(index) > start) index = parentIndex(index);
    const isBelow = index > 0 && parentIndex(index) === start;
    return this.#members[isBelow ? index : parentIndex(start)]!;
  }

  #indexOf(node: number): number {
    const index = this.#indexes.get(node);
    if (index === undefined) throw new RangeError(`node number ${node} is not in the tree`);
    return index;
  }
}

function parentIndex(index: number): number {
  return Math.floor((index - 1) / FAN_OUT);
}

function depthOf(index: number): number {
  let depth = 0;
  for (; index > 0; index = parentIndex(index)) depth++;
  return depth;
}
