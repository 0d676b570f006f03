import assert from "node:assert/strict";
import { test } from "node:test";
import type { JoinAnswer, TicketAnswer } from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { AnsweredNotice } from "../tunnel/notice.ts";
import { Decisions } from "./decisions.ts";

type Seen = Pick<AnsweredNotice, "id" | "askedAt" | "request">;

function answered(seen: Seen, answer: JoinAnswer | TicketAnswer): AnsweredNotice {
  const about = { kind: "answered", at: seen.askedAt, visitor: 0, station: 0, life: 1 } as const;
  return { ...about, ...seen, aheadShown: null, missedTurns: 0, answer, expiresAt: null };
}

function join(id: string, askedAt: number): AnsweredNotice {
  const waiting = { kind: "waiting", ticket: {} as Ticket, ahead: 0, waitMs: null, nextCheckInMs: 600 };
  return answered({ id, askedAt, request: "join" }, waiting as JoinAnswer);
}

function enter(id: string, admittedAt: number): AnsweredNotice {
  const pass = { id, admittedAt } as Pass;
  return answered({ id, askedAt: 1_000, request: "enter" }, { kind: "entered", pass });
}

function bookOf(notices: readonly AnsweredNotice[]): Decisions {
  const book = new Decisions();
  for (const notice of notices) book.see(notice);
  return book;
}

test("visitors who got their turn in one round are tied, in whatever order they entered", () => {
  const book = bookOf([
    join("a", 1),
    join("b", 2),
    join("c", 3),
    enter("c", 50),
    enter("b", 50),
    enter("a", 50),
  ]);
  assert.equal(book.tau(), 0);
  assert.equal(book.waited, 3);
});

test("a later one of an earlier round is a wrong pair", () => {
  const book = bookOf([
    join("a", 1),
    join("b", 2),
    join("c", 3),
    enter("c", 50),
    enter("b", 60),
    enter("a", 60),
  ]);
  // a and b are tied, so there are two pairs that say something.
  assert.equal(book.tau(), 1);
});

test("visitors who go straight through did not wait, and a repeated answer counts once", () => {
  const straight = answered(
    { id: "s", askedAt: 5, request: "join" },
    { kind: "entered", pass: { id: "s", admittedAt: 5 } as Pass },
  );
  const book = bookOf([join("a", 1), straight, straight, enter("a", 9), enter("a", 2)]);
  assert.equal(book.waited, 1);
  assert.equal(book.tau(), 1);
});
