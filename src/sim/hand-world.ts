/**
 * A world for tests and the simulator: time passes only when told, timers fire in order as it passes, and random numbers come
 * from a seed.
 */
import { Deadlines } from "../core/deadlines.ts";
import type { Log, World } from "../core/world.ts";

export interface LogEntry {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

export interface HandWorld extends World {
  readonly logged: LogEntry[];
  /** Lets time pass, and fires every timer that is due, each at its own instant. */
  pass(ms: number): void;
}

interface Timer {
  at: number;
  readonly periodMs: number | null;
  readonly work: () => void;
  isStopped: boolean;
}

export function handWorld(options: { now?: number; seed?: number; dice?: () => number } = {}): HandWorld {
  let now = options.now ?? Date.UTC(2026, 5, 1, 10);
  const fraction = options.dice ?? seededFraction(options.seed ?? 1);
  const due = new Deadlines<Timer>();
  const logged: LogEntry[] = [];

  function start(delayMs: number, periodMs: number | null, work: () => void): () => void {
    const timer: Timer = { at: now + delayMs, periodMs, work, isStopped: false };
    due.add(timer.at, timer);
    return () => {
      timer.isStopped = true;
    };
  }

  function pass(ms: number): void {
    const until = now + ms;
    for (let timer = due.takeDue(until); timer; timer = due.takeDue(until)) {
      if (timer.isStopped) continue;
      now = timer.at;
      if (timer.periodMs !== null) {
        timer.at += timer.periodMs;
        due.add(timer.at, timer);
      }
      timer.work();
    }
    now = until;
  }

  const write = (level: keyof Log) => (fields: object, message: string) =>
    logged.push({ level, fields, message });
  return {
    clock: { now: () => now },
    random: { bytes: (length) => Uint8Array.from({ length }, () => Math.floor(fraction() * 256)), fraction },
    timers: {
      every: (periodMs, work) => start(periodMs, periodMs, work),
      after: (delayMs, work) => start(delayMs, null, work),
    },
    log: { debug: write("debug"), info: write("info"), warn: write("warn"), error: write("error") },
    logged,
    pass,
  };
}

/** A repeatable random source: the same seed gives the same numbers (mulberry32). */
export function seededFraction(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
