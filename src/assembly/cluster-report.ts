/**
 * A cluster as operators see it, from what one node knows: the tree, the root, each node's places, and problems in sentences
 * that say what to do.
 *
 * A node knows the root by the last counting round; before the first round it knows only the direction.
 */
import { formatDuration } from "../config/units.ts";
import { clockText } from "../engines/cluster/membership/clock-watch.ts";
import { type Tree, treeOf } from "../engines/cluster/membership/tree.ts";
import { idOf } from "../engines/cluster/membership/view.ts";
import type { MemberStatus, NodeStatus, RoomStatus } from "../engines/cluster/node-status.ts";
import type { ClusterNodeReport, ClusterReport, ClusterRoomReport } from "../office/desk.ts";

export interface ReportParts {
  readonly status: NodeStatus;
  readonly address: string;
  readonly reclaimAfterMs: number | null;
  /** Differences in other nodes' settings, in sentences. */
  readonly differences: readonly string[];
  /** Problems with connections, by address, in sentences. */
  readonly wire: ReadonlyMap<string, string>;
}

/** The report of one node. */
export function reportOf(parts: ReportParts): ClusterReport {
  const { status, address } = parts;
  const { name, view, rounds } = status;
  const tree = view && treeOf(view.members.map(({ number }) => number));
  const nodes = tree ? nodesOf(status, tree) : [];
  const nameOf = (number: number | null) =>
    view?.members.find((member) => member.number === number)?.name ?? null;
  return {
    ...{ name, address, rounds, nodes },
    view: view && { version: view.version, isMajority: view.isMajority, isSettled: status.isSettled },
    root: nameOf(status.root),
    towardsRoot: nameOf(status.pointer),
    lost: (view?.lost ?? []).map((member) => ({ name: member.name, address: member.address })),
    rooms: Object.fromEntries(Object.entries(status.rooms).map(([room, own]) => [room, roomOf(own)])),
    problems: problemsOf(parts),
  };
}

function nodesOf(status: NodeStatus, tree: Tree): ClusterNodeReport[] {
  const { members } = status.view!;
  const inTree = (number: number): number[] => [number, ...tree.childrenOf(number).flatMap(inTree)];
  return inTree(tree.root).map((number) => {
    const member = members.find((one) => one.number === number)!;
    const parent = tree.parentOf(number);
    return {
      name: member.name,
      address: member.address,
      state: member.is,
      parent: members.find((one) => one.number === parent)?.name ?? null,
      isHere: number === status.number,
      own: ownOf(status, idOf(member)),
    };
  });
}

function ownOf({ counts }: NodeStatus, id: string): ClusterNodeReport["own"] {
  const sum = { waiting: 0, turns: 0, onSite: 0 };
  for (const { waiting, turns, onSite } of Object.values(counts[id] ?? {})) {
    sum.waiting += waiting;
    sum.turns += turns;
    sum.onSite += onSite;
  }
  return sum;
}

function roomOf({ waiting, ownWaiting, turns, visits, spare }: RoomStatus): ClusterRoomReport {
  // After a limit was lowered, more visitors may be in than it allows.
  const spareNow = Number.isFinite(spare) ? Math.max(0, spare) : null;
  return { waiting, ownWaiting, turns, onSite: visits, spare: spareNow };
}

function problemsOf(parts: ReportParts): string[] {
  const { status, differences, wire } = parts;
  const { view, problem } = status;
  if (!view) return [notJoined(problem), ...wire.values()];
  const suspects = view.members.filter(({ is }) => is !== "alive");
  const troubled = [...suspects, ...view.lost].flatMap(({ address }) => wire.get(address) ?? []);
  return [
    ...(isReplaced(status) ? [`${problem}, which stops`] : []),
    ...(view.isMajority ? [] : [noMajority(parts)]),
    ...view.lost.map(({ name }) => lostNode(name, parts)),
    ...suspects.map(({ name }) => `${name} does not answer at the moment`),
    ...troubled,
    ...view.members.flatMap(wrongClock),
    ...differences,
  ];
}

/** True when another node has taken this one's name, and this one is out of the cluster for good. */
export function isReplaced({ view, problem }: NodeStatus): boolean {
  return view !== null && problem !== null && /^another node called/.test(problem);
}

function wrongClock({ name, clockWrongMs }: MemberStatus): string[] {
  if (clockWrongMs === null) return [];
  return [
    `the clock of ${name} is ${clockText(clockWrongMs)} this node's, so visitors who join there get wrong places: synchronise both with the same time server`,
  ];
}

function notJoined(problem: string | null): string {
  return `this node is in no cluster yet, and takes no visitors: ${problem ?? "no node has answered it"}`;
}

function noMajority({ status, reclaimAfterMs }: ReportParts): string {
  const { members, lost } = status.view!;
  const here = `only ${members.length} of ${members.length + lost.length} nodes are here, which is no majority`;
  const until =
    reclaimAfterMs === null || reclaimAfterMs === 0
      ? "they admit visitors only to their own slots"
      : `they admit visitors only to their own slots, and after ${formatDuration(reclaimAfterMs)} nobody`;
  return `${here}: ${until}`;
}

function lostNode(name: string, { status, reclaimAfterMs }: ReportParts): string {
  const word = `if it is certainly dead, say so with \`fairgate cluster forget ${name}\``;
  const isReclaimed = reclaimAfterMs !== null && status.view!.isMajority;
  const until = isReclaimed ? `for ${formatDuration(reclaimAfterMs)} at most` : "until it is back";
  return `${name} is lost: its slots stay taken ${until}; ${word}`;
}
