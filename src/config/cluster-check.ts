/** Checks between the settings of a cluster, and of what does not go with it. */
import { CLUSTER_PORT, type ClusterInFile, type EntryNode } from "./cluster-schema.ts";
import { formatEntryNode } from "./cluster-settings.ts";
import { formatHostPort, type HostPort, parseListen } from "./kinds.ts";
import { type Finding, formatPath } from "./problem.ts";
import type { Known } from "./salvage.ts";
import type { FileSettings } from "./schema.ts";

type KnownCluster = Known<ClusterInFile>;

/** Hosts that stand for every address of this machine. */
export const EVERY_ADDRESS: ReadonlySet<string> = new Set(["", "0.0.0.0", "::"]);

/** Problems between the settings of a cluster and others. */
export function checkCluster(settings: Known<FileSettings>): Finding[] {
  const { cluster } = settings;
  if (!cluster) return [];
  return [
    ...checkOtherPlaces(settings),
    ...checkPorts(cluster, settings),
    ...checkAdvertise(cluster),
    ...checkReach(cluster),
    ...checkTwice(cluster),
  ];
}

/** Warnings for settings of a cluster that are allowed but seldom intended. */
export function clusterCautions({ cluster }: Known<FileSettings>): Finding[] {
  if (!cluster) return [];
  return [...alone(cluster), ...trusting(cluster)];
}

/** A line lives in one place. */
function checkOtherPlaces({ data, redis }: Known<FileSettings>): Finding[] {
  const conflict = (key: "data" | "redis", hint: string): Finding => {
    const message = `${key} and cluster are both set, and a line can only live in one place`;
    return { code: "conflict", path: [key], at: "key", message, hint };
  };
  const nodes = "Nodes of a cluster store each other's places, and need neither a directory nor Redis.";
  return [
    ...(data == null ? [] : [conflict("data", `${nodes} Take data out, or cluster for a single gateway.`)]),
    ...(redis == null
      ? []
      : [conflict("redis", `${nodes} Take one of the two out; a cluster of Redis goes into redis.cluster.`)]),
  ];
}

function checkPorts({ listen: own }: KnownCluster, { listen, control }: Known<FileSettings>): Finding[] {
  const taken: [name: string, listen: Partial<HostPort> | undefined][] = [
    ["listen", listen],
    ["control.listen", control?.listen],
  ];
  return taken.flatMap(([name, other]): Finding[] => {
    if (!own?.port || own.port !== other?.port) return [];
    const message = `cluster.listen and ${name} are both on port ${own.port}`;
    const hint =
      "Give the nodes a port of their own. --listen is the visitors'; --cluster-listen the nodes'.";
    return [{ code: "conflict", path: ["cluster", "listen"], at: "value", message, hint }];
  });
}

function checkAdvertise({ listen, advertise, join }: KnownCluster): Finding[] {
  if (advertise != null) return checkAdvertised(advertise);
  const isUnknown = listen?.host !== undefined && EVERY_ADDRESS.has(listen.host) && join?.length === 0;
  if (!isUnknown) return [];
  const message = `cluster.listen is every address of this machine, and nothing says under which of them the others reach it`;
  const hint = `Set cluster.advertise (--cluster-advertise) to this machine's address, such as 10.0.0.7:${CLUSTER_PORT}, or listen on that one.`;
  return [{ code: "missing", path: ["cluster", "listen"], at: "value", message, hint }];
}

function checkAdvertised(advertise: string): Finding[] {
  if (!EVERY_ADDRESS.has(parseListen(advertise)?.host ?? "-")) return [];
  const message = `cluster.advertise is ${advertise}, and nobody can be reached at every address`;
  const hint = "It should be the address under which the other nodes reach this one.";
  return [{ code: "invalid", path: ["cluster", "advertise"], at: "value", message, hint }];
}

/** A node that only this machine can reach, while other nodes are elsewhere. */
function checkReach({ listen, advertise, join }: KnownCluster): Finding[] {
  if (listen?.host === undefined || !isLoopback(listen.host)) return [];
  const elsewhere = (join ?? []).find(
    (node) => node.by !== "address" || !isLoopback(parseListen(node.address)?.host ?? ""),
  );
  if (!elsewhere || advertise != null) return [];
  if (elsewhere.by === "records" && isLoopback(elsewhere.name)) return [noOtherMachine(elsewhere, join!)];
  const at = formatHostPort({ host: listen.host, port: listen.port ?? CLUSTER_PORT });
  const message = `cluster.listen is ${at}, which other machines cannot reach, and cluster.join names ${formatEntryNode(elsewhere)}`;
  const hint = `Set cluster.listen (--cluster-listen) to :${CLUSTER_PORT}, or to this machine's own address. --listen is for visitors.`;
  return [{ code: "conflict", path: ["cluster", "listen"], at: "value", message, hint }];
}

/** A name has one port for all its addresses, so one that is this machine's own stands for a single node. */
function noOtherMachine(node: EntryNode, join: readonly EntryNode[]): Finding {
  const path = ["cluster", "join", join.indexOf(node)];
  const message = `${formatPath(path)} is ${formatEntryNode(node)}, and dns: is for nodes on machines of their own`;
  const hint = `Nodes that are all on this machine are named by their ports: 127.0.0.1:${CLUSTER_PORT}, 127.0.0.1:${CLUSTER_PORT + 1} and so on.`;
  return { code: "conflict", path, at: "value", message, hint };
}

function checkTwice({ join }: KnownCluster): Finding[] {
  const nodes = (join ?? []).map(formatEntryNode);
  return nodes.flatMap((node, index): Finding[] => {
    if (nodes.indexOf(node) === index) return [];
    const path = ["cluster", "join", index];
    const message = `${formatPath(path)} is ${node}, which is in the list already`;
    return [{ code: "conflict", path, at: "value", message, hint: "Keep one of them." }];
  });
}

function alone({ join }: KnownCluster): Finding[] {
  if (join?.length !== 0) return [];
  const message = "cluster.join is empty, so this node creates a cluster of its own at every start";
  const hint =
    "Name all nodes there, this one first, the same list everywhere: then a restart finds the rest.";
  return [{ code: "caution", path: ["cluster", "join"], at: "key", message, hint }];
}

function trusting({ reclaimAfter }: KnownCluster): Finding[] {
  if (reclaimAfter !== 0) return [];
  const message = "cluster.reclaimAfter is 0s";
  const hint = "In a network partition each part admits visitors as if the others were gone.";
  return [{ code: "caution", path: ["cluster", "reclaimAfter"], at: "value", message, hint }];
}

/** True for a host that only this machine can reach. */
export function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || /^127\.\d+\.\d+\.\d+$/.test(host);
}
