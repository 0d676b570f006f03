/**
 * QPID: many local queues that are one priority queue, on a spanning tree (Bajpai, Dhara, Krishnaswamy 2008;
 * Koopmans 2024, sections 3.3 and 4.3, builds a waiting room on it).
 *
 * Every node knows, for each neighbour, a weight: the smallest key beyond it. The node with the smallest key of all
 * is the root, and every other node has a pointer to the neighbour on the way there. `insert`, `update` and
 * `deleteMin` of the local queue are all `setWeight`. `findRoot` moves the root: while a neighbour's weight is
 * smaller than the own, the root is given to that neighbour. A root that nobody waits at any more therefore goes to
 * where people wait; when nobody waits anywhere, it stays.
 *
 * Koopmans' channels lose nothing. Ours lose, repeat and reorder: each edge has a state that is sent until it is
 * heard (qpid-edge.ts), and the root's moves are counts in that state.
 *
 * One root. Seen from one end, the root is beyond an edge when (1 if it began there) + given − taken is 1. What an
 * end has taken is never more than what the other has given, so the two ends' numbers always add up to 1 at least:
 * each of the n − 1 edges has a pointer along it, from one end or from both. Each of the n nodes has one pointer, or
 * is the root and has none. So at most one node is root, and when none is, exactly one edge has pointers from both
 * ends: that is where the root travels. This needs each node to start a view at most once: one that forgot all must
 * come back in a new view.
 *
 * Weights are told only towards the root, as in QPID (lazy updating), and along with the root when it is given.
 * So a node's table is right for all neighbours but the one its pointer is at, and the root, who alone decides, has
 * no such neighbour. A change costs two messages, state and answer, for each edge of the way to the root, as far as
 * it changes a minimum; a move of the root two for each edge it passes. Telling all neighbours would cost two for
 * each edge of the tree.
 */
import { type EdgeState, isEdgeState, NOBODY, QpidEdge } from "./qpid-edge.ts";

export type { EdgeState } from "./qpid-edge.ts";

/** One node's part of a tree that all nodes of a version agree on. */
export interface QpidView {
  /** Higher than that of any view before. */
  readonly version: number;
  readonly neighbours: readonly number[];
  /** The neighbour that the pointer starts at; null: the root starts here. */
  readonly towards: number | null;
}

export interface QpidOptions {
  /** A state that is not known to be heard is sent again after this long. */
  readonly resendMs: number;
}

export class Qpid {
  readonly #resendMs: number;
  #version: number | null = null;
  #edges: ReadonlyMap<number, QpidEdge> = new Map();
  #pointer: number | null = null;
  #weight = NOBODY;
  #memo: unknown = null;
  #isHeld = false;
  #now = 0;
  /** False after calls that do not tell the time. */
  #isNowKnown = false;

  constructor({ resendMs }: QpidOptions) {
    this.#resendMs = resendMs;
  }

  /** Begins a new tree: all is forgotten but the own weight. */
  start({ version, neighbours, towards }: QpidView, now: number): void {
    if (!Number.isSafeInteger(version) || version < 0 || version <= (this.#version ?? -1))
      throw new RangeError(
        `view ${version} cannot follow view ${this.#version}: each is started once, in order`,
      );
    if (towards !== null && !neighbours.includes(towards))
      throw new RangeError(`the pointer starts at ${towards}, who is not among the neighbours ${neighbours}`);
    this.#setNow(now);
    const edge = () => new QpidEdge({ view: version, resendMs: this.#resendMs });
    this.#version = version;
    this.#edges = new Map(neighbours.map((neighbour) => [neighbour, edge()]));
    this.#pointer = towards;
    this.#memo = null;
    this.#isHeld = false;
  }

  /** The smallest key of the local queue is now this; null: it is empty. */
  setWeight(weight: number | null): void {
    if (weight !== null && !Number.isFinite(weight))
      throw new RangeError(`a weight is a finite number or null, not ${weight}`);
    this.#isNowKnown = false;
    this.#weight = weight ?? NOBODY;
    this.#findRoot();
  }

  /** Takes in a message; what is malformed, from a stranger or of another view is ignored. */
  receive(from: number, body: unknown, now: number): void {
    this.#setNow(now);
    const edge = this.#edges.get(from);
    if (!edge || !isEdgeState(body) || body.view !== this.#version) return;
    if (edge.receive(body, this.#pointer === from)) {
      this.#pointer = null;
      this.#memo = body.memo ?? null;
    }
    this.#findRoot();
  }

  /** Sends again what was not heard in time. */
  tick(now: number): void {
    this.#setNow(now);
    for (const edge of this.#edges.values()) edge.tick(now);
  }

  /** When to tick next; an instant that is over means at once. */
  nextAt(): number {
    let nextAt = Number.POSITIVE_INFINITY;
    for (const edge of this.#edges.values()) nextAt = Math.min(nextAt, edge.nextAt());
    return Math.max(nextAt, this.#now);
  }

  /** What is to be sent since this was last asked: at most one message for each neighbour. */
  takeOutbox(): { to: number; body: EdgeState }[] {
    const outbox: { to: number; body: EdgeState }[] = [];
    this.#tellPointer();
    for (const [to, edge] of this.#edges) {
      const body = edge.takeMessage(this.#isNowKnown ? this.#now : null);
      if (body) outbox.push({ to, body });
    }
    return outbox;
  }

  /** Whether the root is here; never before the first view. */
  get isRoot(): boolean {
    return this.#version !== null && this.#pointer === null;
  }

  /** The neighbour on the way to the root; null when it is here. */
  get pointer(): number | null {
    return this.#pointer;
  }

  /** What travels with the root; null where the root is not. It is to be replaced, never changed in place. */
  get memo(): unknown {
    return this.#memo;
  }

  /** Without effect where the root is not. */
  set memo(memo: unknown) {
    if (this.isRoot) this.#memo = memo;
  }

  /** From now on the root is not passed on from here. A new view ends this. */
  hold(): void {
    this.#isHeld = true;
  }

  /** The root may be passed on again. */
  release(): void {
    this.#isNowKnown = false;
    this.#isHeld = false;
    this.#findRoot();
  }

  /** Smallest key in the whole tree as known here: right at the root when all is quiet, maybe old news elsewhere. */
  get deepMin(): number | null {
    const weight = this.#minBut(null);
    return weight === NOBODY ? null : weight;
  }

  #setNow(now: number): void {
    this.#now = now;
    this.#isNowKnown = true;
  }

  /** Keys are unique; should two be equal all the same, the root stays where it is. */
  #findRoot(): void {
    if (!this.isRoot || this.#isHeld) return;
    let least = this.#weight;
    for (const [neighbour, edge] of this.#edges) {
      if (edge.weight >= least) continue;
      least = edge.weight;
      this.#pointer = neighbour;
    }
    if (this.#pointer === null) return;
    this.#edges.get(this.#pointer)!.give(this.#memo);
    this.#memo = null;
  }

  #tellPointer(): void {
    if (this.#pointer === null) return;
    const edge = this.#edges.get(this.#pointer)!;
    edge.tell(this.#minBut(edge));
  }

  /** The smallest key here and beyond all edges but that one: what its other end is to know. */
  #minBut(left: QpidEdge | null): number {
    let least = this.#weight;
    for (const edge of this.#edges.values()) if (edge !== left) least = Math.min(least, edge.weight);
    return least;
  }
}
