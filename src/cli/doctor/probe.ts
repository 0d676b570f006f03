/**
 * One connection to one Redis, asked a few things and closed. Nothing is tried twice and every wait is limited: an operator who
 * runs the doctor wants to know what happens now.
 */
import { formatHostPort, type HostPort } from "../../config/kinds.ts";
import type { RedisSettings } from "../../config/redis-settings.ts";
import { clientFor, type Login } from "../../engines/redis/link/client.ts";
import {
  type AskedServer,
  NoAnswerError,
  RedisProblem,
  redisProblemOf,
} from "../../engines/redis/link/problem.ts";

/** Longer than a good answer takes, and short enough to wait for. */
export const PATIENCE_MS = 5_000;

/** The login for a server. */
export function serverLogin({ mode, username, password, database, tls }: RedisSettings): Login {
  return { mode, username, password, database, tls };
}

/** The login for a sentinel: it has users of its own, and no databases. */
export function sentinelLogin({ mode, sentinelUsername, sentinelPassword, tls }: RedisSettings): Login {
  return { mode, username: sentinelUsername, password: sentinelPassword, database: 0, tls };
}

export class Probe {
  readonly where: string;
  readonly address: HostPort;
  readonly #asked: AskedServer;
  readonly #client: ReturnType<typeof clientFor>;

  /** Connects, and tells who we are. Rejects with a RedisProblem. */
  static async open(address: HostPort, login: Login): Promise<Probe> {
    const probe = new Probe(address, login);
    try {
      await probe.#within(probe.#client.connect());
      return probe;
    } catch (problem) {
      probe.close();
      throw problem;
    }
  }

  private constructor(address: HostPort, login: Login) {
    this.address = address;
    this.where = formatHostPort(address);
    this.#asked = { where: this.where, mode: login.mode };
    this.#client = clientFor(address, login, PATIENCE_MS);
    // A broken connection also fails the command; a client without a listener would end the process.
    this.#client.on("error", () => {});
  }

  /** One command. Rejects with a RedisProblem. */
  ask(...words: readonly string[]): Promise<unknown> {
    return this.#within(this.#client.sendCommand(words));
  }

  /** The answer, or why there was none. */
  async tryAsk(...words: readonly string[]): Promise<{ readonly value: unknown } | RedisProblem> {
    try {
      return { value: await this.ask(...words) };
    } catch (problem) {
      if (problem instanceof RedisProblem) return problem;
      throw problem;
    }
  }

  /** Subscribes to a channel. No command can be sent afterwards. */
  async listen(channel: string): Promise<void> {
    await this.#within(this.#client.subscribe(channel, () => {}));
  }

  close(): void {
    if (this.#client.isOpen) this.#client.destroy();
  }

  async #within<T>(answer: Promise<T>): Promise<T> {
    const tooLate = Promise.withResolvers<never>();
    const timer = setTimeout(() => tooLate.reject(new NoAnswerError(PATIENCE_MS)), PATIENCE_MS);
    try {
      return await Promise.race([answer, tooLate.promise]);
    } catch (thrown) {
      throw redisProblemOf(thrown, this.#asked);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** What TLS connections are made with, besides host and port. */
export function certificates({ ca, servername }: NonNullable<Login["tls"]>): {
  ca?: string;
  servername?: string;
} {
  return { ...(ca !== null && { ca }), ...(servername !== null && { servername }) };
}
