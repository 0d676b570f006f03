/**
 * What the books of a room hold in every engine that keeps them itself: its doorkeeper, the rules in force with everyone in
 * the lane where these put them, how long tickets live, and what is told of all that. Where places, turns and visits are
 * kept is the engine's own.
 */
import { Doorkeeper, type RateBook } from "./doorkeeper.ts";
import type { DrawLedger } from "./draw-ledger.ts";
import { Pace } from "./eta.ts";
import type { LaneLine, LaneLines } from "./lane-lines.ts";
import { laneOf } from "./lanes.ts";
import { Resumes } from "./resumes.ts";
import type { RoomFigures } from "./room-view.ts";
import { type RoomLook, RoomWaits } from "./room-waits.ts";
import { type DoorRules, EVERYBODY, type LanesRules, type RoomRules } from "./rules.ts";
import type { Phase } from "./schedule.ts";
import type { SeenVisit } from "./stays.ts";
import type { Tallies } from "./tallies.ts";

/** How many are where, besides those in line. */
export type Elsewhere = Pick<RoomFigures, "admitted" | "looseTurns" | "onSite" | "lapsed" | "totals">;

export abstract class BaseBooks<L extends LaneLine> {
  readonly name: string;
  readonly door: Doorkeeper;
  readonly pace = new Pace();
  readonly waits = new RoomWaits((now) => this.#look(now));
  readonly resumes = new Resumes();
  abstract readonly lines: LaneLines<L>;
  abstract readonly draws: Pick<DrawLedger<never, never>, "isDrawn" | "announce">;
  abstract readonly tallies: Tallies;
  /** When anybody was admitted last; 0: never. */
  lastTurnAt = 0;
  #lanes: LanesRules;
  #ticketTtlMaxMs = 0;

  /** `flow`: where several doors share one rate. */
  constructor(name: string, rules: RoomRules, now: number, flow?: RateBook) {
    this.name = name;
    this.door = new Doorkeeper(rules, now, flow);
    this.#lanes = this.door.inForce(now).lanes;
    this.#noteTicketTtl(rules);
  }

  /** The longest that a ticket of this room's is good for, under any rules so far. */
  get ticketTtlMaxMs(): number {
    return this.#ticketTtlMaxMs;
  }

  /** Puts other rules in force; everyone keeps their place. */
  change(rules: RoomRules, now: number): void {
    this.#noteTicketTtl(rules);
    this.door.change(rules, now);
  }

  /** The rules that hold now, with everyone in the lane where these put them. */
  rulesAt(now: number): DoorRules {
    const rules = this.door.inForce(now);
    if (rules.lanes !== this.#lanes) this.#arrange(rules.lanes);
    return rules;
  }

  /** The lane that a number stands for, under the rules last asked for. */
  laneOf(lane: number): number {
    return lane === EVERYBODY ? EVERYBODY : laneOf(this.#lanes, lane);
  }

  /** True when an event has begun whose places are still to be drawn. */
  isDrawDue({ event, isPrequeue }: Phase): boolean {
    return event?.isShuffled === true && !isPrequeue && !this.draws.isDrawn(event);
  }

  /** All of it at an instant, for the board and the operator's counts. */
  figures(now: number): RoomFigures {
    const { name, door, lines, pace, tallies, waits } = this;
    const rules = this.rulesAt(now);
    return {
      ...{ name, now, roomRules: door.rules, rules, phase: door.phase(now) },
      ...{ waiting: lines.size, ...this.elsewhere() },
      ...{ isActive: door.isActive, noShows: door.noShows, remarks: door.remarks, pace },
      waitCurve: (lane) => waits.curve(rules, lane, now),
      waitAccuracy: () => waits.accuracy(now),
      waitingIn: (lane) => lines.waitingIn(lane),
      sequenceAt: (lane, rank) => lines.at(lane, rank),
      highestAdmitted: (lane) => tallies.highestOf(lane),
      admittedIn: (lane) => tallies.letInOf(lane),
      recent: () => tallies.recent,
      announce: (event) => this.draws.announce(event),
    };
  }

  #look(now: number): RoomLook {
    return { ...this.figures(now), budgetFree: this.budgetFree(), visits: () => this.visitsSeen() };
  }

  protected abstract elsewhere(): Elsewhere;

  /** Slots that other rooms of the same budget leave to this one. */
  protected abstract budgetFree(): number;

  /** Those on the site, or the same sample of them each time. */
  protected abstract visitsSeen(): Iterable<SeenVisit>;

  /** Lanes are others now: everyone in line goes to the one where they belong. */
  protected abstract rearrange(): void;

  #arrange(lanes: LanesRules): void {
    const isSame = numbersOf(lanes) === numbersOf(this.#lanes);
    this.#lanes = lanes;
    if (!isSame) this.rearrange();
  }

  #noteTicketTtl({ ticketTtlMs, events }: RoomRules): void {
    for (const ttlMs of [ticketTtlMs, ...events.map(({ rules }) => rules.ticketTtlMs)])
      this.#ticketTtlMaxMs = Math.max(this.#ticketTtlMaxMs, ttlMs);
  }
}

function numbersOf({ named }: LanesRules): string {
  return named.map(({ number }) => number).join();
}
