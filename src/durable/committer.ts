/**
 * Group commit. Every write since the last commit, whichever object made it, goes to disk in one transaction and one
 * sync; those who wait for it are told after the sync.
 *
 *   idle ──first write──▶ gathering ──end of this turn of the event loop──▶ commit ──▶ syncing ──▶ upkeep? ──▶ idle
 *                             ▲                                                 writes gather meanwhile │
 *                             └─────────────────────────── if there are any ◀──────────────────────────┘
 *
 * A commit never happens in the middle of running code, so writes with no `await` between them are never split. When a
 * commit fails nothing of it is kept and its writers are told. When a sync fails nobody knows what is on the disk (the
 * system may have dropped the pages and will say "done" to the next sync), so the store is broken for good.
 */
import { type Changes, type Disk, isForGood } from "./disk.ts";
import { broken, closed, problemOf, type StoreProblem } from "./problem.ts";

/**
 * Limit of bytes that are not on disk yet; beyond it, writers wait. It also limits how long one commit keeps the event loop busy:
 * some tens of milliseconds.
 */
const UNWRITTEN_BYTES_MAX = 4 * 2 ** 20;

/** An object that has something to write. */
export interface Writer {
  takeChanges(): Changes;
  committed(): void;
  confirmed(group: Group): void;
  lost(problem: StoreProblem): void;
}

export interface Waiter {
  confirmed(): void;
  lost(problem: StoreProblem): void;
}

/** Writes that go to disk together. */
export class Group {
  readonly writers: Writer[] = [];
  readonly waiters: Waiter[] = [];
}

export interface CommitterCounts {
  groups: number;
  /** How many answers, calls and syncs waited for a group. */
  waited: number;
}

export class Committer {
  readonly #disk: Disk;
  readonly #unwrittenBytesMax: number;
  readonly counts: CommitterCounts = { groups: 0, waited: 0 };
  /** Settles when the store is broken for good. */
  readonly broken: Promise<StoreProblem>;
  #tellBroken!: (problem: StoreProblem) => void;
  #gathering = new Group();
  #syncing: Group | null = null;
  #isBusy = false;
  #unwrittenBytes = 0;
  #end: StoreProblem | null = null;

  constructor(disk: Disk, options: { unwrittenBytesMax?: number } = {}) {
    this.#disk = disk;
    this.#unwrittenBytesMax = options.unwrittenBytesMax ?? UNWRITTEN_BYTES_MAX;
    this.broken = new Promise((resolve) => {
      this.#tellBroken = resolve;
    });
  }

  /** Why nothing can be written any more; null when all is well. */
  get end(): StoreProblem | null {
    return this.#end;
  }

  get isFull(): boolean {
    return this.#unwrittenBytes > this.#unwrittenBytesMax;
  }

  grow(bytes: number): void {
    this.#unwrittenBytes += bytes;
  }

  /** Adds a writer to the group that is gathering, unless it is the writer's `last` one already. */
  join(writer: Writer, last: Group | null): Group {
    const group = this.#gathering;
    if (last === group) return group;
    group.writers.push(writer);
    if (!this.#isBusy) this.#schedule();
    return group;
  }

  /** Resolves when all that was written so far is on disk or lost. */
  flush(): Promise<void> {
    const group = this.#gathering.writers.length > 0 ? this.#gathering : this.#syncing;
    if (!group || this.#end) return Promise.resolve();
    return new Promise((resolve) => group.waiters.push({ confirmed: resolve, lost: () => resolve() }));
  }

  /** Stops writing. What was not flushed is lost. */
  close(directory: string): void {
    if (!this.#end) this.#endWith(closed(directory));
  }

  /** The store is broken: nothing more is read or written. */
  break(problem: StoreProblem): void {
    if (this.#end) return;
    this.#endWith(problem);
    this.#tellBroken(problem);
  }

  #endWith(problem: StoreProblem): void {
    this.#end = problem;
    const groups = this.#syncing ? [this.#syncing, this.#gathering] : [this.#gathering];
    this.#gathering = new Group();
    for (const group of groups) lose(group, problem);
  }

  #schedule(): void {
    this.#isBusy = true;
    setImmediate(() => this.#commit());
  }

  #commit(): void {
    if (this.#end) return;
    const group = this.#gathering;
    this.#gathering = new Group();
    this.#unwrittenBytes = 0;
    try {
      this.#disk.commit(group.writers.map((writer) => writer.takeChanges()));
    } catch (error) {
      this.#fail(group, problemOf(this.#disk.file, error));
      return;
    }
    this.counts.groups++;
    this.#syncing = group;
    for (const writer of group.writers) writer.committed();
    this.#disk.sync((failure) => {
      if (failure) this.break(broken(this.#disk.file, failure));
      else this.#confirm(group);
    });
  }

  #fail(group: Group, problem: StoreProblem): void {
    lose(group, problem);
    if (isForGood(problem)) this.break(problem);
    else this.#next();
  }

  #confirm(group: Group): void {
    this.#syncing = null;
    if (this.#end) return;
    this.counts.waited += group.waiters.length;
    for (const writer of group.writers) writer.confirmed(group);
    for (const waiter of group.waiters) waiter.confirmed();
    const pause = this.#disk.upkeep();
    if (pause) pause.then(() => this.#next());
    else this.#next();
  }

  #next(): void {
    if (this.#end) return;
    if (this.#gathering.writers.length > 0) this.#schedule();
    else this.#isBusy = false;
  }
}

function lose(group: Group, problem: StoreProblem): void {
  for (const writer of group.writers) writer.lost(problem);
  for (const waiter of group.waiters) waiter.lost(problem);
}
