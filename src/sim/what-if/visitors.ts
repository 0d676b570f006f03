/**
 * What visitors do, as the waiting page and the people behind it do it:
 *
 *   come ─▶ join ─┬─ straight through ──────────────────────────┐
 *                 ├─ refused                                    ▼
 *                 └─ wait: check in when told ─▶ turn ─▶ enter ─▶ on the site ─▶ gone
 *                      │                          └─ no-show         leaves, or lets the pass expire
 *                      └─ give up: closes the page without a word
 *
 * The impatient give up somewhere on their way to the front: after the share of it that their plan says or, if they are told no
 * number, after a time. The engine learns of it by a missed check-in, as it would in reality.
 *
 * Time is passed in. Everyone's next step is on the agenda; a visitor on it without a ticket is on the site.
 */
import type { Engine, Eventually, TicketAnswer, Waiting } from "../../core/engine.ts";
import { type Pass, renewPass } from "../../core/pass.ts";
import type { DoorRules } from "../../core/rules.ts";
import { renewTicket, type Ticket } from "../../core/ticket.ts";
import type { Agenda } from "./agenda.ts";
import type { CrowdPlan } from "./crowd-plan.ts";
import { GAVE_UP, type Journal, NO_SHOW, STILL_WAITING } from "./journal.ts";

/** Where visitors are told no number, the impatient give up within this time. */
const BLIND_PATIENCE_MS = 600_000;
/** A pass in use is renewed this many times in a session, as gateways do. */
const RENEWALS_PER_SESSION = 10;
/** A ticket is renewed after this share of its life. */
const TICKET_FRESH_SHARE = 0.25;
const NEVER = Number.POSITIVE_INFINITY;

export interface VisitorParts {
  readonly room: string;
  readonly engine: Engine;
  readonly plan: CrowdPlan;
  readonly journal: Journal;
  readonly agenda: Agenda;
  readonly rulesAt: (now: number) => DoorRules;
}

export class Visitors {
  readonly #parts: VisitorParts;
  readonly #bySequence = new Map<number, number>();
  readonly #tickets: (Ticket | undefined)[];
  readonly #passes: (Pass | undefined)[];
  /** How many were ahead when they were first told; -1: not told yet. */
  readonly #firstAhead: Float64Array;
  readonly #lastRequestAt: Float64Array;
  #undecided = 0;
  #entered = 0;
  #checkIns = 0;

  constructor(parts: VisitorParts) {
    const { size } = parts.plan;
    this.#parts = parts;
    this.#tickets = new Array(size);
    this.#passes = new Array(size);
    this.#firstAhead = new Float64Array(size).fill(-1);
    this.#lastRequestAt = new Float64Array(size);
  }

  /** Those who wait, and those with an unused turn. */
  get undecided(): number {
    return this.#undecided;
  }

  get entered(): number {
    return this.#entered;
  }

  get checkIns(): number {
    return this.#checkIns;
  }

  /** Arrives and joins. Returns true for going straight through. */
  arrive(visitor: number, now: number): boolean {
    const { engine, room, journal } = this.#parts;
    journal.came(visitor, now);
    const answer = atOnce(engine.join(room));
    if (answer.kind === "waiting") {
      this.#undecided++;
      journal.waits(visitor, answer.waitMs);
      this.#wait(visitor, answer, now);
    } else if (answer.kind === "entered") this.#enter(visitor, answer.pass, now);
    else journal.turnedAway(visitor, answer.reason);
    return answer.kind === "entered";
  }

  /** Takes the visitor's next step. */
  act(visitor: number, now: number): void {
    const ticket = this.#tickets[visitor];
    if (!ticket) return this.#use(visitor, now);
    const { engine, plan } = this.#parts;
    this.#checkIns++;
    const answer = atOnce(engine.checkIn(ticket));
    if (answer.kind !== "admitted") return this.#hear(visitor, answer, now);
    if (plan.usesTurnAfterMs[visitor] === NEVER) return this.#goFrom(visitor, NO_SHOW);
    this.#hear(visitor, atOnce(engine.enter(answer.ticket)), now);
  }

  /** Gives turns. A visitor who is told uses it a little later, or never. */
  takeTurns(sequences: readonly number[], now: number): void {
    const { plan, journal, agenda } = this.#parts;
    for (const sequence of sequences) {
      const visitor = this.#bySequence.get(sequence);
      if (visitor === undefined || journal.outcome[visitor] !== STILL_WAITING) continue;
      const usesAfterMs = plan.usesTurnAfterMs[visitor]!;
      if (usesAfterMs === NEVER) this.#goFrom(visitor, NO_SHOW);
      else agenda.put(visitor, now + usesAfterMs);
    }
  }

  /** A draw has moved places; everyone learns their new one with the next check-in. */
  forgetSequences(): void {
    this.#bySequence.clear();
  }

  #hear(visitor: number, answer: TicketAnswer, now: number): void {
    switch (answer.kind) {
      case "waiting":
        return this.#wait(visitor, answer, now);
      case "entered":
        this.#undecided--;
        return this.#enter(visitor, answer.pass, now);
      case "admitted":
        throw new Error("a turn was neither used nor kept");
      default:
        this.#undecided--;
        this.#tickets[visitor] = undefined;
        this.#parts.journal.turnedAway(visitor, answer.kind === "refused" ? answer.reason : answer.kind);
    }
  }

  #wait(visitor: number, answer: Waiting, now: number): void {
    const ticket = this.#fresh(answer, now);
    this.#bySequence.set(ticket.sequence, visitor);
    this.#tickets[visitor] = ticket;
    if (this.#isTired(visitor, answer.ahead, now)) return this.#goFrom(visitor, GAVE_UP);
    // At least a millisecond later, or a run could stand still.
    this.#parts.agenda.put(visitor, now + Math.max(1, answer.nextCheckInMs));
  }

  #isTired(visitor: number, ahead: number | null, now: number): boolean {
    const { plan, journal } = this.#parts;
    const patience = plan.patience[visitor]!;
    if (patience === NEVER) return false;
    if (ahead === null) return journal.waitedMs(visitor, now) > patience * BLIND_PATIENCE_MS;
    if (this.#firstAhead[visitor] === -1) this.#firstAhead[visitor] = ahead;
    return ahead < this.#firstAhead[visitor]! * (1 - patience);
  }

  /** The ticket, renewed when a good part of its life is over. */
  #fresh({ ticket, ahead }: Waiting, now: number): Ticket {
    const ttlMs = this.#parts.rulesAt(now).ticketTtlMs;
    if (now - ticket.issuedAt < ttlMs * TICKET_FRESH_SHARE) return ticket;
    return renewTicket(ticket, { now, ttlMs, aheadShown: ahead ?? ticket.aheadShown });
  }

  /** Closes the page, without a word. */
  #goFrom(visitor: number, outcome: typeof GAVE_UP | typeof NO_SHOW): void {
    this.#undecided--;
    this.#bySequence.delete(this.#tickets[visitor]!.sequence);
    this.#tickets[visitor] = undefined;
    this.#parts.agenda.drop(visitor);
    this.#parts.journal.gone(visitor, outcome);
  }

  #enter(visitor: number, pass: Pass, now: number): void {
    const { journal, plan } = this.#parts;
    const ticket = this.#tickets[visitor];
    if (ticket) this.#bySequence.delete(ticket.sequence);
    this.#tickets[visitor] = undefined;
    this.#entered++;
    journal.entered(visitor, pass, now);
    this.#passes[visitor] = pass;
    this.#lastRequestAt[visitor] = now + plan.staysMs[visitor]!;
    this.#useAgain(visitor, now);
  }

  /** On the site: a request, or the last one. */
  #use(visitor: number, now: number): void {
    const { engine, plan, rulesAt } = this.#parts;
    const pass = this.#passes[visitor]!;
    const { sessionDurationMs, disableSessionRenewal } = rulesAt(now);
    const isLast = now >= this.#lastRequestAt[visitor]!;
    if (isLast && plan.leaves[visitor] === 1) atOnce(engine.leave(pass));
    else if (!disableSessionRenewal)
      atOnce(engine.touch(pass.room, [renewPass(pass, { now, sessionDurationMs, disableSessionRenewal })]));
    if (isLast) this.#passes[visitor] = undefined;
    else this.#useAgain(visitor, now);
  }

  #useAgain(visitor: number, now: number): void {
    const { agenda, rulesAt } = this.#parts;
    const { sessionDurationMs, disableSessionRenewal } = rulesAt(now);
    const stepMs = disableSessionRenewal ? NEVER : Math.ceil(sessionDurationMs / RENEWALS_PER_SESSION);
    agenda.put(visitor, Math.min(now + stepMs, this.#lastRequestAt[visitor]!));
  }
}

/** The memory engine answers at once when it keeps nothing on disk. */
export function atOnce<T>(answer: Eventually<T>): T {
  if (answer instanceof Promise) throw new Error("the engine did not answer at once");
  return answer;
}
