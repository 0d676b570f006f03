/**
 * Reports the visitors seen on the site to the engine in batches: one call a second for each room. A batch that the engine does
 * not take is kept and sent again with the next.
 *
 * A visitor whose pass has almost run out is reported at once. Otherwise an engine that pauses for a few seconds could end the
 * visit before the report arrives, and give the slot to somebody else.
 */
import type { Engine, Presence } from "../core/engine.ts";
import type { Pass } from "../core/pass.ts";
import type { World } from "../core/world.ts";
import { type AskEngine, ENGINE_AWAY } from "./ask-engine.ts";

const FLUSH_MS = 1_000;
/** With less than this left of the pass, presence is reported at once. */
export const URGENT_MS = 10_000;
/** Presences kept at most while an engine does not answer; the rest are reported by their next request. */
const PENDING_MAX = 100_000;
/** Rooms named in one line of the log. */
const ROOMS_LOGGED_MAX = 10;

interface PresenceParts {
  readonly engine: Engine;
  readonly ask: AskEngine;
  readonly world: World;
}

export class PresenceReport {
  readonly #parts: PresenceParts;
  readonly #pending = new Map<string, Map<string, Presence>>();
  readonly #stop: () => void;
  #underWay: Promise<void> | null = null;
  /** When the engine last refused a batch. For a while after that nothing is reported early. */
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    this.#stop = parts.world.timers.every(FLUSH_MS, () => void this.flush());
  }

  /** `leftMs`: how long the visit goes on for the engine without this report. */
  report(pass: Pass, leftMs: number): void {
    const room = this.#pending.get(pass.room) ?? new Map<string, Presence>();
    this.#pending.set(pass.room, room);
    if (room.size >= PENDING_MAX) return;
    const { id, lane, joinedAt, admittedAt, expiresAt } = pass;
    room.set(id, { id, lane, joinedAt, admittedAt, expiresAt });
    const isRefused = this.#parts.world.clock.now() - this.#refusedAt < FLUSH_MS;
    if (leftMs < URGENT_MS && !isRefused) void this.flush();
  }

  /** Reports what is pending, one report at a time. */
  flush(): Promise<void> {
    this.#underWay ??= this.#tellAll().finally(() => {
      this.#underWay = null;
    });
    return this.#underWay;
  }

  async close(): Promise<void> {
    this.#stop();
    await this.#underWay;
    await this.flush();
  }

  async #tellAll(): Promise<void> {
    const refused: string[] = [];
    let count = 0;
    for (const [room, presences] of [...this.#pending]) {
      this.#pending.delete(room);
      if (await this.#tell(room, presences)) continue;
      refused.push(room);
      count += presences.size;
      this.#putBack(room, presences);
    }
    if (refused.length === 0) return;
    this.#refusedAt = this.#parts.world.clock.now();
    const rooms = refused.slice(0, ROOMS_LOGGED_MAX);
    this.#parts.world.log.warn({ rooms, count }, "the engine did not take presence; it is reported again");
  }

  async #tell(room: string, presences: Map<string, Presence>): Promise<boolean> {
    const { engine, ask } = this.#parts;
    const answer = await ask.ask(() => engine.touch(room, [...presences.values()]));
    return answer !== ENGINE_AWAY;
  }

  /** What was reported meanwhile is newer. */
  #putBack(room: string, presences: Map<string, Presence>): void {
    const newer = this.#pending.get(room) ?? new Map<string, Presence>();
    this.#pending.set(room, newer);
    for (const [id, presence] of presences) {
      if (newer.size >= PENDING_MAX) return;
      if (!newer.has(id)) newer.set(id, presence);
    }
  }
}
