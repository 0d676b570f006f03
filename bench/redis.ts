/**
 * A line in Redis: how fast one gateway is with it, what a visitor's journey costs it, and whether a long line costs
 * more than a short one. The baseline is the plain queue of Holmström 2016, one Redis command after another
 * (servers/plain-queue.ts), in front of a Redis of its own.
 */
import type { Bench } from "./bench.ts";
import { journeyRows } from "./redis-journey.ts";
import { lineRows } from "./redis-line.ts";
import { CONNECTIONS, speedRows } from "./redis-speed.ts";

export const redisBench: Bench = {
  name: "redis",
  about: `one gateway with its line in Redis, beside Express with one command after another; ${CONNECTIONS} connections, JSON answers`,
  async run({ isQuick, progress }) {
    return [
      ...(await speedRows(isQuick, progress)),
      ...(await journeyRows(isQuick, progress)),
      ...(await lineRows(isQuick, progress)),
    ];
  },
};
