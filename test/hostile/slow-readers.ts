/**
 * Requests for large pages whose answers are never read. Without limits, each would hold a connection to the origin until there
 * are none left, or the gateway would buffer all of them until its memory is used up.
 */
import type { Attack } from "./attack.ts";
import { CONNECTIONS, CROWDED, crowdOut, frontsOf } from "./crowding.ts";

export const slowReaders: Attack = {
  name: "slow readers",
  about: "keep others from the site by asking for large pages and not reading them",
  ...CROWDED,
  async run(target, scale) {
    const examples: string[] = [];
    let attempts = 0;
    for (const front of await frontsOf(target)) {
      const { path, cookie } = front;
      const send = (n: number) =>
        `GET ${path}/${n % 4 === 0 ? "large" : "huge"} HTTP/1.1\r\nHost: a\r\n${cookie}\r\n`;
      examples.push(...(await crowdOut(target, { scale, front, send, drip: "", isDeaf: true })));
      attempts += CONNECTIONS[scale];
    }
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};
