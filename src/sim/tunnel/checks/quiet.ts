/**
 * What must be true of a cluster at rest, with every fault mended and no requests: all nodes have the same view, with exactly the
 * nodes that are up; one of them is the root, and the pointers of the others lead to it along edges of the tree; the root has the
 * smallest key of all (QPID's invariant); every node counts correctly; and no slot exists twice.
 */
import { type Tree, treeOf } from "../../../engines/cluster/membership/tree.ts";
import type { RoomStatus, SimNodeStatus, SimViewStatus } from "../sim-node.ts";
import type { Bounds } from "./line-book.ts";

/** What a node that is up says of itself, and what it counts. */
export interface NodeLook extends SimNodeStatus {
  readonly counted: { readonly waiting: number; readonly onSite: number };
}

export interface QuietTruth {
  readonly room: string;
  readonly totalActiveUsers: number;
  readonly waiting: Bounds;
  readonly onSite: Bounds;
}

export interface Complaint {
  readonly check: string;
  readonly text: string;
}

type Member = NodeLook & { readonly number: number; readonly view: SimViewStatus };

/** The first complaint, or null. The nodes are all that are up, at least one. */
export function quietComplaint(nodes: readonly NodeLook[], truth: QuietTruth): Complaint | null {
  const view = viewComplaint(nodes);
  if (view !== null) return { check: "one view", text: view };
  const members = nodes as readonly Member[];
  const root = rootComplaint(members);
  if (root !== null) return { check: "tree", text: root };
  const first = firstComplaint(members, truth.room);
  if (first !== null) return { check: "smallest key at the root", text: first };
  const counts = countComplaint(members, truth);
  if (counts !== null) return { check: "counts", text: counts };
  const slots = slotComplaint(members, truth);
  return slots === null ? null : { check: "slots", text: slots };
}

function viewComplaint(nodes: readonly NodeLook[]): string | null {
  const up = nodes.map(({ name, life }) => `${name}#${life}`).sort();
  const version = nodes[0]!.view?.version;
  for (const { name, number, view } of nodes) {
    if (view === null || number === null) return `${name} is not a member of any view`;
    const members = view.members.map((member) => `${member.name}#${member.life}`).sort();
    if (members.join(" ") !== up.join(" "))
      return `${name} has a view of ${members.join(", ")}, and up are ${up.join(", ")}`;
    if (view.version !== version) return `${name} is in view ${view.version}, others in ${version}`;
  }
  return null;
}

function rootComplaint(members: readonly Member[]): string | null {
  const roots = members.filter(({ isRoot }) => isRoot);
  if (roots.length !== 1)
    return roots.length === 0 ? "there is no root" : `${namesOf(roots)} are roots together`;
  const tree = treeOf(members.map(({ number }) => number));
  const byNumber = new Map(members.map((member) => [member.number, member]));
  for (const member of members) {
    const astray = walk(member, byNumber, tree);
    if (astray !== null) return astray;
  }
  return null;
}

/** Follows the pointers from a node; returns what is wrong with the way, or null. */
function walk(from: Member, byNumber: ReadonlyMap<number, Member>, tree: Tree): string | null {
  let here = from;
  for (let step = 0; step < byNumber.size; step++) {
    if (here.isRoot) return null;
    if (here.pointer === null) return `${here.name} points nowhere, and is not the root`;
    if (!tree.neighboursOf(here.number).includes(here.pointer))
      return `${here.name} points to node ${here.pointer}, which is not its neighbour`;
    here = byNumber.get(here.pointer)!;
  }
  return `the pointers from ${from.name} never reach the root`;
}

function firstComplaint(members: readonly Member[], room: string): string | null {
  const firsts = members.map((member) => roomOf(member, room).ownFirst).filter((key) => key !== null);
  const smallest = firsts.length === 0 ? null : Math.min(...firsts);
  const root = members.find(({ isRoot }) => isRoot)!;
  const { ownFirst } = roomOf(root, room);
  if (smallest === null || ownFirst === smallest) return null;
  return `${root.name} is the root and has ${ownFirst} first, but ${smallest} waits elsewhere`;
}

function countComplaint(members: readonly Member[], truth: QuietTruth): string | null {
  const { waiting, onSite } = members[0]!.counted;
  for (const { name, counted } of members) {
    if (counted.waiting !== waiting) return `${name} counts ${counted.waiting} waiting, others ${waiting}`;
    if (counted.onSite !== onSite) return `${name} counts ${counted.onSite} on site, others ${onSite}`;
  }
  return (
    sumComplaint(members, truth.room) ??
    outside({ of: "waiting", count: waiting, bounds: truth.waiting }) ??
    outside({ of: "on site", count: onSite, bounds: truth.onSite })
  );
}

/** Only while no part is lost: a lost member's visits have no owner here. */
function sumComplaint(members: readonly Member[], room: string): string | null {
  if (isTorn(members)) return null;
  const { counted } = members[0]!;
  const waiting = sumOf(members, room, ({ ownWaiting }) => ownWaiting);
  const visits = sumOf(members, room, (own) => own.visits);
  if (counted.waiting !== waiting)
    return `all count ${counted.waiting} waiting, and have ${waiting} together`;
  return counted.onSite === visits
    ? null
    : `all count ${counted.onSite} on site, and have ${visits} together`;
}

function outside({ of, count, bounds }: { of: string; count: number; bounds: Bounds }): string | null {
  if (count >= bounds.least && count <= bounds.most) return null;
  return `all count ${count} ${of}, and seen from outside it is ${bounds.least} to ${bounds.most}`;
}

/** Only while no part is lost: its slots cannot be seen. */
function slotComplaint(members: readonly Member[], { room, totalActiveUsers }: QuietTruth): string | null {
  if (isTorn(members)) return null;
  const slots = sumOf(members, room, ({ turns, visits, spare }) => turns + visits + spare);
  return slots <= totalActiveUsers
    ? null
    : `there are ${slots} slots in all, and only ${totalActiveUsers} may be`;
}

function isTorn(members: readonly Member[]): boolean {
  return members.some(({ view }) => view.lost.length > 0);
}

function sumOf(members: readonly Member[], room: string, of: (room: RoomStatus) => number): number {
  return members.reduce((sum, member) => sum + of(roomOf(member, room)), 0);
}

const EMPTY: RoomStatus = { ownFirst: null, ownWaiting: 0, turns: 0, visits: 0, spare: 0, waiting: 0 };

function roomOf(member: Member, room: string): RoomStatus {
  return member.rooms[room] ?? EMPTY;
}

function namesOf(members: readonly Member[]): string {
  return members.map(({ name }) => name).join(" and ");
}
