/**
 * The real world, for black-box tests: the machine's clock, dice and timers, and a log that prints nothing but keeps every entry,
 * so that a test can look for the id a visitor was shown.
 */
import { randomBytes } from "node:crypto";
import type { World } from "../core/world.ts";

export interface RecordedEntry {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** A world of real time and chance, with everything that was logged in `entries`. */
export function realWorld(): World & { readonly entries: RecordedEntry[] } {
  const entries: RecordedEntry[] = [];
  const record = (level: RecordedEntry["level"]) => (fields: object, message: string) => {
    entries.push({ level, fields: { ...fields }, message });
  };
  return {
    entries,
    clock: { now: () => Date.now() },
    random: { bytes: (length) => randomBytes(length), fraction: () => Math.random() },
    timers: {
      every(periodMs, work) {
        const timer = setInterval(work, periodMs).unref();
        return () => clearInterval(timer);
      },
      after(delayMs, work) {
        const timer = setTimeout(work, delayMs).unref();
        return () => clearTimeout(timer);
      },
    },
    log: { debug: record("debug"), info: record("info"), warn: record("warn"), error: record("error") },
  };
}
