/**
 * Visitors who keep asking, whatever they get: each has one keep-alive connection and sends its next request when the last
 * is answered, or when its connection is closed, over a new one. Every request's time and outcome is written down.
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

/** So many visitors at a port for so long, until each has the answer to the last request it sent in time. */
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
      // An error page may come with the last word on its connection.
      agent.destroy();
    }
    agent.destroy();
  };
  await Promise.all(Array.from({ length: visitors }, stay));
  return { tookMs: tookMs.sort((a, b) => a - b), errors };
}

/** The value below which this part of all lies. */
export function percentile(sorted: readonly number[], part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
