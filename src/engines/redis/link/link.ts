/**
 * The link to Redis: calls of our functions, messages, and what is wrong.
 *
 * Uses only plain connections of the client library, also for sentinels and clusters. The library's sentinel and cluster clients
 * resend commands by themselves and queue them while they look for a primary: a caller would learn late that Redis is away, and
 * never whether a command was carried out, and later calls could overtake earlier ones. Here a call is sent once, over the
 * connection of its key, in the order of calling; without a connection it is refused at once. Only calls that Redis refused
 * without doing anything (a missing function, a hash slot that has moved) are sent again.
 */
import type { World } from "../../../core/world.ts";
import type { Library } from "../library.ts";
import type { Kept, RedisCall } from "./call.ts";
import { ClusterPrimaries } from "./cluster.ts";
import type { Connection } from "./connection.ts";
import { type Ear, Ears } from "./ears.ts";
import type { Primaries, PrimariesOptions } from "./primaries.ts";
import { RedisProblem } from "./problem.ts";
import { SentinelPrimary } from "./sentinels.ts";
import { addressText, type RedisServers } from "./servers.ts";
import { StandalonePrimary } from "./standalone.ts";
import { within } from "./within.ts";

/** How often timeouts are checked, within a timeout and at least. */
const SWEEPS_PER_TIMEOUT = 4;
const SWEEP_MAX_MS = 250;
/** A sweep that comes this much too late is left out. */
const LATE_SWEEP = 2;

export interface RedisLink {
  /**
   * Calls a function of the library by its short name. `key` is its only key, and decides which node is asked. Answers are what
   * RESP2 has: numbers, strings, null and lists; a single value comes as a list of one. With `kept` it also waits until enough
   * replicas have it. Rejects with a RedisProblem, also when too few have it in time.
   */
  call(name: string, key: string, args: readonly string[], kept?: Kept): Promise<readonly unknown[]>;
  /** Any other command, sent to the node that has the key; without a key, to any primary. */
  command(key: string | null, args: readonly string[]): Promise<unknown>;
  /** Subscribes to a channel; returns the way to stop. */
  hear(channel: string, ear: Ear): () => void;
  /** What is wrong now; null when all is well. */
  readonly problem: RedisProblem | null;
  /** Calls back with each change of `problem`; returns the way to stop. */
  onProblem(listener: (problem: RedisProblem | null) => void): () => void;
  /** Waits, for at most a timeout, until everything sent is answered, and ends all connections. */
  close(): Promise<void>;
}

export interface LinkOptions {
  readonly servers: RedisServers;
  readonly library: Library;
  readonly world: World;
  /** The timeout of an answer. */
  readonly timeoutMs: number;
}

/** Opens the link. Resolves within the timeout, also when Redis is down: then `problem` says so, and it goes on retrying. */
export async function openLink(options: LinkOptions): Promise<RedisLink> {
  const link = new Link(options);
  await link.start();
  return link;
}

class Link implements RedisLink {
  readonly #options: LinkOptions;
  readonly #open = new Set<Connection>();
  readonly #primaries: Primaries;
  readonly #ears: Ears;
  readonly #listeners = new Set<(problem: RedisProblem | null) => void>();
  readonly #functionNames = new Map<string, string>();
  readonly #sweepMs: number;
  readonly #stopSweeps: () => void;
  #sweptAt: number;
  #problem: RedisProblem | null = null;
  #closing: Promise<void> | null = null;

  constructor(options: LinkOptions) {
    const { servers, world, timeoutMs } = options;
    const surroundings = { world, timeoutMs, open: this.#open, onChange: () => this.#onChange() };
    this.#options = options;
    this.#primaries = primariesOf({ ...options, ...surroundings });
    this.#ears = new Ears({
      ...surroundings,
      login: { ...servers, database: 0 },
      where: addressText(servers.addresses[0]!),
      find: () => this.#primaries.findToHear(),
    });
    this.#sweepMs = Math.min(SWEEP_MAX_MS, timeoutMs / SWEEPS_PER_TIMEOUT);
    this.#sweptAt = world.clock.now();
    this.#stopSweeps = world.timers.every(this.#sweepMs, () => this.#sweep());
    this.#problem = this.#primaries.problem;
  }

  get problem(): RedisProblem | null {
    return this.#problem;
  }

  start(): Promise<void> {
    return within(this.#primaries.start(), this.#options.timeoutMs, this.#options.world.timers);
  }

  call(name: string, key: string, args: readonly string[], kept?: Kept): Promise<readonly unknown[]> {
    const words = ["FCALL", this.#functionName(name), "1", key, ...args];
    const wanted = kept && kept.replicas > 0 ? kept : null;
    return new Promise((resolve, reject) => {
      const answered = (answer: unknown) => resolve(Array.isArray(answer) ? answer : [answer]);
      this.#primaries.send({ ...this.#begun(), name, key, words, kept: wanted, resolve: answered, reject });
    });
  }

  command(key: string | null, args: readonly string[]): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const name = args[0] ?? "";
      this.#primaries.send({ ...this.#begun(), name, key, words: args, kept: null, resolve, reject });
    });
  }

  hear(channel: string, ear: Ear): () => void {
    return this.#closing ? () => {} : this.#ears.hear(channel, ear);
  }

  onProblem(listener: (problem: RedisProblem | null) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** Made once: building the text for each call would cost more than the rest of sending it. */
  #functionName(name: string): string {
    let whole = this.#functionNames.get(name);
    if (whole === undefined) {
      whole = this.#options.library.functionName(name);
      this.#functionNames.set(name, whole);
    }
    return whole;
  }

  /** The parts that all calls made now have in common. */
  #begun(): Pick<RedisCall, "timeoutMs" | "dueAt" | "loads" | "moves"> {
    if (this.#closing) throw closed();
    const { world, timeoutMs } = this.#options;
    return { timeoutMs, dueAt: world.clock.now() + timeoutMs, loads: 0, moves: 0 };
  }

  #sweep(): void {
    const now = this.#options.world.clock.now();
    const sinceMs = now - this.#sweptAt;
    this.#sweptAt = now;
    // After a pause of this process there are answers to read first, before any can count as missing.
    if (sinceMs > LATE_SWEEP * this.#sweepMs) return;
    for (const connection of this.#open) connection.sweep(now);
    this.#primaries.sweep(now, this.#ears.connection);
  }

  #onChange(): void {
    const problem = this.#closing ? null : (this.#primaries.problem ?? this.#ears.problem);
    const before = this.#problem;
    if (problem?.kind === before?.kind && problem?.message === before?.message) return;
    this.#problem = problem;
    for (const listener of this.#listeners) this.#tell(listener, problem);
  }

  #tell(listener: (problem: RedisProblem | null) => void, problem: RedisProblem | null): void {
    try {
      listener(problem);
    } catch (error) {
      this.#options.world.log.error({ error }, "a listener to the problems of Redis failed");
    }
  }

  async #close(): Promise<void> {
    // A requested end is not reported as a problem.
    this.#listeners.clear();
    const { timeoutMs, world } = this.#options;
    const answered = Promise.all([...this.#open].map((connection) => connection.whenIdle()));
    await within(answered, timeoutMs, world.timers);
    this.#stopSweeps();
    this.#primaries.close(closed());
    this.#ears.close(closed());
    for (const connection of this.#open) connection.end(closed());
  }
}

function primariesOf(options: PrimariesOptions): Primaries {
  if (options.servers.mode === "cluster") return new ClusterPrimaries(options);
  return options.servers.mode === "sentinel" ? new SentinelPrimary(options) : new StandalonePrimary(options);
}

function closed(): RedisProblem {
  return new RedisProblem("away", "The link to Redis is closed.", true);
}
