/**
 * How a room's line is kept: exactly, in one place, or relaxed, cut into shards so that one very long line can be
 * spread over the nodes of a Redis cluster. What goes with a relaxed line is in `capability-check.ts`.
 */
import { choice, count } from "./kinds.ts";

export const SHARDS_MAX = 64;
export const DEFAULT_SHARDS = 8;
export const DEFAULT_PEEK = 2;

/** The settings of a room that are about its line. */
export const lineSettings = {
  line: choice(["exact", "relaxed"])
    .prefault("exact")
    .describe(
      "`exact`: people are let in in the very order they came. `relaxed`: nearly so, with one line cut into `shards` that live on different nodes of a Redis cluster; needs `redis`, and does not go with `lanes`, `budget`, `fillNoShows`, `random` or a draw.",
    ),
  shards: count({ min: 1, max: SHARDS_MAX })
    .prefault(DEFAULT_SHARDS)
    .describe("With `line: relaxed`: how many shards the line is cut into. The more, the less exact."),
  peek: count({ min: 1, max: SHARDS_MAX })
    .prefault(DEFAULT_PEEK)
    .describe(
      "With `line: relaxed`: how many shards are looked at to find who is next. The more, the more exact, and the more work. At most `shards`.",
    ),
};
