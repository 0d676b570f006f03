import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "./free-port.ts";

test("calls at the same time get different ports", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  assert.equal(new Set(ports).size, ports.length, ports.join());
});
