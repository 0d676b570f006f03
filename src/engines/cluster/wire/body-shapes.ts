/**
 * What each kind of message must look like. Peers are trusted to tell the truth, but a peer of another version, or a faulty one,
 * may send anything: a malformed body is dropped before it is used.
 */
import { isEdgeState } from "../door/qpid-edge.ts";
import { isSwimBody } from "../membership/swim-body.ts";
import { isView } from "../membership/view.ts";
import { type Shape, shape } from "./shapes.ts";

const { anything, bytes, count, flag, id, list, number, oneOf, orNull, pair, record, text, whole } = shape;

const member = record({ name: text, life: whole, address: text });
const ticket = record({
  ...{ id, room: text, lane: count, joinedAt: number, sequence: number, draw: whole, issuedAt: number },
  ...{ expiresAt: number, node: count, aheadShown: number, aheadAtJoin: number },
  ...{ missedTurns: count, missedAt: number, origin: whole },
});
const pass = record({
  ...{ id, room: text, lane: count, joinedAt: number, admittedAt: number, createdAt: number },
  ...{ expiresAt: number, node: count },
});
const presence = record({ id, lane: count, joinedAt: number, admittedAt: number, expiresAt: number });
const invite = record({ id: text, expiresAt: number });
const seen = pair(whole, count, id, number, number, number, count, number);
const load = record({
  ...{ from: text, periodMs: number, requests: number, answers: number, errors: number },
  ...{ latencyMs: orNull(number), inFlight: number },
});

const laneNumbers = list(whole);
const roomReport = record({
  lanes: list((value) => laneNumbers(value) && (value as unknown[]).length >= 2),
  ...{ turns: count, visits: count, kept: count, offered: count, owed: count, leaveBack: whole },
  ...{ arrivals: count, used: count },
  news: record({ entered: count, loosened: count, left: count, missed: count }),
});
const roundId = pair(whole, whole);
/** Minus infinity where nothing has happened yet. */
const instant: Shape = (value) => typeof value === "number";
const flow = record({ emptyAt: instant, steps: list(pair(number, number)), back: count, backAt: instant });
const doorMemo = record({ admissions: list(anything), lanes: list(anything), looseTurns: number });
const roomMemo = record({ door: doorMemo, flow, lastTurnAt: number });
const memo = record({ view: whole, seq: whole, rooms: list(pair(text, roomMemo)) });
const cut: Shape = (value) => laneNumbers(value) && [2, 3].includes((value as unknown[]).length);
const share = record({
  ...{ cuts: list(cut), slots: count, leave: count, entries: orNull(count), paid: count, isOver: flag },
});
const announce = record({
  ...{ seq: whole, at: number, shares: list(pair(text, share)), memo, dropped: list(roundId) },
});

const totals = (value: unknown) =>
  typeof value === "object" && value !== null && Object.values(value).every(number);
const copyPart = record({ part: count, parts: count, totals: list(pair(text, totals)) });

const isAnswer = oneOf(
  {
    waiting: record({ ticket, ahead: orNull(number), waitMs: anything, nextCheckInMs: number }),
    admitted: record({ ticket, claimBy: number }),
    entered: record({ pass }),
    expired: anything,
    refused: record({ reason: text }),
  },
  "kind",
);

const OPS: Readonly<Record<string, Shape>> = {
  enter: record({ ticket, dice: number }),
  leavePlace: record({ ticket }),
  seen: record({ room: text, seen }),
  leaveVisit: record({ room: text, id }),
  revoke: record({ room: text, id }),
  invite: record({ room: text, invite }),
};

const BODIES: Readonly<Record<string, Shape>> = {
  ping: isSwimBody,
  pingReq: isSwimBody,
  ack: isSwimBody,
  edge: isEdgeState,
  joinMe: record({ member }),
  notYet: record({ why: text }),
  view: record({ view: isView }),
  hello: anything,
  knock: record({ number: whole, view: isView }),
  met: record({ number: whole, view: isView }),
  bye: record({ id: text }),
  entries: record({
    ...{
      log: text,
      from: whole,
      blocks: list(pair(count, bytes)),
      isUrgent: flag,
      copy: orNull(copyPart),
    },
  }),
  read: record({ logs: list(pair(text, whole, count)) }),
  heads: record({ heads: list(pair(text, whole, count)), isAsking: flag }),
  count: record({
    ...{
      seq: whole,
      root: count,
      pass: count,
      asks: list(pair(text, list(list(number)))),
      draws: list(text),
    },
    ...{ drawn: list(pair(text, whole)), memoAt: roundId, last: orNull(announce) },
  }),
  report: record({
    ...{ seq: whole, pass: count, rooms: list(pair(text, roomReport)), heads: list(pair(text, whole)) },
    ...{ memo: orNull(memo), dropped: list(roundId) },
  }),
  announce,
  ask: record({ number: whole, op: oneOf(OPS, "op") }),
  reply: record({ number: whole, answer: (value) => flag(value) || isAnswer(value) }),
  lend: record({ room: text, number: whole, round: text }),
  lent: record({ room: text, number: whole, round: text, slots: count, leave: count }),
  notes: record({ notes: list(anything) }),
  seen: record({ room: text, list: list(seen) }),
  touch: record({ room: text, list: list(presence) }),
  load: record({ room: text, load }),
  relay: record({ to: text, letter: anything }),
};

/** True for a body that has the shape of its `kind`. */
export const isMessageBody: Shape = oneOf(BODIES, "kind");
