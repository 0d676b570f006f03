/**
 * QPID: many local queues that form one priority queue, on a spanning tree (Bajpai, Dhara, Krishnaswamy 2008; Koopmans 2024,
 * sections 3.3 and 4.3, builds a waiting room on it).
 *
 * For each neighbour a node knows a weight: the smallest key beyond it. The node with the smallest key of all is the root; every
 * other node has a pointer to the neighbour on the way there. The paper's `insert`, `update` and `deleteMin` of the local queue
 * are all `setWeight` here. `findRoot` moves the root: while a neighbour's weight is smaller than its own, the root is given to
 * that neighbour. So a root with nobody waiting goes where people wait; when nobody waits anywhere, it stays.
 *
 * Koopmans' channels lose nothing. Ours lose, repeat and reorder, so each edge has a state that is sent until it is acknowledged
 * (qpid-edge.ts), and the root's moves are counts in that state.
 *
 * One root: seen from one end, the root is beyond an edge when (1 if it began there) + given − taken is 1. An end has never taken
 * more than the other has given, so the two ends' numbers add up to at least 1: each of the n − 1 edges has a pointer along it,
 * from one end or from both. Each of the n nodes has one pointer, or is the root and has none. So at most one node is root, and
 * when none is, exactly one edge has pointers from both ends: that is where the root travels. This needs each node to start a
 * view at most once: a node that forgot everything must come back in a new view.
 *
 * Weights are told only towards the root, as in QPID (lazy updating), and along with the root when it is given. So a node's table
 * is right for all neighbours but the one its pointer leads to, and the root, which alone decides, has no such neighbour. A
 * change costs two messages (state and answer) for each edge on the way to the root, as far as it changes a minimum; a move of
 * the root costs two for each edge it passes.
 */
import { type EdgeState, isEdgeState, NOBODY, QpidEdge } from "./qpid-edge.ts";

export type { EdgeState } from "./qpid-edge.ts";

/** One node's part of the tree of a view. */
export interface QpidView {
  /** Higher than that of any earlier view. */
  readonly version: number;
  readonly neighbours: readonly number[];
  /** The neighbour that the pointer starts at; null: the root starts here. */
  readonly towards: number | null;
}

export interface QpidOptions {
  /** A state that was not acknowledged is sent again after this long. */
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
  /** False after calls without a time. */
  #isNowKnown = false;

  constructor({ resendMs }: QpidOptions) {
    this.#resendMs = resendMs;
  }

  /** Begins a new tree and forgets everything but this node's weight. */
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

  /** Sets the smallest key of the local queue; null when it is empty. */
  setWeight(weight: number | null): void {
    if (weight !== null && !Number.isFinite(weight))
      throw new RangeError(`a weight is a finite number or null, not ${weight}`);
    this.#isNowKnown = false;
    this.#weight = weight ?? NOBODY;
    this.#findRoot();
  }

  /** Takes in a message; ignores one that is malformed, from a stranger or of another view. */
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

  /** Sends again what was not acknowledged in time. */
  tick(now: number): void {
    this.#setNow(now);
    for (const edge of this.#edges.values()) edge.tick(now);
  }

  /** When to tick next; an instant in the past means at once. */
  nextAt(): number {
    let nextAt = Number.POSITIVE_INFINITY;
    for (const edge of this.#edges.values()) nextAt = Math.min(nextAt, edge.nextAt());
    return Math.max(nextAt, this.#now);
  }

  /** Takes what is to be sent: at most one message for each neighbour. */
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

  /** What travels with the root; null elsewhere. Replace it, never change it in place. */
  get memo(): unknown {
    return this.#memo;
  }

  /** Has no effect on a node that is not the root. */
  set memo(memo: unknown) {
    if (this.isRoot) this.#memo = memo;
  }

  /** Keeps the root here until `release` or a new view. */
  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isNowKnown = false;
    this.#isHeld = false;
    this.#findRoot();
  }

  /** Smallest key of the whole tree as known here: exact at the root when all is quiet, possibly outdated elsewhere. */
  get deepMin(): number | null {
    const weight = this.#minBut(null);
    return weight === NOBODY ? null : weight;
  }

  #setNow(now: number): void {
    this.#now = now;
    this.#isNowKnown = true;
  }

  /** Keys are unique; if two were equal all the same, the root would stay. */
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

  /** The smallest key here and beyond all edges but that one. */
  #minBut(left: QpidEdge | null): number {
    let least = this.#weight;
    for (const edge of this.#edges.values()) if (edge !== left) least = Math.min(least, edge.weight);
    return least;
  }
}
