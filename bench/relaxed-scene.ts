/**
 * The simulation of the relaxed queue in Lin and Liang 2020 (section 4), with the product's policy. A client adds one item, then
 * pops one, so the number of items is constant; the result is the index of each popped item among all items in order, its popped
 * element index (PEI). With several clients at once the next to act is drawn: an item is added and the shards are peeked at in
 * one step, and popped from in a later one. The same seed gives the same numbers.
 */
import {
  type ConcurrencyPolicy,
  type Dice,
  type PlannedPop,
  planPops,
  type Sight,
  shardsToPeek,
} from "../src/core/relaxed.ts";
import { seededFraction } from "../src/sim/hand-world.ts";

/**
 * When the client looks at shards: before it pops, before it adds, or never. It adds to the one whose first item is
 * the worst; the paper writes "with the highest top priority", which literally is the one whose first item is the best.
 */
export type Strategy = "peekBeforePop" | "peekBeforeAdd" | "peekBeforeAddByTheWord" | "noPeek";

export interface Scene {
  readonly shards: number;
  readonly peek: number;
  /** The constant number of items. */
  readonly lag: number;
  /** How many pops are recorded, after a warm-up of as many pops as there are items. */
  readonly pops: number;
  readonly clients?: number;
  readonly policy?: ConcurrencyPolicy;
  readonly strategy?: Strategy;
  readonly seed?: number;
}

/** The popped element indexes of a scene, in order. */
export class Peis {
  readonly #sorted: Uint32Array;

  constructor(indexes: Uint32Array) {
    this.#sorted = indexes.toSorted();
  }

  get mean(): number {
    return this.#sorted.reduce((sum, index) => sum + index, 0) / this.#sorted.length;
  }

  percentile(percent: number): number {
    return this.#sorted[Math.ceil((percent / 100) * this.#sorted.length) - 1]!;
  }

  /** How often exactly this item was popped, as a share. */
  share(index: number): number {
    return this.#sorted.reduce((count, one) => count + (one === index ? 1 : 0), 0) / this.#sorted.length;
  }
}

/** Priorities are whole numbers below this, each at most once at a time, so that every index is unique. */
const PRIORITIES = 2 ** 20;

/** Plays a scene to its end. */
export function play(scene: Scene): Peis {
  const crowd = new Crowd(scene);
  const plans: (PlannedPop | null)[] = new Array(scene.clients ?? 1).fill(null);
  const dice = crowd.dice;
  while (!crowd.isDone) {
    const client = Math.floor(dice() * plans.length);
    const plan = plans[client]!;
    plans[client] = plan ? crowd.pop(plan) : crowd.addAndPeek();
  }
  return new Peis(crowd.indexes);
}

/** The shards, and the rank of every item among all. */
class Crowd {
  readonly dice: Dice;
  readonly indexes: Uint32Array;
  readonly #scene: Scene;
  readonly #shards: readonly Heap[];
  readonly #numbers: readonly number[];
  readonly #ranks = new Ranks(PRIORITIES);
  #popped: number;

  constructor(scene: Scene) {
    this.#scene = scene;
    this.dice = seededFraction(scene.seed ?? 1);
    this.indexes = new Uint32Array(scene.pops);
    this.#shards = Array.from({ length: scene.shards }, () => new Heap());
    this.#numbers = [...this.#shards.keys()];
    this.#popped = -scene.lag;
    for (let i = 0; i < scene.lag; i++) this.#add();
  }

  get isDone(): boolean {
    return this.#popped >= this.indexes.length;
  }

  addAndPeek(): PlannedPop | null {
    this.#add();
    const isPeeking = (this.#scene.strategy ?? "peekBeforePop") === "peekBeforePop";
    const pick = shardsToPeek(this.#numbers, isPeeking ? this.#scene.peek : 1, this.dice);
    const seen: Sight = new Map(pick.map((shard) => [shard, this.#keysOf(shard)]));
    return planPops(seen, [pick], this.#scene.policy ?? "plain")[0] ?? null;
  }

  pop({ shard, unlessWorseThan, otherwise }: PlannedPop): null {
    const first = this.#shards[shard]!.first;
    const isTaken = first !== undefined && !(unlessWorseThan && first > unlessWorseThan.priority);
    const from = isTaken ? shard : otherwise;
    const priority = from === null ? undefined : this.#shards[from]!.pop();
    if (priority === undefined) return null;
    const index = this.#ranks.remove(priority);
    if (this.#popped >= 0 && !this.isDone) this.indexes[this.#popped] = index;
    this.#popped++;
    return null;
  }

  #add(): void {
    let priority: number;
    do priority = Math.floor(this.dice() * PRIORITIES);
    while (!this.#ranks.add(priority));
    this.#shards[this.#shardToAddTo()]!.push(priority);
  }

  #shardToAddTo(): number {
    const { strategy = "peekBeforePop", peek } = this.#scene;
    if (!strategy.startsWith("peekBeforeAdd")) return Math.floor(this.dice() * this.#numbers.length);
    const pick = shardsToPeek(this.#numbers, peek, this.dice);
    const sign = strategy === "peekBeforeAdd" ? 1 : -1;
    const firstOf = (shard: number) => sign * (this.#shards[shard]!.first ?? PRIORITIES);
    return pick.reduce((chosen, shard) => (firstOf(shard) > firstOf(chosen) ? shard : chosen));
  }

  #keysOf(shard: number) {
    const priority = this.#shards[shard]!.first;
    return priority === undefined ? [] : [{ priority, id: "" }];
  }
}

/** Numbers, the lowest first. */
class Heap {
  readonly #numbers: number[] = [];

  get first(): number | undefined {
    return this.#numbers[0];
  }

  push(number: number): void {
    let at = this.#numbers.push(number) - 1;
    for (let above = (at - 1) >> 1; at > 0 && this.#numbers[above]! > number; above = (at - 1) >> 1) {
      this.#numbers[at] = this.#numbers[above]!;
      at = above;
    }
    this.#numbers[at] = number;
  }

  pop(): number | undefined {
    const [first] = this.#numbers;
    const last = this.#numbers.pop();
    if (last !== undefined && this.#numbers.length > 0) this.#sink(last);
    return first;
  }

  #sink(number: number): void {
    const numbers = this.#numbers;
    let at = 0;
    for (let below = 1; below < numbers.length; below = 2 * at + 1) {
      if (below + 1 < numbers.length && numbers[below + 1]! < numbers[below]!) below++;
      if (numbers[below]! >= number) break;
      numbers[at] = numbers[below]!;
      at = below;
    }
    numbers[at] = number;
  }
}

/** A set of whole numbers that knows how many are below each: a Fenwick tree. */
class Ranks {
  readonly #sums: Int32Array;
  readonly #isIn: Uint8Array;

  constructor(below: number) {
    this.#sums = new Int32Array(below + 1);
    this.#isIn = new Uint8Array(below);
  }

  /** False when it is there already. */
  add(number: number): boolean {
    if (this.#isIn[number]) return false;
    this.#isIn[number] = 1;
    this.#change(number, 1);
    return true;
  }

  /** How many were below it. */
  remove(number: number): number {
    this.#isIn[number] = 0;
    this.#change(number, -1);
    let below = 0;
    for (let at = number; at > 0; at &= at - 1) below += this.#sums[at]!;
    return below;
  }

  #change(number: number, by: number): void {
    for (let at = number + 1; at < this.#sums.length; at += at & -at) this.#sums[at]! += by;
  }
}
