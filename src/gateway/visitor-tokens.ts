/**
 * From a request to the ticket or pass it carries, and back. A token comes in the room's cookie or, from a program
 * that keeps no cookies, in the `Fairgate-Token` header; a new one goes back the same way.
 *
 * Whatever is wrong with a token has a name, is counted, and is logged (at most a few lines a second: a flood of
 * forgeries must not become a flood of log lines). Its sender is then a newcomer.
 */
import type { Expired, RefusalReason, Refused } from "../core/engine.ts";
import { isRenewalDue, type Pass, renewPass } from "../core/pass.ts";
import { renewTicket, type Ticket } from "../core/ticket.ts";
import type { World } from "../core/world.ts";
import type { Carrier } from "./carrier.ts";
import { type Held, type HeldPass, type HeldTicket, HeldTokens } from "./held-tokens.ts";
import type { Keyring } from "./keyring.ts";
import { type RoomFront, waitingOpening } from "./room-front.ts";
import { passToken, readToken, type TokenRefusal, ticketToken } from "./token.ts";
import type { Traffic } from "./traffic.ts";

const REFUSALS_LOGGED_PER_SECOND_MAX = 20;
/** A ticket is signed anew when a good check-in finds it older than this. */
const TICKET_REISSUE_MS = 30_000;

export class VisitorTokens {
  readonly #world: World;
  readonly #traffic: Traffic;
  #held = new HeldTokens();
  readonly #revoked = new Map<string, number>();
  #loggedInSecond = 0;
  #loggedSecond = 0;
  keyring: Keyring;

  constructor(keyring: Keyring, traffic: Traffic, world: World) {
    this.keyring = keyring;
    this.#traffic = traffic;
    this.#world = world;
  }

  /** Signs and verifies with these keys from now on; what was found good with others is looked at anew. */
  turnTo(keyring: Keyring): void {
    if (keyring === this.keyring) return;
    this.keyring = keyring;
    this.#held = new HeldTokens();
  }

  /** What a request carries for this room; null for nothing that is good. */
  read(front: RoomFront, carrier: Carrier, now: number): Held | null {
    const token = carrier.programToken ?? front.cookie.read(carrier.cookie, carrier.isSecure);
    if (token === null || token === "" || token === "new") return null;
    const held = this.#held.get(token) ?? this.#verify(front, token, now);
    if (!held) return null;
    const refusal = this.#refusal(held, front.name, now);
    if (refusal === null) return held;
    this.#refuse(front.name, refusal, now);
    return null;
  }

  /** Flat header list that hands out a ticket with its whole time before it, and what is held with it from now on. */
  giveTicket(front: RoomFront, ticket: Ticket, carrier: Carrier): { headers: string[]; held: HeldTicket } {
    const { aheadShown } = ticket;
    const ttlMs = front.rules.ticketTtlMs;
    const fresh = renewTicket(ticket, { now: this.#world.clock.now(), ttlMs, aheadShown });
    const token = ticketToken(fresh, this.keyring);
    return { headers: this.#give(front, token, ttlMs, carrier), held: this.#holdTicket(token, fresh) };
  }

  /** Flat header list that hands out a pass, and what is held with it from now on. */
  givePass(front: RoomFront, pass: Pass, carrier: Carrier): { headers: string[]; held: HeldPass } {
    const token = passToken(pass, this.keyring);
    const held = this.#holdPass(token, pass);
    return { headers: this.#give(front, token, pass.expiresAt - this.#world.clock.now(), carrier), held };
  }

  /** A renewed pass for someone still on the site, when it is time; null when it is not. */
  renew(
    front: RoomFront,
    held: HeldPass,
    carrier: Carrier,
    now: number,
  ): { headers: string[]; pass: Pass } | null {
    const renewal = { now, sessionDurationMs: front.rules.sessionDurationMs };
    if (front.rules.disableSessionRenewal || !isRenewalDue(held.pass, renewal)) return null;
    if (!held.renewed || isRenewalDue(held.renewed.pass, renewal)) {
      const pass = renewPass(held.pass, renewal);
      const token = passToken(pass, this.keyring);
      this.#holdPass(token, pass).isReported = true;
      held.renewed = { token, pass };
    }
    const { token, pass } = held.renewed;
    return { headers: this.#give(front, token, pass.expiresAt - now, carrier), pass };
  }

  /** The same as `giveTicket` for a ticket that is old enough to be worth it; null when it is not. */
  refreshTicket(
    front: RoomFront,
    held: HeldTicket,
    carrier: Carrier,
    now: number,
  ): ReturnType<VisitorTokens["giveTicket"]> | null {
    const oldMs = Math.min(TICKET_REISSUE_MS, front.rules.ticketTtlMs / 4);
    return now - held.ticket.issuedAt < oldMs ? null : this.giveTicket(front, held.ticket, carrier);
  }

  drop(front: RoomFront, carrier: Carrier): string[] {
    return carrier.programToken !== undefined ? [] : ["Set-Cookie", front.cookie.drop(carrier.isSecure)];
  }

  /** Counts and logs a good signature under a ticket that the engine does not take any more. */
  refuseTicket(answer: Expired | Refused, front: RoomFront, now: number): void {
    this.#refuse(front.name, answer.kind === "expired" ? "expired" : answer.reason, now);
  }

  /** From now on this id's passes are refused. Told by the engine. */
  revoke(id: string, until: number): void {
    this.#revoked.set(id, until);
  }

  /** Forgets ended visits whose passes have run out anyway. */
  forget(now: number): void {
    for (const [id, until] of this.#revoked) if (until < now) this.#revoked.delete(id);
  }

  #verify(front: RoomFront, token: string, now: number): Held | null {
    const reading = readToken(token, { room: front.name, keyring: this.keyring, now });
    if (reading.kind === "refused") {
      this.#refuse(front.name, reading.reason, now);
      return null;
    }
    if (reading.kind === "pass") return this.#holdPass(token, reading.pass);
    return this.#holdTicket(token, reading.ticket);
  }

  #refusal(held: Held, room: string, now: number): TokenRefusal | null {
    const place = held.kind === "pass" ? held.pass : held.ticket;
    if (place.room !== room) return "wrongRoom";
    if (place.expiresAt <= now) return "expired";
    return held.kind === "pass" && this.#revoked.size > 0 && this.#revoked.has(place.id) ? "revoked" : null;
  }

  #holdTicket(token: string, ticket: Ticket): HeldTicket {
    const opening = waitingOpening(ticket.sequence);
    const held: HeldTicket = { kind: "ticket", ticket, opening, nextCheckInAt: 0, lastAnswer: null };
    this.#held.set(token, held);
    return held;
  }

  #holdPass(token: string, pass: Pass): HeldPass {
    const held: HeldPass = { kind: "pass", pass, described: null, renewed: null, isReported: false };
    this.#held.set(token, held);
    return held;
  }

  #give(front: RoomFront, token: string, ageMs: number, carrier: Carrier): string[] {
    if (carrier.programToken !== undefined) return ["Fairgate-Token", token];
    return ["Set-Cookie", front.cookie.give(token, ageMs, carrier.isSecure)];
  }

  #refuse(room: string, reason: TokenRefusal | RefusalReason, now: number): void {
    this.#traffic.tokensRefused[reason] = (this.#traffic.tokensRefused[reason] ?? 0) + 1;
    const second = Math.floor(now / 1_000);
    if (second !== this.#loggedSecond) {
      this.#loggedSecond = second;
      this.#loggedInSecond = 0;
    }
    if (this.#loggedInSecond++ < REFUSALS_LOGGED_PER_SECOND_MAX) {
      this.#world.log.info({ room, reason }, "token refused");
    }
  }
}
