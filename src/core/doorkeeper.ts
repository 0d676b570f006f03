/**
 * The doorkeeper of a room: every rule about who is let in, with the state it needs. Each engine has one per room, tells it
 * what happens and asks it, so the policies are the same everywhere.
 *
 *   rules ──▶ schedule ──▶ rules in force ──▶ adaptive: the limits in force ──▶ door: how many, from which lanes
 *                              load of the origin ──▶ standby: is there a line at all
 *
 * Synchronous and told the time. Its state fits into a small memo, from which it continues after a restart.
 */
import { Adjuster, type AdjusterMemo } from "./adjuster.ts";
import {
  type AtTheDoor,
  type DoorCounts,
  door,
  isDoorOpen,
  isRoomForOne,
  isSlotFree,
  mayUseTurn,
  type Opening,
  rateOfTurns,
  whyNoPlace,
} from "./door.ts";
import type { Limits, Load, Newcomer, RefusalReason, Remark } from "./engine.ts";
import { FirmTurns, type TurnHolder } from "./firm-turns.ts";
import { Flow } from "./flow.ts";
import { type LaneMemo, LaneTurns, laneOf } from "./lanes.ts";
import { NoShows, type NoShowsMemo } from "./no-shows.ts";
import { claimDeadline, wholeTenth } from "./pacing.ts";
import { type DoorRules, EVERYBODY, type RoomRules } from "./rules.ts";
import { type Phase, phaseAt } from "./schedule.ts";

/** The room's numbers, from its engine. `admitted` counts firm turns. */
export interface Crowd extends DoorCounts {
  /** Living tickets in one lane. */
  waitingIn(lane: number): number;
  /** Slots that the shared budget leaves to this room. */
  readonly budgetFree: number;
  /** For each firm turn, how much of its claim window is over, 0 to 1. */
  turnAges(now: number): Iterable<number>;
  /** True when newcomers must not pass although nobody waits: some may be back soon, or a draw is due. */
  isHeldBack(now: number): boolean;
}

/** Until when a turn may be used, and until when it is firm. */
export interface TurnBy {
  readonly claimBy: number;
  readonly firmUntil: number;
}

/** What a newcomer who has to wait gets. */
function placeFor({ canWait }: Newcomer): "place" | "mustWait" {
  return canWait ? "place" : "mustWait";
}

export interface DoorkeeperMemo extends AdjusterMemo {
  /** Those who count in the rate, by the second. */
  readonly admissions: readonly [end: number, count: number][];
  readonly lanes: readonly LaneMemo[];
  readonly noShows: NoShowsMemo;
  readonly looseTurns: number;
}

/** The flow that a doorkeeper takes turns from and records entries in. */
export type RateBook = Pick<
  Flow,
  "allowance" | "take" | "giveTurns" | "giveTurnsBack" | "enter" | "entriesLeft" | "bySecond" | "restore"
>;

export class Doorkeeper {
  readonly #flow: RateBook;
  readonly #firmTurns = new FirmTurns();
  readonly #lanes = new LaneTurns();
  readonly #adjuster = new Adjuster();
  readonly #noShows = new NoShows();
  #rules: RoomRules;
  #phase: Phase;
  #inForce: DoorRules;
  #inForceShare = 1;

  /** `flow`: given where several doors share one rate. */
  constructor(rules: RoomRules, now: number, flow: RateBook = new Flow()) {
    this.#flow = flow;
    this.#rules = rules;
    this.#phase = phaseAt(rules, now);
    this.#inForce = this.#phase.rules;
    this.#adapt();
  }

  get rules(): RoomRules {
    return this.#rules;
  }

  change(rules: RoomRules, now: number): void {
    this.#rules = rules;
    this.#turnTo(phaseAt(rules, now));
  }

  /** Where the room stands in its schedule. */
  phase(now: number): Phase {
    if (now >= this.#phase.until) this.#turnTo(phaseAt(this.#rules, now));
    return this.#phase;
  }

  /** The rules and limits in force now. The same object until something changes. */
  inForce(now: number): DoorRules {
    this.phase(now);
    if (this.#inForceShare !== this.#share()) this.#adapt();
    return this.#inForce;
  }

  limits(now: number): Limits {
    const { totalActiveUsers, newUsersPerMinute } = this.inForce(now);
    return { totalActiveUsers, newUsersPerMinute };
  }

  /** The capacity that was in force at the last call that was told the time. */
  get capacity(): number | null {
    return this.#inForce.totalActiveUsers;
  }

  /** The rate, likewise. */
  get rate(): number | null {
    return this.#inForce.newUsersPerMinute;
  }

  get isActive(): boolean {
    return this.#adjuster.isActive(this.#phase.rules);
  }

  get noShows(): number {
    return this.#noShows.share;
  }

  get remarks(): readonly Remark[] {
    return this.#adjuster.remarks;
  }

  /** What a newcomer gets: straight through, a place in the line, or the reason for neither. */
  greet(newcomer: Newcomer, crowd: Crowd, now: number): "through" | "place" | RefusalReason {
    const rules = this.inForce(now);
    if (!this.#isLaneServed(rules, newcomer.lane)) return rules.closed ? "closed" : "notPrivileged";
    if (this.#waiting(rules, crowd) === 0) {
      const at = this.#at(rules, crowd, now);
      if (isDoorOpen(rules, at, this.#flow, now) && mayUseTurn(rules, at, this.#flow, now))
        return crowd.isHeldBack(now) ? placeFor(newcomer) : "through";
    }
    return whyNoPlace(rules, this.#phase) ?? placeFor(newcomer);
  }

  /** True when an expired visit may begin again. */
  mayResume(crowd: Crowd, now: number): boolean {
    const rules = this.inForce(now);
    return isSlotFree(rules, this.#at(rules, crowd, now));
  }

  /** Records that an expired visit began again. It counts as an entry, so others are let in later. */
  resumed(now: number): void {
    this.#flow.take(rateOfTurns(this.inForce(now), this.#noShows.share), 1, now);
  }

  /** How many to admit in this turn of the door. The caller reports those it admits with `admitted`. */
  open(crowd: Crowd, now: number): Opening {
    const rules = this.inForce(now);
    return door(rules, this.#at(rules, crowd, now), this.#flow, now);
  }

  /** The lane that the next turn goes to; null when nobody who may be let in waits. */
  nextLane(waitingIn: (lane: number) => number, now: number): number | null {
    const rules = this.inForce(now);
    if (rules.lanes.named.length === 0) return waitingIn(EVERYBODY) > 0 ? EVERYBODY : null;
    return this.#lanes.next(rules.lanes, (lane) => waitingIn(lane) > 0 && this.#isLaneServed(rules, lane));
  }

  /** Records how many got a turn or went straight through. */
  admitted(count: number, now: number): void {
    const rate = rateOfTurns(this.inForce(now), this.#noShows.share);
    if (count > 0) this.#flow.giveTurns(rate, count, now);
  }

  /** The deadlines of a turn given now to a visitor who would have lapsed at `lapseAt`. */
  turn({ lapseAt, hasReturned, hasMissed }: TurnHolder & { readonly lapseAt: number }, now: number): TurnBy {
    const rules = this.inForce(now);
    // In random order there is no front to go back to, so a place whose turns are always loose might never get in.
    const isLoose = hasMissed && rules.queueingMethod !== "random";
    const firmMs = this.#firmTurns.firmMs(rules, { hasReturned, hasMissed: isLoose });
    const { lapseAfterMs, claimWindowMs } = rules;
    const claimBy = claimDeadline({ now, lapseAt, lapseAfterMs, claimWindowMs });
    return { claimBy, firmUntil: wholeTenth(now + firmMs) };
  }

  /** New deadlines for a visitor who came with a firm turn and found no room, because more came than were expected. */
  lengthenedTurn(now: number): TurnBy {
    const rules = this.inForce(now);
    const firmMs = this.#firmTurns.firmMs(rules, { hasReturned: true, hasMissed: false });
    return { claimBy: wholeTenth(now + rules.claimWindowMs), firmUntil: wholeTenth(now + firmMs) };
  }

  /** How much of a turn's claim window is over, 0 to 1. */
  turnAge(claimBy: number, now: number): number {
    return 1 - (claimBy - now) / this.inForce(now).claimWindowMs;
  }

  /** Records that a firm turn became loose, or that its holder left. */
  gaveBack(why: "loose" | "left", now: number): void {
    this.#flow.giveTurnsBack(1, now);
    if (why === "loose") this.#firmTurns.loosened();
  }

  /** True when a visitor with a turn may enter now. */
  mayEnter(crowd: Crowd, isFirm: boolean, now: number): boolean {
    const rules = this.inForce(now);
    const at = this.#at(rules, crowd, now);
    if (!isFirm && !isRoomForOne(rules, at, this.#flow, now)) return false;
    return mayUseTurn(rules, at, this.#flow, now);
  }

  /** Records an entry, with the age of the turn that was used; null: straight through. */
  entered(turnAge: number | null, now: number): void {
    this.#flow.enter(1, now);
    if (turnAge === null) return;
    this.#noShows.used(turnAge);
    this.#firmTurns.used();
  }

  /** Records that a turn was not used in time. */
  missed(): void {
    this.#noShows.missed();
  }

  report(load: Load, now: number): void {
    this.#adjuster.hear(load, now);
  }

  /** Looks at the load, about once a second: starts or stops the line and moves the limits. Returns the new remarks. */
  weigh(crowd: DoorCounts, now: number): readonly Remark[] {
    const { waiting, onSite } = crowd;
    const noShows = this.#noShows.share;
    return this.#adjuster.weigh(this.phase(now).rules, { waiting, onSite, noShows }, now);
  }

  memo(now: number): DoorkeeperMemo {
    return {
      admissions: [...this.#flow.bySecond(now)],
      lanes: this.#lanes.memo(),
      ...this.#adjuster.memo(),
      noShows: this.#noShows.memo(),
      looseTurns: this.#firmTurns.looseShare,
    };
  }

  restore(memo: DoorkeeperMemo, now: number): void {
    this.#flow.restore(memo.admissions, now);
    this.#lanes.restore(memo.lanes);
    this.#adjuster.restore(memo);
    this.#noShows.restore(memo.noShows);
    this.#firmTurns.restore(memo.looseTurns);
  }

  /** Not a private getter: V8 makes a slow call of each use of one, and every check-in asks. */
  #share(): number {
    return this.#adjuster.share(this.#phase.rules);
  }

  #turnTo(phase: Phase): void {
    this.#phase = phase;
    this.#adapt();
  }

  #adapt(): void {
    const { rules } = this.#phase;
    this.#inForceShare = this.#share();
    let inForce = this.#inForceShare === 1 ? rules : { ...rules, ...this.#adjuster.limits(rules) };
    // A room does not know how many turns on top the other rooms of its budget have given.
    if (this.#rules.budget && rules.fillNoShows) inForce = { ...inForce, fillNoShows: false };
    this.#inForce = inForce;
  }

  #isLaneServed(rules: DoorRules, lane: number): boolean {
    if (!rules.privilegedOnly) return true;
    const known = laneOf(rules.lanes, lane);
    return rules.lanes.named.some(({ number, isPrivileged }) => number === known && isPrivileged);
  }

  #at(rules: DoorRules, crowd: Crowd, now: number): AtTheDoor {
    const { admitted, onSite, budgetFree } = crowd;
    const { isPrequeue } = this.#phase;
    return {
      waiting: this.#waiting(rules, crowd),
      admitted,
      onSite,
      budgetFree,
      isPrequeue,
      isActive: this.isActive,
      noShows: this.#noShows.share,
      expected: rules.fillNoShows ? this.#noShows.expected(crowd.turnAges(now)) : admitted,
    };
  }

  /** How many of those who may be let in are waiting. */
  #waiting(rules: DoorRules, crowd: Crowd): number {
    if (!rules.privilegedOnly) return crowd.waiting;
    let waiting = 0;
    for (const { number, isPrivileged } of rules.lanes.named)
      if (isPrivileged) waiting += crowd.waitingIn(number);
    return waiting;
  }
}
