/**
 * One node's place in the tunnel: its name and address, its clock, and the process that runs there now, if any. A crash ends the
 * process and a restart begins a new life at the same address; the clock goes on.
 *
 * After every call on the node its outbox and events are taken and its next tick is set. A tick that comes too early finds
 * nothing due and is set again, so that moving a deadline back costs nothing. A stalled station (a busy machine, or a stopped
 * process) gets everything late, in order.
 */

import type { RoomRules } from "../../core/rules.ts";
import type { NodeSettings } from "../../engines/cluster/node-settings.ts";
import type { Dice } from "./dice.ts";
import type { EventLoop, Work } from "./event-loop.ts";
import { NodeClock } from "./node-clock.ts";
import type { MakeNode, SimNode, SimNodeEvent, SimNodeStatus, SimOutgoing } from "./sim-node.ts";

/** The finest timer of a real process. */
const TICK_MIN_MS = 1;

export interface StationOptions {
  readonly index: number;
  readonly name: string;
  readonly address: string;
  readonly skewMs: number;
  readonly driftPpm: number;
  readonly loop: EventLoop;
  readonly makeNode: MakeNode;
  readonly settings: Omit<NodeSettings, "name" | "life" | "address" | "join">;
  diceFor(life: number): Dice;
  /** Receives everything that comes out of the node. */
  readonly ears: StationEars;
}

export interface StationEars {
  onOutbox(station: Station, messages: readonly SimOutgoing[]): void;
  onEvents(station: Station, events: readonly SimNodeEvent[]): void;
  /** The node has left its cluster with a goodbye. */
  onGone(station: Station): void;
  onThrow(station: Station, error: unknown): void;
}

export class Station {
  readonly index: number;
  readonly name: string;
  readonly address: string;
  readonly clock: NodeClock;
  /** How many processes have been started here. */
  life = 0;
  /** No process will be started here again. */
  isRetired = false;
  /** The node is leaving its cluster, and gets no more visitors. */
  isLeaving = false;
  stalledUntil = 0;
  #node: SimNode | null = null;
  #memberSince = Number.POSITIVE_INFINITY;
  #armedAt = Number.POSITIVE_INFINITY;
  #tickedAt = Number.NEGATIVE_INFINITY;
  readonly #options: StationOptions;

  constructor(options: StationOptions) {
    this.#options = options;
    this.index = options.index;
    this.name = options.name;
    this.address = options.address;
    this.clock = new NodeClock(options);
  }

  get isUp(): boolean {
    return this.#node !== null;
  }

  /** Since when the running node has been a settled member. Infinity: it has not. */
  get memberSince(): number {
    if (this.#node === null) return Number.POSITIVE_INFINITY;
    if (this.#memberSince !== Number.POSITIVE_INFINITY) return this.#memberSince;
    const status = this.status();
    if (status?.view && status.isSettled) this.#memberSince = this.#options.loop.time;
    return this.#memberSince;
  }

  /** True when visitors may be sent here. */
  get isOpen(): boolean {
    return !this.isLeaving && this.memberSince !== Number.POSITIVE_INFINITY;
  }

  /** Starts a process, with a new life. */
  start(join: readonly string[], room: { name: string; rules: RoomRules }): void {
    const { name, address } = this;
    const { settings, makeNode, diceFor } = this.#options;
    this.life++;
    this.#memberSince = Number.POSITIVE_INFINITY;
    this.#armedAt = Number.POSITIVE_INFINITY;
    const life = this.life;
    this.#guarded(() => {
      this.#node = makeNode({ ...settings, name, address, life, join }, diceFor(life), this.now);
    });
    this.call((node, now) => node.configure(room.name, room.rules, now));
  }

  stop(): void {
    this.#node = null;
  }

  get now(): number {
    return this.clock.read(this.#options.loop.time);
  }

  /** Calls the node and handles what comes out of it. Undefined: no node runs here, or it threw. */
  call<T>(ask: (node: SimNode, now: number) => T): T | undefined {
    const node = this.#node;
    if (node === null) return undefined;
    const answer = this.#guarded(() => {
      const result = ask(node, this.now);
      this.#takeOut(node);
      return result;
    });
    if (node.isGone && this.#node === node) this.#options.ears.onGone(this);
    return answer;
  }

  status(): SimNodeStatus | undefined {
    const node = this.#node;
    return node === null ? undefined : this.#guarded(() => node.status());
  }

  /** Runs something now, or when the stall is over, if the same process still runs. */
  whenAwake(work: Work): void {
    const { loop } = this.#options;
    const { life } = this;
    if (loop.time >= this.stalledUntil) return work();
    loop.at(this.stalledUntil, () => {
      if (this.isUp && this.life === life) this.whenAwake(work);
    });
  }

  #takeOut(node: SimNode): void {
    const { ears } = this.#options;
    const messages = node.takeOutbox();
    if (messages.length > 0) ears.onOutbox(this, messages);
    const events = node.takeEvents();
    if (events.length > 0) ears.onEvents(this, events);
    this.#arm(node);
  }

  #arm(node: SimNode): void {
    const { loop } = this.#options;
    const nextAt = node.nextAt();
    if (nextAt === Number.POSITIVE_INFINITY) return;
    const dueAt = this.clock.timeOf(nextAt, loop.time);
    if (dueAt >= this.#armedAt) return;
    const { life } = this;
    const time = Math.max(dueAt, this.#tickedAt + TICK_MIN_MS);
    if (time >= this.#armedAt) return;
    this.#armedAt = time;
    loop.at(time, () => {
      if (this.life === life && this.#armedAt === time) this.whenAwake(() => this.#tick());
    });
  }

  #tick(): void {
    this.#armedAt = Number.POSITIVE_INFINITY;
    this.#tickedAt = this.#options.loop.time;
    this.call((node, now) => {
      if (node.nextAt() <= now) node.tick(now);
    });
  }

  #guarded<T>(work: () => T): T | undefined {
    try {
      return work();
    } catch (error) {
      this.#options.ears.onThrow(this, error);
      return undefined;
    }
  }
}
