/**
 * Connections that fill the control address: silent ones, ones in the middle of a header, and ones with a request that is never
 * finished. The attacker wants a health check to fail, so that a supervisor ends the process, or to lock the operator out.
 */
import { TOKEN } from "../../src/testing/cli/fairgate.ts";
import { ask } from "../../src/visitor/ask.ts";
import type { Attack } from "./attack.ts";
import { Flood } from "./flood.ts";

const CONNECTIONS = { small: 400, full: 10_000 } as const;
const CHECKS = { small: 20, full: 200 } as const;
const SENDS = [
  "",
  "GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
  "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
  "POST /rooms/main/pause HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nx",
  "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n".repeat(10),
];

export const controlFlood: Attack = {
  name: "control flood",
  about: "shut out health checks and the operator by taking all connections of the control address",
  async run({ control }, scale) {
    const examples: string[] = [];
    let attempts = 0;
    for (const from of [() => "127.0.0.1", (n: number) => `127.99.${(n >> 8) & 255}.${n & 255}`]) {
      const flood = new Flood({ ...control, from, send: (n) => SENDS[n % SENDS.length]! });
      await flood.open(CONNECTIONS[scale]);
      attempts += CONNECTIONS[scale];
      for (let n = 0; n < CHECKS[scale]; n++) {
        const paths = { "/healthz": {}, "/rooms": { authorization: `Bearer ${TOKEN}` } };
        for (const [path, headers] of Object.entries(paths)) {
          const asked = ask(control, { path, headers });
          const { status } = await asked.catch((error: Error) => ({ status: error.message }));
          if (status !== 200) examples.push(`${path}: ${status}`);
        }
        flood.dribble("x");
      }
      flood.end();
    }
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};
