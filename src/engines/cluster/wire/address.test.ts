import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointOf } from "./address.ts";

test("an address is a host and a port", () => {
  assert.deepEqual(endpointOf("10.0.0.7:7100"), { host: "10.0.0.7", port: 7100 });
  assert.deepEqual(endpointOf("fairgate-0.fairgate:65535"), { host: "fairgate-0.fairgate", port: 65_535 });
  assert.deepEqual(endpointOf("[fd00::7]:7100"), { host: "fd00::7", port: 7100 });
});

test("anything else is none", () => {
  const wrong = [
    "",
    "host",
    "host:",
    ":7100",
    "host:0",
    "host:65536",
    "a b:1",
    "a:1\n",
    "fd00::7:7100",
    "[::1]",
  ];
  for (const text of [...wrong, "a:-1", "a:1e3", "user@host:1", "[a.b]:1", `${"a".repeat(255)}:1`])
    assert.equal(endpointOf(text), null, text);
});
