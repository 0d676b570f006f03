/**
 * The embedded engine: every room of one process, in memory, exact. It turns each room's door a few times a second
 * and shows a new board once a second, or at once when the rules change.
 *
 * With storage, rooms survive the process. An answer that grants or frees a slot waits until it is on disk; everything else,
 * above all a place in the line, is answered at once.
 */
import type { Board } from "../../core/board.ts";
import { type BudgetRoom, freeInBudget } from "../../core/budget.ts";
import type { DrawRecord } from "../../core/draw.ts";
import {
  type Admission,
  ANYBODY,
  type Counts,
  type Engine,
  type EngineListener,
  type Entered,
  type Eventually,
  type JoinAnswer,
  type Load,
  type Newcomer,
  type Presence,
  type Remark,
  type TicketAnswer,
} from "../../core/engine.ts";
import { ID_BYTES, idFromBytes } from "../../core/id.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import type { DurableStorage } from "../../durable/storage.ts";
import { MemoryRoom } from "./memory-room.ts";
import type { RoomParts } from "./room-books.ts";
import { RoomKeeper } from "./room-keeper.ts";

const TICK_MS = 200;
const BOARD_PERIOD_MS = 1_000;
/** How long a new place may exist only in its ticket. */
const KEEP_MS = 50;

/** A room, stored on disk or not. */
interface OpenRoom {
  readonly room: MemoryRoom;
  /** The same, even while its storage fails. */
  readonly last: MemoryRoom;
  readonly isAway: boolean;
  unconfirmed(): Promise<void> | null;
  set rules(rules: RoomRules);
  keep(): void;
  close(): Promise<void>;
}

export class MemoryEngine implements Engine {
  readonly #world: World;
  readonly #storageOf: ((room: string) => DurableStorage) | null;
  readonly #rooms = new Map<string, OpenRoom>();
  readonly #boards = new Map<string, Board>();
  readonly #listeners = new Set<EngineListener>();
  readonly #stop: (() => void)[] = [];

  /** `storageOf`: each room's storage; without it nothing is stored. */
  constructor(world: World, storageOf: ((room: string) => DurableStorage) | null = null) {
    this.#world = world;
    this.#storageOf = storageOf;
    if (storageOf) this.#stop.push(world.timers.every(KEEP_MS, () => this.#keepAll()));
    this.#stop.push(world.timers.every(TICK_MS, () => this.#tick()));
    this.#stop.push(world.timers.every(BOARD_PERIOD_MS, () => this.#showBoards()));
  }

  join(room: string, newcomer: Newcomer = ANYBODY): Eventually<JoinAnswer> {
    const open = this.#rooms.get(room);
    if (!open) return { kind: "refused", reason: "unknownRoom" };
    const id = idFromBytes(this.#world.random.bytes(ID_BYTES));
    return told(open, open.room.join(id, newcomer, this.#moment()));
  }

  hasRoom(room: string): boolean {
    return this.#rooms.get(room)?.room.hasRoom(this.#world.clock.now()) ?? false;
  }

  checkIn(ticket: Ticket): Eventually<TicketAnswer> {
    const open = this.#rooms.get(ticket.room);
    if (!open) return { kind: "refused", reason: "unknownRoom" };
    return told(open, open.room.checkIn(ticket, this.#moment()));
  }

  enter(ticket: Ticket): Eventually<TicketAnswer> {
    const open = this.#rooms.get(ticket.room);
    if (!open) return { kind: "refused", reason: "unknownRoom" };
    return told(open, open.room.enter(ticket, this.#moment()));
  }

  resume(pass: Pass, mayBegin: boolean): Eventually<Entered | null> {
    const open = this.#rooms.get(pass.room);
    if (!open) return null;
    const answer = open.room.resume(pass, mayBegin, this.#world.clock.now());
    return answer && told(open, answer);
  }

  touch(room: string, presences: readonly Presence[]): void {
    this.#rooms.get(room)?.room.touch(presences, this.#world.clock.now());
  }

  leave(place: Ticket | Pass, isIdle = false): Eventually<void> {
    const open = this.#rooms.get(place.room);
    if (!open) return;
    const now = this.#world.clock.now();
    if ("sequence" in place) open.room.leavePlace(place, now, isIdle);
    else open.room.leaveVisit(place.id, now, isIdle);
    return open.unconfirmed() ?? undefined;
  }

  revoke(room: string, id: string): Eventually<boolean> {
    const open = this.#rooms.get(room);
    if (!open) return false;
    const isEnded = open.room.revoke(id, this.#world.clock.now());
    return open.unconfirmed()?.then(() => isEnded) ?? isEnded;
  }

  vacated(room: string, id: string): void {
    const open = this.#rooms.get(room);
    if (open && !open.isAway) open.room.vacated(id);
  }

  report(room: string, load: Load): void {
    const open = this.#rooms.get(room);
    if (open && !open.isAway) open.room.report(load, this.#world.clock.now());
  }

  draw(room: string, event: string): DrawRecord | null {
    return this.#open(room).room.draw(event, this.#world.clock.now());
  }

  counts(room: string): Counts {
    return this.#open(room).room.counts(this.#world.clock.now());
  }

  board(room: string): Board {
    return this.#boards.get(room) ?? this.#showBoard(room);
  }

  configure(room: string, rules: RoomRules): Eventually<void> {
    const open = this.#rooms.get(room);
    if (!open) return this.#openRoom(room, rules);
    open.rules = rules;
    if (!open.isAway) this.#showBoard(room);
  }

  admit(room: string): Admission {
    const { random, clock } = this.#world;
    return this.#open(room).room.admit(() => random.fraction(), clock.now());
  }

  subscribe(listener: EngineListener): () => void {
    this.#listeners.add(listener);
    for (const [name, open] of this.#rooms) {
      if (open.isAway) continue;
      for (const [id, until] of open.room.ended()) listener.onRevoked?.(name, id, until);
    }
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    for (const stop of this.#stop) stop();
    this.#listeners.clear();
    await Promise.all([...this.#rooms.values()].map((open) => open.close()));
  }

  #openRoom(name: string, rules: RoomRules): Eventually<void> {
    const events = {
      onTurns: (sequences: readonly number[]) =>
        this.#tell((listener) => listener.onTurns?.(name, sequences)),
      onRevoked: (id: string, until: number) =>
        this.#tell((listener) => listener.onRevoked?.(name, id, until)),
      onDraw: () => {
        this.#showBoard(name);
        this.#tell((listener) => listener.onDraw?.(name));
      },
      onRemark: (remark: Remark) => {
        this.#world.log.info({ room: name }, remark.text);
        this.#tell((listener) => listener.onRemark?.(name, remark));
      },
    };
    const budgetFree = () => this.#budgetFree(name);
    const world = this.#world;
    const storageOf = this.#storageOf;
    if (!storageOf) return this.#show(name, unkept({ name, rules, events, budgetFree }, world));
    const storage = () => storageOf(name);
    return RoomKeeper.open({ name, rules, events, storage, budgetFree, world }).then((keeper) =>
      this.#show(name, keeper),
    );
  }

  #show(name: string, open: OpenRoom): void {
    this.#rooms.set(name, open);
    this.#showBoard(name);
  }

  #keepAll(): void {
    for (const open of this.#rooms.values()) open.keep();
  }

  #tick(): void {
    for (const [name, open] of this.#rooms) {
      if (open.isAway) continue;
      this.admit(name);
      // When the room opens, visitors should not have to wait for the next periodic board.
      if (open.room.state(this.#world.clock.now()) !== this.#boards.get(name)?.state) this.#showBoard(name);
    }
  }

  #showBoards(): void {
    for (const [name, { isAway }] of this.#rooms) if (!isAway) this.#showBoard(name);
  }

  #showBoard(name: string): Board {
    const board = this.#open(name).room.board(this.#world.clock.now());
    this.#boards.set(name, board);
    this.#tell((listener) => listener.onBoard?.(board));
    return board;
  }

  /** Slots that the other rooms of its budget leave to a room. */
  #budgetFree(name: string): number {
    const budget = this.#rooms.get(name)?.last.rules.budget;
    if (!budget) return Number.POSITIVE_INFINITY;
    const { totalActiveUsers } = budget;
    const names: string[] = [];
    const rooms: BudgetRoom[] = [];
    for (const [other, open] of this.#rooms) {
      // A room whose storage fails admits nobody; the slots it held last are still taken.
      const room = open.last;
      if (room.rules.budget?.name !== budget.name) continue;
      names.push(other);
      const { used, lastTurnAt } = room;
      const wanted =
        other === name ? totalActiveUsers : open.isAway ? 0 : room.wanted(this.#world.clock.now());
      rooms.push({ used, wanted, guaranteed: room.rules.budget.guaranteed, lastTurnAt });
    }
    return freeInBudget({ totalActiveUsers, rooms }, names.indexOf(name));
  }

  #moment(): { dice: number; now: number } {
    return { dice: this.#world.random.fraction(), now: this.#world.clock.now() };
  }

  /** An unknown room here is a bug of the caller; visitors' room names are checked earlier. */
  #open(name: string): OpenRoom {
    const room = this.#rooms.get(name);
    if (!room) throw new Error(`room "${name}" is not configured`);
    return room;
  }

  #tell(say: (listener: EngineListener) => void): void {
    for (const listener of this.#listeners) say(listener);
  }
}

/** Answers that must be on disk first wait for the write; all others are given at once. */
function told<Answer extends JoinAnswer | TicketAnswer>(open: OpenRoom, answer: Answer): Eventually<Answer> {
  if (!open.room.mustBeKept(answer)) return answer;
  return open.unconfirmed()?.then(() => answer) ?? answer;
}

/** A room without storage. */
function unkept(parts: Omit<RoomParts, "now" | "isKept">, { clock }: World): OpenRoom {
  const room = new MemoryRoom({ ...parts, now: clock.now(), isKept: false });
  return {
    room,
    last: room,
    isAway: false,
    unconfirmed: () => null,
    set rules(next: RoomRules) {
      room.change(next, clock.now());
    },
    keep() {},
    async close() {},
  };
}
