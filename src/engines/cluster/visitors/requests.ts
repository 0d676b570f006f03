/**
 * Questions to the owner of a place or visit, for a visitor who came to another node. A question is asked again until
 * it is answered, of whoever is the owner then; everything asked here may be done twice without harm. When nobody answers
 * in time, the asker goes on without the owner: a visitor with a turn is told to come again, and a node that is told of the end
 * of a place writes that down itself.
 */
import type { Invite, TicketAnswer } from "../../../core/engine.ts";
import type { Ticket } from "../../../core/ticket.ts";
import type { Seen } from "./room-answers.ts";

const RESEND_MS = 250;
/** A visitor does not wait longer than this, which is less than gateways wait for an engine. */
const ANSWER_MAX_MS = 1_500;
/** Then the asker ends a place without its owner. Having that copied takes time too, and gateways wait for both. */
const END_MAX_MS = 400;
/** What need not be answered is not tried longer than this. */
const TRY_MAX_MS = 15_000;
/** With more under way than this, nobody can be asked anything. */
const PENDING_MAX = 50_000;
/** Answers kept for those who ask again. */
const ANSWERED_MAX = 4_096;

export type Op =
  | { readonly op: "enter"; readonly ticket: Ticket; readonly dice: number }
  | { readonly op: "leavePlace"; readonly ticket: Ticket }
  /** Someone came back who was not waited for. */
  | { readonly op: "seen"; readonly room: string; readonly seen: Seen }
  | { readonly op: "leaveVisit"; readonly room: string; readonly id: string }
  | { readonly op: "revoke"; readonly room: string; readonly id: string }
  | { readonly op: "invite"; readonly room: string; readonly invite: Invite };

/** What an owner answers: to `enter` what becomes of the ticket, otherwise whether it was done. */
export type OpAnswer = TicketAnswer | boolean;

export interface AskBody {
  readonly kind: "ask";
  readonly number: number;
  readonly op: Op;
}

export interface ReplyBody {
  readonly kind: "reply";
  readonly number: number;
  readonly answer: OpAnswer;
}

interface Pending {
  readonly number: number;
  readonly op: Op;
  readonly by: number;
  /** Null: nobody answered in time. */
  readonly answer: (answer: OpAnswer | null) => void;
  sentAt: number;
}

export interface RequestsParts {
  /** Who is to be asked now: a member, "self", or null while there is nobody. */
  readonly routeOf: (op: Op) => string | "self" | null;
  /** Does it here. */
  readonly perform: (op: Op, now: number, answer: (answer: OpAnswer) => void) => void;
}

export class Requests {
  readonly #parts: RequestsParts;
  readonly #pending = new Map<number, Pending>();
  readonly #answered = new Map<string, OpAnswer | null>();
  #number = 0;
  #outbox: { to: string; body: AskBody | ReplyBody }[] = [];

  constructor(parts: RequestsParts) {
    this.#parts = parts;
  }

  /** Does it here or has it done. `answer` gets null when nobody could. */
  ask(op: Op, now: number, answer: (answer: OpAnswer | null) => void): void {
    if (this.#parts.routeOf(op) === "self") return this.#parts.perform(op, now, answer);
    if (this.#pending.size >= PENDING_MAX) return answer(null);
    const by = now + patienceMs(op);
    const pending = { number: ++this.#number, op, by, answer, sentAt: Number.NEGATIVE_INFINITY };
    this.#pending.set(pending.number, pending);
    this.#send(pending, now);
  }

  /** Owners may be others now. */
  reroute(now: number): void {
    for (const pending of [...this.#pending.values()]) this.#send(pending, now);
  }

  receive(from: string, body: AskBody | ReplyBody, now: number): void {
    if (!Number.isSafeInteger(body.number)) return;
    if (body.kind === "ask") this.#perform(from, body, now);
    else this.#take(body);
  }

  tick(now: number): void {
    for (const pending of [...this.#pending.values()]) {
      if (pending.by <= now) {
        this.#pending.delete(pending.number);
        pending.answer(null);
      } else if (now - pending.sentAt >= RESEND_MS) this.#send(pending, now);
    }
  }

  nextAt(): number {
    let at = Number.POSITIVE_INFINITY;
    for (const { by, sentAt } of this.#pending.values()) at = Math.min(at, by, sentAt + RESEND_MS);
    return at;
  }

  takeOutbox(): { to: string; body: AskBody | ReplyBody }[] {
    const outbox = this.#outbox;
    this.#outbox = [];
    return outbox;
  }

  #send(pending: Pending, now: number): void {
    pending.sentAt = now;
    const to = this.#parts.routeOf(pending.op);
    if (to === "self") {
      this.#pending.delete(pending.number);
      this.#parts.perform(pending.op, now, pending.answer);
    } else if (to !== null)
      this.#outbox.push({ to, body: { kind: "ask", number: pending.number, op: pending.op } });
  }

  /** Once, however often it is asked. */
  #perform(from: string, { number, op }: AskBody, now: number): void {
    const asked = `${from}/${number}`;
    const known = this.#answered.get(asked);
    if (known !== undefined) {
      if (known !== null) this.#outbox.push({ to: from, body: { kind: "reply", number, answer: known } });
      return;
    }
    // One that is not this node's is not answered: whoever asked finds out who is to be asked.
    if (this.#parts.routeOf(op) !== "self") return;
    this.#remember(asked, null);
    this.#parts.perform(op, now, (answer) => {
      this.#remember(asked, answer);
      this.#outbox.push({ to: from, body: { kind: "reply", number, answer } });
    });
  }

  #take({ number, answer }: ReplyBody): void {
    const pending = this.#pending.get(number);
    if (!pending || !isAnswer(pending.op, answer)) return;
    this.#pending.delete(number);
    pending.answer(answer);
  }

  #remember(asked: string, answer: OpAnswer | null): void {
    this.#answered.set(asked, answer);
    if (this.#answered.size <= ANSWERED_MAX) return;
    for (const oldest of this.#answered.keys()) {
      this.#answered.delete(oldest);
      if (this.#answered.size <= ANSWERED_MAX / 2) break;
    }
  }
}

function patienceMs({ op }: Op): number {
  if (op === "enter" || op === "invite") return ANSWER_MAX_MS;
  return op === "seen" ? TRY_MAX_MS : END_MAX_MS;
}

function isAnswer(op: Op, answer: OpAnswer): boolean {
  if (op.op === "enter")
    return typeof answer === "object" && answer !== null && typeof answer.kind === "string";
  return typeof answer === "boolean";
}
