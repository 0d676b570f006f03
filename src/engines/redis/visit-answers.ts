/** Answers to visitors: how they are asked for, and what is read from the six values that Redis gives for each. */
import type { WaitRange } from "../../core/board.ts";
import type {
  Entered,
  JoinAnswer,
  Newcomer,
  Presence,
  RefusalReason,
  TicketAnswer,
  Waiting,
} from "../../core/engine.ts";
import { laneOf } from "../../core/lanes.ts";
import type { Pass } from "../../core/pass.ts";
import { isAheadShown } from "../../core/room-view.ts";
import type { DoorRules } from "../../core/rules.ts";
import { newTicket, setBackTicket, shownAhead, type Ticket } from "../../core/ticket.ts";
import { waitOn } from "../../core/wait-curve.ts";
import type { ShownBoard } from "./door-duty.ts";
import type { ToldTimes } from "./told-times.ts";
import type { Doing, VisitReply } from "./visit-calls.ts";

const IS_WAITING = 1;
const HAS_ENTERED = 2;
const IS_ADMITTED = 3;
const HAS_EXPIRED = 4;
const IS_REFUSED = 5;
const HAS_RETURNED = 6;
const GATHERED = 1;
const TURN_IN_HAND = 2;

export function joining(id: string, { lane, invite, canWait, visitMs }: Newcomer, dice: number): Doing {
  const code = invite ? [invite.id, String(invite.expiresAt)] : ["", "0"];
  const visit = visitMs === undefined ? "" : String(visitMs);
  return {
    words: ["j", id, String(lane), ...code, canWait ? "1" : "", String(dice), visit],
    isJoin: true,
    movesSlot: true,
  };
}

/** What is done with a ticket: check in, enter, leave; or, to a shard of a line, what came of its turn. */
export type Showing = "c" | "e" | "l" | TurnOutcome;
/** Its holder is on the site (k), the turn was void (a), or it was loose and there was no room (b). */
export type TurnOutcome = "k" | "a" | "b";

export function showing(what: Showing, ticket: Ticket, dice: number): Doing {
  const { id, sequence, lane, joinedAt, draw, expiresAt, missedTurns, missedAt } = ticket;
  const numbers = [sequence, lane, joinedAt, draw, expiresAt, dice, missedTurns, missedAt].map(String);
  return { words: [what, id, ...numbers], isJoin: false, movesSlot: what !== "c" };
}

/** The end of a visit: its holder leaves (`v`), or it is revoked (`r`). */
export function ending(what: "v" | "r", id: string): Doing {
  return { words: [what, id], isJoin: false, movesSlot: true };
}

export function seeing({ id, lane, joinedAt, admittedAt, expiresAt }: Presence): Doing {
  const numbers = [lane, joinedAt, admittedAt, expiresAt].map(String);
  return { words: ["t", id, ...numbers], isJoin: false, movesSlot: false };
}

/** Whether there is room for a newcomer. */
export const LOOKING: Doing = { words: ["h", ""], isJoin: false, movesSlot: false };

export function isRoomFound({ values, at }: VisitReply): boolean {
  return values[at] === HAS_ENTERED;
}

/** A pass that has run out is shown, and its visit may begin again. */
export function resuming({ id, lane, joinedAt, admittedAt }: Pass, mayBegin: boolean): Doing {
  const numbers = [lane, joinedAt, admittedAt].map(String);
  return { words: ["s", id, ...numbers, mayBegin ? "1" : ""], isJoin: false, movesSlot: true };
}

/** Until when the end of a visit is remembered; 0 when there was none. */
export function endedUntil({ values, at }: VisitReply): number {
  return values[at + 1] as number;
}

/** True when the main part says that a turn was loose and there is no room: its holder is to go back to their shard. */
export function isReturned({ values, at }: VisitReply): boolean {
  return values[at] === HAS_RETURNED;
}

type FiveNumbers = [number, number, number, number, number];

/** Someone who joins, and the lane they asked for. */
interface Joining {
  readonly id: string;
  readonly lane: number;
}

/** Reads the answers for one room, by the rules of the instant of each. */
export class AnswerReader {
  readonly #room: string;
  readonly #rulesAt: (now: number) => DoorRules;
  readonly #told: ToldTimes;
  readonly #board: () => ShownBoard | null;

  /** `board`: the latest one that this gateway has. */
  constructor(
    room: string,
    rulesAt: (now: number) => DoorRules,
    told: ToldTimes,
    board: () => ShownBoard | null,
  ) {
    this.#room = room;
    this.#rulesAt = rulesAt;
    this.#told = told;
    this.#board = board;
  }

  /** Null: the visit is over. */
  resumed(reply: VisitReply, id: string): Entered | null {
    return reply.values[reply.at] === HAS_ENTERED ? this.#entered(reply, id) : null;
  }

  /** The answer to someone who joins, or who shows their ticket. */
  answer(reply: VisitReply, joining: Joining): JoinAnswer;
  answer(reply: VisitReply, shown: Ticket): TicketAnswer;
  answer(reply: VisitReply, who: Joining | Ticket): TicketAnswer {
    const { values, at } = reply;
    switch (values[at]) {
      case IS_WAITING:
        return this.#waiting(reply, this.#ticketOf(reply, who));
      case HAS_ENTERED:
        return this.#entered(reply, who.id);
      case IS_ADMITTED: {
        const ticket = current(reply, this.#ticketOf(reply, who));
        return { kind: "admitted", ticket, claimBy: values[at + 3] as number };
      }
      case HAS_EXPIRED:
        return { kind: "expired" };
      case IS_REFUSED:
        return { kind: "refused", reason: values[at + 1] as RefusalReason };
      default:
        throw new Error(`Redis gave an answer of no known kind: ${String(values[at])}`);
    }
  }

  #waiting(reply: VisitReply, shown: Ticket): Waiting {
    const rules = this.#rulesAt(reply.now);
    const { values, at } = reply;
    const ahead = values[at + 3] as number;
    const nextCheckInMs = values[at + 4] as number;
    this.#told.note(nextCheckInMs);
    const ticket = current(reply, shown);
    const [standing] = standingIn(reply);
    if (standing === TURN_IN_HAND) return { kind: "waiting", ticket, ahead: 0, waitMs: null, nextCheckInMs };
    const hasNumber = standing !== GATHERED;
    return {
      kind: "waiting",
      ticket,
      ahead: hasNumber && isAheadShown(rules) ? shownAhead(ticket, ahead) : null,
      waitMs: hasNumber ? this.#wait(rules, shown.lane, ahead) : null,
      nextCheckInMs,
    };
  }

  /** As the board tells it; null also until one with waits has come. */
  #wait(rules: DoorRules, ticketLane: number, ahead: number): WaitRange | null {
    if (!rules.show.wait) return null;
    const points = this.#board()?.laneWaits?.[laneOf(rules.lanes, ticketLane)];
    const wait = points ? waitOn({ points }, ahead) : null;
    return wait && { low: msOf(wait.low), middle: msOf(wait.middle), high: msOf(wait.high) };
  }

  /** The ticket shown, or a new one, whose sequence and draw are in the reply. */
  #ticketOf({ now }: VisitReply, who: Joining | Ticket): Ticket {
    if ("sequence" in who) return who;
    const { lanes, ticketTtlMs } = this.#rulesAt(now);
    const times = { joinedAt: now, expiresAt: now + ticketTtlMs };
    const lane = laneOf(lanes, who.lane);
    return newTicket({ id: who.id, room: this.#room, lane, sequence: 0, ...times, node: 0 });
  }

  #entered({ values, at }: VisitReply, id: string): Entered {
    const [joinedAt, admittedAt, createdAt, expiresAt, lane] = values.slice(at + 1, at + 6) as FiveNumbers;
    const pass = { id, room: this.#room, lane, joinedAt, admittedAt, createdAt, expiresAt, node: 0 };
    return { kind: "entered", pass };
  }
}

function msOf(seconds: number): number {
  return Math.round(seconds * 1_000);
}

/** The ticket as it is by now: a draw or a missed turn may have given it another sequence. */
function current(reply: VisitReply, ticket: Ticket): Ticket {
  const { values, at } = reply;
  const sequence = Number(values[at + 1]);
  const draw = values[at + 2] as number;
  const [, missedTurns, missedAt] = standingIn(reply);
  if (missedTurns === 0) return { ...ticket, sequence, draw };
  return setBackTicket({ ...ticket, draw }, { sequence, missedTurns, missedAt });
}

/** A visitor's standing, their missed turns, and when the latest of these was given. */
function standingIn({
  values,
  at,
}: VisitReply): readonly [standing: number, missedTurns: number, missedAt: number] {
  const word = values[at + 5];
  if (typeof word === "number") return [word, 0, 0];
  const [standing, missedTurns, missedAt] = String(word).split(" ").map(Number);
  return [standing!, missedTurns!, missedAt!];
}
