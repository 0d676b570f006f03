/**
 * Visitors who send requests without end, whatever they get: each has one keep-alive connection and sends its next request when
 * the last is answered, or when its connection is closed, over a new one. The time and outcome of every request is recorded.
 */
import { Agent } from "node:http";
import { ask } from "../src/visitor/ask.ts";

const HEADERS = { host: "shop.example" };

export interface Visits {
  /** Milliseconds of each request, sorted. */
  readonly tookMs: readonly number[];
  /** Requests that were not answered with 200. */
  readonly errors: number;
}

/** Runs `count` visitors against a port for a time; returns when each has the answer to the last request it sent in that time. */
export async function visit(port: number, visitors: number, milliseconds: number): Promise<Visits> {
  const tookMs: number[] = [];
  let errors = 0;
  const until = performance.now() + milliseconds;
  const stay = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (performance.now() < until) {
      const from = performance.now();
      const answer = await ask({ host: "127.0.0.1", port }, { headers: HEADERS, agent }).catch(() => null);
      tookMs.push(performance.now() - from);
      if (answer?.status === 200) continue;
      errors++;
      // An error page may be the last answer on its connection.
      agent.destroy();
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: visitors }, stay));
  return { tookMs: tookMs.sort((a, b) => a - b), errors };
}

/** The value below which this share of all values lies. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
