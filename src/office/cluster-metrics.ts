/** The metrics of a cluster, as the node that is scraped sees it. A process outside a cluster shows none. */
import type { ClusterReport } from "./desk.ts";
import { addCounter, addGauge, type Filled, type Sample, type Scrape } from "./scrape.ts";

type Gauge = readonly [name: string, help: string, value: (report: ClusterReport) => number];

const GAUGES: readonly Gauge[] = [
  ["nodes", "Nodes that can be reached, this one included; 0 before it joined.", ({ nodes }) => nodes.length],
  [
    "suspect_nodes",
    "Nodes that did not answer lately.",
    ({ nodes }) => nodes.filter(({ state }) => state !== "alive").length,
  ],
  ["lost_nodes", "Unreachable nodes that may have visitors of their own.", ({ lost }) => lost.length],
  [
    "majority",
    "1 in the majority, 0 in a part that is cut off.",
    ({ view }) => Number(view?.isMajority ?? 0),
  ],
  ["settled", "1 while this node knows all the others know.", ({ view }) => Number(view?.isSettled ?? 0)],
  ["root", "1 while this node is the root.", ({ root, name }) => Number(root === name)],
  ["view_version", "Version of the list of members.", ({ view }) => view?.version ?? 0],
  ["problems", "Problems that fairgate cluster status describes.", ({ problems }) => problems.length],
];

/** Adds the cluster's metrics to the scrape. */
export function addClusterMetrics(scrape: Scrape): void {
  const ofNode = (value: Gauge[2]) => (report: ClusterReport) => [
    { labels: { node: report.name }, value: value(report) },
  ];
  for (const [name, help, value] of GAUGES)
    addGauge(scrape, of(`fairgate_cluster_${name}`, help, ofNode(value)));
  const led = ofNode(({ rounds }) => rounds);
  addCounter(scrape, of("fairgate_cluster_rounds_total", "Counting rounds that this node has led.", led));
  addGauge(scrape, {
    ...of(
      "fairgate_cluster_room_spare_slots",
      "Slots this node may give out, where there is a limit.",
      spares,
    ),
    labelNames: ["node", "room"],
  });
}

function of(name: string, help: string, samples: (report: ClusterReport) => readonly Sample[]): Filled {
  return { name, help, labelNames: ["node"], samples: ({ cluster }) => (cluster ? samples(cluster) : []) };
}

function spares({ rooms, name: node }: ClusterReport): Sample[] {
  return Object.entries(rooms).flatMap(([room, { spare }]) =>
    spare === null ? [] : [{ labels: { node, room }, value: spare }],
  );
}
