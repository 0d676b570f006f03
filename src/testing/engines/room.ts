/**
 * A room, written to be read: one object a visitor, a list in order, no cleverness. It is the model that every engine
 * is compared with, step by step, by model.ts; where an engine and this file differ, one of them is wrong.
 *
 * It asks the doorkeeper, as every engine does; the doorkeeper has tests and twins of its own. What happens to a place (lines,
 * ranks, lapses, missed turns, draws, deadlines) is written here a second time, in the plainest way. If it were shared with
 * the engines (waiting.ts, door-turn.ts, draw-ledger.ts, `goesBehind`), a mistake would be in both and go unseen.
 *
 * It does not sign, pace or estimate. The identity of a visitor (ticket id and order key) and their check-in times are taken
 * from the engine under test; everything that follows from them is decided here.
 */
import { type Crowd, Doorkeeper } from "../../core/doorkeeper.ts";
import type { Newcomer, RefusalReason } from "../../core/engine.ts";
import { fromHex, toHex } from "../../core/hex.ts";
import { aheadInLanes, laneOf } from "../../core/lanes.ts";
import { Gaps, isForfeited, placesBack, sequenceToFollow } from "../../core/missed-turns.ts";
import { compareOrder, type OrderKey } from "../../core/order.ts";
import { lapseDeadline } from "../../core/pacing.ts";
import { type Pass, PRESENCE_GRACE_MS, resumedUntil } from "../../core/pass.ts";
import { Resumes } from "../../core/resumes.ts";
import type { DoorRules, EventRules, RoomRules } from "../../core/rules.ts";
import { sha256 } from "../../core/sha256.ts";

export type Standing = "waiting" | "lapsed" | "admitted" | "on site" | "gone" | "forfeited";

export interface ModelVisitor extends OrderKey {
  /** A draw gives a new one, and so does a missed turn. */
  sequence: number;
  standing: Standing;
  /** Waiting: lapses then. Admitted: misses the turn then. On site: the slot is free again then. */
  until: number;
  ticketExpiresAt: number;
  /** Admitted: the turn is firm until then. Null: it is loose, or there is none. */
  firmUntil: number | null;
  /** They came with a loose turn to a full site and went back to the front, since they last missed a turn. */
  hasReturned: boolean;
  /** The lane in which they got their turn, and turns given in it up to their own. */
  givenIn: number;
  letInBefore: number;
  missedTurns: number;
  /** When the turn that was missed last was given. */
  missedAt: number;
  givenAt: number;
  /** They left or were sent away, and do not come back. */
  isEnded: boolean;
}

export class Room {
  /** Lanes were changed in the middle of a turn that was missed: how far back that puts its holder is up to the engine. */
  isVague = false;
  readonly #door: Doorkeeper;
  readonly #usedInvites = new Set<string>();
  readonly #drawn = new Set<string>();
  #gathered: ModelVisitor[] = [];
  /** When the event they gathered for is over, and with it their draw. */
  #gatheredUntil = 0;
  #visitors: ModelVisitor[] = [];
  /** Turns given in each lane. */
  readonly #letIn = new Map<number, number>();
  readonly #gaps = new Gaps();
  readonly #resumes = new Resumes();

  constructor(rules: RoomRules, now: number) {
    this.#door = new Doorkeeper(rules, now);
  }

  change(rules: RoomRules, now: number): void {
    this.#door.change(rules, now);
    const next = rules.events.find((event) => event.isShuffled && event.endAt > now);
    if (next && !this.#drawn.has(keyOf(next))) this.#gatheredUntil = next.endAt;
  }

  rules(now: number): DoorRules {
    return this.#door.inForce(now);
  }

  /** What a newcomer gets at `now`: through, a place, or a reason for neither. */
  greet(newcomer: Newcomer, now: number): "through" | "place" | RefusalReason {
    if (newcomer.invite && this.#usedInvites.has(newcomer.invite.id)) return "inviteUsed";
    const lane = laneOf(this.rules(now).lanes, newcomer.lane);
    return this.#door.greet({ ...newcomer, lane }, this.#crowd(now), now);
  }

  /** The newcomer who was greeted with "through" or "place" comes in under this key. */
  arrive(key: OrderKey, newcomer: Newcomer, now: number): ModelVisitor {
    const isThrough = this.greet(newcomer, now) === "through";
    const ticketExpiresAt = now + this.rules(now).ticketTtlMs;
    const visitor: ModelVisitor = {
      ...key,
      standing: "waiting",
      until: now,
      ticketExpiresAt,
      firmUntil: null,
      hasReturned: false,
      givenIn: 0,
      letInBefore: 0,
      missedTurns: 0,
      missedAt: 0,
      givenAt: 0,
      isEnded: false,
    };
    if (newcomer.invite) this.#usedInvites.add(newcomer.invite.id);
    this.#visitors.push(visitor);
    const { event, isPrequeue } = this.#door.phase(now);
    if (isThrough) {
      this.#door.admitted(1, now);
      this.#countIn(laneOf(this.rules(now).lanes, visitor.lane));
      this.#visit(visitor, null, now);
    } else if (isPrequeue && event?.isShuffled) {
      this.#gathered.push(visitor);
      this.#gatheredUntil = event.endAt;
    }
    return visitor;
  }

  /** The visitor is heard of, and told to come back in `nextCheckInMs` if they still wait. */
  checkIn(visitor: ModelVisitor, nextCheckInMs: number, now: number): void {
    if (visitor.standing !== "waiting" && visitor.standing !== "lapsed") return;
    visitor.standing = "waiting";
    const { lapseAfterMs, ticketTtlMs } = this.rules(now);
    visitor.until = lapseDeadline({ now, nextCheckInMs, lapseAfterMs });
    visitor.ticketExpiresAt = now + ticketTtlMs;
  }

  /** Uses a turn. On a full site the visitor keeps a firm turn, and goes back to the front with a loose one. */
  enter(visitor: ModelVisitor, now: number): void {
    if (visitor.standing !== "admitted") return;
    const isFirm = visitor.firmUntil !== null;
    if (this.#door.mayEnter(this.#crowd(now), isFirm, now)) {
      if (!isFirm) this.#door.admitted(1, now);
      this.#visit(visitor, this.#door.turnAge(visitor.until, now), now);
    } else if (isFirm) {
      const { claimBy, firmUntil } = this.#door.lengthenedTurn(now);
      visitor.until = claimBy;
      visitor.firmUntil = firmUntil;
    } else if (this.rules(now).queueingMethod === "random") {
      visitor.standing = "waiting";
    } else if (!visitor.hasReturned) {
      visitor.hasReturned = true;
      visitor.standing = "waiting";
    }
  }

  touch(visitor: ModelVisitor, expiresAt: number): void {
    if (visitor.standing === "on site")
      visitor.until = Math.max(visitor.until, expiresAt + PRESENCE_GRACE_MS);
  }

  /** They come with the pass that they had last: the visit goes on, or begins again if it may. Gives until when; null: neither. */
  resume(visitor: ModelVisitor, pass: Pass, mayBegin: boolean, now: number): number | null {
    const passUntil = visitor.until - PRESENCE_GRACE_MS;
    const isHeld = visitor.standing === "on site";
    if (isHeld && passUntil > now) return passUntil;
    const rules = this.rules(now);
    const expiresAt = resumedUntil(pass, { ...rules, now });
    if (!mayBegin || expiresAt <= now || visitor.isEnded) return null;
    const again = { door: this.#door, crowd: this.#crowd(now) };
    if (!isHeld && !this.#resumes.begin(visitor.id, again, now)) return null;
    visitor.standing = "on site";
    visitor.until = expiresAt + PRESENCE_GRACE_MS;
    return expiresAt;
  }

  leave(visitor: ModelVisitor, now: number): void {
    if (visitor.standing === "forfeited") return;
    if (visitor.standing === "on site") visitor.isEnded = true;
    if (visitor.standing === "admitted" && visitor.firmUntil !== null) this.#door.gaveBack("left", now);
    visitor.standing = "gone";
  }

  /** One turn of the door: what ran out is let go, then those whose turn it is are admitted. */
  admit(dice: () => number, now: number): ModelVisitor[] {
    this.#runOut(now);
    if (now >= this.#gatheredUntil) this.#gathered = [];
    const event = this.#eventToDraw(now);
    if (event) this.#draw(event);
    const { admit } = this.#door.open(this.#crowd(now), now);
    const admitted: ModelVisitor[] = [];
    while (admitted.length < admit) {
      const lane = this.#door.nextLane((number) => this.#waitingIn(number, now).length, now);
      if (lane === null) break;
      const line = this.#waitingIn(lane, now);
      const isRandom = this.rules(now).queueingMethod === "random";
      const visitor = line[isRandom ? Math.floor(dice() * line.length) : 0]!;
      this.#giveTurn(visitor, lane, now);
      admitted.push(visitor);
    }
    if (admitted.length > 0) this.#gathered = [];
    this.#door.admitted(admitted.length, now);
    return admitted;
  }

  /** How many are ahead, as the visitor is told: null when it cannot be known, or not by them. */
  ahead(visitor: ModelVisitor, now: number): number | null {
    const { lanes, show, queueingMethod } = this.rules(now);
    if (!show.ahead || queueingMethod === "random" || this.#isGathered(visitor, now)) return null;
    const lane = laneOf(lanes, visitor.lane);
    const aheadInLane = this.#waitingIn(lane, now).filter(
      ({ sequence }) => sequence < visitor.sequence,
    ).length;
    return aheadInLanes(lanes, (number) => this.#waitingIn(number, now).length, { lane, ahead: aheadInLane });
  }

  counts(): Record<"waiting" | "admitted" | "looseTurns" | "onSite" | "lapsed", number> {
    const count = (standing: Standing) => this.#all(standing).length;
    const firm = this.#firm().length;
    return {
      waiting: count("waiting"),
      admitted: firm,
      looseTurns: count("admitted") - firm,
      onSite: count("on site"),
      lapsed: count("lapsed"),
    };
  }

  #all(standing: Standing): ModelVisitor[] {
    return this.#visitors.filter((visitor) => visitor.standing === standing);
  }

  #firm(): ModelVisitor[] {
    return this.#all("admitted").filter(({ firmUntil }) => firmUntil !== null);
  }

  /** Those who wait in a lane, in order. */
  #waitingIn(lane: number, now: number): ModelVisitor[] {
    const { lanes } = this.rules(now);
    return this.#visitors
      .filter((visitor) => visitor.standing === "waiting" && laneOf(lanes, visitor.lane) === lane)
      .sort(compareOrder);
  }

  #crowd(now: number): Crowd {
    return {
      ...this.counts(),
      budgetFree: Number.POSITIVE_INFINITY,
      waitingIn: (lane) => this.#waitingIn(lane, now).length,
      turnAges: () => this.#firm().map(({ until }) => this.#door.turnAge(until, now)),
      isHeldBack: () => this.#eventToDraw(now) !== null,
    };
  }

  #isGathered(visitor: ModelVisitor, now: number): boolean {
    const { event } = this.#door.phase(now);
    return event?.isShuffled === true && !this.#drawn.has(keyOf(event)) && this.#gathered.includes(visitor);
  }

  #eventToDraw(now: number): EventRules | null {
    const { event, isPrequeue } = this.#door.phase(now);
    return event?.isShuffled && !isPrequeue && !this.#drawn.has(keyOf(event)) ? event : null;
  }

  /** Those who gathered get each other's sequences, in the order of their keys. */
  #draw(event: EventRules): void {
    this.#drawn.add(keyOf(event));
    const sequences = this.#gathered.map(({ sequence }) => sequence).sort((a, b) => a - b);
    const drawKey = ({ id }: ModelVisitor) => toHex(sha256(fromHex(event.seed + id)!));
    const drawn = this.#gathered.map((visitor) => ({ visitor, key: drawKey(visitor) }));
    drawn.sort((a, b) => (a.key < b.key ? -1 : 1));
    for (const [place, { visitor }] of drawn.entries()) visitor.sequence = sequences[place]!;
    this.#gathered = [];
  }

  #visit(visitor: ModelVisitor, turnAge: number | null, now: number): void {
    this.#door.entered(turnAge, now);
    visitor.standing = "on site";
    visitor.until = now + this.rules(now).sessionDurationMs + PRESENCE_GRACE_MS;
  }

  #giveTurn(visitor: ModelVisitor, lane: number, now: number): void {
    visitor.standing = "admitted";
    const { hasReturned, missedTurns, until } = visitor;
    const turn = this.#door.turn({ lapseAt: until, hasReturned, hasMissed: missedTurns > 0 }, now);
    visitor.until = turn.claimBy;
    visitor.firmUntil = turn.firmUntil;
    visitor.givenAt = now;
    visitor.givenIn = lane;
    visitor.letInBefore = this.#countIn(lane);
  }

  #countIn(lane: number): number {
    const count = (this.#letIn.get(lane) ?? 0) + 1;
    this.#letIn.set(lane, count);
    return count;
  }

  /** Lets go of what is over: visits, then what firm turns held, then turns, then those who stopped checking in. */
  #runOut(now: number): void {
    const isOver = ({ until }: ModelVisitor) => until <= now;
    for (const visitor of this.#all("on site").filter(isOver)) visitor.standing = "gone";
    for (const visitor of this.#firm()) if (visitor.firmUntil! <= now) this.#loosen(visitor, now);
    const missed = this.#all("admitted").filter(isOver);
    for (const visitor of missed.sort(compareOrder)) this.#miss(visitor, now);
    // Those who were set back just now are not among them: they lapsed by missing their turn.
    for (const visitor of this.#all("waiting").filter(isOver)) visitor.standing = "lapsed";
  }

  #loosen(visitor: ModelVisitor, now: number): void {
    visitor.firmUntil = null;
    this.#door.gaveBack("loose", now);
  }

  /** The place goes further back, or is forfeited. */
  #miss(visitor: ModelVisitor, now: number): void {
    this.#door.missed();
    visitor.standing = "lapsed";
    visitor.missedTurns++;
    visitor.missedAt = visitor.givenAt;
    visitor.hasReturned = false;
    if (isForfeited(visitor.missedTurns, this.rules(now).missedTurnsMax)) {
      visitor.standing = "forfeited";
      return;
    }
    const lane = laneOf(this.rules(now).lanes, visitor.lane);
    if (lane !== visitor.givenIn) this.isVague = true;
    const letIn = (this.#letIn.get(lane) ?? 0) - visitor.letInBefore;
    const line = this.#waitingIn(lane, now).map(({ sequence }) => sequence);
    const follow = sequenceToFollow(
      {
        size: line.length,
        ahead: (own) => line.filter((sequence) => sequence < own).length,
        at: (rank) => line[rank]!,
      },
      visitor.sequence,
      placesBack(letIn, visitor.missedTurns),
    );
    visitor.sequence = this.#gaps.next(follow);
  }
}

/** An event whose start is moved after it was drawn is another one. */
function keyOf({ name, startAt }: EventRules): string {
  return `${name} ${startAt}`;
}
