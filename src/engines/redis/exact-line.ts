/** The exact line: all of a room is in one hash slot, and every call is one atomic step there. */
import type { JoinAnswer, Newcomer, TicketAnswer } from "../../core/engine.ts";
import { ID_BYTES, idFromBytes } from "../../core/id.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import { keysOf, ordersOf } from "./orders.ts";
import { openInRedis, type RoomCalls } from "./room-calls.ts";
import type { LookOptions, RoomLine, TurnCall, Turned } from "./room-line.ts";
import type { Look } from "./room-look.ts";
import { type AnswerReader, endedUntil, joining, showing } from "./visit-answers.ts";
import type { VisitCalls } from "./visit-calls.ts";

/** How many values precede the sequences in the reply to a turn. */
const TURN_HEAD_LENGTH = 5;

export interface LineParts {
  readonly name: string;
  readonly prefix: string;
  readonly world: World;
  readonly reader: AnswerReader;
  /** To the main key of the room, where its visits are. */
  readonly calls: RoomCalls;
  readonly visits: VisitCalls;
}

export class ExactLine implements RoomLine {
  readonly #parts: LineParts;

  constructor(parts: LineParts) {
    this.#parts = parts;
  }

  async configure(rules: RoomRules, awayMs: number): Promise<void> {
    const { prefix, name, calls } = this.#parts;
    const keys = keysOf(prefix, name, rules);
    await openInRedis(calls, { orders: ordersOf(rules, keys), budget: keys.budget, awayMs });
  }

  join(newcomer: Newcomer): Promise<JoinAnswer> {
    const { world, reader, visits } = this.#parts;
    const id = idFromBytes(world.random.bytes(ID_BYTES));
    const doing = joining(id, newcomer, world.random.fraction());
    return visits.ask(doing, (reply) => reader.answer(reply, { id, lane: newcomer.lane }));
  }

  show(what: "c" | "e", ticket: Ticket): Promise<TicketAnswer> {
    const { world, reader, visits } = this.#parts;
    const doing = showing(what, ticket, world.random.fraction());
    return visits.ask(doing, (reply) => reader.answer(reply, ticket));
  }

  leave(ticket: Ticket): Promise<number> {
    return this.#parts.visits.ask(showing("l", ticket, 0), endedUntil);
  }

  async look({ hasMarks, hasRecent }: LookOptions, now: string): Promise<Look> {
    return readLook(await this.#parts.calls.call("look", [now, hasMarks ? "1" : "", hasRecent ? "1" : ""]));
  }

  async turn({ now, gateway, fence, orders, dice }: TurnCall): Promise<Turned> {
    const args = [now, gateway, String(fence), ...orders, ...dice];
    const { calls } = this.#parts;
    return readTurn(await calls.call("turn", args, calls.kept));
  }

  flush(): void {
    this.#parts.visits.flush();
  }
}

export function readLook([text]: readonly unknown[]): Look {
  return JSON.parse(String(text)) as Look;
}

/** Token, reason, whether there is more, the draw that is due, then how many wait or how long the lease is another's. */
export function readTurn(values: readonly unknown[]): Turned {
  const [fence, reason, more, draw, number] = values as [number, string, number, number, number];
  return {
    ...{ fence, reason, draw },
    leftMs: fence === 0 ? number : 0,
    hasMore: more === 1,
    waiting: fence === 0 ? 0 : number,
    sequences: values.slice(TURN_HEAD_LENGTH).map(Number),
  };
}
