/**
 * The demo's crowd: visitors over real HTTP who join, check in when told to, enter, look around and leave. Some give up, and some
 * close the tab without a word. New visitors keep coming, so that the line stays about as long as asked for.
 */
import { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import { HttpVisitor } from "../../visitor/http-visitor.ts";

const CONNECTIONS_MAX = 64;
const STAY_MIN_MS = 6_000;
const STAY_SPREAD_MS = 16_000;
/** Shares: of those waiting who give up, and of those on the site who go without leaving. */
const GIVES_UP = 0.08;
const VANISHES = 0.15;
/** The check-in at which they give up. */
const GIVES_UP_AT = 3;
const ARRIVALS_PERIOD_MS = 250;
const ARRIVALS_MAX = 4;

export interface DemoCrowd {
  /** How many came, got in and gave up so far. */
  readonly counts: { came: number; entered: number; gaveUp: number };
  close(): void;
}

/** Sends visitors to `address` whenever fewer than `size` are in the line. */
export function sendCrowd(address: string, size: number, waiting: () => number): DemoCrowd {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  const counts = { came: 0, entered: 0, gaveUp: 0 };
  const life = new AbortController();
  const timer = setInterval(() => {
    for (let i = 0; i < ARRIVALS_MAX && waiting() + i < size; i++) void visit();
  }, ARRIVALS_PERIOD_MS);

  async function visit(): Promise<void> {
    const visitor = new HttpVisitor(address, { agent, signal: life.signal });
    counts.came++;
    try {
      await visitor.open();
      if (await givesUp(visitor)) {
        counts.gaveUp++;
        return;
      }
      await visitor.open();
      counts.entered++;
      await sleep(STAY_MIN_MS + Math.random() * STAY_SPREAD_MS);
      if (Math.random() >= VANISHES) await visitor.post("leave");
    } catch (cause) {
      // Closing cuts visits short; anything else is a defect of the demo and should be seen.
      if (!life.signal.aborted) console.error("a simulated visitor failed:", cause);
    }
  }

  /** Waits for the turn. True: the visitor gave up before it came. */
  async function givesUp(visitor: HttpVisitor): Promise<boolean> {
    const checksMax = Math.random() < GIVES_UP ? GIVES_UP_AT : Number.POSITIVE_INFINITY;
    let checks = 0;
    for await (const { status } of visitor.checkIns(sleep))
      if (status === "waiting" && ++checks >= checksMax) return true;
    return false;
  }

  const sleep = (ms: number) => setTimeout(ms, undefined, { signal: life.signal });

  return {
    counts,
    close: () => {
      clearInterval(timer);
      life.abort();
      agent.destroy();
    },
  };
}
