/**
 * Requests to the owner of a place or visit, for a visitor who came to another node. A request is repeated until it is answered,
 * to the current owner each time; every operation here may run twice without harm. When no answer comes in time the sender goes
 * on alone: a visitor with a turn is told to come again, and the end of a place is written by the sender itself.
 */
import type { Invite, TicketAnswer } from "../../../core/engine.ts";
import type { Ticket } from "../../../core/ticket.ts";
import type { Seen } from "./room-answers.ts";

const RESEND_MS = 250;
/** The longest that a visitor waits, shorter than gateways wait for an engine. */
const ANSWER_MAX_MS = 1_500;
/** After this the sender ends a place without its owner. Copying that takes time too, and gateways wait for both. */
const END_MAX_MS = 400;
/** Requests that need no answer are repeated no longer than this. */
const TRY_MAX_MS = 15_000;
const PENDING_MAX = 50_000;
const ANSWERED_MAX = 4_096;

export type Op =
  | { readonly op: "enter"; readonly ticket: Ticket; readonly dice: number }
  | { readonly op: "leavePlace"; readonly ticket: Ticket }
  /** A visitor came back after the place had lapsed or was unknown. */
  | { readonly op: "seen"; readonly room: string; readonly seen: Seen }
  | { readonly op: "leaveVisit"; readonly room: string; readonly id: string }
  | { readonly op: "revoke"; readonly room: string; readonly id: string }
  | { readonly op: "invite"; readonly room: string; readonly invite: Invite };

/** The answer: for `enter` what becomes of the ticket, otherwise whether it was done. */
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
  /** Called with null when no answer came in time. */
  readonly answer: (answer: OpAnswer | null) => void;
  sentAt: number;
}

export interface RequestsParts {
  /** The member to ask now, "self", or null while there is none. */
  readonly routeOf: (op: Op) => string | "self" | null;
  /** Performs the operation on this node. */
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

  /** Performs an operation here or on its owner. `answer` gets null when neither could. */
  ask(op: Op, now: number, answer: (answer: OpAnswer | null) => void): void {
    if (this.#parts.routeOf(op) === "self") return this.#parts.perform(op, now, answer);
    if (this.#pending.size >= PENDING_MAX) return answer(null);
    const by = now + patienceMs(op);
    const pending = { number: ++this.#number, op, by, answer, sentAt: Number.NEGATIVE_INFINITY };
    this.#pending.set(pending.number, pending);
    this.#send(pending, now);
  }

  /** Owners may have changed. */
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

  /** Performs a request once, however often it arrives. */
  #perform(from: string, { number, op }: AskBody, now: number): void {
    const asked = `${from}/${number}`;
    const known = this.#answered.get(asked);
    if (known !== undefined) {
      if (known !== null) this.#outbox.push({ to: from, body: { kind: "reply", number, answer: known } });
      return;
    }
    // Without an answer the sender asks again, and by then may know the right owner.
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
