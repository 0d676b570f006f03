/**
 * Durable objects in this process: objects with a name, one thread each, whose storage survives the process. Gates and
 * cache (Varda 2021) are described where they live: `input-gate.ts`, `committer.ts`, `object-cell.ts`, `object-values.ts`.
 *
 * An owner that is no class (an engine, say) takes a bare `state(name)` and waits for `storage.sync()` itself before it
 * tells anyone. If a write is lost, that state refuses everything from then on: what its owner holds in memory may be
 * ahead of the disk. `state(name)` then gives a fresh one.
 */
import type { World } from "../core/world.ts";
import { AlarmClock } from "./alarm-clock.ts";
import { Committer, type CommitterCounts } from "./committer.ts";
import type { Disk, StoredAlarm } from "./disk.ts";
import { InputGate, PromiseTurns } from "./input-gate.ts";
import { checkName } from "./limits.ts";
import { gatedEnv, type ObjectClass, ObjectNamespace } from "./object-namespace.ts";
import { makeState } from "./object-state.ts";
import { ObjectStorage } from "./object-storage.ts";
import { ObjectValues, type Store } from "./object-values.ts";
import type { StoreProblem } from "./problem.ts";
import { SqliteDisk } from "./sqlite-disk.ts";
import type { DurableState } from "./storage.ts";
import { ValueCache } from "./value-cache.ts";

export interface HostOptions {
  readonly world: World;
  /** Limit of bytes in memory of values that are on disk. */
  readonly cacheBytes?: number;
  /** Limit of bytes that are not on disk yet; beyond it, writers wait. */
  readonly unwrittenBytesMax?: number;
  /** How long an object's work may keep its other events waiting. */
  readonly blockedMsMax?: number;
}

export interface OpenOptions extends HostOptions {
  /** Created if missing. Only one process at a time can use it. */
  readonly directory: string;
  /** The log is copied into the database when it reaches this size. */
  readonly logBytes?: number;
  /** Most pages that the database may have: a full disk, for tests. */
  readonly pagesMax?: number;
}

export { StoreProblem } from "./problem.ts";

/** Objects that nobody called for one to two of these periods leave memory. */
export const IDLE_MS = 30_000;

/** The class of bare states: no class has this name. */
const BARE = "";

export class DurableHost {
  /** Settles when the store is broken for good (a failed sync, damage); never otherwise. */
  readonly broken: Promise<StoreProblem>;
  readonly #world: World;
  readonly #store: Store;
  readonly #turns = new PromiseTurns();
  readonly #alarms: AlarmClock;
  readonly #states = new Map<string, DurableState>();
  readonly #classes = new Map<string, ObjectNamespace<object>>();
  readonly #stored: StoredAlarm[];
  readonly #stopSweeping: () => void;
  readonly #blockedMsMax: number | undefined;
  #closing: Promise<void> | null = null;

  /** Opens the store in a directory. Throws a `StoreProblem` that says what is wrong and what to do. */
  static async open(options: OpenOptions): Promise<DurableHost> {
    const { directory, logBytes, pagesMax, world } = options;
    return new DurableHost(SqliteDisk.open({ directory, log: world.log, logBytes, pagesMax }), options);
  }

  /** Uses a given disk; `open` is the usual way. */
  constructor(disk: Disk, options: HostOptions) {
    this.#world = options.world;
    this.#blockedMsMax = options.blockedMsMax;
    const committer = new Committer(disk, options);
    this.#store = { disk, committer, cache: new ValueCache(options.cacheBytes) };
    this.broken = committer.broken;
    this.#alarms = new AlarmClock({
      world: options.world,
      stored: (object) => disk.alarm(object),
      fire: ({ className, name }, at) => this.#classes.get(className)!.cell(name).fireAlarm(at),
    });
    this.#stored = disk.alarms();
    this.#stopSweeping = options.world.timers.every(IDLE_MS, () => {
      for (const objects of this.#classes.values()) objects.sweep();
    });
  }

  /** How many writes shared a commit, for benches and metrics. */
  get counts(): Readonly<CommitterCounts> {
    return this.#store.committer.counts;
  }

  /** The state of one object, for an owner in this process that does not go through stubs. */
  state(name: string): DurableState {
    checkName(name);
    let state = this.#states.get(name);
    if (!state) {
      state = this.#bareState(name);
      this.#states.set(name, state);
    }
    return state;
  }

  /** The objects of a class: `get(name)` gives a stub with its methods. Alarms of the class ring from now on. */
  objects<T extends object, Env>(
    className: string,
    Class: ObjectClass<T, Env>,
    env: Env,
  ): ObjectNamespace<T> {
    checkName(className);
    if (this.#classes.has(className))
      throw new Error(`The class "${className}" has its objects already; use those, or give another name.`);
    const shared = {
      ...{ store: this.#store, turns: this.#turns, world: this.#world, alarms: this.#alarms },
      blockedMsMax: this.#blockedMsMax,
    };
    const objects = new ObjectNamespace<T>(
      className,
      shared,
      (state, outgoing) => new Class(state, gatedEnv(env, outgoing)),
      Class.prototype as T,
    );
    this.#classes.set(className, objects as unknown as ObjectNamespace<object>);
    for (const { object, alarmAt } of this.#stored)
      if (object.className === className) this.#alarms.set(object, alarmAt);
    return objects;
  }

  /** Writes everything to disk and releases the directory. Later calls of objects are refused. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { disk, committer } = this.#store;
    this.#alarms.close();
    this.#stopSweeping();
    await committer.flush();
    committer.close(disk.file);
    await disk.close();
  }

  #bareState(name: string): DurableState {
    const object = { className: BARE, name };
    const gate = new InputGate(this.#turns);
    const forget = () => {
      if (this.#states.get(name) === state) this.#states.delete(name);
    };
    const values = new ObjectValues(object, this.#store, (problem) => {
      forget();
      this.#world.log.error({ object: name, problem: problem.message }, "A write was lost.");
    });
    const { committer } = this.#store;
    const storage = new ObjectStorage({ values, committer, gate, onAlarm: null });
    // Its owner learns of it from this same promise and decides how to go on.
    const onBlockFailed = () => {};
    const parts = { object, storage, gate, world: this.#world };
    const state = makeState({ ...parts, onBlockFailed, onWork: () => {} });
    return state;
  }
}
