/**
 * Event streams, as many as can be had: with one ticket, with many tickets from one address, and from thousands of addresses. A
 * stream is a connection in use for hours, so it cannot be closed for a newcomer. The attacker wants waiting visitors elsewhere
 * to get no stream or, once all streams are taken, no answer at all.
 */

import { ask } from "../../src/visitor/ask.ts";
import type { Attack, Target } from "./attack.ts";
import { Flood } from "./flood.ts";

const TICKETS = { small: 40, full: 1_000 } as const;
const STREAMS_PER_TICKET = 8;
const FROM_ANYWHERE = { small: 300, full: 16_000 } as const;
const NEWCOMERS = 10;
const EVENTS = "/.fairgate/main/events";

export const streamFlood: Attack = {
  name: "stream flood",
  about: "take all event streams, or with them all connections",
  filesMax: { small: 640, full: 20_000 },
  async run(target, scale) {
    const tickets = await Promise.all(
      Array.from({ length: TICKETS[scale] }, () => join(target, "127.0.0.1")),
    );
    const one = flood(
      target,
      () => "127.0.0.1",
      (n) => tickets[n % tickets.length]!,
    );
    const count = TICKETS[scale] * STREAMS_PER_TICKET;
    await one.open(count);
    const examples = await listenAnew(target);
    const all = flood(
      target,
      (n) => `127.${100 + (n >> 16)}.${(n >> 8) & 255}.${n & 255}`,
      (n) => tickets[n % tickets.length]!,
    );
    await all.open(FROM_ANYWHERE[scale]);
    examples.push(...(await waitAnew(target)));
    one.end();
    all.end();
    return {
      attempts: count + FROM_ANYWHERE[scale],
      through: examples.length,
      examples: examples.slice(0, 3),
    };
  },
};

function flood(target: Target, from: (n: number) => string, ticket: (n: number) => string): Flood {
  const send = (n: number) => `GET ${EVENTS} HTTP/1.1\r\nHost: a\r\nCookie: ${ticket(n)}\r\n\r\n`;
  return new Flood({ ...target, from, send });
}

async function join(target: Target, localAddress: string): Promise<string> {
  const cookie = (await ask(target, { method: "POST", path: "/.fairgate/main/join", localAddress })).cookie;
  if (cookie === null) throw new Error("a newcomer got no ticket");
  return cookie;
}

/** Newcomers elsewhere who join and open a stream: those who got none. */
async function listenAnew(target: Target): Promise<string[]> {
  const keptOut: string[] = [];
  for (let n = 0; n < NEWCOMERS; n++) {
    const localAddress = `127.0.2.${n + 1}`;
    try {
      const cookie = await join(target, localAddress);
      const opened = new Flood({
        ...target,
        from: () => localAddress,
        send: () => `GET ${EVENTS} HTTP/1.1\r\nHost: a\r\nCookie: ${cookie}\r\n\r\n`,
      });
      await opened.open(1);
      const [heard] = await opened.heard("\r\n");
      opened.end();
      if (!heard?.startsWith("HTTP/1.1 200 "))
        keptOut.push(`no stream for newcomer ${n}: ${heard?.slice(0, 40)}`);
    } catch (error) {
      keptOut.push(`newcomer ${n}: ${(error as Error).message}`);
    }
  }
  return keptOut;
}

/** Newcomers without a stream: those who could not join, read the board and check in. */
async function waitAnew(target: Target): Promise<string[]> {
  const keptOut: string[] = [];
  for (let n = 0; n < NEWCOMERS; n++) {
    const localAddress = `127.0.3.${n + 1}`;
    try {
      const cookie = await join(target, localAddress);
      const headers = { cookie };
      const board = await ask(target, { path: "/.fairgate/main/board", localAddress });
      const checkIn = { method: "POST", path: "/.fairgate/main/check-in", headers, localAddress };
      const told = await ask(target, checkIn);
      if (board.status !== 200 || told.status !== 200)
        keptOut.push(`newcomer ${n}: ${board.status} ${told.status}`);
    } catch (error) {
      keptOut.push(`newcomer ${n}: ${(error as Error).message}`);
    }
  }
  return keptOut;
}
