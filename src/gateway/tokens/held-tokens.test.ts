import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type Held, HeldTokens } from "./held-tokens.ts";

const HELD = { kind: "pass" } as Held;
const TOKENS = 500;
const HEADER_BYTES = 65_536;

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

function memoryUsed(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** A token as it is cut out of a long Cookie header. */
function tokenInHeader(n: number): string {
  const token = `token-${String(n).padStart(150, "0")}`;
  const header = Buffer.from(`${"x".repeat(HEADER_BYTES)}; fairgate_main=${token}`).toString("latin1");
  return header.slice(header.indexOf("=") + 1);
}

test("what is held of a request is its token, not the header that it came in", () => {
  const tokens = new HeldTokens();
  const before = memoryUsed();
  for (let n = 0; n < TOKENS; n++) tokens.set(tokenInHeader(n), HELD);
  const bytesEach = (memoryUsed() - before) / TOKENS;
  assert.ok(bytesEach < HEADER_BYTES / 16, `${Math.round(bytesEach)} bytes for each token`);
  for (let n = 0; n < TOKENS; n++) assert.equal(tokens.get(tokenInHeader(n)), HELD);
  assert.equal(tokens.get(tokenInHeader(TOKENS)), undefined);
});
