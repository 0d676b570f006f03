/** How quickly the primaries answer, compared with how long the gateways wait for them. */
import type { RedisSettings } from "../../config/redis-settings.ts";
import { formatDuration } from "../../config/units.ts";
import type { Probe } from "./probe.ts";
import { about, type DoctorVerdict } from "./verdict.ts";

const PINGS = 20;
/** An answer that took more than this share of the timeout was nearly too late. */
const TIMEOUT_SHARE = 0.5;
/** Everyone who joins waits at least this long once. */
const MEDIAN_MAX_MS = 50;
const TIMEOUT_MIN_MS = 200;
const TIMEOUT_MAX_MS = 10_000;

export interface RoundTrips {
  readonly where: string;
  readonly medianMs: number;
  readonly slowestMs: number;
}

/** Pings one after the other: together they would measure how fast a batch is processed. */
export async function measure(probe: Probe): Promise<RoundTrips> {
  const took: number[] = [];
  for (let i = 0; i < PINGS; i++) {
    const startedAt = performance.now();
    await probe.ask("PING");
    took.push(performance.now() - startedAt);
  }
  took.sort((a, b) => a - b);
  return { where: probe.where, medianMs: took[PINGS / 2]!, slowestMs: took.at(-1)! };
}

/** Judges the slowest primary. */
export function checkLatency(all: readonly RoundTrips[], { timeoutMs }: RedisSettings): DoctorVerdict[] {
  const [worst] = all.toSorted((a, b) => b.medianMs - a.medianMs);
  if (!worst) return [];
  const { where, medianMs, slowestMs } = worst;
  const latency = about("latency", where);
  const is = `${short(medianMs)} ms there and back, ${short(slowestMs)} ms at worst of ${PINGS}.`;
  if (medianMs > timeoutMs) return [latency.problem(is, "Bring Redis nearer, or raise redis.timeout.")];
  const isSlow = slowestMs > TIMEOUT_SHARE * timeoutMs || medianMs > MEDIAN_MAX_MS;
  const todo = "Look what slows it down: the network, a slow disk, or other work on the machine.";
  return [isSlow ? latency.caution(is, todo) : latency.ok(is)];
}

/** Whether the gateways' timeout makes sense. */
export function checkTimeout({ timeoutMs }: RedisSettings): DoctorVerdict {
  const timeout = about("timeout");
  const is = `redis.timeout is ${formatDuration(timeoutMs)}`;
  if (timeoutMs < TIMEOUT_MIN_MS)
    return timeout.caution(
      `${is}: a Redis that copies its memory to the disk may be quiet for longer.`,
      "Set it to 1s or more.",
    );
  if (timeoutMs > TIMEOUT_MAX_MS)
    return timeout.caution(
      `${is}: visitors wait this long before they learn that the line is unavailable.`,
      "Set it to 2s or so.",
    );
  return timeout.ok(`${is}.`);
}

function short(ms: number): string {
  return ms < 10 ? ms.toFixed(1) : ms.toFixed(0);
}
