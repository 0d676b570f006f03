/** Calls to a Redis that stands alone. */

import type { RedisCall } from "./call.ts";
import { addressText, type ServerAddress } from "./place.ts";
import type { Primaries, PrimariesOptions } from "./primaries.ts";
import { Primary } from "./primary.ts";
import type { RedisProblem } from "./problem.ts";

/** The Redis at one address. */
export class StandalonePrimary implements Primaries {
  readonly #primary: Primary;
  readonly #address: ServerAddress;

  constructor(options: PrimariesOptions) {
    this.#address = options.place.addresses[0]!;
    const where = addressText(this.#address);
    this.#primary = new Primary({
      ...options,
      login: options.place,
      where,
      find: () => this.findToHear(),
    });
  }

  get problem(): RedisProblem | null {
    return this.#primary.problem;
  }

  start(): Promise<void> {
    return this.#primary.keeper.try();
  }

  send(call: RedisCall): void {
    this.#primary.send(call);
  }

  findToHear(): Promise<ServerAddress> {
    return Promise.resolve(this.#address);
  }

  sweep(now: number): void {
    this.#primary.sweep(now);
  }

  close(problem: RedisProblem): void {
    this.#primary.keeper.close(problem);
  }
}
