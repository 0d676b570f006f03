/**
 * Whether work takes time in proportion to the length of its input. It is measured in processor time of this thread, which counts
 * only while the thread runs, so a busy machine does not matter. The remaining noise is met by retries: work that is worse than
 * linear is so every time.
 */
import assert from "node:assert/strict";

const ROUNDS_MAX = 8;
/** The system counts processor time in steps of some milliseconds. */
const MEASURED_US = 40_000;

export interface Lengths {
  readonly small: number;
  /** Many times the small one. */
  readonly large: number;
}

/** Fails when reading one long text takes far longer than reading as many letters in short ones. */
export function assertLinear({ small, large }: Lengths, work: (length: number) => void, what: string): void {
  // Quadratic work would show as large / small.
  const ratioMax = Math.sqrt(large / small) * 1.5;
  const ratios: number[] = [];
  work(small);
  work(large);
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const ratio = usPerLetter(work, large) / usPerLetter(work, small);
    if (ratio < ratioMax) return;
    ratios.push(ratio);
  }
  const said = `${Math.min(...ratios).toFixed(1)} times as long for each letter`;
  assert.fail(`${what}: what is ${large / small} times as long takes ${said}`);
}

function usPerLetter(work: (length: number) => void, length: number): number {
  const before = process.threadCpuUsage();
  for (let letters = length; ; letters += length) {
    work(length);
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= MEASURED_US) return (user + system) / letters;
  }
}
