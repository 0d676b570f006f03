import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "./free-port.ts";

test("those who ask at the same time get a port each", async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, freePort));
  assert.equal(new Set(ports).size, ports.length, ports.join());
});
