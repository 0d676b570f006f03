/**
 * The embedded engine: every room of one process, in memory, exact. It turns each room's door a few times a second
 * and shows a new board once a second, or at once when the rules change.
 */
import type { Board } from "../../core/board.ts";
import type {
  Admission,
  Counts,
  Engine,
  EngineListener,
  JoinAnswer,
  Presence,
  TicketAnswer,
} from "../../core/engine.ts";
import { ID_BYTES, idFromBytes } from "../../core/id.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import { MemoryRoom } from "./memory-room.ts";

const TICK_MS = 200;
const BOARD_PERIOD_MS = 1_000;

export class MemoryEngine implements Engine {
  readonly #world: World;
  readonly #rooms = new Map<string, MemoryRoom>();
  readonly #boards = new Map<string, Board>();
  readonly #listeners = new Set<EngineListener>();
  readonly #stop: (() => void)[] = [];

  constructor(world: World) {
    this.#world = world;
    this.#stop.push(world.timers.every(TICK_MS, () => this.#tick()));
    this.#stop.push(world.timers.every(BOARD_PERIOD_MS, () => this.#showBoards()));
  }

  join(room: string): JoinAnswer {
    const { clock, random } = this.#world;
    const open = this.#rooms.get(room);
    if (!open) return { kind: "refused", reason: "unknownRoom" };
    return open.join(idFromBytes(random.bytes(ID_BYTES)), random.fraction(), clock.now());
  }

  checkIn(ticket: Ticket): TicketAnswer {
    const room = this.#rooms.get(ticket.room);
    if (!room) return { kind: "refused", reason: "unknownRoom" };
    return room.checkIn(ticket, this.#world.random.fraction(), this.#world.clock.now());
  }

  enter(ticket: Ticket): TicketAnswer {
    const room = this.#rooms.get(ticket.room);
    if (!room) return { kind: "refused", reason: "unknownRoom" };
    return room.enter(ticket, this.#world.random.fraction(), this.#world.clock.now());
  }

  touch(room: string, presences: readonly Presence[]): void {
    this.#rooms.get(room)?.touch(presences, this.#world.clock.now());
  }

  leave(place: Ticket | Pass): void {
    const room = this.#rooms.get(place.room);
    const now = this.#world.clock.now();
    if ("sequence" in place) room?.leavePlace(place, now);
    else room?.leaveVisit(place.id, now);
  }

  revoke(room: string, id: string): boolean {
    return this.#rooms.get(room)?.revoke(id, this.#world.clock.now()) ?? false;
  }

  counts(room: string): Counts {
    return this.#open(room).counts();
  }

  board(room: string): Board {
    return this.#boards.get(room) ?? this.#showBoard(room);
  }

  configure(room: string, rules: RoomRules): void {
    const open = this.#rooms.get(room);
    if (open) open.rules = rules;
    else this.#rooms.set(room, this.#newRoom(room, rules));
    this.#showBoard(room);
  }

  admit(room: string): Admission {
    return this.#open(room).admit(this.#world.clock.now());
  }

  subscribe(listener: EngineListener): () => void {
    this.#listeners.add(listener);
    for (const [name, room] of this.#rooms) {
      for (const [id, until] of room.ended()) listener.onRevoked?.(name, id, until);
    }
    return () => this.#listeners.delete(listener);
  }

  close(): void {
    for (const stop of this.#stop) stop();
    this.#listeners.clear();
  }

  #newRoom(name: string, rules: RoomRules): MemoryRoom {
    const events = {
      onTurns: (sequences: readonly number[]) =>
        this.#tell((listener) => listener.onTurns?.(name, sequences)),
      onRevoked: (id: string, until: number) =>
        this.#tell((listener) => listener.onRevoked?.(name, id, until)),
    };
    return new MemoryRoom(name, rules, events, this.#world.clock.now());
  }

  #tick(): void {
    for (const name of this.#rooms.keys()) this.admit(name);
  }

  #showBoards(): void {
    for (const name of this.#rooms.keys()) this.#showBoard(name);
  }

  #showBoard(name: string): Board {
    const board = this.#open(name).board(this.#world.clock.now());
    this.#boards.set(name, board);
    this.#tell((listener) => listener.onBoard?.(board));
    return board;
  }

  /** A caller that names a room nobody configured has a bug; visitors' room names are checked before. */
  #open(name: string): MemoryRoom {
    const room = this.#rooms.get(name);
    if (!room) throw new Error(`room "${name}" is not configured`);
    return room;
  }

  #tell(say: (listener: EngineListener) => void): void {
    for (const listener of this.#listeners) say(listener);
  }
}
