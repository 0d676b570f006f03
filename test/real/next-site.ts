/** The shop in Next.js (`sites/next`), as `next start` serves it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { NEXT_ENVIRONMENT, NEXT_SITE, nextProgram } from "../../scripts/real-sites.ts";
import { Child } from "../../src/testing/cli/child.ts";
import { freePort } from "../../src/testing/free-port.ts";
import { listening, type Site } from "./site.ts";

export async function openNextSite(): Promise<Site> {
  if (!existsSync(nextProgram()) || !existsSync(join(NEXT_SITE, ".next", "BUILD_ID")))
    throw new Error("the shop in Next.js is not installed and built; `npm run test:real` does it");
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const args = [nextProgram(), "start", "--hostname", "127.0.0.1", "--port", String(port)];
  const child = new Child(process.execPath, args, { cwd: NEXT_SITE, environment: NEXT_ENVIRONMENT });
  await listening(child, address);
  return { address, [Symbol.asyncDispose]: () => child[Symbol.asyncDispose]() };
}
