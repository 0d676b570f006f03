/**
 * The relaxed line: cut into shards in hash slots of their own, so that one very long line can be spread over the nodes of a
 * cluster. A place is in the shard that its ticket's id says, which is as good as one picked by dice. Turns go to the best of
 * a few shards that are looked at, so the order is nearly that of arrival and `ahead` is an estimate.
 *
 * Everything else is in the main part, which alone decides who enters: how many, at what rate, and that no ticket is used twice.
 * A newcomer asks there only while no line is known; a shard whose node is away is left out until it is back.
 */
import type { JoinAnswer, Newcomer, TicketAnswer } from "../../core/engine.ts";
import { ID_BYTES, idFromBytes } from "../../core/id.ts";
import type { RelaxedRules, RoomRules } from "../../core/rules.ts";
import { newTicket, setBackTicket, type Ticket } from "../../core/ticket.ts";
import { type LineParts, readLook, readTurn } from "./exact-line.ts";
import { RedisProblem } from "./link/problem.ts";
import { type LinePart, ordersOf, shardKeyOf } from "./orders.ts";
import { mergedLook } from "./relaxed-look.ts";
import { type TakenVisitor, takeNext } from "./relaxed-turn.ts";
import { openInRedis, RoomCalls, type RoomCallsParts } from "./room-calls.ts";
import type { LookOptions, RoomLine, TurnCall, Turned } from "./room-line.ts";
import type { Look } from "./room-look.ts";
import { endedUntil, isReturned, joining, showing, type TurnOutcome } from "./visit-answers.ts";
import { VisitCalls, type VisitReply } from "./visit-calls.ts";

/** How long after a line was last seen newcomers go to its end without asking the main part. */
const LINE_SEEN_MS = 1_000;
/** Digits of an id that say which shard it belongs to. */
const SHARD_DIGITS = 8;
/** How many shards a newcomer tries when some are away. */
const JOIN_TRIES_MAX = 4;
const ID_DIGITS = 2 * ID_BYTES;
/** The holder of a loose turn found no room, and goes back to their shard. */
const RETURNED = Symbol("returned");
/** How many values precede the number to be taken in the reply to `reserve`. */
const TURN_LENGTH = 5;

export interface RelaxedParts extends LineParts {
  readonly gateway: string;
  readonly ready: () => Promise<void> | null;
  readonly callsParts: RoomCallsParts;
  readonly reopen: () => Promise<void>;
}

interface Shard {
  readonly calls: RoomCalls;
  readonly visits: VisitCalls;
  /** The outcomes of a turn of the door, told while it turns: these calls do not wait until it has turned, as those of visitors may. */
  readonly outcomes: VisitCalls;
  /** As far as it is known. */
  waiting: number;
  look: Look | null;
}

export class RelaxedLine implements RoomLine {
  readonly #parts: RelaxedParts;
  readonly #peek: number;
  readonly #shards: readonly Shard[];
  #lineSeenAt = Number.NEGATIVE_INFINITY;
  /** How fast the door is, as the main part last told it. */
  #speed = "";

  constructor({ shards, peek }: RelaxedRules, parts: RelaxedParts) {
    const { prefix, name, callsParts, reopen, gateway, ready } = parts;
    this.#parts = parts;
    this.#peek = peek;
    this.#shards = Array.from({ length: shards }, (_, index) => {
      const calls = new RoomCalls(shardKeyOf(prefix, name, { index, of: shards }), callsParts, reopen);
      const visits = new VisitCalls(calls, gateway, ready);
      const outcomes = new VisitCalls(calls, gateway, () => null);
      return { calls, visits, outcomes, waiting: 0, look: null };
    });
  }

  async configure(rules: RoomRules, awayMs: number): Promise<void> {
    const open = (calls: RoomCalls, part: LinePart) =>
      openInRedis(calls, {
        orders: ordersOf(rules, { room: calls.key, budget: "" }, part),
        budget: "",
        awayMs,
      });
    await open(this.#parts.calls, { isMain: true });
    const shard = { shards: this.#shards.length };
    await Promise.all(this.#shards.map(({ calls }) => open(calls, shard)));
  }

  async join(newcomer: Newcomer): Promise<JoinAnswer> {
    const isLineKnown = this.#parts.world.clock.now() - this.#lineSeenAt < LINE_SEEN_MS;
    const atItsEnd = isLineKnown && newcomer.canWait ? await this.#joinShard(newcomer) : null;
    if (atItsEnd && atItsEnd.kind !== "refused") return atItsEnd;
    // A newcomer who gets no place may still go through, if there is no line by now.
    return (await this.#joinMain(newcomer)) ?? this.#joinShard(newcomer);
  }

  show(what: "c" | "e", ticket: Ticket): Promise<TicketAnswer> {
    return what === "c" ? this.#checkIn(ticket) : this.#enter(ticket);
  }

  async leave(ticket: Ticket): Promise<number> {
    const { visits } = this.#shardOf(ticket.id);
    const [until] = await Promise.all([
      this.#parts.visits.ask(showing("l", ticket, 0), endedUntil),
      visits.ask(showing("l", ticket, 0), () => null),
    ]);
    return until;
  }

  async look(options: LookOptions, now: string): Promise<Look> {
    const main = readLook(await this.#parts.calls.call("look", [now, "", options.hasRecent ? "1" : ""]));
    await Promise.all(
      this.#shards.map(async (shard) => {
        const answer = await this.#unlessAway(
          shard.calls.call("look", [now, options.hasMarks ? "1" : "", ""]),
        );
        if (answer) shard.look = readLook(answer);
      }),
    );
    return mergedLook(
      main,
      this.#shards.flatMap(({ look }) => look ?? []),
    );
  }

  async turn({ now, gateway, fence, orders }: TurnCall): Promise<Turned> {
    const { calls } = this.#parts;
    const hasMoreToLetGo = await this.#sweep(now);
    const waiting = this.#shards.reduce((sum, shard) => sum + shard.waiting, 0);
    const words = [now, gateway, String(fence)];
    const values = await calls.call("reserve", [...words, ...orders, String(waiting)], calls.kept);
    const turned = readTurn(values.slice(0, TURN_LENGTH));
    if (turned.fence === 0) return turned;
    const [count, speed] = values.slice(TURN_LENGTH) as [number, string];
    this.#speed = speed;
    const taken = await this.#take(count, now);
    const isLine = waiting > 0 && turned.reason !== "paused" && turned.reason !== "not started";
    const sequences = await this.#confirm(taken, [now, gateway, String(turned.fence), isLine ? "1" : ""]);
    if (sequences === null) return { ...turned, fence: 0, hasMore: false, sequences: [] };
    const left = waiting - sequences.length;
    this.#lineSeenAt = left > 0 ? this.#parts.world.clock.now() : Number.NEGATIVE_INFINITY;
    const hasMore = hasMoreToLetGo || (turned.hasMore && sequences.length > 0);
    return { ...turned, hasMore, waiting: left, sequences };
  }

  flush(): void {
    this.#parts.visits.flush();
    for (const { visits } of this.#shards) visits.flush();
  }

  async #checkIn(ticket: Ticket): Promise<TicketAnswer> {
    const answer = (await this.#ask("c", ticket))!;
    const isSpent = answer.kind === "refused" && answer.reason === "ticketSpent";
    const known = isSpent ? await this.#askMain(ticket) : null;
    return known === RETURNED || known === null ? answer : known;
  }

  async #enter(ticket: Ticket): Promise<TicketAnswer> {
    const answer = await this.#askMain(ticket);
    if (answer === RETURNED) return (await this.#ask("b", ticket)) ?? this.#checkIn(ticket);
    if (answer?.kind === "entered") {
      await this.#unlessAway(this.#ask("k", ticket));
      return answer;
    }
    if (answer) return this.#withPast(answer, ticket);
    const standing = (await this.#ask("c", ticket))!;
    // Taken by a gateway that could not confirm it: no turn was given.
    if (standing.kind === "admitted") return (await this.#ask("a", ticket)) ?? this.#checkIn(ticket);
    return standing;
  }

  /** Through, or the reason why not; null for a place in the line. */
  async #joinMain(newcomer: Newcomer): Promise<JoinAnswer | null> {
    const { reader, visits, world } = this.#parts;
    const id = this.#newId();
    const answer = await visits.ask(joining(id, newcomer, 0), (reply) =>
      isNothing(reply) ? null : reader.answer(reply, { id, lane: newcomer.lane }),
    );
    if (!answer) this.#lineSeenAt = world.clock.now();
    return answer;
  }

  async #joinShard(newcomer: Newcomer): Promise<JoinAnswer> {
    const { reader, world } = this.#parts;
    for (let tries = 1; ; tries++) {
      const id = this.#newId();
      try {
        const doing = joining(id, newcomer, world.random.fraction());
        return await this.#shardOf(id).visits.ask(doing, (reply) =>
          reader.answer(reply, { id, lane: newcomer.lane }),
        );
      } catch (cause) {
        const isElsewhere = cause instanceof RedisProblem && cause.wasRefused && cause.kind !== "outOfMemory";
        if (!isElsewhere || tries === JOIN_TRIES_MAX) throw cause;
      }
    }
  }

  /** The main part knows nothing of missed turns; the ticket does. */
  #withPast(answer: TicketAnswer, { sequence, missedTurns, missedAt }: Ticket): TicketAnswer {
    if (answer.kind !== "waiting" && answer.kind !== "admitted") return answer;
    return { ...answer, ticket: setBackTicket(answer.ticket, { sequence, missedTurns, missedAt }) };
  }

  /** The answer of a shard to a check-in, or to the outcome of a turn. */
  #ask(
    what: "c" | TurnOutcome,
    ticket: Ticket,
    calls: "visits" | "outcomes" = "visits",
  ): Promise<TicketAnswer | null> {
    const { reader, world } = this.#parts;
    const doing = showing(what, ticket, world.random.fraction());
    return this.#shardOf(ticket.id)[calls].ask(doing, (reply) =>
      isNothing(reply) ? null : reader.answer(reply, ticket),
    );
  }

  /** The answer of the main part to someone who would enter; null when it knows neither a turn nor a visit of theirs. */
  #askMain(ticket: Ticket): Promise<TicketAnswer | typeof RETURNED | null> {
    const { reader, world, visits } = this.#parts;
    const doing = showing("e", ticket, world.random.fraction());
    return visits.ask(doing, (reply) => {
      if (isReturned(reply)) return RETURNED;
      return isNothing(reply) ? null : reader.answer(reply, ticket);
    });
  }

  /** Lets go of what has run out in each shard. True when there is more. */
  async #sweep(now: string): Promise<boolean> {
    const total = this.#shards.reduce((sum, shard) => sum + shard.waiting, 0);
    const answers = await Promise.all(
      this.#shards.map(async (shard) => {
        const answer = await this.#unlessAway(shard.calls.call("sweep", [now, String(total), this.#speed]));
        // Nobody is taken out of a shard that is away.
        shard.waiting = answer ? Number(answer[0]) : 0;
        return answer?.[1] === 1;
      }),
    );
    return answers.includes(true);
  }

  async #take(count: number, now: string): Promise<TakenVisitor[]> {
    const among = this.#shards.flatMap(({ waiting }, index) => (waiting > 0 ? [index] : []));
    if (count === 0 || among.length === 0) return [];
    const shards = this.#shards.map(({ calls }) => calls);
    const dice = () => this.#parts.world.random.fraction();
    return takeNext({ shards, among, count, peek: this.#peek, now, dice });
  }

  /** Gives turns to those who were taken; their sequences, or null when the lease is another gateway's by now. */
  async #confirm(taken: readonly TakenVisitor[], words: readonly string[]): Promise<number[] | null> {
    const { calls } = this.#parts;
    const people = taken.flatMap(({ member, sequence, past, claimBy }) => [
      member,
      ...[sequence, past, claimBy].map(String),
    ]);
    const [token, ...isGiven] = await calls.call("confirm", [...words, ...people], calls.kept);
    if (token === 0) {
      await this.#settle("a", taken);
      return null;
    }
    const used = taken.filter((_, index) => isGiven[index] !== 1);
    await this.#settle("k", used);
    return taken.flatMap(({ sequence }, index) => (isGiven[index] === 1 ? [sequence] : []));
  }

  /** Tells the shards what became of those who were taken. */
  async #settle(outcome: TurnOutcome, taken: readonly TakenVisitor[]): Promise<void> {
    const told = taken.map((one) => this.#unlessAway(this.#ask(outcome, this.#ticketOf(one), "outcomes")));
    await Promise.all(told);
  }

  /** A ticket that means the place of someone who was taken. */
  #ticketOf({ member, sequence }: TakenVisitor): Ticket {
    const id = member.slice(0, ID_DIGITS);
    const joinedAt = Number(member.slice(ID_DIGITS));
    const { name, world } = this.#parts;
    const expiresAt = world.clock.now();
    return newTicket({ id, room: name, lane: 0, sequence, joinedAt, expiresAt, node: 0 });
  }

  async #unlessAway<T>(work: Promise<T>): Promise<T | null> {
    try {
      return await work;
    } catch (cause) {
      if (!(cause instanceof RedisProblem)) throw cause;
      return null;
    }
  }

  #newId(): string {
    return idFromBytes(this.#parts.world.random.bytes(ID_BYTES));
  }

  #shardOf(id: string): Shard {
    return this.#shards[Number.parseInt(id.slice(-SHARD_DIGITS), 16) % this.#shards.length]!;
  }
}

function isNothing({ values, at }: VisitReply): boolean {
  return values[at] === 0;
}
