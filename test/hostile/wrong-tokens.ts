/**
 * Wrong tokens at the control address, as fast as they are answered. None may be accepted; and the operator, who has the right
 * one and comes from the same address, must not be locked out by them.
 */
import { TOKEN } from "../../src/testing/cli/fairgate.ts";
import { ask } from "../../src/visitor/ask.ts";
import type { Attack } from "./attack.ts";

const ATTEMPTS = { small: 200, full: 20_000 } as const;
const AT_ONCE = 8;
/** The operator calls after this many wrong tokens. */
const LOOK_AFTER = 10;

export const wrongTokens: Attack = {
  name: "wrong tokens",
  about: "guess the control token, or lock its owner out by guessing",
  async run({ control }, scale) {
    const attempts = ATTEMPTS[scale];
    const examples: string[] = [];
    let next = 0;
    const rooms = (token: string) =>
      ask(control, { path: "/rooms", headers: { authorization: `Bearer ${token}` } });
    const work = async () => {
      while (next < attempts) {
        const n = next++;
        const guess = `${TOKEN.slice(0, n % TOKEN.length)}${n}`;
        const guessed = await rooms(guess);
        if (guessed.status !== 401 && guessed.status !== 429) examples.push(`${guess}: ${guessed.status}`);
        if (n % LOOK_AFTER !== 0) continue;
        const owner = await rooms(TOKEN);
        if (owner.status !== 200) examples.push(`the right token after ${n} wrong ones: ${owner.status}`);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};
