/**
 * The auditor of the crash test. It is told what visitors and operators asked, what they were answered and when, keeps its own
 * books, and reports violations. It knows nothing of the gateway but its promises, and reads no clock.
 *
 * Each answer comes with two instants: when it was asked for and when it arrived. The gateway decided somewhere in between, so
 * every rule here uses the instant that cannot accuse wrongly. A visit certainly counts from the arrival of its pass until
 * leaving was asked for. A visitor was certainly overtaken only if they were told to wait by an answer that was asked for after
 * the other's pass had arrived.
 */
import { unfairness } from "../../src/core/fairness.ts";
import { OrderBook } from "./order-book.ts";
import { Promises } from "./promises.ts";

/** What the gateway was configured to do. */
export interface Terms {
  readonly capacity: number;
  readonly sessionMs: number;
  readonly lapseAfterMs: number;
  /** A ticket's lifetime: a visitor who comes later has no claim to their place. Unlimited when left out. */
  readonly ticketTtlMs?: number;
  /**
   * A turn's lifetime: a visitor who does not come for this long may have missed one and be set back. Unlimited when left out.
   */
  readonly claimWindowMs?: number;
}

interface Answered {
  readonly guest: number;
  readonly askedAt: number;
  readonly at: number;
}

/** "Wait: this is your place." */
export interface Placed extends Answered {
  readonly kind: "placed";
  readonly sequence: number;
  readonly nextCheckInMs: number;
  /** A new ticket came with it. */
  readonly hasTicket: boolean;
  /** "Your turn came and no slot is kept for it any more: the next one is yours." Others may be in by then. */
  readonly isSentBack: boolean;
}
/** A pass was received, or confirmed as valid. */
export interface Entered extends Answered {
  readonly kind: "entered";
  readonly expiresInMs: number;
}
/** The site itself answered, with the visitor's id. */
export interface Served extends Answered {
  readonly kind: "served";
  readonly visitor: string;
  readonly joinedAt: number;
  readonly admittedAt: number;
}
/** A ticket or pass was refused. */
export interface TurnedAway extends Answered {
  readonly kind: "turned away";
  readonly words: string;
}
/** A turn was used and no answer came: the pass may have been granted. */
export interface Unanswered {
  readonly kind: "unanswered";
  readonly guest: number;
  readonly askedAt: number;
}
/** A visitor, or the operator, asked to end a place or visit. */
export interface Leaving {
  readonly kind: "leaving";
  readonly guest: number;
  readonly at: number;
}
/** The gateway at that address confirmed the end. */
export interface Left {
  readonly kind: "left";
  readonly guest: number;
  readonly at: number;
  readonly address: string;
}
/** An ended pass or spent ticket was shown again. */
export interface Replayed {
  readonly kind: "replayed";
  readonly guest: number;
  readonly at: number;
  readonly what: "pass" | "ticket";
  readonly isTaken: boolean;
}
/** The gateway's own counts. */
export interface Counted {
  readonly kind: "counted";
  readonly askedAt: number;
  readonly at: number;
  readonly onSite: number;
  readonly admitted: number;
}
/** A gateway was killed; or, without an address, something else put places at stake. */
export interface Killed {
  readonly kind: "killed";
  readonly at: number;
  readonly address?: string;
}
/** A setting (or key): asked for, acknowledged, or read with this value. null: not known yet. */
export interface Setting {
  readonly kind: "wanted" | "granted" | "found";
  readonly at: number;
  readonly name: string;
  readonly value: string | null;
}

export type Note =
  | Placed
  | Entered
  | Served
  | TurnedAway
  | Unanswered
  | Leaving
  | Left
  | Replayed
  | Counted
  | Killed
  | Setting;

export type Wrong =
  | "place lost"
  | "overtaken"
  | "too many on site"
  | "visit forgotten"
  | "two passes"
  | "pass refused"
  | "ended pass taken"
  | "spent ticket taken"
  | "setting lost"
  | "let in while paused"
  | "wrong order";

export interface Violation {
  readonly wrong: Wrong;
  readonly at: number;
  readonly words: string;
}

export interface Summary {
  readonly kills: number;
  /** Visitors who were given a place or a pass. */
  readonly visitors: number;
  readonly passes: number;
  /** Places held when the gateway was killed, summed over the kills, and those of them that were still held after it. */
  readonly placesAtStake: number;
  readonly placesKept: number;
  /** Visitors who came, or could come, only after their ticket had expired, or a visit that they were never told of. */
  readonly ranOut: number;
  readonly tau: number;
  readonly highestOnSite: number;
  readonly capacity: number;
  readonly violations: readonly Violation[];
}

export interface GuestTurn {
  readonly number: number;
  readonly joined: number;
  /** In steps of the door. */
  readonly admitted: number;
}

/** What the books know of one visitor. */
interface Guest {
  readonly number: number;
  sequence: number | null;
  firstPlacedAt: number;
  /** When the last question was asked that was answered with "wait". */
  toldToWaitAt: number;
  /** From then on, nobody has to wait for them. */
  dueBy: number;
  /** Others may have gone before them, because they did not come in time. */
  wasLate: boolean;
  /** Until then the ticket is certainly valid. */
  ticketUntil: number;
  hasRunOut: boolean;
  firstAskedAt: number;
  /** The earliest question that may have been granted a pass without an answer. */
  maybeEnteredAt: number | null;
  enteredAt: number | null;
  /** Until then the pass is certainly valid. */
  sureUntil: number;
  leavingAt: number | null;
  leftAt: number | null;
  visitor: string | null;
  joinedAt: number;
  admittedAt: number;
  stakes: number;
  hasLostPlace: boolean;
}

/** Doors record their turns in tenths of a second, rounded up. */
export const TURN_STEP_MS = 100;
/** A gateway may not know yet of a turn that was given this recently. */
const TOLD_LATE_MS = 1_000;
/** The name of the setting whose promise is also checked at the door. */
export const PAUSED = "paused";
export const CAPACITY = "totalActiveUsers";

export class Books {
  readonly violations: Violation[] = [];
  readonly #terms: Terms;
  readonly #guests = new Map<number, Guest>();
  readonly #onSite = new Set<Guest>();
  readonly #byVisitor = new Map<string, Guest>();
  readonly #order = new OrderBook();
  readonly #promises = new Promises();
  #capacity: number;
  #highest = 0;
  #kills = 0;
  #pausedSince: number | null = null;

  constructor(terms: Terms) {
    this.#terms = terms;
    this.#capacity = terms.capacity;
  }

  /** How many may be on the site by now. */
  get capacity(): number {
    return this.#capacity;
  }

  /** How many were given a pass so far. */
  get passes(): number {
    return [...this.#guests.values()].filter((guest) => guest.enteredAt !== null).length;
  }

  /** How many hold a place now. */
  get waiting(): number {
    return [...this.#guests.values()].filter(isWaiting).length;
  }

  /** Records one event. Events are recorded in the order in which they were seen. */
  note(note: Note): void {
    switch (note.kind) {
      case "placed":
        return this.#placed(note);
      case "entered":
        return this.#entered(note);
      case "served":
        return this.#served(note);
      case "turned away":
        return this.#turnedAway(note);
      case "unanswered":
        return this.#unanswered(note);
      case "leaving":
      case "left":
        return this.#leave(note);
      case "replayed":
        return this.#replayed(note);
      case "counted":
        return this.#counted(note);
      case "killed":
        return this.#killed();
      case "wanted":
      case "granted":
      case "found":
        return this.#setting(note);
    }
  }

  /** Closes the books: judges the order of everyone who was served, and sums up. */
  close(at: number): Summary {
    const guests = [...this.#guests.values()];
    const turns = this.turns();
    const tau = unfairness(turns);
    if (tau > 0) this.#wrong("wrong order", at, `tau is ${tau}; ${wrongPair(turns)}`);
    const stakes = guests.reduce((sum, guest) => sum + guest.stakes, 0);
    return {
      kills: this.#kills,
      visitors: guests.filter((guest) => guest.sequence !== null || guest.enteredAt !== null).length,
      passes: this.passes,
      placesAtStake: stakes,
      placesKept: stakes - guests.filter((guest) => guest.stakes > 0 && guest.hasLostPlace).length,
      ranOut: guests.filter((guest) => guest.hasRunOut).length,
      tau,
      highestOnSite: this.#highest,
      capacity: this.#capacity,
      violations: this.violations,
    };
  }

  /** Everyone who was served and never late: when they joined, and the step in which they got their turn. */
  protected turns(): GuestTurn[] {
    return [...this.#guests.values()]
      .filter((guest) => guest.visitor !== null && !guest.wasLate)
      .map(({ number, joinedAt: joined, admittedAt }) => {
        return { number, joined, admitted: Math.ceil(admittedAt / TURN_STEP_MS) };
      });
  }

  #placed(note: Placed): void {
    const guest = this.#guest(note);
    if (guest.leavingAt !== null) return;
    if (guest.enteredAt !== null) {
      if (note.at < guest.sureUntil) this.#refusedPass(guest, note.at, "was told to wait");
      return;
    }
    if (guest.sequence === null) {
      guest.sequence = note.sequence;
      guest.firstPlacedAt = note.at;
    } else if (guest.sequence !== note.sequence) {
      this.#moved(guest, note);
    }
    const { ticketTtlMs = Number.POSITIVE_INFINITY, lapseAfterMs } = this.#terms;
    if (note.hasTicket) guest.ticketUntil = note.askedAt + ticketTtlMs;
    if (note.at > guest.dueBy || note.isSentBack) guest.wasLate = true;
    guest.dueBy = note.askedAt + note.nextCheckInMs + lapseAfterMs;
    guest.toldToWaitAt = note.askedAt;
    this.#checkNotOvertaken(guest, note);
  }

  /** A place may be further back because its holder missed a turn, and for no other reason. */
  #moved(guest: Guest, { sequence, at }: Placed): void {
    const awayMs = at - guest.toldToWaitAt;
    const { claimWindowMs = Number.POSITIVE_INFINITY } = this.#terms;
    const mayHaveMissed = sequence > guest.sequence! && awayMs >= claimWindowMs - TOLD_LATE_MS;
    if (mayHaveMissed) guest.wasLate = true;
    else this.#lost(guest, at, `stood at ${guest.sequence} and was put at ${sequence} after ${awayMs} ms`);
    guest.sequence = sequence;
  }

  #checkNotOvertaken(guest: Guest, note: Placed): void {
    if (guest.wasLate) return;
    const place = { sequence: note.sequence, placedAt: guest.firstPlacedAt };
    if (!this.#order.isOvertaken(place, note.askedAt)) return;
    this.#wrong(
      "overtaken",
      note.at,
      `guest ${guest.number} waits, and somebody who joined later has a pass`,
    );
  }

  #entered(note: Entered): void {
    const guest = this.#guest(note);
    if (guest.leftAt !== null && note.askedAt > guest.leftAt) {
      this.#wrong("two passes", note.at, `guest ${guest.number} left, and entered again by the same ticket`);
    }
    if (guest.leavingAt !== null) return;
    guest.sureUntil = Math.max(guest.sureUntil, note.askedAt + note.expiresInMs);
    if (guest.enteredAt !== null) return;
    this.#checkNotPaused(guest, note);
    // They may have come back late before, with a question that was never answered.
    if (note.at > guest.dueBy) guest.wasLate = true;
    guest.enteredAt = note.at;
    this.#order.enter({ at: note.at, sequence: guest.sequence, joinAskedAt: guest.firstAskedAt });
    this.#onSite.add(guest);
    this.#countOnSite(note.at);
  }

  #checkNotPaused(guest: Guest, note: Entered): void {
    const since = this.#pausedSince;
    if (since === null) return;
    const cameSince = guest.sequence === null && guest.firstAskedAt > since;
    if (!cameSince && !(guest.sequence !== null && guest.toldToWaitAt > since)) return;
    this.#wrong("let in while paused", note.at, `guest ${guest.number} had no turn before the pause`);
  }

  #countOnSite(at: number): void {
    for (const guest of this.#onSite) if (guest.sureUntil <= at) this.#onSite.delete(guest);
    this.#highest = Math.max(this.#highest, this.#onSite.size);
    if (this.#onSite.size > this.#capacity)
      this.#wrong("too many on site", at, `${this.#onSite.size} on a site for ${this.#capacity}`);
  }

  #served(note: Served): void {
    const guest = this.#guest(note);
    if (guest.leavingAt !== null) return;
    const other = this.#byVisitor.get(note.visitor);
    if (guest.visitor !== null && guest.visitor !== note.visitor) {
      const wasGood = note.at < guest.sureUntil;
      if (wasGood)
        this.#wrong("two passes", note.at, `guest ${guest.number} was on the site under two names`);
    } else if (other !== undefined && other !== guest) {
      this.#wrong("two passes", note.at, `guests ${other.number} and ${guest.number} have one name`);
    }
    this.#byVisitor.set(note.visitor, guest);
    guest.visitor = note.visitor;
    guest.joinedAt = note.joinedAt;
    guest.admittedAt = note.admittedAt;
  }

  #turnedAway(note: TurnedAway): void {
    const guest = this.#guest(note);
    if (guest.leavingAt !== null) return;
    if (guest.enteredAt !== null) {
      if (note.at < guest.sureUntil) this.#refusedPass(guest, note.at, note.words);
      return;
    }
    if (guest.sequence === null) return;
    const { maybeEnteredAt } = guest;
    // Admitted without being told, and the session has expired since.
    if (maybeEnteredAt !== null && note.at >= maybeEnteredAt + this.#terms.sessionMs) guest.hasRunOut = true;
    else this.#lost(guest, note.at, note.words);
  }

  #unanswered(note: Unanswered): void {
    const guest = this.#guest(note);
    guest.maybeEnteredAt ??= note.askedAt;
  }

  #leave(note: Leaving | Left): void {
    const guest = this.#guest({ guest: note.guest, askedAt: note.at });
    guest.leavingAt ??= note.at;
    if (note.kind === "left") guest.leftAt ??= note.at;
    this.#onSite.delete(guest);
  }

  #replayed(note: Replayed): void {
    if (!note.isTaken) return;
    const wrong = note.what === "pass" ? "ended pass taken" : "spent ticket taken";
    this.#wrong(wrong, note.at, `the ${note.what} of guest ${note.guest}, who is gone, was taken`);
  }

  #counted(note: Counted): void {
    const sure = [...this.#onSite].filter(
      (guest) => guest.enteredAt! <= note.askedAt && guest.sureUntil > note.at,
    );
    if (note.onSite < sure.length)
      this.#wrong("visit forgotten", note.at, `${sure.length} are on the site, ${note.onSite} are counted`);
    const counted = note.onSite + note.admitted;
    if (counted > this.#capacity)
      this.#wrong("too many on site", note.at, `it counts ${counted} itself, for ${this.#capacity}`);
  }

  #killed(): void {
    this.#kills++;
    for (const guest of this.#guests.values()) if (isWaiting(guest)) guest.stakes++;
  }

  #setting(note: Setting): void {
    if (note.name === CAPACITY && note.kind === "wanted")
      this.#capacity = Math.max(this.#capacity, Number(note.value));
    if (note.name === PAUSED && note.kind === "granted" && note.value === "true") this.#pausedSince = note.at;
    if (note.name === PAUSED && note.kind === "wanted" && note.value === "false") this.#pausedSince = null;
    const words = this.#promises.note(note);
    if (words !== null) this.#wrong("setting lost", note.at, words);
  }

  #refusedPass(guest: Guest, at: number, words: string): void {
    this.#wrong("pass refused", at, `guest ${guest.number} has a good pass: ${words}`);
  }

  #lost(guest: Guest, at: number, words: string): void {
    if (at >= guest.ticketUntil) {
      guest.hasRunOut = guest.wasLate = true;
      return;
    }
    guest.hasLostPlace = true;
    this.#wrong("place lost", at, `guest ${guest.number}: ${words}`);
  }

  #wrong(wrong: Wrong, at: number, words: string): void {
    this.violations.push({ wrong, at, words });
  }

  #guest({ guest: number, askedAt }: { guest: number; askedAt: number }): Guest {
    let guest = this.#guests.get(number);
    if (!guest) {
      guest = newGuest(number, askedAt);
      this.#guests.set(number, guest);
    }
    return guest;
  }
}

/** True for a guest who holds a place, as far as is known. */
function isWaiting({ sequence, enteredAt, leavingAt, hasLostPlace, hasRunOut }: Guest): boolean {
  return sequence !== null && enteredAt === null && leavingAt === null && !hasLostPlace && !hasRunOut;
}

/** A pair in the wrong order, for debugging. */
function wrongPair(turns: readonly GuestTurn[]): string {
  const inOrder = turns.toSorted((a, b) => a.joined - b.joined || a.admitted - b.admitted);
  for (const [i, later] of inOrder.entries()) {
    const earlier = inOrder
      .slice(0, i)
      .find((one) => one.joined < later.joined && one.admitted > later.admitted);
    if (earlier) return `guest ${earlier.number} before ${later.number}: ${JSON.stringify([earlier, later])}`;
  }
  return "no pair";
}

function newGuest(number: number, firstAskedAt: number): Guest {
  return {
    number,
    sequence: null,
    firstPlacedAt: 0,
    toldToWaitAt: Number.NEGATIVE_INFINITY,
    dueBy: Number.POSITIVE_INFINITY,
    wasLate: false,
    ticketUntil: Number.POSITIVE_INFINITY,
    hasRunOut: false,
    firstAskedAt,
    maybeEnteredAt: null,
    enteredAt: null,
    sureUntil: 0,
    leavingAt: null,
    leftAt: null,
    visitor: null,
    joinedAt: 0,
    admittedAt: 0,
    stakes: 0,
    hasLostPlace: false,
  };
}
