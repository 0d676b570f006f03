/** The books of a cluster: what they measure, what they excuse, and what they do not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClusterBooks } from "./cluster-books.ts";

const TERMS = { capacity: 9, sessionMs: 60_000, lapseAfterMs: 5_000 };

/** Guests served one after the other, each with when they joined and when they were admitted. */
function booksOf(...turns: readonly (readonly [joinedAt: number, admittedAt: number])[]): ClusterBooks {
  const books = new ClusterBooks(TERMS);
  for (const [guest, [joinedAt, admittedAt]] of turns.entries()) {
    const told = { guest, askedAt: 9_000, at: 9_010 };
    books.note({ kind: "entered", ...told, expiresInMs: TERMS.sessionMs });
    books.note({ kind: "served", ...told, visitor: `v${guest}`, joinedAt, admittedAt });
  }
  return books;
}

test("overtaking is measured by when those admitted earlier had joined; turns of one tenth of a second are one", () => {
  assert.equal(booksOf([1_000, 5_000], [2_000, 5_100], [3_000, 5_200]).close(1e4).overtakingMs, 0);
  assert.equal(booksOf([1_000, 5_300], [2_000, 5_100], [3_500, 5_200]).close(1e4).overtakingMs, 2_500);
  assert.equal(booksOf([1_000, 5_090], [2_000, 5_010]).close(1e4).overtakingMs, 0);
});

test("what is only measured is no violation; everything else is", () => {
  const { violations, tau } = booksOf([1_000, 5_300], [2_000, 5_100]).close(1e4);
  assert.deepEqual([violations, tau], [[], 1]);
  const books = new ClusterBooks({ ...TERMS, capacity: 0 });
  books.note({ kind: "entered", guest: 1, askedAt: 0, at: 10, expiresInMs: 100 });
  assert.equal(books.close(20).violations[0]?.wrong, "too many on site");
});

test("an accepted old pass is excused only when the node that ended it died just after", () => {
  const replay = (killedAt: number, killed: string): number => {
    const books = booksOf([1_000, 5_000]);
    books.note({ kind: "left", guest: 0, at: 10_000, address: "a" });
    books.note({ kind: "killed", at: killedAt, address: killed });
    books.calm(20_000);
    books.note({ kind: "replayed", guest: 0, at: 30_000, what: "pass", isTaken: true });
    const { violations, shownAgain } = books.close(40_000);
    assert.equal(violations.length, shownAgain);
    return shownAgain;
  };
  assert.equal(replay(10_500, "a"), 0, "it was killed just after");
  assert.equal(replay(16_000, "a"), 1, "it was killed later");
  assert.equal(replay(10_500, "b"), 1, "another was killed");
});

test("visitors who waited, or got their turn, while something was wrong are not judged; the others are", () => {
  const turns: [number, number][] = [
    [1_000, 2_000],
    [1_500, 6_500],
    [8_000, 9_500],
    [8_500, 9_000],
  ];
  const books = booksOf(...turns);
  books.note({ kind: "killed", at: 6_000 });
  books.calm(7_000);
  const { undisturbed, quietTau, overtakingMs } = books.close(1e5);
  assert.deepEqual([undisturbed, quietTau, overtakingMs], [3, 1 / 3, 500]);
});
