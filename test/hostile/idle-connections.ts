/**
 * Connections that are opened and left idle until there is no file handle for anyone else: silent ones, ones that never finish
 * their header, and ones that asked for the board once. First all come from one address, then from thousands. The attacker wants
 * newcomers to be unable to connect, or a health check at the control address to fail.
 */

import { ask } from "../../src/visitor/ask.ts";
import type { Attack, Target } from "./attack.ts";
import { Flood } from "./flood.ts";

const CONNECTIONS = { small: 1_000, full: 18_000 } as const;
/** How long they are held open, with a newcomer now and then. */
const HELD_MS = { small: 1_000, full: 20_000 } as const;
const NEWCOMER_EVERY_MS = 50;
/** After this many newcomers each connection sends a byte, all at the same instant. */
const NEWCOMERS_TO_A_BYTE = 20;
/** This many are opened with each newcomer, so that free handles are taken again at once. */
const REFILL = 20;
const HALF_A_HEADER = "GET / HTTP/1.1\r\nHost: a\r\nX-Slow: ";
const BOARD = "GET /.fairgate/main/board HTTP/1.1\r\nHost: a\r\n\r\n";

export const idleConnections: Attack = {
  name: "idle connections",
  about: "keep others out by thousands of connections that do nothing",
  filesMax: { small: 640, full: 20_000 },
  async run(target, scale) {
    const examples: string[] = [];
    let attempts = 0;
    for (const from of [() => "127.0.0.1", anywhere]) {
      const flood = new Flood({
        ...target,
        from,
        send: (n) => ["", HALF_A_HEADER, BOARD][n % 3]!,
      });
      await flood.open(CONNECTIONS[scale]);
      examples.push(...(await comeAnew(target, flood, HELD_MS[scale])));
      attempts += flood.opened;
      flood.end();
    }
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};

/** Newcomers, each from an address and on a connection of their own, and as many health checks: those that were kept out. */
async function comeAnew(target: Target, flood: Flood, heldMs: number): Promise<string[]> {
  const keptOut: string[] = [];
  const endAt = Date.now() + heldMs;
  for (let n = 0; Date.now() < endAt; n++) {
    if (n % NEWCOMERS_TO_A_BYTE === 0) flood.dribble("x");
    const refilled = flood.open(REFILL);
    const board = ask(target, { path: "/.fairgate/main/board", localAddress: `127.0.2.${1 + (n % 250)}` });
    const health = ask(target.control, { path: "/healthz" });
    for (const [who, answer] of Object.entries({ newcomer: board, "health check": health })) {
      const { status } = await answer.catch((error: Error) => ({ status: error.message }));
      if (status !== 200) keptOut.push(`${who} ${n}: ${status}`);
    }
    await refilled;
    await new Promise((resolve) => setTimeout(resolve, NEWCOMER_EVERY_MS));
  }
  return keptOut;
}

/** A different address of this machine for each connection. */
function anywhere(n: number): string {
  return `127.${100 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`;
}
