/**
 * Wakes objects at their alarms. The disk keeps an alarm until its handler has finished, so it survives the process. A handler
 * that fails is called again, after a delay that doubles.
 */
import { Deadlines } from "../core/deadlines.ts";
import type { World } from "../core/world.ts";
import type { ObjectName } from "./disk.ts";

const FIRST_RETRY_MS = 2_000;
const RETRY_MS_MAX = 300_000;
/** Timers cannot be set for much more than three weeks; for a later alarm this one is set again. */
const TIMER_MS_MAX = 86_400_000;

interface Alarm {
  readonly object: ObjectName;
  at: number | null;
  /** The time in the heap of deadlines: the alarm's own, or an earlier one. */
  queuedAt: number | null;
  failures: number;
  isFiring: boolean;
}

export interface AlarmParts {
  readonly world: World;
  /** Calls the handler; resolves to false when it failed. */
  readonly fire: (object: ObjectName, at: number) => Promise<boolean>;
  /** The alarm on the disk. */
  readonly stored: (object: ObjectName) => number | null;
}

export class AlarmClock {
  readonly #parts: AlarmParts;
  readonly #alarms = new Map<string, Alarm>();
  readonly #due = new Deadlines<readonly [alarm: Alarm, at: number]>();
  #stopTimer: () => void = () => {};
  #timerAt = Number.POSITIVE_INFINITY;
  #isClosed = false;

  constructor(parts: AlarmParts) {
    this.#parts = parts;
  }

  set(object: ObjectName, at: number | null): void {
    if (at === null && !this.#alarms.has(keyOf(object))) return;
    const alarm = this.#alarmOf(object);
    alarm.at = at;
    alarm.failures = 0;
    if (at !== null) this.#queue(alarm, at);
  }

  /** The object was restarted: an alarm that was set but not stored is forgotten. */
  reload(object: ObjectName): void {
    const alarm = this.#alarms.get(keyOf(object));
    if (!alarm) return;
    try {
      alarm.at = this.#parts.stored(object);
    } catch {
      // The store is broken; its owner learns that elsewhere.
      alarm.at = null;
    }
    if (alarm.at !== null && !alarm.isFiring) this.#queue(alarm, alarm.at);
  }

  close(): void {
    this.#isClosed = true;
    this.#stopTimer();
  }

  #alarmOf(object: ObjectName): Alarm {
    const key = keyOf(object);
    let alarm = this.#alarms.get(key);
    if (!alarm) {
      alarm = { object, at: null, queuedAt: null, failures: 0, isFiring: false };
      this.#alarms.set(key, alarm);
    }
    return alarm;
  }

  #queue(alarm: Alarm, at: number): void {
    if (alarm.queuedAt !== null && alarm.queuedAt <= at) return;
    alarm.queuedAt = at;
    this.#due.add(at, [alarm, at]);
    this.#setTimer(at);
  }

  #setTimer(at: number): void {
    if (this.#isClosed || at >= this.#timerAt) return;
    this.#stopTimer();
    const { clock, timers } = this.#parts.world;
    const delayMs = Math.min(Math.max(0, at - clock.now()), TIMER_MS_MAX);
    this.#timerAt = at;
    this.#stopTimer = timers.after(delayMs, () => this.#wake());
  }

  #wake(): void {
    this.#timerAt = Number.POSITIVE_INFINITY;
    const now = this.#parts.world.clock.now();
    for (let item = this.#due.takeDue(now); item; item = this.#due.takeDue(now)) this.#lookAt(item, now);
    const next = this.#due.takeDue(Number.POSITIVE_INFINITY);
    if (!next) return;
    this.#due.add(next[1], next);
    this.#setTimer(next[1]);
  }

  #lookAt([alarm, at]: readonly [Alarm, number], now: number): void {
    if (alarm.queuedAt !== at) return;
    alarm.queuedAt = null;
    if (alarm.isFiring) return;
    if (alarm.at === null) this.#forget(alarm);
    else if (alarm.at <= now) void this.#fire(alarm, alarm.at);
    else this.#queue(alarm, alarm.at);
  }

  #forget(alarm: Alarm): void {
    if (alarm.queuedAt === null) this.#alarms.delete(keyOf(alarm.object));
  }

  async #fire(alarm: Alarm, at: number): Promise<void> {
    alarm.isFiring = true;
    const failuresBefore = alarm.failures;
    const isThrough = await this.#parts.fire(alarm.object, at);
    alarm.isFiring = false;
    if (this.#isClosed) return;
    if (alarm.at === null) return this.#forget(alarm);
    if (isThrough || alarm.at !== at) return this.#queue(alarm, alarm.at);
    alarm.failures = failuresBefore + 1;
    const delayMs = Math.min(FIRST_RETRY_MS * 2 ** failuresBefore, RETRY_MS_MAX);
    this.#queue(alarm, this.#parts.world.clock.now() + delayMs);
  }
}

const keyOf = ({ className, name }: ObjectName): string => `${className}\0${name}`;
