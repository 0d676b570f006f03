/**
 * What all proxies share against visitors who send or read slowly: memory that holds bodies for them, within limits, and
 * one sweep that looks at every slow body a few times in each pace window. No request has a timer of its own for this.
 *
 * The pace is for quiet times, and friendly. When every connection to an origin is taken and a request has to wait, the
 * slowest of those who hold one up gives it to the request: thousands of visitors who are each just fast enough cannot
 * keep everybody else out. When nobody holds one up, the client with the most gives up one that carries next to nothing.
 */
import type { LimitSettings } from "../../config/schema.ts";
import type { World } from "../../core/world.ts";
import { AnswerTurns } from "./turns.ts";

const LOOK_EVERY_MS = 100;
const LOOKS_PER_WINDOW = 8;
/** A visitor faster than this, in bytes per second, keeps the connection even when others wait for one. */
const PRESSED_PACE = 16_384;
/** And that is measured over this time at least. */
export const PRESSED_WINDOW_MS = 1_000;
/**
 * How many are cut off at once, and how long it is until the next ones are. Hundreds in the same instant would have the
 * origin begin hundreds of answers, and everybody on the site would feel it.
 */
export const CUTS_AT_ONCE = 8;
export const CUTS_EVERY_MS = 10;

export type FlowLimits = Pick<
  LimitSettings,
  | "bodyBytes"
  | "bufferedBodyBytes"
  | "bufferedBodiesBytes"
  | "spooledAnswerBytes"
  | "spooledAnswersBytes"
  | "bodyPace"
  | "answerPace"
  | "paceWindowMs"
>;

/** An origin address, and those who wait for a connection to it and have sent their whole request. */
export interface Pressed {
  readonly waiting: {
    readonly onSite: { readonly size: number };
    readonly outside: { readonly size: number };
  };
  /** What to cut when nobody is slow. */
  greediest(now: number, belowPace: number): Pick<WatchedFlow, "cut"> | null;
}

/** A body on its way that may be too slow. */
export interface WatchedFlow {
  /** Called a few times in each pace window, for as long as it is watched. */
  judge(now: number): void;
  /**
   * How fast the visitor is, in bytes per second, where they hold up a connection of this origin address; Infinity where
   * they do not, or nobody knows yet.
   */
  holdingUp(address: Pressed, now: number): number;
  /** Ends it, because its visitor is too slow. The connection it has is free when this returns. */
  cut(): void;
}

export class SlowVisitors {
  /** Memory for request bodies that are read before the origin is asked. */
  readonly bodies: Memory;
  /** Memory for answers that wait for their visitors. */
  readonly answers: Memory;
  /** Large answers share the event loop. */
  readonly turns = new AnswerTurns();
  readonly #limits: () => FlowLimits;
  readonly #world: World;
  readonly #flows = new Set<WatchedFlow>();
  /** Where somebody waited when this was last looked at. */
  readonly #pressed = new Set<Pressed>();
  #isRelieving = false;
  readonly #stop: () => void;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(limits: () => FlowLimits, world: World) {
    this.#limits = limits;
    this.#world = world;
    this.bodies = new Memory(() => this.limits.bufferedBodiesBytes);
    this.answers = new Memory(() => this.limits.spooledAnswersBytes);
    this.#stop = world.timers.every(LOOK_EVERY_MS, () => this.#look());
  }

  get limits(): FlowLimits {
    return this.#limits();
  }

  now(): number {
    return this.#world.clock.now();
  }

  watch(flow: WatchedFlow): void {
    this.#flows.add(flow);
  }

  release(flow: WatchedFlow): void {
    this.#flows.delete(flow);
  }

  /** A request waits for a connection to the address: the slowest visitor who holds one up has to give it. */
  press(address: Pressed): void {
    this.#pressed.add(address);
    this.#relieve(address, 1);
    this.#relieveSoon();
  }

  close(): void {
    this.#stop();
    this.#pressed.clear();
  }

  /** Looks after all who wait, every now and then for as long as somebody does. */
  #relieveSoon(): void {
    if (this.#isRelieving || this.#pressed.size === 0) return;
    this.#isRelieving = true;
    this.#world.timers.after(CUTS_EVERY_MS, () => {
      this.#isRelieving = false;
      for (const address of this.#pressed) this.#relieve(address, CUTS_AT_ONCE);
      this.#relieveSoon();
    });
  }

  /** Those who wait get a connection, if there are as many slow visitors to take it from, up to `cutsMax` of them. */
  #relieve(address: Pressed, cutsMax: number): void {
    const { onSite, outside } = address.waiting;
    for (let cuts = 0; onSite.size + outside.size > 0; cuts++) {
      const next = cuts < cutsMax ? this.#nextToCut(address, this.now()) : null;
      if (next === null) return;
      next.cut();
    }
    this.#pressed.delete(address);
  }

  #nextToCut(address: Pressed, now: number): Pick<WatchedFlow, "cut"> | null {
    return this.#slowestOn(address, now) ?? address.greediest(now, PRESSED_PACE);
  }

  #slowestOn(address: Pressed, now: number): WatchedFlow | null {
    let slowest: WatchedFlow | null = null;
    let pace = PRESSED_PACE;
    for (const flow of this.#flows) {
      const own = flow.holdingUp(address, now);
      if (own >= pace) continue;
      slowest = flow;
      pace = own;
    }
    return slowest;
  }

  #look(): void {
    if (this.#flows.size === 0) return;
    const now = this.now();
    if (now - this.#lookedAt < this.limits.paceWindowMs / LOOKS_PER_WINDOW) return;
    this.#lookedAt = now;
    for (const flow of this.#flows) flow.judge(now);
  }
}

/** A number of bytes that may be held together. */
export class Memory {
  readonly #bytesMax: () => number;
  #taken = 0;

  constructor(bytesMax: () => number) {
    this.#bytesMax = bytesMax;
  }

  get taken(): number {
    return this.#taken;
  }

  get free(): number {
    return Math.max(0, this.#bytesMax() - this.#taken);
  }

  take(bytes: number): void {
    this.#taken += bytes;
  }

  give(bytes: number): void {
    this.#taken -= bytes;
  }
}

/** How far a stream of bytes had come at some time. */
interface Mark {
  readonly at: number;
  readonly bytes: number;
}

/** Judges a stream of bytes by how far it has come. */
export class StreamPace {
  /** The window that is on. */
  #start: Mark;
  /** For what goes on now: the pace since the older of them counts. */
  #older: Mark;
  #newer: Mark;

  constructor(now: number) {
    this.#start = { at: now, bytes: 0 };
    this.#older = this.#start;
    this.#newer = this.#start;
  }

  /** The clock starts anew: whatever held it up was not the visitor. */
  restart(now: number, bytes: number): void {
    this.#start = { at: now, bytes };
    this.#older = this.#start;
    this.#newer = this.#start;
  }

  /** Bytes per second of late; Infinity while that is not known. */
  current(now: number, bytes: number): number {
    if (now - this.#newer.at >= PRESSED_WINDOW_MS) {
      this.#older = this.#newer;
      this.#newer = { at: now, bytes };
    }
    const lastedMs = now - this.#older.at;
    if (lastedMs < PRESSED_WINDOW_MS) return Number.POSITIVE_INFINITY;
    return ((bytes - this.#older.bytes) / lastedMs) * 1_000;
  }

  /**
   * True when fewer than `perSecond` bytes a second came through in the window that is just over. `bytes` is how far the
   * stream has come. `step`: where progress shows only in steps of this many bytes, it gets the time for one, and part of the
   * next may have come.
   */
  isTooSlow(
    now: number,
    bytes: number,
    { windowMs, perSecond, step = 0 }: { windowMs: number; perSecond: number; step?: number },
  ): boolean {
    // Marks are set now, so that the pace of late is known when somebody asks.
    this.current(now, bytes);
    const lastedMs = now - this.#start.at;
    if (lastedMs < Math.max(windowMs, (step / perSecond) * 1_000)) return false;
    const came = bytes - this.#start.bytes;
    this.#start = { at: now, bytes };
    return came <= 0 || came + step < (perSecond * lastedMs) / 1_000;
  }
}
