/**
 * From a request to the ticket or pass it carries, and back. A token comes in the room's cookie or, from a program that keeps
 * no cookies, in the `Fairgate-Token` header. A new one goes back the same way.
 *
 * Whatever is wrong with a token has a name, is counted, and is logged, at most a few lines a second. Its sender is then a
 * newcomer.
 */
import type { Expired, RefusalReason, Refused, Waiting } from "../../core/engine.ts";
import { isRenewalDue, type Pass, renewPass } from "../../core/pass.ts";
import { renewTicket, type Ticket, tellAhead } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import type { Sender } from "../abuse/binding.ts";
import { isSlip, type PastVisits, readSlip, SLIP_LIFE_MS } from "../abuse/slip.ts";
import type { Call } from "../call.ts";
import { type Facts, headerOf } from "../facts.ts";
import type { Trust } from "../proxy/trust.ts";
import type { Traffic } from "../traffic.ts";
import type { UnprovenPlaces } from "../unproven-places.ts";
import { waitingOpening } from "../waiting-json.ts";
import { type Held, type HeldPass, type HeldTicket, HeldTokens } from "./held-tokens.ts";
import type { Keyring } from "./keyring.ts";
import {
  type Badge,
  NO_BADGE,
  passToken,
  readToken,
  type TokenReading,
  type TokenRefusal,
  ticketToken,
} from "./token.ts";

const REFUSALS_LOGGED_PER_SECOND_MAX = 20;
/** A check-in with a ticket older than this gets a newly signed one. */
const TICKET_REISSUE_MS = 30_000;
/**
 * How long a browser keeps a pass that has run out. Its visit may still go on, by traffic on a connection that cannot carry a
 * cookie back, or begin again for a form.
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

/** A pass that is handed out. `headers`, here and below, is the flat list that carries the token. */
export interface Through {
  readonly kind: "through";
  readonly held: HeldPass;
  readonly headers: readonly string[];
}

/** A place in the line that is handed out. */
export interface Placed {
  readonly kind: "placed";
  readonly waiting: Waiting;
  readonly held: HeldTicket;
  readonly headers: readonly string[];
  /** Their former place was forfeited, which they should be told. */
  readonly isAnew: boolean;
}

interface VisitorTokensParts {
  readonly traffic: Traffic;
  readonly unproven: UnprovenPlaces;
  readonly world: World;
  readonly trust: () => Trust;
}

type Carried = Pick<Call, "front" | "carrier">;

export class VisitorTokens {
  readonly #parts: VisitorTokensParts;
  #held = new HeldTokens();
  readonly #revoked = new Map<string, number>();
  #loggedInSecond = 0;
  #loggedSecond = 0;
  keyring: Keyring;

  constructor(keyring: Keyring, parts: VisitorTokensParts) {
    this.keyring = keyring;
    this.#parts = parts;
  }

  /** Signs and verifies with these keys from now on. Tokens verified with other keys are verified again. */
  turnTo(keyring: Keyring): void {
    if (keyring === this.keyring) return;
    this.keyring = keyring;
    this.#held = new HeldTokens();
  }

  /** The good ticket or pass that a request carries for its room; null for none. */
  read(call: Call): Held | Stranger | null {
    const { front, facts } = call;
    const token = tokenOf(call);
    if (token === null || isSlip(token)) return null;
    const held = this.#held.get(token) ?? this.#verify(call, token);
    if (!held) return null;
    const isOwn = !front.binding.isOn || front.binding.isOwn(held.badge.binding, this.sender(facts));
    const refusal = this.#refusal(held, front.name, facts.now) ?? (isOwn ? null : "wrongBrowser");
    if (refusal === null) {
      if (held.kind === "ticket") this.#parts.unproven.prove(held.ticket.id);
      return held;
    }
    this.#refuse(front.name, refusal, facts.now);
    return refusal === "wrongBrowser" ? STRANGER : null;
  }

  /** How often a visitor has been here, by the last token they had, good or not. Read only where the room limits visits. */
  past(call: Call): PastVisits {
    const token = call.front.settings.visitsMax === null ? null : tokenOf(call);
    return token === null || isSlip(token) ? NO_BADGE : this.#readToken(call, token).badge;
  }

  /** The genuine pass that someone carries after its time was up: the engine may still hold their visit. */
  former(call: Call): FormerVisit | null {
    const token = tokenOf(call);
    if (token === null || isSlip(token)) return null;
    const reading = this.#readToken(call, token);
    if (reading.kind !== "refused" || reading.expiredPass === null) return null;
    const { badge, expiredPass: pass } = reading;
    if (this.isRevoked(pass.id)) return null;
    const { binding } = call.front;
    return binding.isOn && !binding.isOwn(badge.binding, this.sender(call.facts)) ? null : { pass, badge };
  }

  /** True for someone who brings a token of ours, whatever it is still good for: they keep what they are given. */
  isKeeper(call: Call): boolean {
    if (call.carrier.programToken !== undefined) return true;
    const token = tokenOf(call);
    if (token === null) return false;
    if (isSlip(token)) return readSlip(token, this.#reading(call)) !== null;
    const reading = this.#readToken(call, token);
    return reading.kind !== "refused" || reading.reason === "expired";
  }

  /** Who sent a request, as far as a token or a place can be bound to them. */
  sender(facts: Facts): Sender {
    return { userAgent: headerOf(facts, "user-agent"), address: this.#parts.trust().client(facts).address };
  }

  /** The slip a newcomer carries; null for none. */
  slip(call: Call): string | null {
    const token = tokenOf(call);
    return token !== null && isSlip(token) ? token : null;
  }

  /** Hands out a slip, as a flat header list. */
  giveSlip(call: Call, slip: string): string[] {
    return this.#give(call, slip, SLIP_LIFE_MS);
  }

  /** Hands out a place. */
  givePlace(call: Call, waiting: Waiting, badge: Badge, isAnew: boolean): Placed {
    const ticket = tellAhead(waiting.ticket, waiting.ahead);
    const { headers, held } = this.#giveTicket(call, ticket, badge);
    return { kind: "placed", waiting: { ...waiting, ticket }, held, headers, isAnew };
  }

  /** Hands out a pass that the engine knows of. */
  givePass(call: Call, pass: Pass, badge: Badge): Through {
    const token = passToken(pass, badge, this.keyring);
    const held = this.#holdPass(token, pass, badge);
    held.isReported = true;
    const ageMs = pass.expiresAt - this.#parts.world.clock.now() + SPENT_PASS_KEPT_MS;
    return { kind: "through", held, headers: this.#give(call, token, ageMs) };
  }

  /** A renewed pass for someone still on the site, when it is time; null when it is not. */
  renew(call: Call, held: HeldPass): { headers: string[]; pass: Pass } | null {
    const { front, facts } = call;
    const { sessionDurationMs, disableSessionRenewal } = front.rules;
    const renewal = { now: facts.now, sessionDurationMs, disableSessionRenewal };
    if (!isRenewalDue(held.pass, renewal)) return null;
    front.firstVisits.remove(held.pass.id);
    if (!held.renewed || isRenewalDue(held.renewed.pass, renewal)) {
      const pass = renewPass(held.pass, renewal);
      const token = passToken(pass, held.badge, this.keyring);
      this.#holdPass(token, pass, held.badge).isReported = true;
      held.renewed = { token, pass };
    }
    const { token, pass } = held.renewed;
    return { headers: this.#give(call, token, pass.expiresAt - facts.now + SPENT_PASS_KEPT_MS), pass };
  }

  /** A ticket signed anew, for one old enough to be worth it; null when it is not. */
  refreshTicket(call: Call, held: HeldTicket): { headers: string[]; held: HeldTicket } | null {
    const oldMs = Math.min(TICKET_REISSUE_MS, call.front.rules.ticketTtlMs / 4);
    if (call.facts.now - held.ticket.issuedAt < oldMs) return null;
    return this.#giveTicket(call, held.ticket, held.badge);
  }

  /** Takes a token away, unless it has to tell how often its holder has been here. */
  drop(carried: Carried): string[] {
    return carried.front.settings.visitsMax === null ? this.takeAway(carried) : [];
  }

  /** Takes a token away that is of no use to its holder at all. */
  takeAway({ front, carrier }: Carried): string[] {
    return carrier.programToken !== undefined ? [] : ["Set-Cookie", front.cookie.drop(carrier.isSecure)];
  }

  /** Counts and logs a genuine ticket that the engine no longer accepts. */
  refuseTicket(answer: Expired | Refused, { front, facts }: Call): void {
    this.#refuse(front.name, answer.kind === "expired" ? "expired" : answer.reason, facts.now);
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

  #reading({ front, facts }: Call): { room: string; keyring: Keyring; now: number } {
    return { room: front.name, keyring: this.keyring, now: facts.now };
  }

  #readToken(call: Call, token: string): TokenReading {
    return readToken(token, this.#reading(call));
  }

  #verify(call: Call, token: string): Held | null {
    const reading = this.#readToken(call, token);
    if (reading.kind === "refused") {
      this.#refuse(call.front.name, reading.reason, call.facts.now);
      return null;
    }
    if (reading.kind === "pass") return this.#holdPass(token, reading.pass, reading.badge);
    return this.#holdTicket(token, reading.ticket, reading.badge);
  }

  #refusal(held: Held, room: string, now: number): TokenRefusal | null {
    const place = held.kind === "pass" ? held.pass : held.ticket;
    if (place.room !== room) return "wrongRoom";
    if (place.expiresAt <= now) return "expired";
    return held.kind === "pass" && this.isRevoked(place.id) ? "revoked" : null;
  }

  #giveTicket(call: Call, ticket: Ticket, badge: Badge): { headers: string[]; held: HeldTicket } {
    const { aheadShown } = ticket;
    const ttlMs = call.front.rules.ticketTtlMs;
    const fresh = renewTicket(ticket, { now: this.#parts.world.clock.now(), ttlMs, aheadShown });
    const token = ticketToken(fresh, badge, this.keyring);
    return { headers: this.#give(call, token, ttlMs), held: this.#holdTicket(token, fresh, badge) };
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

  #give({ front, carrier }: Call, token: string, ageMs: number): string[] {
    if (carrier.programToken !== undefined) return ["Fairgate-Token", token];
    // A cookie that tells how often its holder has been here outlives the visit.
    const keptMs = front.settings.visitsMax === null ? ageMs : Math.max(ageMs, front.settings.visitsWindow);
    return ["Set-Cookie", front.cookie.give(token, keptMs, carrier.isSecure)];
  }

  #refuse(room: string, reason: TokenRefusal | RefusalReason | "wrongBrowser", now: number): void {
    this.#parts.traffic.count("tokensRefused", reason);
    const second = Math.floor(now / 1_000);
    if (second !== this.#loggedSecond) {
      this.#loggedSecond = second;
      this.#loggedInSecond = 0;
    }
    if (this.#loggedInSecond++ < REFUSALS_LOGGED_PER_SECOND_MAX) {
      this.#parts.world.log.info({ room, reason }, "token refused");
    }
  }
}

/** From now on this ticket is held; with another sequence, answers to it begin otherwise. */
export function replaceTicket(held: HeldTicket, ticket: Ticket): void {
  if (ticket.sequence !== held.ticket.sequence) held.opening = waitingOpening(ticket);
  held.ticket = ticket;
}

function tokenOf({ front, carrier }: Call): string | null {
  const token = carrier.programToken ?? front.cookie.read(carrier.cookie, carrier.isSecure);
  return token === "" || token === "new" ? null : token;
}
