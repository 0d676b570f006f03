/**
 * Connections to the origin that say nothing: WebSockets, and requests whose answer takes long, from a few addresses that each
 * stay within the limit for one. None of them counts as slow, since it is the site that is silent.
 */
import type { Attack } from "./attack.ts";
import { CONNECTIONS, CROWDED, crowdOut } from "./crowding.ts";

const ADDRESSES = 4;

export const silentConnections: Attack = {
  name: "silent connections",
  about: "keep others from the site by connections to it that say nothing, from a few addresses",
  ...CROWDED,
  async run(target, scale) {
    const from = (n: number) => `127.66.0.${1 + (n % ADDRESSES)}`;
    const front = { name: "from a few addresses", path: "", cookie: "", from };
    const upgrade = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n";
    const slow = "GET /slow HTTP/1.1\r\nHost: a\r\n\r\n";
    const keptOut: string[] = [];
    for (const one of [upgrade, slow])
      keptOut.push(...(await crowdOut(target, { scale, front, send: () => one, drip: "" })));
    return { attempts: 2 * CONNECTIONS[scale], through: keptOut.length, examples: keptOut.slice(0, 3) };
  },
};
