/** The books of a cluster: what they measure, and what they excuse and what not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ClusterBooks } from "./cluster-books.ts";

const TERMS = { capacity: 9, sessionMs: 60_000, lapseAfterMs: 5_000 };

/** Guest after guest is served, each with when they joined and when they were let in. */
function booksOf(...turns: readonly (readonly [joinedAt: number, admittedAt: number])[]): ClusterBooks {
  const books = new ClusterBooks(TERMS);
  for (const [guest, [joinedAt, admittedAt]] of turns.entries()) {
    const told = { guest, askedAt: 9_000, at: 9_010 };
    books.note({ kind: "entered", ...told, expiresInMs: TERMS.sessionMs });
    books.note({ kind: "served", ...told, visitor: `v${guest}`, joinedAt, admittedAt });
  }
  return books;
}

test("overtaking is measured by the joining of those let in before, and turns of one tenth of a second are one", () => {
  assert.equal(booksOf([1_000, 5_000], [2_000, 5_100], [3_000, 5_200]).close(1e4).overtakingMs, 0);
  assert.equal(booksOf([1_000, 5_300], [2_000, 5_100], [3_500, 5_200]).close(1e4).overtakingMs, 2_500);
  assert.equal(booksOf([1_000, 5_090], [2_000, 5_010]).close(1e4).overtakingMs, 0);
});

test("what is measured is no violation; everything else is", () => {
  const { violations, tau } = booksOf([1_000, 5_300], [2_000, 5_100]).close(1e4);
  assert.deepEqual([violations, tau], [[], 1]);
  const books = new ClusterBooks({ ...TERMS, capacity: 0 });
  books.note({ kind: "entered", guest: 1, askedAt: 0, at: 10, expiresInMs: 100 });
  assert.equal(books.close(20).violations[0]?.wrong, "too many on site");
});

test("an old pass that is taken is excused only where the news of its end may not have spread", () => {
  const replay = ({ killedAt, calmAt, at }: { killedAt: number; calmAt: number; at: number }): number => {
    const books = booksOf([1_000, 5_000]);
    books.note({ kind: "killed", at: killedAt });
    books.calm(calmAt);
    books.note({ kind: "left", guest: 0, at: 10_000 });
    books.note({ kind: "replayed", guest: 0, at, what: "pass", isTaken: true });
    const { violations, shownAgain } = books.close(at);
    assert.equal(violations.length, shownAgain);
    return shownAgain;
  };
  const at = 20_000;
  assert.equal(replay({ killedAt: 10_500, calmAt: 15_000, at }), 0, "a node was killed just after");
  assert.equal(replay({ killedAt: 9_500, calmAt: 12_000, at }), 0, "a node was dead");
  assert.equal(replay({ killedAt: 5_000, calmAt: 6_000, at: 10_100 }), 0, "just now");
  assert.equal(replay({ killedAt: 5_000, calmAt: 9_000, at }), 1, "it was noticed before");
  assert.equal(replay({ killedAt: 12_000, calmAt: 15_000, at }), 1, "a node was killed later");
});
