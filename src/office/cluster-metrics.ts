/** The metrics of a cluster, as the node that is scraped sees it and by its name. A process that is no node of one shows none. */
import type { ClusterReport } from "./desk.ts";
import { addCounter, addGauge, type Filled, type Sample, type Scrape } from "./scrape.ts";

/** Adds the cluster's metrics to what is scraped. */
export function addClusterMetrics(scrape: Scrape): void {
  const gauges: [name: string, help: string, value: (report: ClusterReport) => number][] = [
    [
      "nodes",
      "Nodes of the cluster that can be reached, with this one; 0 before it was taken in.",
      ({ nodes }) => nodes.length,
    ],
    [
      "suspect_nodes",
      "Nodes that did not answer lately.",
      ({ nodes }) => nodes.filter(({ state }) => state !== "alive").length,
    ],
    [
      "lost_nodes",
      "Nodes that cannot be reached and may have visitors of their own.",
      ({ lost }) => lost.length,
    ],
    [
      "majority",
      "1 in the part that acts for all, 0 in one that was cut off.",
      ({ view }) => one(view?.isMajority),
    ],
    ["settled", "1 while this node knows all that the others know.", ({ view }) => one(view?.isSettled)],
    ["root", "1 while this node turns the doors.", ({ root, name }) => one(root === name)],
    ["view_version", "Version of who belongs to the cluster.", ({ view }) => view?.version ?? 0],
    [
      "problems",
      "Things an operator should know; fairgate cluster status tells them.",
      ({ problems }) => problems.length,
    ],
  ];
  for (const [name, help, value] of gauges)
    addGauge(
      scrape,
      of(`fairgate_cluster_${name}`, help, (report) => [
        { labels: { node: report.name }, value: value(report) },
      ]),
    );
  addCounter(
    scrape,
    of("fairgate_cluster_rounds_total", "Counting rounds that this node has led.", ({ rounds, name }) => [
      { labels: { node: name }, value: rounds },
    ]),
  );
  addGauge(scrape, {
    ...of(
      "fairgate_cluster_room_spare_slots",
      "Slots this node may give out by itself, where there is a limit.",
      spares,
    ),
    labelNames: ["node", "room"],
  });
}

function of(name: string, help: string, samples: (report: ClusterReport) => readonly Sample[]): Filled {
  return { name, help, labelNames: ["node"], samples: ({ cluster }) => (cluster ? samples(cluster) : []) };
}

function spares({ rooms, name: node }: ClusterReport): Sample[] {
  return Object.entries(rooms)
    .filter(([, { spare }]) => spare !== null && Number.isFinite(spare))
    .map(([room, { spare }]) => ({ labels: { node, room }, value: spare }));
}

function one(is: boolean | undefined): number {
  return is ? 1 : 0;
}
