/** Looks at the rooms once a second and logs what happens to their lines. Many rooms take turns, so that looking costs little. */
import type { World } from "../../core/world.ts";
import type { Desk } from "../../office/desk.ts";
import { LineStory } from "./line-story.ts";

const LOOK_EVERY_MS = 1_000;
const ROOMS_A_LOOK_MAX = 20;

/** Begins to tell. Returns the way to stop. */
export function tellStory(desk: Pick<Desk, "engine" | "rooms" | "room">, world: World): () => void {
  const stories = new Map<string, LineStory>();
  let next = 0;
  let isLooking = false;
  const look = async () => {
    const rooms = desk.rooms();
    const count = Math.min(rooms.length, ROOMS_A_LOOK_MAX);
    for (let i = 0; i < count; i++) {
      const name = rooms[next++ % rooms.length]!;
      const settings = desk.room(name);
      if (!settings) continue;
      const story = stories.get(name) ?? new LineStory(name);
      stories.set(name, story);
      const line = story.observe(await desk.engine.counts(name), settings, world.clock.now());
      if (line !== null) world.log.info(line.fields, line.message);
    }
  };
  return world.timers.every(LOOK_EVERY_MS, () => {
    if (isLooking) return;
    isLooking = true;
    // That the engine is away is logged where visitors notice it.
    void look()
      .catch(() => {})
      .finally(() => {
        isLooking = false;
      });
  });
}
