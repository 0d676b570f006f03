/**
 * Who was seen on the site, told to the engine in batches: one call a second for the whole room, however many
 * requests there were. A batch that the engine does not take is kept and tried again with the next.
 */
import type { Engine, Presence } from "../core/engine.ts";
import type { Pass } from "../core/pass.ts";
import type { World } from "../core/world.ts";

const FLUSH_MS = 1_000;
/** Presences kept at most while an engine does not answer; the rest are reported by their next request. */
const PENDING_MAX = 100_000;

export class PresenceReport {
  readonly #engine: Engine;
  readonly #world: World;
  readonly #pending = new Map<string, Map<string, Presence>>();
  readonly #stop: () => void;

  constructor(engine: Engine, world: World) {
    this.#engine = engine;
    this.#world = world;
    this.#stop = world.timers.every(FLUSH_MS, () => void this.flush());
  }

  report(pass: Pass): void {
    const room = this.#pending.get(pass.room) ?? new Map<string, Presence>();
    this.#pending.set(pass.room, room);
    if (room.size >= PENDING_MAX) return;
    const { id, lane, joinedAt, admittedAt, expiresAt } = pass;
    room.set(id, { id, lane, joinedAt, admittedAt, expiresAt });
  }

  async flush(): Promise<void> {
    for (const [room, presences] of [...this.#pending]) {
      this.#pending.delete(room);
      try {
        await this.#engine.touch(room, [...presences.values()]);
      } catch (cause) {
        this.#world.log.warn(
          { room, count: presences.size, err: cause },
          "presence was not taken; trying again",
        );
        this.#putBack(room, presences);
      }
    }
  }

  async close(): Promise<void> {
    this.#stop();
    await this.flush();
  }

  #putBack(room: string, presences: Map<string, Presence>): void {
    const newer = this.#pending.get(room);
    this.#pending.set(room, newer ? new Map([...presences, ...newer]) : presences);
  }
}
