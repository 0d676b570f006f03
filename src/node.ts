/**
 * The world as Node has it: the machine's clock, its dice, its timers, and a log of JSON lines. Made by entry points
 * only, and handed to everything else.
 */
import { randomFillSync } from "node:crypto";
import pino from "pino";
import type { Log, World } from "./core/world.ts";

const POOL_BYTES = 4_096;

export interface NodeWorldOptions {
  readonly level?: "debug" | "info" | "warn" | "error" | "silent";
  readonly log?: Log;
  /** What takes the lines of the log; standard output, waited for, when left out. */
  readonly output?: { write(line: string): void };
}

export function nodeWorld(options: NodeWorldOptions = {}): World {
  return {
    clock: { now: steadyNow() },
    random: { bytes: pooledBytes(), fraction: Math.random },
    timers: {
      every: (periodMs, work) => {
        const timer = setInterval(work, periodMs).unref();
        return () => clearInterval(timer);
      },
      after: (delayMs, work) => {
        // At the end of this turn: a timer would be one more wake-up, a millisecond later.
        if (delayMs === 0) {
          const soon = setImmediate(work).unref();
          return () => clearImmediate(soon);
        }
        const timer = setTimeout(work, delayMs).unref();
        return () => clearTimeout(timer);
      },
    },
    log: options.log ?? newLog(options),
  };
}

function newLog({ level = "info", output }: NodeWorldOptions): Log {
  const options = { level, base: null };
  return output ? pino(options, output) : pino(options);
}

/** The wall clock, held still when it is set back, so that nobody who comes later gets an earlier time. */
function steadyNow(): () => number {
  let last = 0;
  return () => {
    const now = Date.now();
    if (now > last) last = now;
    return last;
  };
}

/** Random bytes from a pool that is filled at once: a system call for every 256 visitors, not for each. */
function pooledBytes(): (length: number) => Uint8Array {
  const pool = new Uint8Array(POOL_BYTES);
  let at = POOL_BYTES;
  return (length) => {
    if (length > POOL_BYTES) return randomFillSync(new Uint8Array(length));
    if (at + length > POOL_BYTES) {
      randomFillSync(pool);
      at = 0;
    }
    at += length;
    return pool.slice(at - length, at);
  };
}
