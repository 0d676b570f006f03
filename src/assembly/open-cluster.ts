/**
 * A line that lives in a cluster: this process as one of its nodes. The engine has the rules, the transport takes its
 * messages to the others; here the two are put together, and told where the others are.
 *
 *   settings, DNS ─▶ who is where ─▶ transport ◀─ messages ─▶ engine ─▶ data, desk
 *
 * Until it is taken in, a node knows nothing of the others' visitors, and must take none: `joined` is to be waited for.
 * Closing says goodbye first, while messages still go, so that the others take its places over at once.
 */
import type { EntryNode } from "../config/cluster-schema.ts";
import type { ClusterSettings } from "../config/cluster-settings.ts";
import type { World } from "../core/world.ts";
import { ClusterEngine } from "../engines/cluster/cluster-engine.ts";
import { DEFAULT_NODE_SETTINGS } from "../engines/cluster/node.ts";
import {
  openTransport,
  type Transport,
  type TransportEvents,
  type TransportSettings,
} from "../engines/cluster/wire/transport.ts";
import { findNodes, inOrder, isByName, MACHINE_HERE, type Machine, ownAddress } from "./cluster-addresses.ts";
import { ClusterData } from "./cluster-data.ts";
import { NodeDesk } from "./cluster-desk.ts";
import { clusterSecretFrom, type NotedSettings } from "./cluster-notes.ts";
import type { OpenEngine } from "./engine-record.ts";

/** Before the start: how often a name that was not found is looked up again, and for how long in all. */
const LOOK_UP_EVERY_MS = 2_000;
const LOOK_UP_MAX_MS = 60_000;
/** How often names are looked up again before this node has joined, and afterwards. */
const REFRESH_MS = 2_000;
const REFRESH_JOINED_MS = 30_000;
/** How often a problem with a peer is logged again, and the most addresses that are remembered. */
const TELL_AGAIN_MS = 60_000;
const TOLD_MAX = 1_000;

export type NodeSettingsInForce = NotedSettings & { readonly cluster: ClusterSettings };

/** Opens one node. Rejects with a message for people when it cannot listen or cannot tell its own address. */
export async function openCluster(
  settings: NodeSettingsInForce,
  world: World,
  machine: Machine = MACHINE_HERE,
): Promise<OpenEngine> {
  const { cluster } = settings;
  const nodes = await findAtStart(cluster.join, world, machine);
  const address = await ownAddress(cluster, nodes, machine);
  // Peers that send before the node exists send again.
  let node: ClusterEngine | null = null;
  const events: TransportEvents = {
    onMessage: (from, message) => node?.deliver(from, message),
    onRefused: (peer) => node?.refused(peer),
    onProblem: telling(world),
  };
  const transport = await openTransport(transportSettings(settings, address), events, world);
  const engine = startNode(cluster, { nodes, transport, world });
  node = engine;
  const desk = new NodeDesk({ settings, engine, transport, world });
  const keeps = new ClusterData({ notes: engine, world, broken: desk.broken });
  const stopRefreshing = refresh(cluster.join, { engine, desk, world, machine, self: transport.address });
  return {
    ...{ engine, keeps, world, node: desk, openLedgers: null },
    close: async () => {
      stopRefreshing();
      await engine.close();
      desk.close();
      await keeps.close();
      await transport.close();
    },
  };
}

/** All nodes the settings name. An unknown name may be a typing mistake, so no cluster is created then. */
async function findAtStart(
  join: readonly EntryNode[],
  world: World,
  machine: Machine,
): Promise<readonly string[]> {
  const giveUpAt = world.clock.now() + LOOK_UP_MAX_MS;
  let told = "";
  for (;;) {
    const { addresses, problems } = await findNodes(join, machine);
    if (addresses.length > 0 || problems.length === 0) return addresses;
    const why = `cluster.join: ${problems.join("; ")}`;
    if (world.clock.now() >= giveUpAt) throw new Error(why);
    // It gives up before the same problem would have to be logged again.
    if (why !== told) world.log.warn({}, `${why}; it is looked up again until it is found, for a minute`);
    told = why;
    await machine.pause(LOOK_UP_EVERY_MS);
  }
}

function transportSettings({ cluster, secret }: NodeSettingsInForce, address: string): TransportSettings {
  const { listen, tls } = cluster;
  return { listen, address, tls, secret: cluster.secret ?? (secret && clusterSecretFrom(secret)) };
}

/** Logs problems with peers; an unchanged problem only once in a while. */
function telling(world: World): NonNullable<TransportEvents["onProblem"]> {
  const told = new Map<string, { text: string; at: number }>();
  return ({ address, text }) => {
    const now = world.clock.now();
    const last = told.get(address);
    if (last?.text === text && now - last.at < TELL_AGAIN_MS) return;
    if (told.size >= TOLD_MAX) told.clear();
    told.set(address, { text, at: now });
    world.log.warn({ peer: address }, text);
  };
}

function startNode(
  cluster: ClusterSettings,
  { nodes, transport, world }: { nodes: readonly string[]; transport: Transport; world: World },
): ClusterEngine {
  const { address } = transport;
  const { name, join, reclaimAfterMs, skewMaxMs, intervalMs } = cluster;
  const settings = {
    ...DEFAULT_NODE_SETTINGS,
    ...{ address, name: name ?? address, life: world.clock.now(), join: withSelf(nodes, address, join) },
    ...{ reclaimAfterMs, skewMaxMs, intervalMs },
  };
  return new ClusterEngine(world, settings, (to, message) => {
    if (to !== address) transport.send(to, message);
  });
}

/** DNS may not have this node's address yet; it is inserted where it will be, so that all nodes agree on the first. */
function withSelf(nodes: readonly string[], self: string, join: readonly EntryNode[]): readonly string[] {
  return isByName(join) && !nodes.includes(self) ? inOrder([...nodes, self]) : nodes;
}

interface Refreshed {
  readonly engine: ClusterEngine;
  readonly desk: NodeDesk;
  readonly world: World;
  readonly machine: Machine;
  readonly self: string;
}

/** Looks names up periodically. If one cannot be found, the list stays as it was. */
function refresh(join: readonly EntryNode[], { engine, desk, world, machine, self }: Refreshed): () => void {
  if (!isByName(join)) return () => {};
  let lookedAt = world.clock.now();
  let isLooking = false;
  return world.timers.every(REFRESH_MS, () => {
    const periodMs = desk.isJoined ? REFRESH_JOINED_MS : REFRESH_MS;
    if (isLooking || world.clock.now() - lookedAt < periodMs) return;
    isLooking = true;
    void findNodes(join, machine).then(({ addresses, problems }) => {
      isLooking = false;
      lookedAt = world.clock.now();
      if (problems.length === 0) engine.setJoin(withSelf(addresses, self, join));
    });
  });
}
