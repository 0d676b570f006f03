/**
 * Who was seen on the site, told to the engine in batches: one call a second for the whole room, however many
 * requests there were. A batch that the engine does not take is kept and tried again with the next.
 *
 * Who comes when their pass has almost run out is told at once. A process that stands still for a few seconds would
 * otherwise take their visit for over before it hears of them, and give their slot to somebody else.
 */
import type { Engine, Presence } from "../core/engine.ts";
import type { Pass } from "../core/pass.ts";
import type { World } from "../core/world.ts";
import { type AskEngine, ENGINE_AWAY } from "./ask-engine.ts";

const FLUSH_MS = 1_000;
/** With less than this left of the pass there was, presence is told at once. */
export const URGENT_MS = 10_000;
/** Presences kept at most while an engine does not answer; the rest are reported by their next request. */
const PENDING_MAX = 100_000;
/** Rooms named in one line of the log. */
const ROOMS_LOGGED_MAX = 10;

export class PresenceReport {
  readonly #engine: Engine;
  readonly #ask: AskEngine;
  readonly #world: World;
  readonly #pending = new Map<string, Map<string, Presence>>();
  readonly #stop: () => void;
  #underWay: Promise<void> | null = null;
  /** When the engine did not take a batch last. For a while after that nothing is told before its time. */
  #refusedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: { engine: Engine; ask: AskEngine; world: World }) {
    this.#engine = parts.engine;
    this.#ask = parts.ask;
    this.#world = parts.world;
    this.#stop = parts.world.timers.every(FLUSH_MS, () => void this.flush());
  }

  /** `leftMs`: how long the engine takes the visit to go on, without this. */
  report(pass: Pass, leftMs: number): void {
    const room = this.#pending.get(pass.room) ?? new Map<string, Presence>();
    this.#pending.set(pass.room, room);
    if (room.size >= PENDING_MAX) return;
    const { id, lane, joinedAt, admittedAt, expiresAt } = pass;
    room.set(id, { id, lane, joinedAt, admittedAt, expiresAt });
    const isRefused = this.#world.clock.now() - this.#refusedAt < FLUSH_MS;
    if (leftMs < URGENT_MS && !isRefused) void this.flush();
  }

  /** Tells the engine what is pending. While it is being told, there is no second telling. */
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
    this.#refusedAt = this.#world.clock.now();
    const rooms = refused.slice(0, ROOMS_LOGGED_MAX);
    this.#world.log.warn({ rooms, count }, "presence was not taken; trying again");
  }

  async #tell(room: string, presences: Map<string, Presence>): Promise<boolean> {
    const answer = await this.#ask.ask(() => this.#engine.touch(room, [...presences.values()]));
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
