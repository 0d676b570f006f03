/**
 * One room in Redis, as one gateway sees it. It sends what visitors do in batches, hears news from other gateways, and turns
 * the door while this gateway has the lease.
 *
 * News comes over a channel: `<gateway> turns|ended|board|remarks|drawn|resigned …`. A gateway skips what
 * it said itself, since it knows that from the answers it got.
 */
import { isDeepStrictEqual } from "node:util";
import type { Board } from "../../core/board.ts";
import type { DrawRecord } from "../../core/draw.ts";
import type { Admission, Counts, Entered, Load, Presence, Remark } from "../../core/engine.ts";
import type { Pass } from "../../core/pass.ts";
import { boardOf, countsOf } from "../../core/room-view.ts";
import type { RoomRules } from "../../core/rules.ts";
import { phaseAt } from "../../core/schedule.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import { DoorDuty, type DutyEvents, type ShownBoard } from "./door-duty.ts";
import { DrawRecords } from "./draw-work.ts";
import { EndedVisits } from "./ended-visits.ts";
import { ExactLine } from "./exact-line.ts";
import { IN_SHARDS } from "./library.ts";
import { mainKeyOf } from "./orders.ts";
import { RelaxedLine } from "./relaxed-line.ts";
import { RoomCalls, type RoomCallsParts } from "./room-calls.ts";
import type { RoomLine } from "./room-line.ts";
import { drawOf, emptyLook, figuresOf } from "./room-look.ts";
import { ToldTimes } from "./told-times.ts";
import { UnheardJoins } from "./unheard-joins.ts";
import { AnswerReader, endedUntil, ending, isRoomFound, LOOKING, resuming, seeing } from "./visit-answers.ts";
import { VisitCalls } from "./visit-calls.ts";

export interface RoomEvents extends Omit<DutyEvents, "onBoard"> {
  onBoard(board: Board): void;
  onRevoked(id: string, until: number): void;
}

export interface RoomParts {
  readonly name: string;
  readonly rules: RoomRules;
  /** This gateway's own name among all. */
  readonly gateway: string;
  readonly prefix: string;
  readonly calls: Omit<RoomCallsParts, "functions">;
  readonly events: RoomEvents;
}

export class RedisRoom {
  /** Those who join, check in and enter ask the line itself. */
  readonly line: RoomLine;
  readonly ended: EndedVisits;
  readonly #parts: RoomParts;
  readonly #world: World;
  readonly #calls: RoomCalls;
  readonly #visits: VisitCalls;
  readonly #reader: AnswerReader;
  readonly #duty: DoorDuty;
  readonly #records: DrawRecords;
  readonly #told: ToldTimes;
  readonly #unheard: UnheardJoins;
  #rules: RoomRules;
  #phase: ReturnType<typeof phaseAt>;
  #board: ShownBoard | null = null;
  #stopHearing: (() => void) | null = null;
  /** True once Redis has the room's rules as they are here. */
  #isOpen = false;
  /** True while something was missed that could not be read: news may be heard again before calls are answered. */
  #isBehind = false;

  constructor(parts: RoomParts) {
    const { name, rules, gateway, prefix, events } = parts;
    const calls: RoomCallsParts = { ...parts.calls, functions: rules.relaxed ? IN_SHARDS : "" };
    this.#parts = parts;
    this.#world = calls.world;
    this.#rules = rules;
    this.#phase = phaseAt(rules, this.#world.clock.now());
    this.#told = new ToldTimes(this.#world.clock);
    this.#calls = new RoomCalls(mainKeyOf(prefix, name, rules), calls, () => this.#sendOrders());
    // With a clock moved by hand, the work that its last move set off comes first.
    const ready = () => (calls.time === "handed" ? this.#duty.idle() : null);
    this.#unheard = new UnheardJoins((id) => this.leaveVisit(id));
    this.#visits = new VisitCalls(this.#calls, gateway, ready, (id, cause) => this.#unheard.note(id, cause));
    const reader = new AnswerReader(
      name,
      (now) => this.#rulesAt(now),
      this.#told,
      () => this.#board,
    );
    this.#reader = reader;
    const { world } = calls;
    const line = { name, prefix, world, reader, calls: this.#calls, visits: this.#visits };
    this.line = rules.relaxed
      ? new RelaxedLine(rules.relaxed, {
          ...line,
          gateway,
          ready,
          callsParts: calls,
          reopen: () => this.#sendOrders(),
        })
      : new ExactLine(line);
    this.#records = new DrawRecords(this.#calls);
    this.ended = new EndedVisits((id, until) => events.onRevoked(id, until));
    this.#duty = new DoorDuty({
      ...{ name, gateway, world },
      line: this.line,
      calls: this.#calls,
      rules: () => this.#rules,
      events: { ...events, onBoard: (board) => this.#showBoard(board) },
    });
  }

  /** Opens the room in Redis, or joins the one that is open there. */
  async open(): Promise<void> {
    this.#stopHearing ??= this.#parts.calls.link.hear(`${this.#calls.key}:news`, {
      onMessage: (text) => this.#hear(text),
      onGap: () => this.catchUp(),
    });
    await this.#sendOrders();
    this.#isOpen = true;
    await Promise.all([this.#readEnded(), this.#readBoard()]);
    await this.#duty.showBoard();
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  async change(rules: RoomRules): Promise<void> {
    const { prefix, name } = this.#parts;
    const before = this.#rules;
    if (
      mainKeyOf(prefix, name, rules) !== this.#calls.key ||
      !isDeepStrictEqual(rules.relaxed, before.relaxed)
    )
      throw new Error(
        `room "${name}" cannot have another budget or kind of line while it runs; restart for that`,
      );
    this.#follow(rules);
    try {
      this.line.flush();
      await this.#sendOrders();
    } catch (cause) {
      this.#follow(before);
      throw cause;
    }
    await this.#duty.showBoard();
  }

  hasRoom(): Promise<boolean> {
    return this.#visits.ask(LOOKING, isRoomFound);
  }

  resume(pass: Pass, mayBegin: boolean): Promise<Entered | null> {
    return this.#visits.ask(resuming(pass, mayBegin), (reply) => this.#reader.resumed(reply, pass.id));
  }

  async touch(presences: readonly Presence[]): Promise<void> {
    await Promise.all(presences.map((presence) => this.#visits.ask(seeing(presence), () => {})));
  }

  async leavePlace(ticket: Ticket): Promise<void> {
    this.ended.add(ticket.id, await this.line.leave(ticket));
  }

  async leaveVisit(id: string): Promise<void> {
    this.ended.add(id, await this.#visits.ask(ending("v", id), endedUntil));
  }

  async revoke(id: string): Promise<boolean> {
    const until = await this.#visits.ask(ending("r", id), endedUntil);
    this.ended.add(id, until);
    return until > 0;
  }

  async report(load: Load): Promise<void> {
    await this.#calls.call("report", [this.#calls.now(), JSON.stringify(load)]);
  }

  async counts(): Promise<Counts> {
    this.line.flush();
    await this.#duty.idle();
    const look = await this.line.look({ hasRecent: true }, this.#calls.now());
    return countsOf(figuresOf(this.#parts.name, this.#rules, look));
  }

  /** The latest board. Until Redis was reached once, an empty one with the lowest version. */
  async board(): Promise<Board> {
    await this.#duty.idle();
    if (this.#board) return publicBoard(this.#board);
    const now = this.#world.clock.now();
    return boardOf(figuresOf(this.#parts.name, this.#rules, emptyLook(now)), 0);
  }

  async draw(name: string): Promise<DrawRecord | null> {
    const event = this.#rules.events.find((known) => known.name === name);
    if (!event?.isShuffled) return null;
    await this.#duty.idle();
    const draw = drawOf(await this.line.look({}, this.#calls.now()), event);
    return draw ? this.#records.record(draw) : null;
  }

  admit(): Promise<Admission> {
    this.line.flush();
    return this.#duty.turn();
  }

  /**
   * Reads what may have been missed: boards and ended visits. Turns are learned at the next check-in. Visits begun by joins that
   * were never answered are ended.
   */
  catchUp(): void {
    this.#isBehind = false;
    void Promise.all([this.#unheard.end(), this.#readEnded(), this.#readBoard()]).catch((cause: unknown) => {
      this.#isBehind = true;
      this.#world.log.debug({ err: cause, room: this.#parts.name }, "what was missed could not be read yet");
    });
  }

  /** Some times a second. */
  async tick(): Promise<void> {
    if (this.#isBehind) this.catchUp();
    this.line.flush();
    await this.#duty.tick();
  }

  /** Once a second. */
  async showBoard(): Promise<void> {
    await this.#duty.showBoardIfHolder();
  }

  async close(): Promise<void> {
    this.#stopHearing?.();
    await this.#duty.resign();
  }

  #follow(rules: RoomRules): void {
    this.#rules = rules;
    this.#phase = phaseAt(rules, this.#world.clock.now());
  }

  #rulesAt(now: number) {
    if (now >= this.#phase.until) this.#phase = phaseAt(this.#rules, now);
    return this.#phase.rules;
  }

  #sendOrders(): Promise<void> {
    return this.line.configure(this.#rules, this.#told.longest());
  }

  #showBoard(board: ShownBoard): void {
    if (this.#board && board.version <= this.#board.version) return;
    this.#board = board;
    this.#parts.events.onBoard(publicBoard(board));
  }

  /** Reads ended visits. Those whose end Redis lost in a failover are ended there again. */
  async #readEnded(): Promise<void> {
    const listed = (await this.#calls.call("ended", [])) as string[];
    const before = [...this.ended.all()];
    for (let i = 0; i < listed.length; i += 2) this.ended.add(listed[i]!, Number(listed[i + 1]));
    const known = new Set(listed);
    const now = this.#world.clock.now();
    const lost = before.filter(([id, until]) => until > now && !known.has(id));
    await Promise.all(lost.map(([id]) => this.leaveVisit(id)));
  }

  async #readBoard(): Promise<void> {
    const text = await this.#calls.command("GET", `${this.#calls.key}:board`);
    if (typeof text === "string") this.#showBoard(JSON.parse(text) as ShownBoard);
  }

  #hear(text: string): void {
    const [, gateway, what, rest = ""] = /^(\S+) (\S+) ?(.*)$/s.exec(text) ?? [];
    if (gateway === this.#parts.gateway) return;
    const { events } = this.#parts;
    if (what === "turns") events.onTurns(rest.split(" ").map(Number));
    else if (what === "board") this.#showBoard(JSON.parse(rest) as ShownBoard);
    else if (what === "drawn") events.onDraw();
    else if (what === "remarks") for (const remark of JSON.parse(rest) as Remark[]) events.onRemark(remark);
    else if (what === "ended") this.#hearEnded(rest.split(" "));
    else if (what === "resigned") this.#duty.expectLease();
  }

  #hearEnded(words: readonly string[]): void {
    for (let i = 0; i < words.length; i += 2) this.ended.add(words[i]!, Number(words[i + 1]));
  }
}

function publicBoard({ laneWaits: _, ...board }: ShownBoard): Board {
  return board;
}
