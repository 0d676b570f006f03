/**
 * An estimate of Redis's clock, which dates tickets and passes, so that they mean the same at every gateway, however wrong its
 * own clock is. While Redis cannot be asked, the last measured offset holds.
 */
import type { Clock, World } from "../../core/world.ts";
import type { RedisLink } from "./link/link.ts";
import { RedisProblem } from "./link/problem.ts";

const LOOK_EVERY_MS = 10_000;
/** A difference this small is the network's. */
const IGNORED_MS = 50;

export class RedisClock implements Clock {
  readonly #link: RedisLink;
  readonly #world: World;
  readonly #stop: readonly (() => void)[];
  #aheadMs = 0;
  #last = 0;

  constructor(link: RedisLink, world: World) {
    this.#link = link;
    this.#world = world;
    this.#stop = [
      world.timers.every(LOOK_EVERY_MS, () => void this.look()),
      // It could not be asked before, or it is another's clock by now.
      link.onProblem((problem) => {
        if (problem === null) void this.look();
      }),
    ];
  }

  /** Never goes backwards: where it was too fast it stands still. */
  now(): number {
    const now = this.#world.clock.now() + this.#aheadMs;
    if (now > this.#last) this.#last = now;
    return this.#last;
  }

  /** Asks Redis for the time. */
  async look(): Promise<void> {
    const { clock, log } = this.#world;
    const askedAt = clock.now();
    try {
      const [seconds, micros] = (await this.#link.command(null, ["TIME"])) as [string, string];
      const middle = (askedAt + clock.now()) / 2;
      const aheadMs = Math.round(Number(seconds) * 1_000 + Number(micros) / 1_000 - middle);
      if (Math.abs(aheadMs - this.#aheadMs) > IGNORED_MS) this.#aheadMs = aheadMs;
    } catch (cause) {
      if (!(cause instanceof RedisProblem)) throw cause;
      log.debug({ err: cause }, "the time of Redis is not known yet");
    }
  }

  close(): void {
    for (const stop of this.#stop) stop();
  }
}
