import assert from "node:assert/strict";
import { test } from "node:test";
import { EventLog } from "./event-log.ts";

function hashOf(...events: [what: "message" | "ask", time: number, a: number, b: number][]): string {
  const log = new EventLog();
  for (const [what, time, a, b] of events) log.add(what, time, { a, b });
  return log.hash;
}

test("the same events in the same order have the same hash, on any machine", () => {
  assert.equal(hashOf(["message", 12.3456, 1, 2], ["ask", 1e9, 77, 4_503_599_627_370_497]), KNOWN_HASH);
});

test("another instant, order, kind or party is another hash", () => {
  const hashes = [
    hashOf(["message", 1, 1, 2]),
    hashOf(["message", 1.001, 1, 2]),
    hashOf(["message", 1, 2, 1]),
    hashOf(["message", 1, 1, 2 + 2 ** 32]),
    hashOf(["ask", 1, 1, 2]),
    hashOf(["message", 1, 1, 2], ["ask", 1, 1, 2]),
    hashOf(["ask", 1, 1, 2], ["message", 1, 1, 2]),
    hashOf(),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
  for (const hash of hashes) assert.match(hash, /^[0-9a-f]{16}$/);
});

test("another message is another hash, and a copy of it is not", () => {
  const of = (message: unknown) => {
    const log = new EventLog();
    log.add("message", 1, { a: 0, b: 1 }, message);
    return log.hash;
  };
  const message = (count: number, bytes: number[]) => ({
    ...{ name: "a", to: null, clock: 1.5, isUrgent: true },
    bodies: [{ kind: "entries", blocks: [[count, Uint8Array.from(bytes)]] }],
  });
  const hashes = [
    of(message(1, [1, 2, 3])),
    of(message(2, [1, 2, 3])),
    of(message(1, [1, 2, 4])),
    of({ ...message(1, [1, 2, 3]), clock: 1.25 }),
    of({ ...message(1, [1, 2, 3]), name: "b" }),
    of({ ...message(1, [1, 2, 3]), to: "c" }),
    of({ ...message(1, [1, 2, 3]), isUrgent: false }),
    of({ ...message(1, [1, 2, 3]), bodies: [] }),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
  assert.equal(of(message(1, [1, 2, 3])), hashes[0]);
});

test("a hundred thousand different events have as many different hashes", () => {
  const log = new EventLog();
  const hashes = new Set<string>();
  for (let i = 0; i < 100_000; i++) {
    log.add("message", i, { a: i % 8, b: 0 });
    hashes.add(log.hash);
  }
  assert.equal(hashes.size, 100_000);
});

test("with a printer each event is a line, and the hash stays the same", () => {
  const lines: string[] = [];
  const log = new EventLog((line) => lines.push(line));
  log.add("message", 1.5, { a: 0, b: 3 }, { kind: "ping" });
  log.add("fault", 2, { a: 1, b: 1 }, "crash.1");
  assert.deepEqual(lines, ['1.500 message 0 3 {"kind":"ping"}', "2.000 fault 1 1 crash.1"]);
  const silent = new EventLog();
  silent.add("message", 1.5, { a: 0, b: 3 }, { kind: "ping" });
  silent.add("fault", 2, { a: 1, b: 1 });
  assert.equal(log.hash, silent.hash);
});

const KNOWN_HASH = "6a67f2365754c416";
