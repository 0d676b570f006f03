/**
 * One connection to one Redis, from its opening to its end. An ended connection is never reused; a new one replaces it.
 *
 * The client library only speaks the protocol: it must not reconnect, queue commands or time them, since each of these hides
 * from a caller whether a command was sent. Timeouts are kept here, by a sweep over everything unanswered. An idle connection is
 * sent PING, so that a dead one is found before a visitor waits for it. One that answers nothing at all is given up, since TCP
 * may take minutes to notice.
 */
import { ErrorReply } from "@redis/client";
import type { World } from "../../../core/world.ts";
import { clientFor, type LinkClient, type Login } from "./client.ts";
import { type Flight, Flights } from "./flights.ts";
import {
  type AskedServer,
  doubtFor,
  NoAnswerError,
  RedisProblem,
  redisProblemOf,
  refusalFor,
} from "./problem.ts";
import { addressText, type ServerAddress } from "./servers.ts";

/** How many commands may wait for an answer; more are refused. */
export const UNANSWERED_MAX = 10_000;
/** A connection that was silent for this many timeouts while commands waited is given up. */
const SILENT_TIMEOUTS_MAX = 3;
/** How often an idle or slow connection is sent PING. */
const PING_EVERY_MS = 1_000;

/** Shared by all connections of a link. The open ones are in `open`, for the sweep. */
export interface Surroundings {
  readonly world: World;
  readonly timeoutMs: number;
  readonly open: Set<Connection>;
}

export interface ConnectionOptions extends Surroundings {
  readonly address: ServerAddress;
  readonly login: Login;
}

export interface Command {
  readonly words: readonly string[];
  /** When it times out. */
  readonly dueAt: number;
  /** How long Redis may hold the answer back (WAIT). */
  readonly heldBackMs?: number;
}

interface Waiting extends Flight {
  failed(reason: NoAnswerError): void;
}

export class Connection {
  readonly asked: AskedServer;
  readonly address: ServerAddress;
  readonly #options: ConnectionOptions;
  readonly #client: LinkClient;
  readonly #flights = new Flights<Waiting>();
  #end: RedisProblem | null = null;
  #doubt: RedisProblem | null = null;
  #slow: RedisProblem | null = null;
  #onChange: () => void = () => {};
  #onIdle: (() => void)[] = [];
  #hasHeard = false;
  #connectDueAt: number;
  #silentSinceAt: number;
  #pingedAt: number;
  /** The longest time that Redis may hold an answer back. */
  #heldBackMs = 0;

  /** Connects and logs in. Rejects with a RedisProblem, within the timeout. */
  static async open(options: ConnectionOptions): Promise<Connection> {
    const connection = new Connection(options);
    await connection.#connect();
    return connection;
  }

  private constructor(options: ConnectionOptions) {
    this.#options = options;
    this.address = options.address;
    const { mode, isSentinel = false } = options.login;
    this.asked = { where: addressText(options.address), mode, isSentinel };
    this.#silentSinceAt = options.world.clock.now();
    this.#pingedAt = this.#silentSinceAt;
    this.#connectDueAt = this.#dueAt();
    this.#client = clientFor(options.address, options.login, options.timeoutMs);
    this.#client.on("error", (error: unknown) => this.end(redisProblemOf(error, this.asked)));
    options.open.add(this);
  }

  /** The problem of this connection, which may be that it is slow; null when all is well. */
  get problem(): RedisProblem | null {
    return this.#end ?? this.#slow;
  }

  get isEnded(): boolean {
    return this.#end !== null;
  }

  /** True when it takes `count` more commands. */
  hasRoomFor(count: number): boolean {
    return this.#flights.size + count <= UNANSWERED_MAX;
  }

  /** Resolves when everything sent is answered, or the connection has ended. */
  whenIdle(): Promise<void> {
    if (this.#flights.size === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.#onIdle.push(resolve);
    });
  }

  /** Called when `problem` changes. There is one listener at a time. */
  set onChange(listener: () => void) {
    this.#onChange = listener;
  }

  /**
   * Sends a command, in the order of calling. Rejects with what Redis answered (ErrorReply), or a RedisProblem, or a
   * NoAnswerError after the timeout.
   */
  send(words: readonly string[]): Promise<unknown> {
    return new Promise((resolve, reject) => this.transmit({ words, dueAt: this.#dueAt() }, resolve, reject));
  }

  /** The same with callbacks, for the hot path: a promise for each call would cost a tenth of the throughput. */
  transmit(
    { words, dueAt, heldBackMs = 0 }: Command,
    answered: (answer: unknown) => void,
    failed: (thrown: unknown) => void,
  ): void {
    if (this.#end) return failed(refusalFor(this.#end));
    if (!this.hasRoomFor(1)) return failed(tooMany(this.asked));
    if (heldBackMs > this.#heldBackMs) this.#heldBackMs = heldBackMs;
    this.#track(this.#client.sendCommand(words), dueAt, answered, failed);
  }

  /** From here on messages of the channel are received. Only this, `unlisten` and PING may be sent afterwards. */
  listen(channel: string, onMessage: (text: string) => void): Promise<unknown> {
    return this.#subscription(() => this.#client.subscribe(channel, onMessage));
  }

  unlisten(channel: string): Promise<unknown> {
    return this.#subscription(() => this.#client.unsubscribe(channel));
  }

  /** Ends it at once. Unanswered commands are rejected with the problem. */
  end(problem: RedisProblem): void {
    if (this.#end) return;
    this.#end = problem;
    this.#doubt = doubtFor(problem);
    this.#options.open.delete(this);
    this.#client.destroy();
    this.#onChange();
  }

  /** Finds commands that have timed out. To be called a few times within a timeout. */
  sweep(now: number): void {
    const { timeoutMs } = this.#options;
    if (now >= this.#connectDueAt) return this.end(this.#tooSlow());
    if (this.#hasHeard || this.#flights.size === 0) this.#silentSinceAt = now;
    this.#hasHeard = false;
    const overdue = this.#flights.giveUp(now);
    for (const flight of overdue) flight.failed(new NoAnswerError(timeoutMs));
    const silentMaxMs = SILENT_TIMEOUTS_MAX * timeoutMs + this.#heldBackMs;
    if (now - this.#silentSinceAt > silentMaxMs) return this.end(this.#tooSlow());
    if (overdue.length > 0) this.#setSlow(this.#tooSlow());
    if (this.#client.isReady) this.#ping(now);
  }

  async #connect(): Promise<void> {
    try {
      await new Promise<unknown>((resolve, reject) => {
        this.#onChange = () => reject(this.#end);
        this.#client.connect().then((client) => {
          // If ended before it was connected, the library would go on and connect.
          if (this.#end) client.destroy();
          resolve(client);
        }, reject);
      });
    } catch (thrown) {
      this.end(redisProblemOf(thrown, this.asked));
      throw this.#end;
    } finally {
      this.#connectDueAt = Number.POSITIVE_INFINITY;
      this.#onChange = () => {};
    }
  }

  #dueAt(): number {
    return this.#options.world.clock.now() + this.#options.timeoutMs;
  }

  #subscription(begin: () => Promise<unknown>): Promise<unknown> {
    return new Promise((resolve, reject) => {
      if (this.#end) reject(refusalFor(this.#end));
      else this.#track(begin(), this.#dueAt(), resolve, reject);
    });
  }

  #track(
    answer: Promise<unknown>,
    dueAt: number,
    answered: (answer: unknown) => void,
    failed: (thrown: unknown) => void,
  ): void {
    const flight: Waiting = { dueAt, isAnswered: false, isGivenUp: false, failed };
    this.#flights.add(flight);
    answer.then(
      (value) => {
        this.#land(flight);
        if (!flight.isGivenUp) answered(value);
      },
      (thrown: unknown) => {
        this.#land(flight);
        // Whatever ended the connection, nobody knows whether this was carried out before.
        if (!flight.isGivenUp) failed(thrown instanceof ErrorReply ? thrown : (this.#doubt ?? thrown));
      },
    );
  }

  #land(flight: Waiting): void {
    this.#flights.land(flight);
    this.#hasHeard = true;
    if (this.#flights.size === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
    // A late answer does not mean that the connection is fast again.
    if (this.#slow && !flight.isGivenUp) this.#setSlow(null);
  }

  #setSlow(problem: RedisProblem | null): void {
    if (this.#slow?.message === problem?.message) return;
    this.#slow = problem;
    if (!this.#end) this.#onChange();
  }

  #tooSlow(): RedisProblem {
    return redisProblemOf(new NoAnswerError(this.#options.timeoutMs), this.asked);
  }

  #ping(now: number): void {
    const isWanted = this.#slow !== null || this.#flights.size === 0;
    if (!isWanted || now - this.#pingedAt < PING_EVERY_MS || !this.hasRoomFor(1)) return;
    this.#pingedAt = now;
    // The sweep sees the answer, as with every command.
    this.send(["PING"]).catch(() => {});
  }
}

/** The problem of a call above the limit. */
export function tooMany(asked: AskedServer): RedisProblem {
  const text = `Redis at ${asked.where} has ${UNANSWERED_MAX} of our calls to answer, so no more are sent: wait.`;
  return new RedisProblem("slow", text, true);
}
