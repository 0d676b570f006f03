/**
 * The cluster engine: one node of a cluster of equal peers, with a clock, timers and a way to send messages. All rules are in
 * node.ts; here the gateway's calls become calls of the node, and its messages and events go out.
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
  type TicketAnswer,
} from "../../core/engine.ts";
import { ID_BYTES, idFromBytes } from "../../core/id.ts";
import type { Pass } from "../../core/pass.ts";
import type { RoomRules } from "../../core/rules.ts";
import type { Ticket } from "../../core/ticket.ts";
import type { World } from "../../core/world.ts";
import { ClusterNode, type NodeEvent } from "./node.ts";
import type { NodeSettings } from "./node-settings.ts";
import type { NodeStatus } from "./node-status.ts";

/** The shortest time between two ticks, however much is due. */
const TICK_MIN_MS = 5;
/** The longest: rooms open and close by the clock. */
const TICK_MAX_MS = 100;
const BOARD_PERIOD_MS = 1_000;
const GONE_PERIOD_MS = 20;
/** A leaving node stops after this long even if the others have not agreed. */
const GOODBYE_MAX_MS = 5_000;

/** Sends a message to an address, or loses it. */
export type Send = (to: string, message: unknown) => void;

export class ClusterEngine implements Engine {
  readonly #world: World;
  readonly #node: ClusterNode;
  readonly #send: Send;
  readonly #rooms = new Set<string>();
  readonly #boards = new Map<string, Board>();
  readonly #listeners = new Set<EngineListener>();
  readonly #keptListeners = new Set<(name: string) => void>();
  readonly #stop: (() => void)[] = [];
  #isFlushDue = false;
  #tickAt = Number.POSITIVE_INFINITY;
  #stopWaiting: () => void = () => {};

  constructor(world: World, settings: NodeSettings, send: Send) {
    this.#world = world;
    this.#send = send;
    this.#node = new ClusterNode(settings, () => world.random.fraction(), world.clock.now());
    this.#tickSoon();
    this.#stop.push(() => this.#stopWaiting());
    this.#stop.push(world.timers.every(BOARD_PERIOD_MS, () => this.#showBoards()));
  }

  deliver(from: string, message: unknown): void {
    this.#node.receive(from, message, this.#now());
    this.#flushSoon();
  }

  /** A connection to that address was refused: nothing listens there. */
  refused(address: string): void {
    this.#node.refused(address, this.#now());
    this.#flushSoon();
  }

  tick(): void {
    const now = this.#now();
    this.#tickAt = Number.POSITIVE_INFINITY;
    if (this.#node.nextAt() <= now) this.#node.tick(now);
    this.flush();
    for (const room of this.#rooms)
      if (this.#node.state(room, now) !== this.#boards.get(room)?.state) this.#showBoard(room);
  }

  /** `isCounted` adds the counts of every owner, which looks at every place. */
  status(isCounted = true): NodeStatus {
    return this.#node.status(isCounted);
  }

  /** Takes an operator's word that a lost member is dead. False when no lost member has that name. */
  forget(name: string): boolean {
    const isForgotten = this.#node.forget(name, this.#now());
    this.flush();
    return isForgotten;
  }

  /** Keeps a small plain value on all nodes; the last writer wins. */
  keep(name: string, value: unknown): void {
    this.#node.keep(name, value, this.#now());
    this.#flushSoon();
  }

  kept(): ReadonlyMap<string, unknown> {
    return this.#node.kept();
  }

  /** Tells of every kept value that is new or has changed. Returns a function that ends this. */
  onKept(listener: (name: string) => void): () => void {
    this.#keptListeners.add(listener);
    return () => this.#keptListeners.delete(listener);
  }

  /** Changes the addresses of the nodes to join. */
  setJoin(addresses: readonly string[]): void {
    this.#node.setJoin(addresses);
  }

  join(room: string, newcomer: Newcomer = ANYBODY): Eventually<JoinAnswer> {
    const id = idFromBytes(this.#world.random.bytes(ID_BYTES));
    const dice = this.#world.random.fraction();
    return this.#ask((answer) => this.#node.join(room, { id, newcomer, dice }, this.#now(), answer));
  }

  checkIn(ticket: Ticket): TicketAnswer {
    const answer = this.#node.checkIn(ticket, this.#world.random.fraction(), this.#now());
    this.#flushSoon();
    return answer;
  }

  enter(ticket: Ticket): Eventually<TicketAnswer> {
    const dice = this.#world.random.fraction();
    return this.#ask((answer) => this.#node.enter(ticket, dice, this.#now(), answer));
  }

  hasRoom(room: string): boolean {
    return this.#node.hasRoom(room, this.#now());
  }

  resume(pass: Pass, mayBegin: boolean): Eventually<Entered | null> {
    return this.#ask((answer) => this.#node.resume(pass, mayBegin, this.#now(), answer));
  }

  touch(room: string, presences: readonly Presence[]): void {
    this.#node.touch(room, presences, this.#now());
    this.#flushSoon();
  }

  vacated(): void {}

  leave(place: Ticket | Pass): Eventually<void> {
    return this.#ask((done) => this.#node.leave(place, this.#now(), () => done(undefined)));
  }

  revoke(room: string, id: string): Eventually<boolean> {
    return this.#ask((answer) => this.#node.revoke(room, id, this.#now(), answer));
  }

  report(room: string, load: Load): void {
    this.#node.report(room, load, this.#now());
    this.#flushSoon();
  }

  draw(room: string, event: string): DrawRecord | null {
    return this.#node.draw(room, event, this.#now());
  }

  counts(room: string): Counts {
    return this.#node.counts(room, this.#now());
  }

  board(room: string): Board {
    return this.#boards.get(room) ?? this.#showBoard(room);
  }

  configure(room: string, rules: RoomRules): void {
    this.#node.configure(room, rules, this.#now());
    this.#rooms.add(room);
    this.#showBoard(room);
  }

  admit(room: string): Admission {
    const admission = this.#node.admit(room, this.#now());
    this.flush();
    return admission;
  }

  /** What the last run of a room's door decided, if it ran on this node. */
  lastAdmission(room: string): Admission | null {
    return this.#node.lastAdmission(room);
  }

  subscribe(listener: EngineListener): () => void {
    this.#listeners.add(listener);
    for (const room of this.#rooms)
      for (const [id, until] of this.#node.ended(room)) listener.onRevoked?.(room, id, until);
    return () => this.#listeners.delete(listener);
  }

  /** Says goodbye, hands everything over, and stops. */
  async close(): Promise<void> {
    this.#node.leaveCluster(this.#now());
    await this.#whenGone();
    this.stop();
  }

  /** Stops without a word, as a crash does. */
  stop(): void {
    for (const stop of this.#stop) stop();
    this.#tickAt = Number.NEGATIVE_INFINITY;
    this.#listeners.clear();
  }

  /** Sends the node's messages, and tells listeners what happened. */
  flush(): void {
    this.#isFlushDue = false;
    for (const { to, message } of this.#node.takeOutbox()) this.#send(to, message);
    for (const event of this.#node.takeEvents()) this.#hear(event);
    this.#tickSoon();
  }

  #tickSoon(): void {
    const now = this.#now();
    const waitMs = Math.min(TICK_MAX_MS, Math.max(TICK_MIN_MS, this.#node.nextAt() - now));
    if (now + waitMs >= this.#tickAt) return;
    this.#stopWaiting();
    this.#tickAt = now + waitMs;
    this.#stopWaiting = this.#world.timers.after(waitMs, () => this.tick());
  }

  /** Tells listeners at once; messages wait for others of the same turn of the event loop. */
  #flushSoon(): void {
    for (const event of this.#node.takeEvents()) this.#hear(event);
    if (this.#isFlushDue) return;
    this.#isFlushDue = true;
    this.#world.timers.after(0, () => this.flush());
  }

  /** Returns an answer that is given at once as it is, and a later one as a promise. */
  #ask<Answer>(ask: (answer: (answer: Answer) => void) => void): Eventually<Answer> {
    let isThere = false;
    let given: Answer | undefined;
    let resolve: ((answer: Answer) => void) | null = null;
    ask((answer) => {
      isThere = true;
      given = answer;
      resolve?.(answer);
    });
    this.#flushSoon();
    if (isThere) return given as Answer;
    return new Promise((done) => {
      resolve = done;
    });
  }

  #hear(event: NodeEvent): void {
    if (event.kind === "kept") {
      for (const listener of this.#keptListeners) listener(event.name);
      return;
    }
    const { room } = event;
    switch (event.kind) {
      case "turns":
        return this.#tell((listener) => listener.onTurns?.(room, event.sequences));
      case "revoked":
        return this.#tell((listener) => listener.onRevoked?.(room, event.id, event.until));
      case "draw":
        this.#showBoard(room);
        return this.#tell((listener) => listener.onDraw?.(room));
      case "remark":
        this.#world.log.info({ room }, event.remark.text);
        return this.#tell((listener) => listener.onRemark?.(room, event.remark));
    }
  }

  #showBoards(): void {
    for (const room of this.#rooms) this.#showBoard(room);
  }

  #showBoard(room: string): Board {
    const board = this.#node.board(room, this.#now());
    this.#boards.set(room, board);
    this.#tell((listener) => listener.onBoard?.(board));
    return board;
  }

  async #whenGone(): Promise<void> {
    if (this.#node.isGone) return;
    await new Promise<void>((resolve) => {
      const stops: (() => void)[] = [];
      const done = () => {
        for (const stop of stops) stop();
        resolve();
      };
      stops.push(this.#world.timers.every(GONE_PERIOD_MS, () => this.#node.isGone && done()));
      stops.push(this.#world.timers.after(GOODBYE_MAX_MS, done));
    });
  }

  #now(): number {
    return this.#world.clock.now();
  }

  #tell(say: (listener: EngineListener) => void): void {
    for (const listener of this.#listeners) say(listener);
  }
}
