/**
 * The demo's crowd: visitors over real HTTP who join, check in when told to, enter, shop and leave. Some give up, and some close the
 * tab without a word.
 *
 * Its story: at first a few people come and there is no line. Then the sale begins and everybody comes at once. From then on
 * people come in waves, so that the line gets shorter and longer.
 */
import { Agent } from "node:http";
import { setTimeout } from "node:timers/promises";
import { HttpVisitor } from "../../visitor/http-visitor.ts";
import { buy, type ShoppingOutcome } from "./buyer.ts";

const CONNECTIONS_MAX = 64;
/** Shares: of those waiting who give up, and of those on the site who go without leaving. */
const GIVES_UP = 0.08;
const VANISHES = 0.15;
/** The check-in at which they give up. */
const GIVES_UP_AT = 3;
const ARRIVALS_PERIOD_MS = 250;
const ARRIVALS_MAX = 4;
const SALE_AT_MS = 4_000;
const QUIET_ARRIVAL_EVERY_MS = 1_000;
const WAVE_MS = 90_000;
/** Between two waves the line is this much shorter. */
const WAVE_DEPTH = 0.5;
/** People who got in are told of this often at most: more could not be read. */
const NEWS_EVERY_MS = 4_000;

export interface DemoCrowd {
  close(): void;
}

/** Sends visitors to `address` whenever the line is shorter than it should be, and tells what happens to them. */
export function sendCrowd(
  address: string,
  { size, waiting, tell }: { size: number; waiting: () => number; tell: (news: string) => void },
): DemoCrowd {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS_MAX });
  const life = new AbortController();
  const startedAt = performance.now();
  let came = 0;
  let toldAt = startedAt;
  let boughtAt = startedAt;
  let wave = -1;

  const timer = setInterval(() => {
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs < SALE_AT_MS) {
      if (came < Math.min(size, 1 + elapsedMs / QUIET_ARRIVAL_EVERY_MS)) void visit();
      return;
    }
    const waves = (elapsedMs - SALE_AT_MS) / WAVE_MS;
    if (size > 0 && Math.round(waves) > wave) {
      wave = Math.round(waves);
      tell(wave === 0 ? `tickets go on sale: ${size} people come at once` : "the next wave of people comes");
    }
    const length = lineAt(waves, size);
    for (let i = 0; i < ARRIVALS_MAX && waiting() + i < length; i++) void visit();
  }, ARRIVALS_PERIOD_MS);

  async function visit(): Promise<void> {
    const visitor = new HttpVisitor(address, { agent, signal: life.signal });
    const number = ++came;
    const cameAt = performance.now();
    try {
      await visitor.open();
      if (await givesUp(visitor)) return tell(`visitor ${number} has given up waiting`);
      await visitor.open();
      tellOfEntry(number, (performance.now() - cameAt) / 1_000);
      tellOfShopping(number, await buy(visitor, { sleep, random: Math.random }));
      if (Math.random() >= VANISHES) await visitor.post("leave");
    } catch (cause) {
      // Closing cuts visits short; anything else is a defect of the demo and should be seen, but not written over the screen.
      if (!life.signal.aborted) tell(`visitor ${number} failed: ${(cause as Error).message}`);
    }
  }

  function tellOfEntry(number: number, waitedSeconds: number): void {
    const now = performance.now();
    if (number > 1 && now - toldAt < NEWS_EVERY_MS) return;
    toldAt = now;
    const wait = Math.round(waitedSeconds);
    tell(
      wait < 2
        ? `visitor ${number} went straight in`
        : `visitor ${number} is in, after ${wait} s in the line`,
    );
  }

  function tellOfShopping(number: number, outcome: ShoppingOutcome): void {
    const now = performance.now();
    if (outcome.kind !== "bought" || now - boughtAt < NEWS_EVERY_MS) return;
    boughtAt = now;
    tell(`visitor ${number} bought ${outcome.what}`);
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
    close: () => {
      clearInterval(timer);
      life.abort();
      agent.destroy();
    },
  };
}

/** How long the line should be: `size` at the height of a wave. */
function lineAt(waves: number, size: number): number {
  return size * (1 - (WAVE_DEPTH * (1 - Math.cos(2 * Math.PI * waves))) / 2);
}
