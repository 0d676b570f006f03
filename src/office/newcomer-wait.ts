/** The wait of someone who joins a room now, from the same forecast as the waiting page's. */
import type { WaitRange } from "../core/board.ts";
import type { Counts } from "../core/engine.ts";
import { waitOn } from "../core/wait-curve.ts";
import { askEngine } from "./ask-engine.ts";
import type { Handed } from "./desk.ts";

export type NewcomerWait = Pick<WaitRange, "low" | "high">;

const NO_WAIT: NewcomerWait = { low: 0, high: 0 };

/** In seconds; null: nobody can say, or the room does not tell. Throws `EngineAway`. */
export async function newcomerWait(
  { desk, world }: Handed,
  room: string,
  { state, waiting }: Pick<Counts, "state" | "waiting">,
): Promise<NewcomerWait | null> {
  // While a room is open, newcomers go straight in.
  if (state === "open") return NO_WAIT;
  const { waits } = await askEngine(world, () => desk.engine.board(room));
  const wait = waits && waitOn({ points: waits }, waiting);
  return wait && { low: wait.low, high: wait.high };
}
