/**
 * The demo's crowd: visitors over real HTTP, who join, wait as they are told, enter, look around and leave. Some give
 * up, some close the tab without a word. Enough new ones come that the line stays about as long as asked for.
 */
import { Agent, request } from "undici";

const COOKIE = /^fairgate_main=[^;]+/;
const STAY_MIN_MS = 6_000;
const STAY_SPREAD_MS = 16_000;
/** The share of visitors who give up while waiting, and of those on the site who leave without saying so. */
const GIVES_UP = 0.08;
const VANISHES = 0.15;
const ARRIVALS_PERIOD_MS = 250;
const ARRIVALS_MAX = 4;

export interface Crowd {
  /** How many came, got in and gave up so far. */
  readonly counts: { came: number; entered: number; gaveUp: number };
  close(): Promise<void>;
}

interface Step {
  readonly status: string;
  readonly nextCheckInMs?: number;
}

/** Sends visitors to `address` whenever fewer than `size` are in the line. */
export function sendCrowd(address: string, size: number, waiting: () => number): Crowd {
  const agent = new Agent({ connections: 64 });
  const counts = { came: 0, entered: 0, gaveUp: 0 };
  const life = new AbortController();
  const timer = setInterval(() => {
    for (let i = 0; i < ARRIVALS_MAX && waiting() + i < size; i++) void visit();
  }, ARRIVALS_PERIOD_MS);

  async function visit(): Promise<void> {
    counts.came++;
    try {
      let cookie = await open("");
      const willGiveUp = Math.random() < GIVES_UP;
      for (let checks = 0; ; checks++) {
        const step = await post("check-in", cookie);
        if (step.body.status !== "waiting") break;
        cookie = step.cookie ?? cookie;
        await sleep(step.body.nextCheckInMs ?? 2_000);
        if (willGiveUp && checks === 1) {
          counts.gaveUp++;
          return;
        }
      }
      cookie = await open(cookie);
      counts.entered++;
      await sleep(STAY_MIN_MS + Math.random() * STAY_SPREAD_MS);
      if (Math.random() >= VANISHES) await post("leave", cookie);
    } catch (cause) {
      // Closing cuts visits short; anything else is a defect of the demo and should be seen.
      if (!life.signal.aborted) console.error("a simulated visitor failed:", cause);
    }
  }

  /** Loads the shop's page and keeps the cookie that comes with it. */
  async function open(cookie: string): Promise<string> {
    const answer = await request(`${address}/`, {
      dispatcher: agent,
      signal: life.signal,
      headers: { accept: "text/html", cookie },
    });
    await answer.body.dump();
    return cookieOf(answer.headers["set-cookie"]) ?? cookie;
  }

  async function post(endpoint: string, cookie: string): Promise<{ body: Step; cookie: string | null }> {
    const url = `${address}/.fairgate/main/${endpoint}`;
    const answer = await request(url, {
      dispatcher: agent,
      signal: life.signal,
      method: "POST",
      headers: { cookie },
    });
    return { body: (await answer.body.json()) as Step, cookie: cookieOf(answer.headers["set-cookie"]) };
  }

  function sleep(ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const wake = setTimeout(resolve, ms);
      life.signal.addEventListener(
        "abort",
        () => {
          clearTimeout(wake);
          reject(life.signal.reason);
        },
        { once: true },
      );
    });
  }

  return {
    counts,
    close: async () => {
      clearInterval(timer);
      life.abort(new Error("the crowd goes home"));
      await agent.destroy();
    },
  };
}

function cookieOf(header: string | string[] | undefined): string | null {
  for (const value of [header ?? []].flat()) {
    const found = COOKIE.exec(value);
    if (found) return found[0];
  }
  return null;
}
