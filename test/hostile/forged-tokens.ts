/**
 * A pass that is made up, changed by one letter, moved or cut short. A waiting visitor tries to enter with it; the room is full,
 * so a visitor who sees the site has jumped the line.
 */

import { ask } from "../../src/visitor/ask.ts";
import type { Attack, Target } from "./attack.ts";
import { SITE_WORDS } from "./site.ts";

const ATTEMPTS = { small: 200, full: 20_000 } as const;
const AT_ONCE = 16;
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

export const forgedTokens: Attack = {
  name: "forged tokens",
  about: "walk in with a ticket that was changed into a pass",
  async run(target, scale) {
    const ticket = await newTicket(target);
    const attempts = ATTEMPTS[scale];
    const examples: string[] = [];
    let next = 0;
    const work = async () => {
      while (next < attempts) {
        const forged = forge(ticket, next++);
        const answer = await ask(target, { headers: { cookie: forged, accept: "text/html" } });
        if (answer.text.includes(SITE_WORDS)) examples.push(forged);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};

async function newTicket(target: Target): Promise<string> {
  const cookie = (await ask(target, { headers: { accept: "text/html" } })).cookie;
  if (cookie === null) throw new Error("a newcomer got no ticket");
  return cookie;
}

/** The n-th way to corrupt it: each letter changed in turn, then cut, then doubled. */
function forge(cookie: string, n: number): string {
  const [name, value] = cookie.split("=", 2) as [string, string];
  const at = n % value.length;
  const round = Math.floor(n / value.length);
  if (round % 4 === 2) return `${name}=${value.slice(0, at)}`;
  if (round % 4 === 3) return `${name}=${value}${value.slice(0, at)}`;
  const letter = LETTERS[(LETTERS.indexOf(value[at]!) + 1 + round) % LETTERS.length]!;
  return `${name}=${value.slice(0, at)}${letter}${value.slice(at + 1)}`;
}
