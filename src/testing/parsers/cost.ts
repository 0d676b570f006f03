/**
 * What it costs to read a text. The shortest of several measurements counts: other work on the machine makes one longer, and
 * nothing makes one shorter. On a busy machine that holds for short readings only, since a long one is interrupted every time;
 * `processorCostOf` does not count the interruptions, and takes longer.
 */
import { type Letters, type Parser, SPECIAL_LETTERS } from "./parser.ts";

const KILOBYTE = 1_024;
/** Short readings are measured together, as many as take this long. */
const MEASURED_NS_MIN = 50_000;
const TOGETHER_MAX = 4_096;
/** The system counts processor time in steps of some milliseconds. */
const PROCESSOR_US_MIN = 40_000;

/** The slowest inputs of all that are tried on a parser, each read once. */
export async function worstFor(parser: Parser, kilobytes: number, count: number): Promise<Letters[]> {
  const tried: { letters: Letters; tookNs: number }[] = [];
  for (const letters of [...parser.worst, ...SPECIAL_LETTERS])
    tried.push({ letters, tookNs: await measure(parser.read, letters.text(kilobytes * KILOBYTE), 1) });
  tried.sort((a, b) => b.tookNs - a.tookNs);
  return tried.slice(0, count).map(({ letters }) => letters);
}

/** Nanoseconds to read this many kilobytes of this input, at best. */
export async function costOf(
  { read }: Parser,
  letters: Letters,
  { kilobytes, tries }: { kilobytes: number; tries: number },
): Promise<number> {
  const text = letters.text(kilobytes * KILOBYTE);
  let together = 1;
  let least = Number.POSITIVE_INFINITY;
  for (let done = 0; done < tries; ) {
    const tookNs = await measure(read, text, together);
    least = Math.min(least, tookNs / together);
    if (tookNs >= MEASURED_NS_MIN || together === TOGETHER_MAX) done++;
    else together *= 8;
  }
  return least;
}

/** The same in processor time of this thread, which goes on only while the thread runs. */
export async function processorCostOf(
  { read }: Parser,
  letters: Letters,
  kilobytes: number,
): Promise<number> {
  const text = letters.text(kilobytes * KILOBYTE);
  const before = process.threadCpuUsage();
  for (let times = 1; ; times++) {
    const answer = read(text);
    if (answer instanceof Promise) await answer;
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= PROCESSOR_US_MIN) return ((user + system) * 1_000) / times;
  }
}

async function measure(read: Parser["read"], text: string, times: number): Promise<number> {
  const startedAt = process.hrtime.bigint();
  for (let i = 0; i < times; i++) {
    const answer = read(text);
    if (answer instanceof Promise) await answer;
  }
  return Number(process.hrtime.bigint() - startedAt);
}
