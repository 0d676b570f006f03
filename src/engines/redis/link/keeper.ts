/**
 * Keeps one connection up: finds the address, connects, prepares the connection, and retries when it ends or fails: after 50
 * milliseconds, then with exponential back-off and jitter, so that many gateways do not connect at the same instant. A
 * connection that ends soon after it was ready counts as a failure.
 *
 *   closed ◀── close ── trying ──ready──▶ connected
 *                         ▲ │  ◀──end───      │
 *                   retry └─┘ failed          └─ slow and well again, as the connection says
 */
import type { Login } from "./client.ts";
import { Connection, type Surroundings } from "./connection.ts";
import { RedisProblem, redisProblemOf, refusalFor } from "./problem.ts";
import type { ServerAddress } from "./servers.ts";

const RETRY_FIRST_MS = 50;
const RETRY_MAX_MS = 2_000;
/** A connection that lasted this long counts as a success. */
const STEADY_MS = 2_000;

export interface KeeperOptions extends Surroundings {
  readonly login: Login;
  /** Finds the address to connect to. Rejects with a RedisProblem. */
  find(): Promise<ServerAddress>;
  /** Prepares a new connection for use. If it rejects, the connection is ended. */
  prepare(connection: Connection): Promise<void>;
  /** Called when `connection` or `problem` may have changed. */
  onChange(): void;
  /** The address to name while nothing is known yet: `127.0.0.1:6379`. */
  readonly where: string;
}

export class Keeper {
  readonly #options: KeeperOptions;
  #connection: Connection | null = null;
  #problem: RedisProblem | null;
  #failures = 0;
  #readyAt = 0;
  #isClosed = false;
  #trying: Promise<void> | null = null;
  #stopRetry: () => void = () => {};

  constructor(options: KeeperOptions) {
    this.#options = options;
    this.#problem = new RedisProblem("away", `Redis at ${options.where} is not connected yet.`, true);
  }

  /** The connection, when it is ready for use. */
  get connection(): Connection | null {
    return this.#connection;
  }

  /** Why there is no connection, for refused calls; or that it is slow; null when all is well. */
  get problem(): RedisProblem | null {
    return this.#connection ? this.#connection.problem : this.#problem;
  }

  /** Tries at once, unless it is connected. Resolves after success or failure; retries then go on in the background. */
  async try(): Promise<void> {
    if (this.#connection || this.#isClosed) return;
    this.#stopRetry();
    this.#trying ??= this.#tryOnce();
    await this.#trying;
  }

  /** Ends the connection and stops retrying. */
  close(problem: RedisProblem): void {
    this.#isClosed = true;
    this.#stopRetry();
    this.#problem = problem;
    this.#connection?.end(problem);
  }

  async #tryOnce(): Promise<void> {
    try {
      const connection = await this.#open();
      this.#trying = null;
      this.#use(connection);
    } catch (thrown) {
      this.#trying = null;
      this.#fail(redisProblemOf(thrown, { where: this.#options.where, mode: this.#options.login.mode }));
    }
  }

  async #open(): Promise<Connection> {
    const connection = await Connection.open({ ...this.#options, address: await this.#options.find() });
    try {
      await this.#options.prepare(connection);
    } catch (thrown) {
      connection.end(redisProblemOf(thrown, connection.asked));
    }
    // It may have ended with nothing under way.
    if (connection.isEnded) throw connection.problem;
    return connection;
  }

  #use(connection: Connection): void {
    if (this.#isClosed) return connection.end(this.#problem!);
    this.#connection = connection;
    this.#readyAt = this.#options.world.clock.now();
    connection.onChange = () => {
      if (connection.isEnded) this.#lose(connection);
      else this.#options.onChange();
    };
    this.#options.onChange();
  }

  #lose(connection: Connection): void {
    this.#connection = null;
    if (this.#options.world.clock.now() - this.#readyAt >= STEADY_MS) this.#failures = 0;
    this.#fail(connection.problem!);
  }

  #fail(problem: RedisProblem): void {
    if (this.#isClosed) return;
    const { world, onChange } = this.#options;
    this.#problem = refusalFor(problem);
    const delayMs = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** this.#failures++);
    this.#stopRetry = world.timers.after(
      delayMs * (0.5 + world.random.fraction() / 2),
      () => void this.try(),
    );
    onChange();
  }
}
