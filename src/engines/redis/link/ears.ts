/**
 * Receives published messages, over a connection of its own, since a subscribed connection takes no other commands. While it is
 * down messages are lost, so after each new connection all listeners are told that there may be a gap.
 */
import type { World } from "../../../core/world.ts";
import type { Connection } from "./connection.ts";
import { Keeper, type KeeperOptions } from "./keeper.ts";
import { type RedisProblem, redisProblemOf } from "./problem.ts";

/** A listener on one channel. */
export interface Ear {
  onMessage(text: string): void;
  /** Messages may have been missed. */
  onGap(): void;
}

interface Hearing {
  readonly ear: Ear;
  /** True once Redis has confirmed the subscription. */
  hasBegun: boolean;
}

export class Ears {
  readonly #world: World;
  readonly #keeper: Keeper;
  readonly #onChange: () => void;
  readonly #hearings = new Map<string, Set<Hearing>>();
  /** The channels subscribed to over the present connection: true when Redis has confirmed it. */
  #channels = new Map<string, boolean>();
  #isStarted = false;
  #hasTried = false;

  constructor(options: Omit<KeeperOptions, "prepare">) {
    this.#world = options.world;
    this.#onChange = options.onChange;
    const prepare = (connection: Connection) => {
      this.#channels = new Map();
      return this.#subscribe(connection);
    };
    this.#keeper = new Keeper({ ...options, prepare, onChange: () => this.#onConnection() });
  }

  /** The problem; null when all is well, or when there are no listeners. */
  get problem(): RedisProblem | null {
    return this.#hasTried && this.#hearings.size > 0 ? this.#keeper.problem : null;
  }

  /** The server it is connected to. */
  get connection(): Connection | null {
    return this.#keeper.connection;
  }

  /** Subscribes to a channel; returns the way to stop. */
  hear(channel: string, ear: Ear): () => void {
    const hearing: Hearing = { ear, hasBegun: this.#channels.get(channel) === true };
    const hearings = this.#hearings.get(channel) ?? new Set();
    this.#hearings.set(channel, hearings.add(hearing));
    if (!this.#isStarted) this.#start();
    else this.#catchUp();
    return () => this.#stop(channel, hearings, hearing);
  }

  close(problem: RedisProblem): void {
    this.#hearings.clear();
    this.#keeper.close(problem);
  }

  #start(): void {
    this.#isStarted = true;
    void this.#keeper.try().then(() => {
      this.#hasTried = true;
      this.#onChange();
    });
  }

  #stop(channel: string, hearings: Set<Hearing>, hearing: Hearing): void {
    if (!hearings.delete(hearing) || hearings.size > 0) return;
    this.#hearings.delete(channel);
    const { connection } = this.#keeper;
    if (connection && this.#channels.delete(channel)) endOnFailure(connection, connection.unlisten(channel));
    this.#onChange();
  }

  #onConnection(): void {
    if (!this.#keeper.connection) this.#channels = new Map();
    // Listeners may have changed since they were last read.
    else this.#catchUp();
    this.#onChange();
  }

  #catchUp(): void {
    const { connection } = this.#keeper;
    if (connection) endOnFailure(connection, this.#subscribe(connection));
  }

  async #subscribe(connection: Connection): Promise<void> {
    const missing = [...this.#hearings.keys()].filter((channel) => !this.#channels.has(channel));
    for (const channel of missing) this.#channels.set(channel, false);
    await Promise.all(
      missing.map(async (channel) => {
        await connection.listen(channel, (text) => {
          // A message may be read together with Redis's confirmation; the gap is reported first.
          this.#begin(channel);
          this.#tell(channel, (ear) => ear.onMessage(text));
        });
        this.#begin(channel);
      }),
    );
  }

  #begin(channel: string): void {
    if (this.#channels.get(channel) !== false) return;
    this.#channels.set(channel, true);
    this.#tell(channel, (ear, hearing) => {
      if (hearing.hasBegun) ear.onGap();
      hearing.hasBegun = true;
    });
  }

  /** An error of one listener must not end the connection for all others. */
  #tell(channel: string, tell: (ear: Ear, hearing: Hearing) => void): void {
    for (const hearing of this.#hearings.get(channel) ?? []) {
      try {
        tell(hearing.ear, hearing);
      } catch (error) {
        this.#world.log.error({ error, channel }, "a listener to Redis failed");
      }
    }
  }
}

function endOnFailure(connection: Connection, work: Promise<unknown>): void {
  work.catch((thrown: unknown) => connection.end(redisProblemOf(thrown, connection.asked)));
}
