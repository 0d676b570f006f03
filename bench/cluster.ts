/**
 * A cluster of equal nodes: how many users a second get through it on one machine, and how many messages admitting them
 * takes. Koopmans 2024, where the cluster is from, measured the first and is quoted beside it: first with rows measured the
 * same way, then with faster ones. Its way of admitting is the baseline of the second, run here.
 */
import type { Bench } from "./bench.ts";
import { messageRows } from "./cluster-messages.ts";
import { speedRows } from "./cluster-speed.ts";

export const clusterBench: Bench = {
  name: "cluster",
  about:
    "5,000 users, up to 500 at once, through node processes on this machine: join, wait, enter, leave; the baselines in users/s are quoted from the paper's table 6.2 (HTTP, polling, mean of 3), other machines; rows say where users speak a line protocol, are told of their turn, or the best of warm runs counts",
  async run({ isQuick, progress }) {
    return [...(await speedRows(isQuick, progress)), ...messageRows(progress)];
  },
};
