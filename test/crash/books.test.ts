/** Tests of the auditor: it sees each kind of violation, and never accuses an honest gateway. */
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { seededFraction } from "../../src/sim/hand-world.ts";
import { Books, type Note, type Placed, type Terms, type Wrong } from "./books.ts";
import { highestAtOnce } from "./guest-book.ts";
import { honestHistory } from "./honest-history.ts";

const TERMS: Terms = { capacity: 2, sessionMs: 10_000, lapseAfterMs: 5_000, ticketTtlMs: 20_000 };
/** How long answers take here. */
const asked = (guest: number, askedAt: number) => ({ guest, askedAt, at: askedAt + 10 });
const placed = (guest: number, askedAt: number, sequence: number, more: Partial<Placed> = {}): Note => {
  const place = { sequence, nextCheckInMs: 2_000, hasTicket: true, isSentBack: false };
  return { kind: "placed", ...asked(guest, askedAt), ...place, ...more };
};
const entered = (guest: number, askedAt: number): Note => {
  return { kind: "entered", ...asked(guest, askedAt), expiresInMs: TERMS.sessionMs };
};
const served = (guest: number, askedAt: number, visitor: string, joinedAt = 0, admittedAt = 0): Note => {
  return { kind: "served", ...asked(guest, askedAt), visitor, joinedAt, admittedAt };
};
const refused = (guest: number, askedAt: number): Note => {
  return { kind: "turned away", ...asked(guest, askedAt), words: "refused" };
};
const counted = (askedAt: number, onSite: number, admitted = 0): Note => {
  return { kind: "counted", askedAt, at: askedAt + 10, onSite, admitted };
};
const setting = (kind: "wanted" | "granted" | "found", at: number, name: string, value: string): Note => {
  return { kind, at, name, value };
};

function wrongs(...notes: Note[]): Wrong[] {
  const books = new Books(TERMS);
  for (const note of notes) books.note(note);
  return books.close(1_000_000).violations.map(({ wrong }) => wrong);
}

test("a normal visit from joining to leaving violates nothing", () => {
  const notes: Note[] = [
    placed(1, 0, 7),
    placed(1, 2_000, 7),
    { kind: "killed", at: 2_500 },
    entered(1, 4_000),
    served(1, 4_100, "a", 5, 3_900),
    { kind: "leaving", guest: 1, at: 5_000 },
    { kind: "left", guest: 1, at: 5_010, address: "here" },
    { kind: "replayed", guest: 1, at: 6_000, what: "pass", isTaken: false },
    { kind: "replayed", guest: 1, at: 6_000, what: "ticket", isTaken: false },
  ];
  const books = new Books(TERMS);
  for (const note of notes) books.note(note);
  const { violations, ...rest } = books.close(10_000);
  assert.deepEqual(violations, []);
  assert.deepEqual(rest, {
    kills: 1,
    visitors: 1,
    passes: 1,
    placesAtStake: 1,
    placesKept: 1,
    ranOut: 0,
    tau: 0,
    highestOnSite: 1,
    capacity: 2,
  });
});

test("a lost place is seen: a different place, a refusal, a kill that cost it", () => {
  assert.deepEqual(wrongs(placed(1, 0, 7), placed(1, 2_000, 8)), ["place lost"]);
  assert.deepEqual(wrongs(placed(1, 0, 7), refused(1, 2_000)), ["place lost"]);
  const books = new Books(TERMS);
  books.note(placed(1, 0, 7));
  books.note(placed(2, 0, 8));
  books.note({ kind: "killed", at: 100 });
  books.note(refused(1, 200));
  const { placesAtStake, placesKept } = books.close(300);
  assert.deepEqual({ placesAtStake, placesKept }, { placesAtStake: 2, placesKept: 1 });
});

test("a place whose ticket had run out is not lost, and one whose ticket was renewed is", () => {
  const books = new Books(TERMS);
  for (const note of [placed(1, 0, 7), refused(1, 30_000)]) books.note(note);
  const { ranOut, violations } = books.close(31_000);
  assert.deepEqual({ ranOut, violations }, { ranOut: 1, violations: [] });
  assert.deepEqual(wrongs(placed(1, 0, 7), placed(1, 15_000, 7), refused(1, 30_000)), ["place lost"]);
  const sameTicket = placed(1, 15_000, 7, { hasTicket: false });
  assert.deepEqual(wrongs(placed(1, 0, 7), sameTicket, refused(1, 30_000)), []);
});

test("a place set back is lost, unless its holder was away for as long as a turn lasts", () => {
  const setBack = (askedAt: number, at: number) => {
    const books = new Books({ ...TERMS, claimWindowMs: 6_000 });
    for (const note of [placed(1, 0, 7), placed(1, askedAt, 7.5, { at })]) books.note(note);
    return books.violations.map(({ wrong }) => wrong);
  };
  assert.deepEqual(setBack(3_000, 4_000), ["place lost"]);
  assert.deepEqual(setBack(6_500, 6_510), []);
  assert.deepEqual(setBack(3_000, 6_500), [], "asked in time, of a gateway that stood still");
});

test("a turn that was used without an answer may have been a whole visit", () => {
  const unanswered: Note = { kind: "unanswered", guest: 1, askedAt: 1_000 };
  assert.deepEqual(wrongs(placed(1, 0, 7), unanswered, refused(1, 1_500)), ["place lost"]);
  assert.deepEqual(wrongs(placed(1, 0, 7), unanswered, refused(1, 11_500)), []);
});

test("being overtaken is seen, by somebody in the line and by somebody who came straight in", () => {
  assert.deepEqual(wrongs(placed(1, 0, 7), placed(2, 20, 8), entered(2, 1_000), placed(1, 1_500, 7)), [
    "overtaken",
  ]);
  assert.deepEqual(wrongs(placed(1, 0, 7), entered(2, 1_000), placed(1, 1_500, 7)), ["overtaken"]);
});

test("an answer still under way, an earlier place and a late visitor do not count as overtaking", () => {
  assert.deepEqual(wrongs(placed(1, 0, 7), placed(2, 20, 8), entered(2, 1_000), placed(1, 1_005, 7)), []);
  assert.deepEqual(wrongs(placed(1, 0, 7), placed(2, 20, 8), entered(1, 1_000), placed(2, 1_500, 8)), []);
  assert.deepEqual(wrongs(placed(1, 0, 7), entered(2, 1_000), placed(1, 9_000, 7)), [], "late: due by 7,000");
  const slowlyTold = placed(1, 0, 7, { at: 4_000 });
  assert.deepEqual(wrongs(slowlyTold, entered(2, 5_000), placed(1, 8_000, 7)), [], "due by 7,000 too");
  const slowlyAnswered = placed(1, 6_000, 7, { at: 8_000 });
  assert.deepEqual(wrongs(placed(1, 0, 7), entered(2, 1_000), slowlyAnswered), [], "perhaps heard too late");
  const sentBack = placed(1, 1_500, 7, { isSentBack: true });
  assert.deepEqual(wrongs(placed(1, 0, 7), entered(2, 1_000), sentBack), [], "had a turn before");
  assert.deepEqual(
    wrongs(entered(2, 0), placed(1, 5, 7), placed(1, 2_000, 7)),
    [],
    "came straight in before",
  );
});

test("more on the site than it has room for is seen, until they leave or their session runs out", () => {
  assert.deepEqual(wrongs(entered(1, 0), entered(2, 100), entered(3, 200)), ["too many on site"]);
  const leaving: Note = { kind: "leaving", guest: 1, at: 150 };
  assert.deepEqual(wrongs(entered(1, 0), entered(2, 100), leaving, entered(3, 200)), []);
  assert.deepEqual(wrongs(entered(1, 0), entered(2, 100), entered(3, 10_050)), []);
  assert.deepEqual(wrongs(entered(1, 0), entered(1, 5_000), entered(2, 5_100), entered(3, 10_050)), [
    "too many on site",
  ]);
  assert.deepEqual(wrongs(counted(0, 2, 1)), ["too many on site"]);
});

test("a forgotten visit is seen in the gateway's own counts", () => {
  assert.deepEqual(wrongs(entered(1, 0), entered(2, 100), counted(200, 1)), ["visit forgotten"]);
  assert.deepEqual(wrongs(entered(1, 0), entered(2, 100), counted(105, 1)), [], "asked before it was sure");
  assert.deepEqual(wrongs(entered(1, 0), entered(2, 100), counted(10_050, 1)), [], "one has run out");
});

test("two passes for one ticket are seen", () => {
  assert.deepEqual(wrongs(entered(1, 0), served(1, 100, "a"), served(1, 200, "b")), ["two passes"]);
  assert.deepEqual(wrongs(entered(1, 0), entered(2, 10), served(1, 100, "a"), served(2, 200, "a")), [
    "two passes",
  ]);
  const left: Note = { kind: "left", guest: 1, at: 500, address: "here" };
  assert.deepEqual(wrongs(placed(1, 0, 7), entered(1, 100), left, entered(1, 600)), ["two passes"]);
});

test("a valid pass that is refused is seen, and one that may have expired is not", () => {
  assert.deepEqual(wrongs(entered(1, 0), refused(1, 9_000)), ["pass refused"]);
  assert.deepEqual(wrongs(entered(1, 0), placed(1, 9_000, 7)), ["pass refused"]);
  assert.deepEqual(wrongs(entered(1, 0), refused(1, 9_995)), []);
});

test("an ended pass or spent ticket that is accepted is seen", () => {
  const replayed = (what: "pass" | "ticket"): Note => {
    return { kind: "replayed", guest: 1, at: 0, what, isTaken: true };
  };
  assert.deepEqual(wrongs(replayed("pass"), replayed("ticket")), ["ended pass taken", "spent ticket taken"]);
});

test("a setting that was acknowledged and is not in force is seen; after no answer it may be either", () => {
  const wanted = setting("wanted", 0, "message", "b");
  assert.deepEqual(wrongs(setting("found", 0, "message", "a"), setting("found", 1, "message", "b")), [
    "setting lost",
  ]);
  assert.deepEqual(
    wrongs(wanted, setting("granted", 1, "message", "b"), setting("found", 2, "message", "a")),
    ["setting lost"],
  );
  for (const value of ["a", "b"])
    assert.deepEqual(
      wrongs(setting("found", 0, "message", "a"), wanted, setting("found", 2, "message", value)),
      [],
    );
  const unknown: Note = { kind: "wanted", at: 1, name: "key", value: null };
  assert.deepEqual(wrongs(setting("found", 0, "key", "a"), unknown, setting("found", 2, "key", "b")), []);
});

test("being let in while the room is paused is seen", () => {
  const paused = [setting("wanted", 100, "paused", "true"), setting("granted", 110, "paused", "true")];
  assert.deepEqual(wrongs(placed(1, 0, 7), ...paused, placed(1, 200, 7), entered(1, 300)), [
    "let in while paused",
  ]);
  assert.deepEqual(wrongs(...paused, entered(1, 200)), ["let in while paused"]);
  assert.deepEqual(wrongs(placed(1, 0, 7), ...paused, entered(1, 200)), [], "may have had a turn before");
  const opened = setting("wanted", 250, "paused", "false");
  assert.deepEqual(wrongs(placed(1, 0, 7), ...paused, placed(1, 200, 7), opened, entered(1, 300)), []);
});

test("a wrong order of admission is seen, by the instants the site is told", () => {
  const turn = (guest: number, joinedAt: number, admittedAt: number) => [
    entered(guest, guest * 20_000),
    served(guest, guest * 20_000 + 20, String(guest), joinedAt, admittedAt),
  ];
  assert.deepEqual(wrongs(...turn(1, 5, 900), ...turn(2, 4, 950), ...turn(3, 3, 1_000)), ["wrong order"]);
  assert.deepEqual(wrongs(...turn(1, 5, 901), ...turn(2, 4, 1_000)), [], "one turn of the door");
  const late = turn(2, 4, 15_000);
  assert.deepEqual(wrongs(...turn(1, 5, 900), placed(2, 39_000, 8), ...late), ["wrong order"]);
  assert.deepEqual(wrongs(placed(2, 0, 8), ...turn(1, 5, 900), ...late), [], "late, and not heard when back");
});

test("the site's own book counts stays that overlap", () => {
  assert.equal(highestAtOnce([]), 0);
  assert.equal(highestAtOnce([{ from: 5, to: 5 }]), 1);
  const stays = [
    { from: 0, to: 10 },
    { from: 5, to: 15 },
    { from: 10, to: 20 },
  ];
  assert.equal(highestAtOnce(stays), 2);
});

test("an honest gateway is never accused, however slow its answers are", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const books = new Books(TERMS);
      for (const note of honestHistory(TERMS, seededFraction(seed))) books.note(note);
      const { violations, passes } = books.close(1_000_000);
      assert.deepEqual(violations, []);
      assert.ok(passes > 0);
    }),
    { numRuns: 200 },
  );
});

test("a gateway that serves the last first is accused", () => {
  const books = new Books(TERMS);
  for (const note of honestHistory(TERMS, seededFraction(1), (line) => line.pop())) books.note(note);
  const seen = new Set(books.close(1_000_000).violations.map(({ wrong }) => wrong));
  assert.ok(seen.has("overtaken") && seen.has("wrong order"), [...seen].join());
});
