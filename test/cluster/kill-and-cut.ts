/**
 * A cluster of real processes under load: two of five nodes are killed with -9, one is added, and the root is cut off from the
 * others in both directions by a network that drops its messages (network.ts). Visitors still reach every living node, including
 * the one that is cut off. Through all of it everyone gets in once, nobody loses their place, no visitor who left is accepted
 * again, and there are never more on the site than the capacity.
 *
 * The nodes are killed a second apart: entering and leaving are recorded at a second node first, and at all of them soon after;
 * two nodes that die in the same instant may be the only ones that knew.
 *
 * Order: the others need three to five seconds to find out that a node is gone. The turns that it held are then given again, at
 * the head of the line; and the parts of a cluster that is cut in two each go on with their own line and their share of the
 * slots. So visitors may be admitted before others who joined a little earlier: a few in a hundred of all pairs are in the wrong
 * order. Of those who joined and got their turn while nothing was wrong, only some who joined at about the same time are.
 */
import { eventually } from "../../src/testing/cli/eventually.ts";
import { pause } from "../crash/ask.ts";
import { areOne, type ClusterOutcome, type ClusterScene, clusterPlay } from "./cluster-play.ts";
import type { NodeProcess } from "./node-process.ts";

const BETWEEN_KILLS_MS = 1_000;
/** For how long both parts have known of the cut before it is mended. */
const CUT_MS = 1_500;

/** The whole play; the seed decides what the visitors do. */
export function killAndCut(seed: number): Promise<ClusterOutcome> {
  return clusterPlay({ seed, nodes: 5, spares: 1 }, async (scene) => {
    const survivors = await killTwo(scene);
    const [added] = scene.spares as [NodeProcess];
    await added.start(survivors);
    const nodes = [...survivors, added];
    await eventually("the dead are forgotten, and the new one is in", () => areOne(nodes));
    scene.calm();
    await scene.crowd.showAgain();
    await cutOne(nodes, scene);
    await eventually("all are one again", () => areOne(nodes));
    scene.calm();
    const seenThen = scene.seen();
    await eventually("people are let in again", () => scene.seen() > seenThen);
    scene.afterwards(() => eventually("all count the same", () => countTheSame(nodes)));
  });
}

/** Kills the node that created the cluster, and then the root, if its name is known. */
async function killTwo({ nodes, kill }: ClusterScene): Promise<readonly NodeProcess[]> {
  const [founder, ...others] = nodes;
  await kill(founder!);
  await pause(BETWEEN_KILLS_MS);
  const root = await rootOf(others);
  await kill(root);
  return others.filter((node) => node !== root);
}

/** Cuts off the root until both parts know it, and lets each go on for a while. */
async function cutOne(
  nodes: readonly NodeProcess[],
  { network, atStake, seen }: ClusterScene,
): Promise<void> {
  const cut = await rootOf(nodes);
  const others = nodes.filter((node) => node !== cut);
  network.cutOff(cut.peerAddress);
  atStake();
  await eventually("both parts know that they are parts", async () => {
    const [own, ...theirs] = await Promise.all([cut, ...others].map((node) => node.report()));
    const isAlone = own!.view?.isMajority === false && own!.lost.length === others.length;
    return isAlone && theirs.every(({ view, lost }) => view?.isMajority === true && lost.length === 1);
  });
  const seenThen = seen();
  await pause(CUT_MS);
  await eventually("the part with the majority lets people in", () => seen() > seenThen);
  network.mend();
}

async function rootOf(nodes: readonly NodeProcess[]): Promise<NodeProcess> {
  const { root } = await nodes[0]!.report();
  return nodes.find(({ name }) => name === root) ?? nodes.at(-1)!;
}

async function countTheSame(nodes: readonly NodeProcess[]): Promise<boolean> {
  const all = await Promise.all(nodes.map(({ control }) => control.counts()));
  const numbers = all.map(({ waiting, admitted, onSite }) => [waiting, admitted, onSite].join());
  return new Set(numbers).size === 1;
}
