/**
 * The duties of the gateway that has a room's lease: it turns the door some times a second, weighs the load of the origin
 * once a second, draws lots when an event starts, and shows the board to everyone. The lease is renewed by each of
 * these; its fencing token goes with them, so a gateway that slept through its lease does nothing when it wakes.
 *
 * The others ask for the lease when it should have run out, and otherwise only listen.
 */
import { Adjuster } from "../../core/adjuster.ts";
import type { Board, WaitPoint } from "../../core/board.ts";
import type { Admission, DoorReason, Load, Remark } from "../../core/engine.ts";
import { boardOf, type RoomFigures, stateOf, waitPoints } from "../../core/room-view.ts";
import { EVERYBODY, type RoomRules } from "../../core/rules.ts";
import { type Phase, phaseAt } from "../../core/schedule.ts";
import type { World } from "../../core/world.ts";
import { drawLots } from "./draw-work.ts";
import { LeaseWaits } from "./lease-waits.ts";
import type { RoomCalls } from "./room-calls.ts";
import type { RoomLine, Turned } from "./room-line.ts";
import { figuresOf, type Look, memoOf } from "./room-look.ts";

/** How many dice one call of a random-order door gets; more visitors are picked with the next call. */
const DICE_PER_TURN = 64;
/** The most calls in one turn of the door, so that it ends; each call admits hundreds. */
const CALLS_PER_TURN_MAX = 200;
/** How many turns may wait for each other. */
const TURNS_WAITING_MAX = 1;

/** A board as gateways show it to each other. */
export interface ShownBoard extends Board {
  /** For answers: the waits of each lane, where those are shown, also of those who may come behind its end. */
  readonly laneWaits?: Readonly<Record<number, readonly WaitPoint[]>>;
}

export interface DutyEvents {
  onTurns(sequences: readonly number[]): void;
  onBoard(board: ShownBoard): void;
  onDraw(): void;
  onRemark(remark: Remark): void;
}

export interface DutyParts {
  readonly name: string;
  readonly gateway: string;
  readonly line: RoomLine;
  readonly calls: RoomCalls;
  readonly world: World;
  readonly rules: () => RoomRules;
  readonly events: DutyEvents;
}

export class DoorDuty {
  readonly #parts: DutyParts;
  #adjuster = new Adjuster();
  #isAdjusterKnown = false;
  #waits: LeaseWaits;
  #areWaitsKnown = false;
  #loadsHeard = 0;
  /** 0: this gateway does not have the lease. */
  #fence = 0;
  /** When the lease of another gateway ends: it is not asked for earlier. */
  #askAt = Number.NEGATIVE_INFINITY;
  #board: Board | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #waiting = 0;

  constructor(parts: DutyParts) {
    this.#parts = parts;
    this.#waits = new LeaseWaits(parts.calls);
  }

  /** Settles when everything begun before is done. */
  async idle(): Promise<void> {
    await this.#last.catch(() => {});
  }

  /** One turn of the door, if this gateway has the lease or can get it. */
  turn(): Promise<Admission> {
    const now = this.#parts.calls.now();
    return this.#afterOthers(() => this.#turn(now));
  }

  /** The same, called by the timer: does nothing while a turn is under way or another gateway has the lease. */
  tick(): Promise<unknown> {
    const { calls, world } = this.#parts;
    const isBusy = calls.now() === "" && this.#waiting >= TURNS_WAITING_MAX;
    if (isBusy || (this.#fence === 0 && world.clock.now() < this.#askAt)) return Promise.resolve();
    return this.turn();
  }

  /** The lease was given back: it is asked for with the next tick. */
  expectLease(): void {
    this.#askAt = Number.NEGATIVE_INFINITY;
  }

  /** Publishes a new board, if this gateway has the lease or can get it. */
  showBoard(): Promise<Board | null> {
    const now = this.#parts.calls.now();
    return this.#afterOthers(() => this.#show(now));
  }

  /** The same by the timer. */
  showBoardIfHolder(): Promise<unknown> {
    return this.#fence === 0 ? Promise.resolve() : this.showBoard();
  }

  /** Gives the lease back, so that another gateway has it at once. */
  resign(): Promise<unknown> {
    return this.#afterOthers(async () => {
      const { calls, gateway } = this.#parts;
      if (this.#fence > 0) await calls.call("resign", [gateway, String(this.#fence)]);
      this.#fence = 0;
    });
  }

  #afterOthers<T>(work: () => Promise<T>): Promise<T> {
    this.#waiting++;
    const done = this.#last.catch(() => {}).then(work);
    this.#last = done.finally(() => {
      this.#waiting--;
    });
    this.#last.catch(() => {});
    return done;
  }

  async #turn(now: string): Promise<Admission> {
    const orders = await this.#weigh(now);
    let admitted = 0;
    let reason: DoorReason = "line empty";
    let dice: readonly string[] = [];
    for (let calls = 0; calls < CALLS_PER_TURN_MAX; calls++) {
      dice = this.#diceFor(now, dice);
      const turned = await this.#callTurn(now, calls === 0 ? orders : ["", ""], dice);
      dice = dice.slice(turned.sequences.length);
      reason = turned.reason as DoorReason;
      if (turned.fence === 0) return { admitted, reason };
      admitted += turned.sequences.length;
      if (turned.sequences.length > 0) this.#parts.events.onTurns(turned.sequences);
      if (turned.draw !== 0 && !(await this.#draw(turned.draw))) return { admitted, reason };
      if (turned.draw !== 0 || turned.hasMore) continue;
      await this.#followState(turned.waiting, now);
      break;
    }
    return { admitted, reason };
  }

  /** Dice for a call in random order: those not used yet, filled up with new ones. */
  #diceFor(now: string, unused: readonly string[]): readonly string[] {
    const { rules, world } = this.#parts;
    if (this.#phase(rules(), now).rules.queueingMethod !== "random") return [];
    const missing = DICE_PER_TURN - unused.length;
    return [...unused, ...Array.from({ length: missing }, () => String(world.random.fraction()))];
  }

  async #callTurn(now: string, orders: readonly string[], dice: readonly string[]): Promise<Turned> {
    const { line, gateway } = this.#parts;
    const turned = await line.turn({ now, gateway, fence: this.#fence, orders, dice });
    this.#hold(turned.fence, turned.leftMs);
    return turned;
  }

  /** Notes whether this gateway has the lease; if not, for how long another has it. */
  #hold(fence: number, leftMs = 0): void {
    if (fence !== this.#fence) {
      this.#isAdjusterKnown = false;
      this.#areWaitsKnown = false;
    }
    this.#fence = fence;
    if (fence === 0) this.#askAt = this.#parts.world.clock.now() + leftMs;
  }

  #phase(rules: RoomRules, now: string) {
    return phaseAt(rules, now === "" ? this.#parts.world.clock.now() : Number(now));
  }

  /** What standby and the adaptive loop order for the coming turn; empty texts where nothing changes. */
  async #weigh(now: string): Promise<readonly string[]> {
    const { rules, events } = this.#parts;
    const inForce = this.#phase(rules(), now).rules;
    const at = now === "" ? this.#parts.world.clock.now() : Number(now);
    if (this.#fence === 0 || !this.#adjuster.isDue(inForce, at)) return ["", ""];
    const look = await this.#parts.line.look({}, now);
    if (!this.#isAdjusterKnown) this.#takeOver(look);
    await this.#hearLoads(look.now);
    const remarks = this.#adjuster.weigh(inForce, look, now === "" ? look.now : at);
    await this.#note(remarks);
    for (const remark of remarks) events.onRemark(remark);
    return [String(this.#adjuster.share(inForce)), this.#adjuster.isActive(inForce) ? "1" : "0"];
  }

  /** Goes on where the gateway before left off. */
  #takeOver(look: Look): void {
    this.#adjuster = new Adjuster();
    this.#loadsHeard = 0;
    const memo = memoOf(look);
    if (memo) this.#adjuster.restore(memo);
    this.#isAdjusterKnown = true;
  }

  async #hearLoads(now: number): Promise<void> {
    const [told, ...loads] = await this.#parts.calls.call("loads", [String(this.#loadsHeard)]);
    this.#loadsHeard = Number(told);
    for (const load of loads) {
      const [, at, json] = /^(\d+) (.*)$/s.exec(String(load)) ?? [];
      this.#adjuster.hear(JSON.parse(json!) as Load, Math.min(Number(at), now));
    }
  }

  /** Stores in Redis what standby and the adaptive loop remember, for the next holder of the lease. */
  async #note(remarks: readonly Remark[]): Promise<void> {
    const { calls, gateway } = this.#parts;
    const memo = JSON.stringify(this.#adjuster.memo());
    await calls.call("note", [gateway, String(this.#fence), memo, JSON.stringify(remarks)]);
  }

  async #draw(number: number): Promise<boolean> {
    const { calls, gateway, events } = this.#parts;
    const look = await this.#parts.line.look({}, calls.now());
    const draw = look.draws?.find((known) => known.number === number);
    if (!draw || !(await drawLots(calls, draw, { gateway, fence: this.#fence }))) return false;
    this.#waits.waits.forgetPlaces();
    await this.#show(calls.now());
    events.onDraw();
    return true;
  }

  /** When the room opens, visitors should not have to wait for the next periodic board. */
  async #followState(waiting: number, now: string): Promise<void> {
    const { rules } = this.#parts;
    if (this.#board && stateOf(this.#phase(rules(), now), waiting) !== this.#board.state)
      await this.#show(now);
  }

  async #show(now: string): Promise<Board | null> {
    const { name, line, calls, gateway, rules, events } = this.#parts;
    const roomRules = rules();
    const phase = this.#phase(roomRules, now);
    // What the gateway learned when it had the lease before is old.
    if (!this.#areWaitsKnown) this.#waits = new LeaseWaits(calls);
    const look = await line.look({ hasMarks: hasPlaces(phase) }, now);
    const figures = figuresOf(name, roomRules, look, this.#waits.waits);
    await this.#waits.look(figures);
    const { version: _, ...board } = boardOf(figures, 0);
    const shown = { ...board, ...laneWaits(figures) };
    const kept = this.#waits.toKeep(look.now);
    const args = [now, gateway, String(this.#fence), JSON.stringify(shown), ...kept];
    const [fence, version] = (await calls.call("show", args)) as [number, number];
    this.#hold(fence);
    if (fence === 0) return null;
    this.#areWaitsKnown = true;
    this.#board = { version, ...board };
    events.onBoard({ version, ...shown });
    return this.#board;
  }
}

/** False while nobody has a place: all are picked at random, or places are still to be drawn. */
function hasPlaces({ rules, event, isPrequeue }: Phase): boolean {
  return rules.queueingMethod !== "random" && !(isPrequeue && event?.isShuffled === true);
}

function laneWaits(figures: RoomFigures): Pick<ShownBoard, "laneWaits"> {
  const { rules } = figures;
  if (!rules.show.wait) return {};
  const numbers = [EVERYBODY, ...rules.lanes.named.map(({ number }) => number)];
  const known = numbers.flatMap((lane) => {
    const points = waitPoints(figures, lane);
    return points ? [[lane, points] as const] : [];
  });
  return { laneWaits: Object.fromEntries(known) };
}
