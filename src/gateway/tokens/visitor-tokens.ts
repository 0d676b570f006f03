/**
 * From a request to the ticket or pass it carries, and back. A token comes in the room's cookie or, from a program
 * that keeps no cookies, in the `Fairgate-Token` header; a new one goes back the same way.
 *
 * Whatever is wrong with a token has a name, is counted, and is logged (at most a few lines a second: a flood of
 * forgeries must not become a flood of log lines). Its sender is then a newcomer.
 */
import type { Expired, RefusalReason, Refused } from "../../core/engine.ts";
import { isRenewalDue, type Pass, renewPass } from "../../core/pass.ts";
import { renewTicket, type Ticket } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import type { Sender } from "../abuse/binding.ts";
import { isSlip, type PastVisits, readSlip } from "../abuse/slip.ts";
import type { Carrier } from "../carrier.ts";
import { type RoomFront, waitingOpening } from "../room-front.ts";
import type { Traffic } from "../traffic.ts";
import type { UnprovenPlaces } from "../unproven-places.ts";
import { type Held, type HeldPass, type HeldTicket, HeldTokens } from "./held-tokens.ts";
import type { Keyring } from "./keyring.ts";
import { type Badge, NO_BADGE, passToken, readToken, type TokenRefusal, ticketToken } from "./token.ts";

const REFUSALS_LOGGED_PER_SECOND_MAX = 20;
/** A ticket is signed anew when a good check-in finds it older than this. */
const TICKET_REISSUE_MS = 30_000;
/**
 * A browser keeps a pass for so long after it ran out. Its visit may go on all the same, by traffic on a connection that cannot
 * carry a cookie back, and may begin again for a form.
 */
const SPENT_PASS_KEPT_MS = 24 * 3_600_000;

/** Someone with a token that was given to another browser, or in another network. */
export interface Stranger {
  readonly kind: "stranger";
}

const STRANGER: Stranger = { kind: "stranger" };

/** A visit whose pass has run out. */
export interface FormerVisit {
  readonly pass: Pass;
  readonly badge: Badge;
}

export class VisitorTokens {
  readonly #world: World;
  readonly #traffic: Traffic;
  readonly #unproven: UnprovenPlaces;
  #held = new HeldTokens();
  readonly #revoked = new Map<string, number>();
  #loggedInSecond = 0;
  #loggedSecond = 0;
  keyring: Keyring;

  constructor(keyring: Keyring, parts: { traffic: Traffic; unproven: UnprovenPlaces; world: World }) {
    this.keyring = keyring;
    this.#traffic = parts.traffic;
    this.#unproven = parts.unproven;
    this.#world = parts.world;
  }

  /** Signs and verifies with these keys from now on; what was found good with others is looked at anew. */
  turnTo(keyring: Keyring): void {
    if (keyring === this.keyring) return;
    this.keyring = keyring;
    this.#held = new HeldTokens();
  }

  /** What a request carries for this room; null for nothing that is good. `sender`: where tokens are bound to theirs. */
  read(front: RoomFront, carrier: Carrier, now: number, sender: Sender | null): Held | Stranger | null {
    const token = tokenOf(front, carrier);
    if (token === null || isSlip(token)) return null;
    const held = this.#held.get(token) ?? this.#verify(front, token, now);
    if (!held) return null;
    const refusal = this.#refusal(held, front.name, now);
    if (refusal === null && sender && !front.binding.isOwn(held.badge.binding, sender))
      return this.#strange(front, now);
    if (refusal === null) {
      if (held.kind === "ticket") this.#unproven.prove(held.ticket.id);
      return held;
    }
    this.#refuse(front.name, refusal, now);
    return null;
  }

  /**
   * How often a visitor has been here, by the last token they had, whether or not it is still good for anything. Looked
   * at only where it matters.
   */
  past(front: RoomFront, carrier: Carrier, now: number): PastVisits {
    const token = front.settings.visitsMax === null ? null : tokenOf(front, carrier);
    if (token === null || isSlip(token)) return NO_BADGE;
    return readToken(token, { room: front.name, keyring: this.keyring, now }).badge;
  }

  /** The genuine pass that someone carries after its time was up: the engine may still hold their visit. */
  former(front: RoomFront, carrier: Carrier, now: number, sender: Sender | null): FormerVisit | null {
    const token = tokenOf(front, carrier);
    if (token === null || isSlip(token)) return null;
    const reading = readToken(token, { room: front.name, keyring: this.keyring, now });
    if (reading.kind !== "refused" || reading.expiredPass === null) return null;
    const { badge, expiredPass: pass } = reading;
    if (this.isRevoked(pass.id)) return null;
    return sender && !front.binding.isOwn(badge.binding, sender) ? null : { pass, badge };
  }

  /** True for someone who brings a token of ours, whatever it is still good for: they keep what they are given. */
  isKeeper(front: RoomFront, carrier: Carrier, now: number): boolean {
    if (carrier.programToken !== undefined) return true;
    const token = tokenOf(front, carrier);
    if (token === null) return false;
    if (isSlip(token)) return readSlip(token, { room: front.name, keyring: this.keyring, now }) !== null;
    const reading = readToken(token, { room: front.name, keyring: this.keyring, now });
    return reading.kind !== "refused" || reading.reason === "expired";
  }

  /** The slip a newcomer carries; null for none. */
  slip(front: RoomFront, carrier: Carrier): string | null {
    const token = tokenOf(front, carrier);
    return token !== null && isSlip(token) ? token : null;
  }

  /** Flat header list that hands out a slip. */
  giveSlip(front: RoomFront, slip: string, lifeMs: number, carrier: Carrier): string[] {
    return this.#give(front, slip, lifeMs, carrier);
  }

  /** Flat header list that hands out a ticket with its whole time before it, and what is held with it from now on. */
  giveTicket(
    front: RoomFront,
    ticket: Ticket,
    badge: Badge,
    carrier: Carrier,
  ): { headers: string[]; held: HeldTicket } {
    const { aheadShown } = ticket;
    const ttlMs = front.rules.ticketTtlMs;
    const fresh = renewTicket(ticket, { now: this.#world.clock.now(), ttlMs, aheadShown });
    const token = ticketToken(fresh, badge, this.keyring);
    return { headers: this.#give(front, token, ttlMs, carrier), held: this.#holdTicket(token, fresh, badge) };
  }

  /** Flat header list that hands out a pass, and what is held with it from now on. */
  givePass(
    front: RoomFront,
    pass: Pass,
    badge: Badge,
    carrier: Carrier,
  ): { headers: string[]; held: HeldPass } {
    const token = passToken(pass, badge, this.keyring);
    const held = this.#holdPass(token, pass, badge);
    const ageMs = pass.expiresAt - this.#world.clock.now();
    return { headers: this.#give(front, token, ageMs + SPENT_PASS_KEPT_MS, carrier), held };
  }

  /** A renewed pass for someone still on the site, when it is time; null when it is not. */
  renew(
    front: RoomFront,
    held: HeldPass,
    carrier: Carrier,
    now: number,
  ): { headers: string[]; pass: Pass } | null {
    const { sessionDurationMs, disableSessionRenewal } = front.rules;
    const renewal = { now, sessionDurationMs, disableSessionRenewal };
    if (!isRenewalDue(held.pass, renewal)) return null;
    front.firstVisits.remove(held.pass.id);
    if (!held.renewed || isRenewalDue(held.renewed.pass, renewal)) {
      const pass = renewPass(held.pass, renewal);
      const token = passToken(pass, held.badge, this.keyring);
      this.#holdPass(token, pass, held.badge).isReported = true;
      held.renewed = { token, pass };
    }
    const { token, pass } = held.renewed;
    const ageMs = pass.expiresAt - now + SPENT_PASS_KEPT_MS;
    return { headers: this.#give(front, token, ageMs, carrier), pass };
  }

  /** The same as `giveTicket` for a ticket that is old enough to be worth it; null when it is not. */
  refreshTicket(
    front: RoomFront,
    held: HeldTicket,
    carrier: Carrier,
    now: number,
  ): ReturnType<VisitorTokens["giveTicket"]> | null {
    const oldMs = Math.min(TICKET_REISSUE_MS, front.rules.ticketTtlMs / 4);
    return now - held.ticket.issuedAt < oldMs
      ? null
      : this.giveTicket(front, held.ticket, held.badge, carrier);
  }

  /** Takes a token away, unless it has to tell how often its holder has been here. */
  drop(front: RoomFront, carrier: Carrier): string[] {
    return front.settings.visitsMax === null ? this.takeAway(front, carrier) : [];
  }

  /** Takes a token away that is of no use to its holder at all. */
  takeAway(front: RoomFront, carrier: Carrier): string[] {
    return carrier.programToken !== undefined ? [] : ["Set-Cookie", front.cookie.drop(carrier.isSecure)];
  }

  /** Counts and logs a good signature under a ticket that the engine does not take any more. */
  refuseTicket(answer: Expired | Refused, front: RoomFront, now: number): void {
    this.#refuse(front.name, answer.kind === "expired" ? "expired" : answer.reason, now);
  }

  /** Places in this room have changed hands. */
  noteDraw(room: string): void {
    this.#held.forgetAnswers(room);
  }

  /** From now on this id's passes are refused. Told by the engine. */
  revoke(id: string, until: number): void {
    this.#revoked.set(id, until);
  }

  isRevoked(id: string): boolean {
    return this.#revoked.has(id);
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
    if (reading.kind === "pass") return this.#holdPass(token, reading.pass, reading.badge);
    return this.#holdTicket(token, reading.ticket, reading.badge);
  }

  #strange(front: RoomFront, now: number): Stranger {
    this.#refuse(front.name, "wrongBrowser", now);
    return STRANGER;
  }

  #refusal(held: Held, room: string, now: number): TokenRefusal | null {
    const place = held.kind === "pass" ? held.pass : held.ticket;
    if (place.room !== room) return "wrongRoom";
    if (place.expiresAt <= now) return "expired";
    return held.kind === "pass" && this.isRevoked(place.id) ? "revoked" : null;
  }

  #holdTicket(token: string, ticket: Ticket, badge: Badge): HeldTicket {
    const opening = waitingOpening(ticket);
    const held: HeldTicket = { kind: "ticket", ticket, badge, opening, nextCheckInAt: 0, lastAnswer: null };
    this.#held.set(token, held);
    return held;
  }

  #holdPass(token: string, pass: Pass, badge: Badge): HeldPass {
    const held: HeldPass = { kind: "pass", pass, badge, described: null, renewed: null, isReported: false };
    this.#held.set(token, held);
    return held;
  }

  #give(front: RoomFront, token: string, ageMs: number, carrier: Carrier): string[] {
    if (carrier.programToken !== undefined) return ["Fairgate-Token", token];
    // A cookie that tells how often its holder has been here outlives the visit.
    const keptMs = front.settings.visitsMax === null ? ageMs : Math.max(ageMs, front.settings.visitsWindow);
    return ["Set-Cookie", front.cookie.give(token, keptMs, carrier.isSecure)];
  }

  #refuse(room: string, reason: TokenRefusal | RefusalReason | "wrongBrowser", now: number): void {
    this.#traffic.count("tokensRefused", reason);
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

/** From now on this ticket is held; with another sequence, answers to it begin otherwise. */
export function replaceTicket(held: HeldTicket, ticket: Ticket): void {
  if (ticket.sequence !== held.ticket.sequence) held.opening = waitingOpening(ticket);
  held.ticket = ticket;
}

function tokenOf(front: RoomFront, carrier: Carrier): string | null {
  const token = carrier.programToken ?? front.cookie.read(carrier.cookie, carrier.isSecure);
  return token === "" || token === "new" ? null : token;
}
