/** What `fairgate doctor` reports: one verdict for each thing it examined. */
import { formatSize } from "../../config/units.ts";

/** `caution`: it works, and one day it may not. `problem`: it does not work, or places can be lost. */
export type Level = "ok" | "caution" | "problem";

export interface DoctorVerdict {
  readonly level: Level;
  /** What was looked at: "eviction", "clock". */
  readonly check: string;
  /** The server it is about; empty when it is about all of them. */
  readonly where: string;
  /** What was found, as a sentence. */
  readonly is: string;
  /** What to change, as a sentence; empty for nothing. */
  readonly todo: string;
}

/** Verdicts about one thing at one place. */
export interface Subject {
  ok(is: string): DoctorVerdict;
  caution(is: string, todo: string): DoctorVerdict;
  problem(is: string, todo?: string): DoctorVerdict;
}

export function about(check: string, where = ""): Subject {
  const verdict = (level: Level) => (is: string, todo: string) => ({ level, check, where, is, todo });
  return {
    ok: (is) => verdict("ok")(is, ""),
    caution: verdict("caution"),
    problem: (is, todo = "") => verdict("problem")(is, todo),
  };
}

/** A size with three digits or fewer: `1.2MB`. */
export function roughly(bytes: number): string {
  for (const unit of [1_024 ** 3, 1_024 ** 2, 1_024]) {
    if (bytes < unit) continue;
    const count = bytes / unit;
    return `${count >= 100 ? Math.round(count) : Number(count.toPrecision(2))}${formatSize(unit).replace("1", "")}`;
  }
  return formatSize(bytes);
}
