/** One of the two that are compared: a server of its own in front of a Redis of its own. */
import { type RedisServer, startRedis } from "../src/testing/redis/servers.ts";
import { type Child, startChild, unpin } from "./child.ts";
import { processorUs } from "./redis-figures.ts";

/** Microseconds of processor time. */
export interface Spent {
  readonly gatewayUs: number;
  readonly redisUs: number;
}

export class Side {
  readonly redis: RedisServer;
  readonly #server: Child<{ port: number }>;

  private constructor(redis: RedisServer, server: Child<{ port: number }>) {
    this.redis = redis;
    this.#server = server;
  }

  /** Starts `bench/servers/<name>` with a number of slots, all of them taken. */
  static async open(name: "redis-gateway" | "plain-queue", slots: number, ...more: string[]): Promise<Side> {
    const redis = await startRedis();
    unpin(redis.pid!);
    return new Side(redis, await startChild(name, [redis.url, String(slots), ...more]));
  }

  get port(): number {
    return this.#server.ready.port;
  }

  /** Ends all visits, so that those who wait are let in. */
  async letIn(): Promise<void> {
    await this.#server.ask("letIn");
  }

  /** So far. */
  async spent(): Promise<Spent> {
    const { user, system } = await this.#server.ask<NodeJS.CpuUsage>("spent");
    return { gatewayUs: user + system, redisUs: await processorUs(this.redis.url) };
  }

  async stop(): Promise<void> {
    await this.#server.stop();
    await this.redis.stop();
  }
}
