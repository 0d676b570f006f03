/**
 * A cluster of equal nodes: how many users a second get through it on one machine, and how many messages admitting them
 * takes. The paper that it is from measured the first, and is quoted beside it; its way of admitting is the baseline of
 * the second, run here.
 */
import type { Bench } from "./bench.ts";
import { messageRows } from "./cluster-messages.ts";
import { speedRows } from "./cluster-speed.ts";

export const clusterBench: Bench = {
  name: "cluster",
  about:
    "5,000 users, up to 500 at once, through node processes on this machine: join, wait, enter, leave; the paper's numbers are quoted from its table 6.2",
  async run({ isQuick, progress }) {
    return [...(await speedRows(isQuick, progress)), ...messageRows(progress)];
  },
};
