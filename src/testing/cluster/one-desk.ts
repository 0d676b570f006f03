/**
 * A stand-in for a cluster, to test the simulator itself: its nodes share one desk, which knows everything at once and forgets
 * nothing, so it is correct. Each entry of `WRONGS` breaks one promise on purpose, and the check for it must find that.
 *
 * It sends a few messages so that there is traffic, and does not depend on them.
 */

import { type JoinAnswer, NO_TOTALS, type TicketAnswer } from "../../core/engine.ts";
import { Flow } from "../../core/flow.ts";
import { lapseDeadline } from "../../core/pacing.ts";
import { PRESENCE_GRACE_MS } from "../../core/pass.ts";
import { DEFAULT_RULES, type RoomRules } from "../../core/rules.ts";
import { AHEAD_UNKNOWN, NONE_MISSED, type Ticket } from "../../core/ticket.ts";
import type { IdentifiedNewcomer } from "../../engines/cluster/node.ts";
import { BlockLine } from "../../engines/cluster/visitors/block-line.ts";
import type { Dice } from "../../sim/tunnel/dice.ts";
import type { SimNodeEvent } from "../../sim/tunnel/sim-node.ts";

export const WRONGS = [
  "one too many",
  "second visit",
  "spent ticket taken",
  "ended pass taken",
  "place lost",
  "ahead rises",
  "ahead too low",
  "too fast",
  "out of order",
  "nobody any more",
  "two roots",
  "pointer astray",
  "member forgotten",
  "root elsewhere",
  "miscounted",
  "slot twice",
  "throws",
  "answers twice",
  "shares messages",
  "copies too little",
] as const;
export type Wrong = (typeof WRONGS)[number];

/** Nodes that did not tick for this long count as dead. */
const SILENT_MS = 1_500;
/** The desk is correct until this many visitors have joined. */
const RIGHT_UNTIL = 30;

interface Place {
  readonly ticket: Ticket;
  state: "waiting" | "lapsed" | "admitted" | "on site" | "gone";
  until: number;
  admittedAt: number;
}

export interface DeskMember {
  readonly number: number;
  readonly name: string;
  readonly life: number;
  readonly address: string;
}

export class OneDesk {
  readonly wrong: Wrong | null;
  rules: RoomRules = DEFAULT_RULES;
  now = 0;
  version = 0;
  /** Ids of those who left, in turn. */
  readonly ended: string[] = [];
  readonly #members = new Map<string, DeskMember & { seenAt: number }>();
  readonly #places = new Map<string, Place>();
  readonly #bySequence = new Map<number, Place>();
  readonly #line = new BlockLine();
  readonly #held = new Set<Place>();
  readonly #flow = new Flow();
  #joined = 0;

  constructor(wrong: Wrong | null = null) {
    this.wrong = wrong;
  }

  /** True once it is time to break this promise. */
  is(wrong: Wrong): boolean {
    return this.wrong === wrong && this.#joined > RIGHT_UNTIL;
  }

  get members(): DeskMember[] {
    return [...this.#members.values()].sort((a, b) => a.number - b.number);
  }

  /** A node shows that it lives. */
  seen({ name, life, address }: Omit<DeskMember, "number">, now: number): DeskMember {
    this.now = Math.max(this.now, now);
    const known = this.#members.get(name);
    const number = known?.number ?? this.#freeNumber();
    if (known?.life !== life) this.version++;
    const member = { number, name, life, address, seenAt: this.now };
    this.#members.set(name, member);
    for (const other of [...this.#members.values()]) {
      if (this.now - other.seenAt <= SILENT_MS) continue;
      this.#members.delete(other.name);
      this.version++;
    }
    return member;
  }

  gone(name: string): void {
    this.#members.delete(name);
    this.version++;
  }

  join({ id, dice }: IdentifiedNewcomer, now: number): JoinAnswer {
    this.#joined++;
    const sequence = 1_000_000 + this.#joined;
    const shown = { aheadShown: AHEAD_UNKNOWN, aheadAtJoin: AHEAD_UNKNOWN, ...NONE_MISSED };
    const life = { issuedAt: now, expiresAt: now + 3_600_000 };
    const ticket: Ticket = {
      id,
      room: "main",
      lane: 0,
      joinedAt: now,
      sequence,
      draw: 0,
      node: 0,
      ...life,
      ...shown,
    };
    const place: Place = { ticket, state: "waiting", until: now, admittedAt: now };
    this.#places.set(id, place);
    this.#bySequence.set(sequence, place);
    if (this.#free > 0 && this.#line.size === 0) {
      this.#flow.take(this.rules.newUsersPerMinute, 1, this.now);
      return this.#visit(place, now);
    }
    return this.#wait(place, ticket, dice, now);
  }

  show(ticket: Ticket, dice: number, now: number, isEntering: boolean): TicketAnswer {
    const place = this.#places.get(ticket.id)!;
    if (this.is("place lost") && dice < 0.02) return { kind: "refused", reason: "ticketSpent" };
    if (place.state === "gone" && !this.is("spent ticket taken"))
      return { kind: "refused", reason: "ticketSpent" };
    if (place.state === "waiting" || place.state === "lapsed") return this.#wait(place, ticket, dice, now);
    if (place.state === "admitted" && !isEntering) return { kind: "admitted", ticket, claimBy: place.until };
    return this.#visit(place, now);
  }

  leave(id: string): void {
    const place = this.#places.get(id);
    if (place) this.#move(place, "gone", 0);
    if (!this.is("ended pass taken")) this.ended.push(id);
  }

  touch(id: string, expiresAt: number): void {
    const place = this.#places.get(id);
    if (place?.state === "on site") place.until = Math.max(place.until, expiresAt + PRESENCE_GRACE_MS);
  }

  /** Admits visitors: the sequences of those who got their turn. */
  admit(dice: Dice): SimNodeEvent[] {
    this.#runOut();
    const sequences: number[] = [];
    while (!this.rules.paused && this.#free > 0 && this.#line.size > 0 && !this.is("nobody any more")) {
      const rank = this.is("out of order") ? Math.floor(dice() * this.#line.size) : 0;
      const place = this.#bySequence.get(this.#line.at(rank))!;
      this.#move(place, "admitted", this.now + this.rules.claimWindowMs);
      place.admittedAt = this.now;
      this.#flow.take(this.rules.newUsersPerMinute, 1, this.now);
      sequences.push(place.ticket.sequence);
    }
    return sequences.length > 0 ? [{ kind: "turns", room: "main", sequences }] : [];
  }

  get figures() {
    const held = [...this.#held];
    const turns = held.filter(({ state }) => state === "admitted").length;
    const visits = held.length - turns;
    return {
      ownFirst: this.#line.size > 0 ? this.#line.at(0) : null,
      ownWaiting: this.#line.size,
      turns,
      visits,
      totals: NO_TOTALS,
    };
  }

  get #free(): number {
    const free = (this.rules.totalActiveUsers ?? 0) + (this.is("one too many") ? 1 : 0) - this.#held.size;
    const { newUsersPerMinute } = this.rules;
    return this.is("too fast") ? free : Math.min(free, this.#flow.allowance(newUsersPerMinute, this.now));
  }

  #freeNumber(): number {
    const taken = new Set([...this.#members.values()].map(({ number }) => number));
    for (let number = 0; ; number++) if (!taken.has(number)) return number;
  }

  #wait(place: Place, ticket: Ticket, dice: number, now: number): JoinAnswer & TicketAnswer {
    const rank = this.#line.ahead(place.ticket.sequence);
    const shown = this.is("ahead too low") ? Math.floor(rank / 2) : rank;
    const ahead = this.is("ahead rises") ? rank + Math.floor(10 * dice) : Math.min(ticket.aheadShown, shown);
    const nextCheckInMs = Math.round(Math.min(10_000, 1_000 + 100 * rank) * (1 + 0.2 * dice));
    const { lapseAfterMs } = this.rules;
    this.#move(place, "waiting", lapseDeadline({ now, nextCheckInMs, lapseAfterMs }));
    return { kind: "waiting", ticket, ahead, waitMs: null, nextCheckInMs };
  }

  #visit(place: Place, now: number): JoinAnswer & TicketAnswer {
    const { id, room, lane, joinedAt } = place.ticket;
    const isAgain = place.state === "on site";
    if (!isAgain) this.#move(place, "on site", now + this.rules.sessionDurationMs + PRESENCE_GRACE_MS);
    if (isAgain && this.is("second visit")) place.admittedAt = now;
    const { admittedAt, until } = place;
    const times = { joinedAt, admittedAt, createdAt: now, expiresAt: until - PRESENCE_GRACE_MS };
    return { kind: "entered", pass: { id, room, lane, node: 0, ...times } };
  }

  #move(place: Place, state: Place["state"], until: number): void {
    place.state = state;
    place.until = until;
    if (state === "waiting") this.#line.add(place.ticket.sequence);
    else this.#line.remove(place.ticket.sequence);
    if (state === "admitted" || state === "on site") this.#held.add(place);
    else this.#held.delete(place);
  }

  #runOut(): void {
    for (const place of this.#places.values()) {
      if (place.until > this.now) continue;
      if (place.state === "on site") this.#move(place, "gone", 0);
      else if (place.state === "waiting" || place.state === "admitted") this.#move(place, "lapsed", 0);
    }
  }
}
