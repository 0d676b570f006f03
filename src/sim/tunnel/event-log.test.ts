import assert from "node:assert/strict";
import { test } from "node:test";
import { EventLog } from "./event-log.ts";

function hashOf(...events: [what: "letter" | "ask", time: number, a: number, b: number][]): string {
  const log = new EventLog();
  for (const [what, time, a, b] of events) log.add(what, time, { a, b });
  return log.hash;
}

test("the same events in the same order have the same hash, on any machine", () => {
  assert.equal(hashOf(["letter", 12.3456, 1, 2], ["ask", 1e9, 77, 4_503_599_627_370_497]), KNOWN_HASH);
});

test("another instant, order, kind or party is another hash", () => {
  const hashes = [
    hashOf(["letter", 1, 1, 2]),
    hashOf(["letter", 1.001, 1, 2]),
    hashOf(["letter", 1, 2, 1]),
    hashOf(["letter", 1, 1, 2 + 2 ** 32]),
    hashOf(["ask", 1, 1, 2]),
    hashOf(["letter", 1, 1, 2], ["ask", 1, 1, 2]),
    hashOf(["ask", 1, 1, 2], ["letter", 1, 1, 2]),
    hashOf(),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
  for (const hash of hashes) assert.match(hash, /^[0-9a-f]{16}$/);
});

test("another letter is another hash, and a copy of it is not", () => {
  const of = (letter: unknown) => {
    const log = new EventLog();
    log.add("letter", 1, { a: 0, b: 1 }, letter);
    return log.hash;
  };
  const letter = (count: number, bytes: number[]) => ({
    ...{ name: "a", to: null, clock: 1.5, isUrgent: true },
    bodies: [{ kind: "entries", blocks: [[count, Uint8Array.from(bytes)]] }],
  });
  const hashes = [
    of(letter(1, [1, 2, 3])),
    of(letter(2, [1, 2, 3])),
    of(letter(1, [1, 2, 4])),
    of({ ...letter(1, [1, 2, 3]), clock: 1.25 }),
    of({ ...letter(1, [1, 2, 3]), name: "b" }),
    of({ ...letter(1, [1, 2, 3]), to: "c" }),
    of({ ...letter(1, [1, 2, 3]), isUrgent: false }),
    of({ ...letter(1, [1, 2, 3]), bodies: [] }),
  ];
  assert.equal(new Set(hashes).size, hashes.length);
  assert.equal(of(letter(1, [1, 2, 3])), hashes[0]);
});

test("a hundred thousand different events have as many different hashes", () => {
  const log = new EventLog();
  const hashes = new Set<string>();
  for (let i = 0; i < 100_000; i++) {
    log.add("letter", i, { a: i % 8, b: 0 });
    hashes.add(log.hash);
  }
  assert.equal(hashes.size, 100_000);
});

test("whoever wants to read gets a line for each event, and the hash stays the same", () => {
  const lines: string[] = [];
  const log = new EventLog((line) => lines.push(line));
  log.add("letter", 1.5, { a: 0, b: 3 }, { kind: "ping" });
  log.add("fault", 2, { a: 1, b: 1 }, "crash.1");
  assert.deepEqual(lines, ['1.500 letter 0 3 {"kind":"ping"}', "2.000 fault 1 1 crash.1"]);
  const silent = new EventLog();
  silent.add("letter", 1.5, { a: 0, b: 3 }, { kind: "ping" });
  silent.add("fault", 2, { a: 1, b: 1 });
  assert.equal(log.hash, silent.hash);
});

const KNOWN_HASH = "6a67f2365754c416";
