/**
 * The Redis engine: rooms that any number of gateways share. Everything that is decided is decided there, in one step, by
 * server-side functions that go by Redis's own clock; gateways keep no state that matters and may come and go.
 *
 * Each room is all in one hash slot, so it works the same on one server, behind sentinels and on a cluster. While Redis is
 * away every call is refused at once, and what visitors then get is a setting of the gateway. Once it is back, calls work again.
 */
import type { Board } from "../../core/board.ts";
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
import { toHex } from "../../core/hex.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import type { RedisLink } from "./link/link.ts";
import { RedisProblem } from "./link/problem.ts";
import { ProblemReport } from "./link/problem-report.ts";
import { RedisRoom } from "./redis-room.ts";
import type { TimeSource } from "./room-calls.ts";

const TICK_MS = 200;
const BOARD_PERIOD_MS = 1_000;
const FORGET_PERIOD_MS = 10_000;
const NAME_BYTES = 8;

export interface RedisEngineOptions {
  readonly link: RedisLink;
  readonly world: World;
  /** What all keys begin with. */
  readonly prefix: string;
  /** How many replicas must have what gives or frees a slot before anyone is told. */
  readonly replicas: number;
  readonly timeoutMs: number;
  readonly time?: TimeSource;
}

export class RedisEngine implements Engine {
  readonly #options: RedisEngineOptions;
  readonly #world: World;
  /** This gateway's own name among all. */
  readonly #name: string;
  readonly #rooms = new Map<string, RedisRoom>();
  readonly #listeners = new Set<EngineListener>();
  readonly #stop: (() => void)[] = [];

  constructor(options: RedisEngineOptions) {
    const { world, link } = options;
    this.#options = options;
    this.#world = world;
    this.#name = toHex(world.random.bytes(NAME_BYTES));
    const report = new ProblemReport(link, world);
    this.#stop.push(
      () => report.close(),
      world.timers.every(TICK_MS, () => this.#eachOpen("the door did not turn", (room) => room.tick())),
      world.timers.every(BOARD_PERIOD_MS, () =>
        this.#eachOpen("no board was shown", (room) => room.showBoard()),
      ),
      world.timers.every(FORGET_PERIOD_MS, () => this.#forget()),
      link.onProblem((problem) => {
        if (problem === null) this.#comeBack();
      }),
    );
  }

  join(room: string, newcomer: Newcomer = ANYBODY): Eventually<JoinAnswer> {
    return this.#rooms.get(room)?.line.join(newcomer) ?? UNKNOWN_ROOM;
  }

  checkIn(ticket: Ticket): Eventually<TicketAnswer> {
    return this.#rooms.get(ticket.room)?.line.show("c", ticket) ?? UNKNOWN_ROOM;
  }

  enter(ticket: Ticket): Eventually<TicketAnswer> {
    return this.#rooms.get(ticket.room)?.line.show("e", ticket) ?? UNKNOWN_ROOM;
  }

  async touch(room: string, presences: readonly Presence[]): Promise<void> {
    await this.#rooms.get(room)?.touch(presences);
  }

  async hasRoom(room: string): Promise<boolean> {
    return (await this.#rooms.get(room)?.hasRoom()) ?? false;
  }

  async resume(pass: Pass, mayBegin: boolean): Promise<Entered | null> {
    return (await this.#rooms.get(pass.room)?.resume(pass, mayBegin)) ?? null;
  }

  vacated(): void {}

  async leave(place: Ticket | Pass): Promise<void> {
    const room = this.#rooms.get(place.room);
    if ("sequence" in place) await room?.leavePlace(place);
    else await room?.leaveVisit(place.id);
  }

  async revoke(room: string, id: string): Promise<boolean> {
    return (await this.#rooms.get(room)?.revoke(id)) ?? false;
  }

  async report(room: string, load: Load): Promise<void> {
    await this.#rooms.get(room)?.report(load);
  }

  draw(room: string, event: string): Promise<DrawRecord | null> {
    return this.#room(room).draw(event);
  }

  counts(room: string): Promise<Counts> {
    return this.#room(room).counts();
  }

  board(room: string): Promise<Board> {
    return this.#room(room).board();
  }

  admit(room: string): Promise<Admission> {
    return this.#room(room).admit();
  }

  /** While Redis is away, a new room opens later by itself, and a change of a known one is refused. */
  async configure(name: string, rules: RoomRules): Promise<void> {
    const known = this.#rooms.get(name);
    if (known?.isOpen) return known.change(rules);
    const room = this.#makeRoom(name, rules);
    this.#rooms.set(name, room);
    await known?.close();
    await this.#open(name, room);
  }

  subscribe(listener: EngineListener): () => void {
    this.#listeners.add(listener);
    for (const [name, room] of this.#rooms)
      for (const [id, until] of room.ended.all()) listener.onRevoked?.(name, id, until);
    return () => this.#listeners.delete(listener);
  }

  /** Gives the leases back. The link stays open; its opener closes it. */
  async close(): Promise<void> {
    for (const stop of this.#stop) stop();
    this.#listeners.clear();
    const closing = [...this.#rooms].map(([name, room]) =>
      room.close().catch((cause: unknown) => this.#complain("the lease was not given back", name, cause)),
    );
    await Promise.all(closing);
  }

  #makeRoom(name: string, rules: RoomRules): RedisRoom {
    const { link, world, replicas, timeoutMs, prefix, time = "redis" } = this.#options;
    const tell = (say: (listener: EngineListener) => void) => {
      for (const listener of this.#listeners) say(listener);
    };
    return new RedisRoom({
      name,
      rules,
      prefix,
      gateway: this.#name,
      calls: { link, world, replicas, timeoutMs, time },
      events: {
        onTurns: (sequences) => tell((listener) => listener.onTurns?.(name, sequences)),
        onRevoked: (id, until) => tell((listener) => listener.onRevoked?.(name, id, until)),
        onBoard: (board) => tell((listener) => listener.onBoard?.(board)),
        onDraw: () => tell((listener) => listener.onDraw?.(name)),
        onRemark: (remark: Remark) => {
          world.log.info({ room: name }, remark.text);
          tell((listener) => listener.onRemark?.(name, remark));
        },
      },
    });
  }

  /** Opens a room in Redis. While Redis is away, it is opened later, on reconnection. */
  async #open(name: string, room: RedisRoom): Promise<void> {
    try {
      await room.open();
    } catch (cause) {
      if (!(cause instanceof RedisProblem)) throw cause;
      this.#complain("the room opens when Redis can be used again", name, cause);
    }
  }

  /** After reconnection Redis may be another server, with older data. */
  #comeBack(): void {
    for (const [name, room] of this.#rooms) {
      if (room.isOpen) room.catchUp();
      else
        this.#open(name, room).catch((cause: unknown) =>
          this.#complain("the room cannot be opened", name, cause),
        );
    }
  }

  /** Work that fails here is done again with the next timer; the link reports the reason once. */
  #eachOpen(complaint: string, work: (room: RedisRoom) => Promise<void>): void {
    for (const [name, room] of this.#rooms)
      if (room.isOpen) work(room).catch((cause: unknown) => this.#complain(complaint, name, cause));
  }

  #complain(complaint: string, room: string, cause: unknown): void {
    const level = cause instanceof RedisProblem ? "debug" : "error";
    this.#world.log[level]({ room, err: cause }, complaint);
  }

  #forget(): void {
    for (const room of this.#rooms.values()) room.ended.forget(this.#world.clock.now());
  }

  /** A caller that names a room nobody configured has a bug; visitors' room names are checked before. */
  #room(name: string): RedisRoom {
    const room = this.#rooms.get(name);
    if (!room) throw new Error(`room "${name}" is not configured`);
    return room;
  }
}

const UNKNOWN_ROOM = { kind: "refused", reason: "unknownRoom" } as const;
