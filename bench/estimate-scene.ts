/**
 * One scene of the bench `estimate`: a crowd meets a real room in virtual time, and every wait that is told is put beside
 * what happened. The room is the memory engine's; visitors do what the waiting page and the people behind it do: check in when
 * told, use their turn within seconds, click around the site, and then close the browser or say that they leave.
 *
 * Beside what we tell stands Cloudflare's way: the people ahead by the average let in a minute lately.
 */
import { Deadlines } from "../src/core/deadlines.ts";
import type { TicketAnswer } from "../src/core/engine.ts";
import type { Pass } from "../src/core/pass.ts";
import { isRenewalDue, renewPass } from "../src/core/pass.ts";
import { DEFAULT_RULES, EVERYBODY, type RoomRules } from "../src/core/rules.ts";
import { renewTicket, type Ticket } from "../src/core/ticket.ts";
import { MemoryRoom } from "../src/engines/memory/memory-room.ts";
import { Shelf } from "../src/testing/shelf.ts";

export const MINUTE_MS = 60_000;
const SECOND_MS = 1_000;
const DOOR_MS = 200;
/** A page hears of its turn, or reads the board, within this time. */
const HEARS_MS = 4_000;
/** How long Cloudflare's way looks back. */
const AVERAGE_MS = 5 * MINUTE_MS;
const NOW = Date.UTC(2026, 5, 1, 10);

export type Dice = () => number;

/** Someone who comes. */
export interface Person {
  readonly comesMs: number;
  readonly lane?: number;
  /** From entering to the last click. */
  readonly staysMs: number;
  readonly clickEveryMs: number;
  /** Says so when going. */
  readonly leaves: boolean;
  /** Closes the waiting page after this long; infinite: never. */
  readonly closesAfterMs: number;
  readonly noShow: boolean;
}

export interface Change {
  readonly atMs: number;
  readonly rules: Partial<RoomRules>;
}

export interface Scene {
  readonly name: string;
  readonly about: string;
  rules(startAt: number): Partial<RoomRules>;
  people(dice: Dice): Person[];
  readonly changes?: readonly Change[];
  readonly restartAtMs?: number;
  readonly endsMs: number;
}

/** What one visitor was told at an instant, and what happened. All in milliseconds. */
export interface Telling {
  readonly visitor: number;
  readonly atMs: number;
  readonly ahead: number;
  readonly low: number;
  readonly middle: number;
  readonly high: number;
  /** What Cloudflare's way would have told; null: nothing. */
  readonly plain: number | null;
  /** How long it took to the turn. */
  truth: number;
}

export interface Played {
  readonly tellings: readonly Telling[];
  /** When the first one had to wait. */
  readonly lineFromMs: number;
  readonly longestLine: number;
}

type Deed = "come" | "check" | "enter" | "click";

interface Due {
  readonly visitor: number;
  readonly deed: Deed;
}

interface Here {
  ticket: Ticket | null;
  pass: Pass | null;
  joinedMs: number;
  lastClickMs: number;
  toldMs: number;
  readonly pending: Telling[];
  hasTurn: boolean;
}

export function playScene(scene: Scene, seed: number): Played {
  return new Play(scene, seed).run();
}

class Play {
  readonly #scene: Scene;
  readonly #dice: Dice;
  readonly #people: Person[];
  readonly #here: Here[];
  readonly #due = new Deadlines<Due>();
  readonly #tellings: Telling[] = [];
  readonly #shelf = new Shelf();
  /** Who has a sequence. */
  readonly #bySequence = new Map<number, number>();
  #rules: RoomRules;
  #room: MemoryRoom;
  #now = NOW;
  #lineFromMs = -1;
  #longestLine = 0;
  readonly #turns: { readonly at: number; readonly count: number }[] = [];

  constructor(scene: Scene, seed: number) {
    this.#scene = scene;
    this.#dice = seededDice(seed);
    this.#people = scene.people(this.#dice);
    this.#here = this.#people.map(() => ({
      ticket: null,
      pass: null,
      joinedMs: 0,
      lastClickMs: 0,
      toldMs: Number.NEGATIVE_INFINITY,
      pending: [],
      hasTurn: false,
    }));
    this.#rules = { ...DEFAULT_RULES, ...scene.rules(NOW) };
    this.#room = this.#open();
    this.#people.forEach(({ comesMs }, visitor) => {
      this.#due.add(NOW + comesMs, { visitor, deed: "come" });
    });
  }

  run(): Played {
    const changes = [...(this.#scene.changes ?? [])];
    let restartMs = this.#scene.restartAtMs ?? Number.POSITIVE_INFINITY;
    while (this.#sinceMs <= this.#scene.endsMs) {
      if (changes[0] && changes[0].atMs <= this.#sinceMs) {
        this.#rules = { ...this.#rules, ...changes.shift()!.rules };
        this.#room.change(this.#rules, this.#now);
      }
      if (restartMs <= this.#sinceMs) {
        restartMs = Number.POSITIVE_INFINITY;
        this.#restart();
      }
      for (let due = this.#due.takeDue(this.#now); due; due = this.#due.takeDue(this.#now)) this.#act(due);
      this.#room.admit(this.#dice, this.#now);
      this.#longestLine = Math.max(this.#longestLine, this.#room.counts(this.#now).waiting);
      this.#now += DOOR_MS;
    }
    return { tellings: this.#tellings, lineFromMs: this.#lineFromMs, longestLine: this.#longestLine };
  }

  get #sinceMs(): number {
    return this.#now - NOW;
  }

  #open(): MemoryRoom {
    return new MemoryRoom({
      name: "main",
      rules: this.#rules,
      events: {
        onTurns: (sequences) => this.#takeTurns(sequences),
        onRevoked() {},
        onDraw: () => this.#bySequence.clear(),
        onRemark() {},
      },
      now: this.#now,
      isKept: true,
      budgetFree: () => Number.POSITIVE_INFINITY,
    });
  }

  #restart(): void {
    this.#shelf.put(this.#room.takeChanges(this.#now, true));
    this.#now += 2 * SECOND_MS;
    this.#room = this.#open();
    this.#room.restore(this.#shelf.get(), this.#now);
  }

  #act({ visitor, deed }: Due): void {
    if (deed === "come") this.#come(visitor);
    else if (deed === "check") this.#check(visitor);
    else if (deed === "enter") this.#use(visitor);
    else this.#click(visitor);
  }

  #moment(): { dice: number; now: number } {
    return { dice: this.#dice(), now: this.#now };
  }

  #come(visitor: number): void {
    const lane = this.#people[visitor]!.lane ?? EVERYBODY;
    const id = hex(this.#dice);
    const answer = this.#room.join(id, { lane, invite: null, canWait: true }, this.#moment());
    this.#here[visitor]!.joinedMs = this.#sinceMs;
    if (answer.kind === "entered") this.#enter(visitor, answer.pass);
    else if (answer.kind === "waiting") {
      if (this.#lineFromMs < 0) this.#lineFromMs = this.#sinceMs;
      this.#hear(visitor, answer);
    }
  }

  #check(visitor: number): void {
    const here = this.#here[visitor]!;
    if (!here.ticket || here.pass || this.#hasClosed(visitor)) return;
    this.#hear(visitor, this.#room.checkIn(here.ticket, this.#moment()));
  }

  #hear(visitor: number, answer: TicketAnswer): void {
    const here = this.#here[visitor]!;
    if (answer.kind === "entered") return this.#enter(visitor, answer.pass);
    if (answer.kind === "admitted") {
      here.ticket = answer.ticket;
      return this.#takeTurn(visitor);
    }
    if (answer.kind !== "waiting") {
      here.ticket = null;
      return;
    }
    here.ticket = renewTicket(answer.ticket, {
      now: this.#now,
      ttlMs: this.#rules.ticketTtlMs,
      aheadShown: answer.ahead ?? answer.ticket.aheadShown,
    });
    here.hasTurn = false;
    this.#bySequence.set(here.ticket.sequence, visitor);
    if (this.#sinceMs - here.toldMs >= MINUTE_MS && answer.waitMs && answer.ahead !== null) {
      here.toldMs = this.#sinceMs;
      const { low, middle, high } = answer.waitMs;
      const { ahead } = answer;
      const telling = {
        visitor,
        atMs: this.#sinceMs,
        ahead,
        low,
        middle,
        high,
        plain: this.#plain(ahead),
        truth: -1,
      };
      here.pending.push(telling);
    }
    const at = this.#now + Math.max(DOOR_MS, answer.nextCheckInMs);
    this.#due.add(at, { visitor, deed: "check" });
  }

  #takeTurns(sequences: readonly number[]): void {
    this.#turns.push({ at: this.#now, count: sequences.length });
    for (const sequence of sequences) {
      const visitor = this.#bySequence.get(sequence);
      if (visitor !== undefined) this.#takeTurn(visitor);
    }
  }

  #takeTurn(visitor: number): void {
    const here = this.#here[visitor]!;
    if (here.hasTurn) return;
    here.hasTurn = true;
    for (const telling of here.pending.splice(0)) {
      telling.truth = this.#sinceMs - telling.atMs;
      this.#tellings.push(telling);
    }
    if (this.#hasClosed(visitor) || this.#people[visitor]!.noShow) {
      here.ticket = null;
      return;
    }
    this.#due.add(this.#now + Math.floor(this.#dice() * HEARS_MS), { visitor, deed: "enter" });
  }

  #use(visitor: number): void {
    const { ticket, pass } = this.#here[visitor]!;
    if (ticket && !pass) this.#hear(visitor, this.#room.enter(ticket, this.#moment()));
  }

  #hasClosed(visitor: number): boolean {
    return this.#sinceMs - this.#here[visitor]!.joinedMs >= this.#people[visitor]!.closesAfterMs;
  }

  #enter(visitor: number, pass: Pass): void {
    const here = this.#here[visitor]!;
    here.ticket = null;
    here.pass = pass;
    here.lastClickMs = this.#sinceMs + this.#people[visitor]!.staysMs;
    this.#nextClick(visitor);
  }

  #nextClick(visitor: number): void {
    const { clickEveryMs } = this.#people[visitor]!;
    const { lastClickMs } = this.#here[visitor]!;
    const gapMs = -Math.log(1 - this.#dice()) * clickEveryMs;
    this.#due.add(Math.min(this.#now + gapMs, NOW + lastClickMs), { visitor, deed: "click" });
  }

  /** A click; the last one ends the visit, or nobody hears of its end. */
  #click(visitor: number): void {
    const here = this.#here[visitor]!;
    const pass = here.pass!;
    const isLast = this.#sinceMs >= here.lastClickMs;
    const { sessionDurationMs, disableSessionRenewal } = this.#rules;
    const renewal = { now: this.#now, sessionDurationMs, disableSessionRenewal };
    if (pass.expiresAt <= this.#now) return;
    if (isLast && this.#people[visitor]!.leaves) return this.#room.leaveVisit(pass.id, this.#now);
    if (isRenewalDue(pass, renewal)) {
      here.pass = renewPass(pass, renewal);
      this.#room.touch([here.pass], this.#now);
    }
    if (!isLast) this.#nextClick(visitor);
  }

  /** People ahead by those let in a minute lately. */
  #plain(ahead: number): number | null {
    const from = this.#now - AVERAGE_MS;
    let count = 0;
    for (const turn of this.#turns) if (turn.at > from) count += turn.count;
    const overMs = Math.min(AVERAGE_MS, this.#sinceMs - this.#lineFromMs);
    return count === 0 ? null : ((ahead + 1) / count) * overMs;
  }
}

function hex(dice: Dice): string {
  let text = "";
  while (text.length < 32)
    text += Math.floor(dice() * 0x10000)
      .toString(16)
      .padStart(4, "0");
  return text;
}

/** Mulberry32: the same seed, the same crowd. */
export function seededDice(seed: number): Dice {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
