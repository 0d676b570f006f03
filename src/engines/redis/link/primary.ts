/**
 * Calls to one primary, over the one connection that is kept up to it.
 *
 * Calls are sent in the order of calling, and Redis carries them out in that order. A call that finds its function missing
 * (after FUNCTION FLUSH) does not change this: the library is loaded, refused calls are sent again in order, and later calls
 * come after them. The answer to FUNCTION LOAD shows that nothing sent before it is still under way.
 */
import type { Library } from "../library.ts";
import { Backlog } from "./backlog.ts";
import type { Kept, RedisCall } from "./call.ts";
import type { Login } from "./client.ts";
import { type Connection, type Surroundings, tooMany } from "./connection.ts";
import { Keeper } from "./keeper.ts";
import { loadLibrary, prepare } from "./prepare.ts";
import { doubtFor, isDemoted, isFunctionMissing, RedisProblem, redisProblemOf } from "./problem.ts";
import { StandingRefusal } from "./refusal.ts";
import type { ServerAddress } from "./servers.ts";

/** A call may take two commands: itself and WAIT. */
const COMMANDS_PER_CALL = 2;

export interface PrimaryOptions extends Surroundings {
  readonly login: Login;
  readonly library: Library;
  /** `host:port`, until the real address is known. */
  readonly where: string;
  find(): Promise<ServerAddress>;
  /** Called when `problem` may have changed. */
  onChange(): void;
  /** Gets each call that was answered with an error; true when it takes the call over. */
  takeOver?(call: RedisCall, thrown: unknown, connection: Connection): boolean;
}

export class Primary {
  readonly keeper: Keeper;
  readonly #options: PrimaryOptions;
  readonly #refusal: StandingRefusal;
  /** While the library is being loaded: the calls that wait for it. */
  #mending: Backlog | null = null;

  constructor(options: PrimaryOptions) {
    this.#options = options;
    this.#refusal = new StandingRefusal(options.onChange);
    this.keeper = new Keeper({
      ...options,
      prepare: (connection) => prepare(connection, options.library),
      onChange: () => this.#onConnection(),
    });
  }

  /** What is wrong; null when all is well. */
  get problem(): RedisProblem | null {
    return this.keeper.problem ?? this.#refusal.problem;
  }

  /**
   * Sends a call, or rejects it at once without a connection. `over`: the connection for a call that is sent again, before those
   * that wait.
   */
  send(call: RedisCall, over: Connection | null = null): void {
    const connection = over ?? this.keeper.connection;
    if (!connection) return call.reject(this.keeper.problem!);
    if (!over && !this.#hasRoom(connection)) return call.reject(tooMany(connection.asked));
    if (!over && this.#mending) return this.#mending.hold(call);
    if (call.kept) return this.#transmitKept(connection, call, call.kept);
    connection.transmit(
      call,
      (answer) => this.#succeed(call, answer),
      (thrown) => this.#onError(connection, call, thrown),
    );
  }

  /** Connects for the first time. Resolves after success or failure. */
  start(): Promise<void> {
    return this.keeper.try();
  }

  close(problem: RedisProblem): void {
    this.keeper.close(problem);
  }

  /** To be called a few times a second. */
  sweep(now: number): void {
    if (this.keeper.connection) this.#refusal.sweep(now, this.keeper.connection);
  }

  #onConnection(): void {
    if (!this.keeper.connection) this.#refusal.forget();
    this.#options.onChange();
  }

  #hasRoom(connection: Connection): boolean {
    const calls = 1 + (this.#mending?.size ?? 0);
    return connection.hasRoomFor(COMMANDS_PER_CALL * calls);
  }

  #transmitKept(connection: Connection, call: RedisCall, { replicas, timeoutMs }: Kept): void {
    // When WAIT is answered, so is the call; or the call was refused, and is over or sent again.
    let answer: { readonly value: unknown } | null = null;
    connection.transmit(
      call,
      (value) => {
        answer = { value };
      },
      (thrown) => this.#onError(connection, call, thrown),
    );
    const words = ["WAIT", `${replicas}`, `${waitMs(timeoutMs)}`];
    connection.transmit(
      { words, dueAt: call.dueAt + timeoutMs, heldBackMs: timeoutMs },
      (count) => {
        if (answer) this.#counted(connection, call, answer.value, Number(count));
      },
      (thrown) => {
        if (answer) this.#fail(connection, call, thrown, doubtFor(redisProblemOf(thrown, connection.asked)));
      },
    );
  }

  #counted(connection: Connection, call: RedisCall, answer: unknown, count: number): void {
    const kept = call.kept!;
    if (count >= kept.replicas) return this.#succeed(call, answer);
    const problem = tooFew(connection, kept, count);
    this.#refusal.noteTooFew(problem, call, kept.replicas);
    call.reject(problem);
  }

  #succeed(call: RedisCall, answer: unknown): void {
    this.#refusal.noteSuccess(call);
    call.resolve(answer);
  }

  #onError(connection: Connection, call: RedisCall, thrown: unknown): void {
    if (isFunctionMissing(thrown) && call.loads === 0 && !connection.isEnded) this.#mend(connection, call);
    else if (!this.#options.takeOver?.(call, thrown, connection)) this.#fail(connection, call, thrown);
  }

  #fail(
    connection: Connection,
    call: RedisCall,
    thrown: unknown,
    problem = redisProblemOf(thrown, connection.asked),
  ): void {
    if (isDemoted(thrown) && connection.asked.mode !== "standalone") connection.end(problem);
    else if (!connection.isEnded) this.#refusal.note(problem, thrown, call, connection.asked);
    call.reject(problem);
  }

  #mend(connection: Connection, call: RedisCall): void {
    call.loads++;
    if (this.#mending) return this.#mending.takeBack(call);
    const backlog = new Backlog();
    this.#mending = backlog;
    backlog.takeBack(call);
    const { library, world } = this.#options;
    loadLibrary(connection, library).then(
      () => {
        this.#mending = null;
        backlog.send((waiting) => this.send(waiting, connection), world.clock.now(), connection.asked);
      },
      (thrown: unknown) => {
        this.#mending = null;
        const problem = redisProblemOf(thrown, connection.asked);
        // A Redis that cannot be given our functions cannot be used; the retry is a new connection.
        connection.end(problem);
        backlog.reject(problem);
      },
    );
  }
}

/** Redis takes whole milliseconds, and reads 0 as for ever. */
function waitMs(timeoutMs: number): number {
  return Math.max(1, Math.round(timeoutMs));
}

function tooFew(connection: Connection, { replicas, timeoutMs }: Kept, count: number): RedisProblem {
  const text = `Redis at ${connection.asked.where} had ${count} of ${replicas} replicas confirm within ${timeoutMs} ms: bring the others back.`;
  return new RedisProblem("slow", text, false);
}
