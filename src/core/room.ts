/**
 * A room, written to be read: one object a visitor, a list in order, no cleverness. It is the model that every engine
 * is compared with, step by step, by `engines/model.ts`; where an engine and this file differ, one of them is wrong.
 *
 * It does not sign, pace or estimate. Identity (ticket id and order key) and the check-in time a visitor was told are
 * taken from the engine under test; everything that follows from them is decided here.
 */
import { type DoorCounts, door, isDoorOpen } from "./door.ts";
import { Flow } from "./flow.ts";
import { compareOrder, type OrderKey } from "./order.ts";
import { lapseDeadline, wholeTenth } from "./pacing.ts";
import { PRESENCE_GRACE_MS } from "./pass.ts";
import type { RoomRules } from "./rules.ts";

export type Standing = "waiting" | "lapsed" | "admitted" | "on site" | "gone";

export interface Visitor extends OrderKey {
  standing: Standing;
  /** Waiting: lapses then. Admitted: loses the turn then. On site: the slot is free again then. */
  until: number;
  ticketExpiresAt: number;
}

export class Room {
  rules: RoomRules;
  readonly #flow = new Flow();
  #visitors: Visitor[] = [];

  constructor(rules: RoomRules) {
    this.rules = rules;
  }

  /** What a newcomer gets at `now`: through, or a place. */
  wouldGoThrough(now: number): boolean {
    return isDoorOpen(this.rules, this.counts(), this.#flow, now);
  }

  arrive(key: OrderKey, now: number): Visitor {
    const visitor: Visitor = {
      ...key,
      standing: "waiting",
      until: now,
      ticketExpiresAt: now + this.rules.ticketTtlMs,
    };
    if (this.wouldGoThrough(now)) {
      this.#flow.take(this.rules.newUsersPerMinute, 1, now);
      this.#visit(visitor, now);
    }
    this.#visitors.push(visitor);
    this.#visitors.sort(compareOrder);
    return visitor;
  }

  /** The visitor is heard of, and told to come back in `nextCheckInMs` if they still wait. */
  checkIn(visitor: Visitor, nextCheckInMs: number, now: number): void {
    if (visitor.standing !== "waiting" && visitor.standing !== "lapsed") return;
    visitor.standing = "waiting";
    visitor.until = lapseDeadline({ now, nextCheckInMs, lapseAfterMs: this.rules.lapseAfterMs });
    visitor.ticketExpiresAt = now + this.rules.ticketTtlMs;
  }

  enter(visitor: Visitor, now: number): void {
    if (visitor.standing === "admitted") this.#visit(visitor, now);
  }

  touch(visitor: Visitor, expiresAt: number): void {
    if (visitor.standing === "on site")
      visitor.until = Math.max(visitor.until, expiresAt + PRESENCE_GRACE_MS);
  }

  leave(visitor: Visitor): void {
    visitor.standing = "gone";
  }

  /** One turn of the door: what ran out is let go, then the first in the line are admitted. */
  admit(now: number): Visitor[] {
    for (const visitor of this.#visitors) this.#runOut(visitor, now);
    const { admit } = door(this.rules, this.counts(), this.#flow, now);
    const admitted = this.#visitors.filter((visitor) => visitor.standing === "waiting").slice(0, admit);
    for (const visitor of admitted) {
      visitor.standing = "admitted";
      visitor.until = wholeTenth(now + this.rules.claimWindowMs);
    }
    this.#flow.take(this.rules.newUsersPerMinute, admitted.length, now);
    return admitted;
  }

  /** Living tickets before this visitor's. */
  ahead(visitor: OrderKey): number {
    return this.#visitors.filter((other) => other.standing === "waiting" && compareOrder(other, visitor) < 0)
      .length;
  }

  counts(): DoorCounts & { lapsed: number } {
    const count = (standing: Standing) =>
      this.#visitors.filter((visitor) => visitor.standing === standing).length;
    return {
      waiting: count("waiting"),
      admitted: count("admitted"),
      onSite: count("on site"),
      lapsed: count("lapsed"),
    };
  }

  #visit(visitor: Visitor, now: number): void {
    visitor.standing = "on site";
    visitor.until = now + this.rules.sessionDurationMs + PRESENCE_GRACE_MS;
  }

  #runOut(visitor: Visitor, now: number): void {
    if (visitor.until > now) return;
    if (visitor.standing === "on site") visitor.standing = "gone";
    else if (visitor.standing === "waiting" || visitor.standing === "admitted") visitor.standing = "lapsed";
  }
}
