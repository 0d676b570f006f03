/**
 * A crowd meets a room: the real memory engine with the operator's own rules, in virtual time, on one thread.
 *
 * Time advances from event to event, and never past the next run of the door, since that may create events. The same plan and
 * rules give the same run, to the millisecond.
 *
 * Not simulated: visitors who come back, more than one lane, lost requests, and the site itself.
 */
import { isHeld, type RoomRules } from "../../core/rules.ts";
import { type Phase, phaseAt } from "../../core/schedule.ts";
import { MemoryEngine } from "../../engines/memory/memory-engine.ts";
import { type HandWorld, handWorld } from "../hand-world.ts";
import { Agenda } from "./agenda.ts";
import type { CrowdPlan } from "./crowd-plan.ts";
import { Journal } from "./journal.ts";
import { lookAt, Timeline } from "./timeline.ts";
import { atOnce, Visitors } from "./visitors.ts";

const DOOR_MS = 200;
/** The run ends this long after the last arrival at the latest, even if visitors still wait. */
const AFTER_LAST_MAX_MS = 24 * 3_600_000;
const PROGRESS_EVERY_STEPS = 8_192;

export interface CrowdRunOptions {
  readonly room: string;
  readonly rules: RoomRules;
  /** Rooms that share a budget with this one. They have no visitors, but keep what they are guaranteed. */
  readonly neighbours: ReadonlyMap<string, RoomRules>;
  readonly plan: CrowdPlan;
  readonly startAt: number;
  readonly seed: number;
  readonly onProgress?: ((progress: RunProgress) => void) | undefined;
}

export interface RunProgress {
  readonly afterMs: number;
  readonly arrived: number;
  readonly entered: number;
}

export interface CrowdRecord {
  readonly journal: Journal;
  readonly timeline: Timeline;
  readonly endedMs: number;
  /** When the last turn was given; null: nobody had to wait for one. */
  readonly lastTurnMs: number | null;
  /** The requests made while waiting. */
  readonly checkIns: number;
}

/** Plays the whole run. */
export function runCrowd(options: CrowdRunOptions): CrowdRecord {
  return new CrowdRun(options).play();
}

class CrowdRun {
  readonly #options: CrowdRunOptions;
  readonly #world: HandWorld;
  readonly #engine: MemoryEngine;
  readonly #journal: Journal;
  readonly #timeline = new Timeline();
  readonly #agenda: Agenda;
  readonly #visitors: Visitors;
  readonly #sharedSlots: number | null;
  readonly #endAt: number;
  #now: number;
  #phase: Phase;
  #steps = 0;
  #arrived = 0;
  #admitted = 0;
  #lastTurnMs: number | null = null;

  constructor(options: CrowdRunOptions) {
    const { room, plan, startAt, rules, seed, neighbours } = options;
    this.#options = options;
    this.#now = startAt;
    this.#phase = phaseAt(rules, startAt);
    this.#world = handWorld({ now: startAt, seed: seed + 1 });
    this.#engine = new MemoryEngine(this.#world);
    this.#journal = new Journal(plan.size, startAt);
    this.#agenda = new Agenda(plan.size);
    this.#sharedSlots = sharedSlots(rules, neighbours);
    this.#endAt = startAt + (plan.arrivesAfterMs.at(-1) ?? 0) + AFTER_LAST_MAX_MS;
    const rulesAt = (now: number) => this.#phaseAt(now).rules;
    const { engine, journal, agenda } = {
      engine: this.#engine,
      journal: this.#journal,
      agenda: this.#agenda,
    };
    this.#visitors = new Visitors({ room, engine, plan, journal, agenda, rulesAt });
  }

  play(): CrowdRecord {
    this.#open();
    while (!this.#isOver()) this.#step();
    this.#look();
    return {
      journal: this.#journal,
      timeline: this.#timeline,
      endedMs: this.#since(this.#now),
      lastTurnMs: this.#lastTurnMs,
      checkIns: this.#visitors.checkIns,
    };
  }

  #open(): void {
    const { room, rules, neighbours } = this.#options;
    for (const [name, theirs] of neighbours) atOnce(this.#engine.configure(name, theirs));
    atOnce(this.#engine.configure(room, rules));
    this.#engine.subscribe({
      onTurns: (name, sequences) => name === room && this.#turn(sequences),
      onBoard: ({ room: name, waiting, madeAt }) =>
        name === room && this.#timeline.noteLine(waiting ?? 0, this.#since(madeAt)),
      onDraw: (name) => name === room && this.#visitors.forgetSequences(),
    });
  }

  #isOver(): boolean {
    if (this.#arrived < this.#options.plan.size) return false;
    return this.#visitors.undecided === 0 || this.#now >= this.#endAt || this.#isHeldForGood();
  }

  #isHeldForGood(): boolean {
    const { rules, until } = this.#phaseAt(this.#now);
    return until === Number.POSITIVE_INFINITY && isHeld(rules);
  }

  #step(): void {
    const lookAt = this.#options.startAt + this.#timeline.nextMs;
    const turnAt = this.#now + DOOR_MS - (this.#since(this.#now) % DOOR_MS);
    const arrivesAt = this.#nextArrivalAt();
    this.#passTo(Math.min(turnAt, arrivesAt, this.#agenda.nextAt(), lookAt));
    if (arrivesAt === this.#now) this.#arrive(this.#arrived++);
    // Asked again, since the door may have run at this very instant.
    else if (this.#agenda.nextAt() <= this.#now) this.#visitors.act(this.#agenda.take(), this.#now);
    else if (lookAt === this.#now) this.#look();
    if (++this.#steps % PROGRESS_EVERY_STEPS === 0) this.#tellProgress();
  }

  #passTo(at: number): void {
    if (at > this.#now) this.#world.pass(at - this.#now);
    this.#now = at;
  }

  #nextArrivalAt(): number {
    const { plan, startAt } = this.#options;
    if (this.#arrived === plan.size) return Number.POSITIVE_INFINITY;
    return startAt + plan.arrivesAfterMs[this.#arrived]!;
  }

  #arrive(visitor: number): void {
    if (this.#visitors.arrive(visitor, this.#now)) this.#noteAdmitted(1, this.#since(this.#now));
  }

  /** The door has run, while time passed. */
  #turn(sequences: readonly number[]): void {
    const now = this.#world.clock.now();
    this.#lastTurnMs = this.#since(now);
    this.#noteAdmitted(sequences.length, this.#lastTurnMs);
    this.#visitors.takeTurns(sequences, now);
  }

  #noteAdmitted(count: number, atMs: number): void {
    this.#admitted += count;
    this.#timeline.noteAdmitted(count, atMs);
  }

  #look(): void {
    const { room } = this.#options;
    // One more run of the door tells why it admits no more.
    const { reason } = this.#engine.admit(room);
    const look = lookAt(this.#engine.counts(room), {
      atMs: this.#since(this.#now),
      arrived: this.#arrived,
      admitted: this.#admitted,
      sharedSlots: this.#sharedSlots,
    });
    this.#timeline.add(look, reason);
  }

  #tellProgress(): void {
    const { onProgress } = this.#options;
    const { entered } = this.#visitors;
    onProgress?.({ afterMs: this.#since(this.#now), arrived: this.#arrived, entered });
  }

  #phaseAt(now: number): Phase {
    if (now >= this.#phase.until) this.#phase = phaseAt(this.#options.rules, now);
    return this.#phase;
  }

  #since(at: number): number {
    return at - this.#options.startAt;
  }
}

/** The slots that the budget leaves to this room when the others are empty; null: it shares none. */
function sharedSlots({ budget }: RoomRules, neighbours: CrowdRunOptions["neighbours"]): number | null {
  if (budget === null) return null;
  let guaranteed = 0;
  for (const { budget: theirs } of neighbours.values())
    if (theirs?.name === budget.name) guaranteed += theirs.guaranteed;
  return Math.max(0, budget.totalActiveUsers - guaranteed);
}
