/**
 * The forecast of waits of a room, made by the gateway that holds its lease. With the board, every three seconds, it reads the
 * room and a sample of the visits on the site; the board carries the waits to the other gateways.
 *
 * The sample is the start of a scan over all visits. Ids in it are followed until Redis says that they have ended: the range
 * that a scan covers shifts as the number of visits changes, and a visit that drops out of it must not look like one that ended.
 *
 * What was learned is stored in Redis for the next holder of the lease. The next holder follows visits of its own, since it does
 * not know when those of its predecessor were seen.
 */
import { LOOK_MS, RoomWaits, type WaitsMemo } from "../../core/room-waits.ts";
import type { SeenVisit } from "../../core/stays.ts";
import type { RoomCalls } from "./room-calls.ts";
import type { MarkedFigures } from "./room-look.ts";

/** How often what was learned is stored in Redis. */
const KEEP_MS = 20_000;
/** The values of each visit that Redis adds to the sample. */
const VISIT_LENGTH = 3;

export class LeaseWaits {
  readonly waits = new RoomWaits();
  readonly #calls: RoomCalls;
  #followed: readonly SeenVisit[] = [];
  #lookedAt: number | null = null;
  #wasEmpty = true;
  #keptAt = 0;

  constructor(calls: RoomCalls) {
    this.#calls = calls;
  }

  /** Reads the room if it is time, or if a line has formed. */
  async look(figures: MarkedFigures): Promise<void> {
    const { now, waiting } = figures;
    const lookedAt = this.#lookedAt;
    const hasFormed = waiting > 0 && this.#wasEmpty;
    if (lookedAt !== null && !hasFormed && now >= lookedAt && now - lookedAt < LOOK_MS) return;
    const learned = await this.#sample(lookedAt === null);
    if (lookedAt === null) {
      this.#keptAt = now;
      if (learned !== "") this.waits.restore(JSON.parse(learned) as WaitsMemo);
    }
    this.#lookedAt = now;
    this.#wasEmpty = waiting === 0;
    // Only Redis knows the slots that other rooms of a budget leave to this one.
    const budgetFree = Number.POSITIVE_INFINITY;
    this.waits.observe({ ...figures, budgetFree, visits: () => this.#followed });
  }

  /** What to store in Redis with a board: what was learned, and how good the told waits were. Empty texts: nothing. */
  toKeep(now: number): readonly [memo: string, accuracy: string] {
    if (now >= this.#keptAt && now - this.#keptAt < KEEP_MS) return ["", ""];
    this.#keptAt = now;
    return [JSON.stringify(this.waits.memo()), JSON.stringify(this.waits.accuracy(now))];
  }

  /** Follows the visits that are still on the site and new ones; returns what the previous holder of the lease learned, or "". */
  async #sample(isFirst: boolean): Promise<string> {
    const before = this.#followed;
    const args = [isFirst ? "1" : "", ...before.map(({ id }) => id)];
    const [learned, ...values] = await this.#calls.call("sample", args);
    const followed: SeenVisit[] = [];
    for (const [index, { id, admittedAt }] of before.entries()) {
      const expiresAt = values[index] as number;
      if (expiresAt > 0) followed.push({ id, admittedAt, expiresAt });
    }
    for (let i = before.length; i < values.length; i += VISIT_LENGTH) {
      const [id, admittedAt, expiresAt] = values.slice(i, i + VISIT_LENGTH) as [string, number, number];
      followed.push({ id, admittedAt, expiresAt });
    }
    this.#followed = followed;
    return String(learned);
  }
}
