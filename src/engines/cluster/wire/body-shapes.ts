/**
 * What each kind of message must look like. Peers are trusted to tell the truth, but one of another version, or with a
 * fault, may send anything; a body that is not of its kind's shape is dropped before anyone looks into it.
 */
import { isEdgeState } from "../door/qpid-edge.ts";
import { isSwimBody } from "../membership/swim-body.ts";
import { isView } from "../membership/view.ts";

type Shape = (value: unknown) => boolean;

const ITEMS_MAX = 200_000;
const TEXT_MAX = 4_096;
const ID_DIGITS = 32;
/** Nobody can have missed more turns between two rounds. */
const COUNT_MAX = 1e9;

const text: Shape = (value) => typeof value === "string" && value.length <= TEXT_MAX;
const id: Shape = (value) =>
  typeof value === "string" && value.length === ID_DIGITS && /^[0-9a-f]+$/.test(value);
const number: Shape = (value) => Number.isFinite(value);
const whole: Shape = (value) => Number.isSafeInteger(value);
const count: Shape = (value) => whole(value) && (value as number) >= 0 && (value as number) <= COUNT_MAX;
const bytes: Shape = (value) => value instanceof Uint8Array;
const flag: Shape = (value) => typeof value === "boolean";
const anything: Shape = () => true;

function list(of: Shape): Shape {
  return (value) => Array.isArray(value) && value.length <= ITEMS_MAX && value.every(of);
}

function pair(...of: readonly Shape[]): Shape {
  return (value) => Array.isArray(value) && value.length === of.length && of.every((is, i) => is(value[i]));
}

function record(fields: Readonly<Record<string, Shape>>): Shape {
  const all = Object.entries(fields);
  return (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    all.every(([name, is]) => is((value as Record<string, unknown>)[name]));
}

function orNull(is: Shape): Shape {
  return (value) => value === null || is(value);
}

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

const answers: Readonly<Record<string, Shape>> = {
  waiting: record({ ticket, ahead: orNull(number), waitMs: anything, nextCheckInMs: number }),
  admitted: record({ ticket, claimBy: number }),
  entered: record({ pass }),
  expired: anything,
  refused: record({ reason: text }),
};

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
  ask: record({ number: whole, op: (value) => isOneOf(OPS, value, "op") }),
  reply: record({ number: whole, answer: (value) => flag(value) || isOneOf(answers, value, "kind") }),
  lend: record({ room: text, number: whole, round: text }),
  lent: record({ room: text, number: whole, round: text, slots: count, leave: count }),
  notes: record({ notes: list(anything) }),
  seen: record({ room: text, list: list(seen) }),
  touch: record({ room: text, list: list(presence) }),
  load: record({ room: text, load }),
  relay: record({ to: text, letter: anything }),
};

/** True for a body that is what its `kind` says. */
export function isMessageBody(value: unknown): boolean {
  return isOneOf(BODIES, value, "kind");
}

function isOneOf(shapes: Readonly<Record<string, Shape>>, value: unknown, by: string): boolean {
  if (typeof value !== "object" || value === null) return false;
  const name = (value as Record<string, unknown>)[by];
  if (typeof name !== "string" || !Object.hasOwn(shapes, name)) return false;
  return shapes[name]!(value);
}
