/**
 * One object of a class: its line of events, and its life. A life is an instance with its storage; it begins with the
 * first event and ends when a write is lost, and the next event begins another from what is on disk.
 *
 *   call ──▶ input gate ──▶ method ──▶ output gate (its writes are on disk) ──▶ answer
 *                             │ env.something()                 └─ a write was lost ──▶ error
 *                             ▼
 *            output gate ──▶ the world ──▶ input gate ──▶ method goes on
 */
import type { World } from "../core/world.ts";
import type { AlarmClock } from "./alarm-clock.ts";
import type { ObjectName } from "./disk.ts";
import { InputGate, type PromiseTurns } from "./input-gate.ts";
import { makeState } from "./object-state.ts";
import { ObjectStorage } from "./object-storage.ts";
import { ObjectValues, type Store } from "./object-values.ts";
import type { DurableState } from "./storage.ts";

/** Waits for the object's output gate, does the work, and returns through its input gate. */
export type Outgoing = <R>(work: () => R) => Promise<Awaited<R>>;

export interface CellParts {
  readonly object: ObjectName;
  readonly store: Store;
  readonly turns: PromiseTurns;
  readonly world: World;
  readonly alarms: AlarmClock;
  readonly make: (state: DurableState, outgoing: Outgoing) => object;
  readonly hasAlarm: boolean;
  readonly blockedMsMax?: number | undefined;
}

interface Life {
  readonly values: ObjectValues;
  readonly storage: ObjectStorage;
  readonly instance: Record<string, (...args: unknown[]) => unknown>;
}

type Settle = (value: unknown) => void;

export class ObjectCell {
  readonly #parts: CellParts;
  readonly #gate: InputGate;
  #life: Life | null = null;
  /** Events, outgoing calls and unawaited work that have not finished. */
  #open = 0;
  #isUsed = true;

  constructor(parts: CellParts) {
    this.#parts = parts;
    this.#gate = new InputGate(parts.turns);
  }

  /** Calls a method as an event of the object. `firingAt`: the method is the handler of the alarm set for that instant. */
  call(method: string, args: readonly unknown[], firingAt: number | null = null): Promise<unknown> {
    this.#isUsed = true;
    return new Promise((resolve, reject) => {
      const event = {
        run: () => {
          const life = this.#enter(event);
          if (!life) return;
          this.#open++;
          if (firingAt !== null) life.storage.firingAt = firingAt;
          const done = (value: unknown) => {
            if (firingAt !== null) life.storage.finishAlarm(firingAt);
            this.#answer(life, { resolve, reject, value });
          };
          const failed = (error: unknown) => {
            if (firingAt !== null) life.storage.firingAt = null;
            this.#answer(life, { resolve: reject, reject, value: error });
          };
          invoke(life, method, args, done, failed);
        },
        fail: reject,
      };
      this.#gate.enter(event);
    });
  }

  /** Ends the life of an object that was not called since the last time this was asked; false when it was. */
  leaveIfIdle(): boolean {
    const wasUsed = this.#isUsed;
    this.#isUsed = false;
    if (wasUsed || this.#open > 0 || !this.#gate.isQuiet) return false;
    if (!this.#life) return true;
    if (!this.#life.values.isConfirmed) return false;
    this.#life.values.leave();
    this.#life = null;
    return true;
  }

  /** Calls `alarm()`. True when it succeeded and what it wrote is on disk. */
  async fireAlarm(at: number): Promise<boolean> {
    try {
      await this.call("alarm", [], at);
      return true;
    } catch (error) {
      const { className, name } = this.#parts.object;
      this.#parts.world.log.error(
        { class: className, object: name, err: error },
        "An alarm failed; it is tried again.",
      );
      return false;
    }
  }

  /** The life that the event enters; null when it has to wait or has failed. */
  #enter(event: { run(): void; fail: Settle }): Life | null {
    if (this.#life) return this.#life;
    try {
      this.#life = this.#begin();
    } catch (error) {
      event.fail(error);
      return null;
    }
    // The constructor may have blocked the gate to load what it needs.
    if (!this.#gate.isLocked) return this.#life;
    this.#gate.putBack(event);
    return null;
  }

  #begin(): Life {
    const { object, store, world, make, alarms, hasAlarm, blockedMsMax } = this.#parts;
    const values = new ObjectValues(object, store, () => this.#end(values));
    values.checkAlive();
    const onAlarm = hasAlarm ? (at: number | null) => alarms.set(object, at) : null;
    const storage = new ObjectStorage({ values, committer: store.committer, gate: this.#gate, onAlarm });
    const onBlockFailed = (error: unknown) => this.#retire(values, error);
    const onWork = (change: 1 | -1) => {
      this.#open += change;
    };
    const state = makeState({
      ...{ object, storage, gate: this.#gate, world, onBlockFailed, onWork, blockedMsMax },
    });
    const instance = make(state, (work) => this.#outgoing(values, work)) as Life["instance"];
    return { values, storage, instance };
  }

  /** An answer leaves when the writes before it are on disk. */
  #answer(life: Life, { resolve, reject, value }: { resolve: Settle; reject: Settle; value: unknown }): void {
    this.#open--;
    life.values.whenConfirmed({ confirmed: () => resolve(value), lost: reject });
  }

  #outgoing<R>(values: ObjectValues, work: () => R): Promise<Awaited<R>> {
    this.#open++;
    return new Promise((resolve, reject) => {
      const back = this.#gate.wayBack();
      const comeBack = (settle: () => void) => {
        this.#open--;
        back({ run: settle, fail: reject });
      };
      const leave = async () => {
        try {
          const result = await work();
          comeBack(() => resolve(result));
        } catch (error) {
          comeBack(() => reject(error));
        }
      };
      const lost = (problem: unknown) => {
        this.#open--;
        reject(problem);
      };
      values.whenConfirmed({ confirmed: leave, lost });
    });
  }

  #end(values: ObjectValues): void {
    if (this.#life?.values !== values) return;
    this.#life = null;
    this.#gate.reset();
    if (this.#parts.hasAlarm) this.#parts.alarms.reload(this.#parts.object);
  }

  #retire(values: ObjectValues, error: unknown): void {
    if (this.#life && this.#life.values !== values) return;
    this.#life = null;
    this.#gate.reset();
    const open = this.#gate.lock();
    values.retire(error, open);
    this.#gate.failAll(error);
  }
}

function invoke(life: Life, method: string, args: readonly unknown[], done: Settle, failed: Settle): void {
  try {
    const result = life.instance[method]!(...args);
    if (result instanceof Promise) result.then(done, failed);
    else done(result);
  } catch (error) {
    failed(error);
  }
}
