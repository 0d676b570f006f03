/**
 * A view: who belongs to the cluster, as all members agree. Each change makes a new one with a higher version. The tree and the
 * first root follow from the view alone (tree.ts), so no message needs to describe edges.
 *
 * **Lost** are members that could not be reached when the view was made. They may be dead, or cut off and running, so their
 * capacity slots stay theirs until there is proof of their end: a new process under the same name, a goodbye, an operator's word,
 * or a time after which a part that was cut off stops by itself.
 *
 * **Majority.** After a cut at most one part may act for the members it lost. The voters are the members of the last view that
 * all its members are known to have had (`bases[0]`) and, while that is not known, those of every later view that may have been
 * in force (the rest of `bases`). A part has the majority when it has more than half of each, or exactly half including the first
 * member. So a cluster can lose its members one after the other down to the last, and never splits into two that both act for all
 * (dynamic voting, Jajodia and Mutchler 1990).
 */
import { type Shape, shape } from "../wire/shapes.ts";

const { flag, list, record, upTo, whole } = shape;

export interface Member {
  /** The node number, 0 to 63; part of every order key this member gives out. */
  readonly number: number;
  readonly name: string;
  /** Rises with every start. */
  readonly life: number;
  /** Where peers reach it. */
  readonly address: string;
}

export interface View {
  readonly version: number;
  /** The node number of the member that made it. */
  readonly maker: number;
  /** By node number. */
  readonly members: readonly Member[];
  readonly lost: readonly Member[];
  /** Ids, by node number. */
  readonly bases: readonly (readonly string[])[];
  readonly isMajority: boolean;
  /** The node number last given out. The next new node gets the one after it, so that numbers are not soon reused. */
  readonly lastNumber: number;
}

export const NODES_MAX = 64;
/** Far more changes than any cluster sees; numbers made from versions stay whole. */
const VERSION_MAX = 2 ** 40;

/** A member's name and life, the same on every node. */
export function idOf({ name, life }: Pick<Member, "name" | "life">): string {
  return `${name}#${life}`;
}

/** True for a node that is alone, with no member lost: everything is its own. */
export function isWhole({ members, lost }: View): boolean {
  return members.length === 1 && lost.length === 0;
}

/** One number for a view: higher for a later one, and different for different ones of the same version. */
export function viewNumber({ version, maker }: Pick<View, "version" | "maker">): number {
  return version * NODES_MAX + maker;
}

/** A cluster of one. */
export function foundingView(founder: Omit<Member, "number">): View {
  const member = { ...founder, number: 0 };
  return {
    version: 1,
    maker: 0,
    members: [member],
    lost: [],
    bases: [[idOf(member)]],
    isMajority: true,
    lastNumber: 0,
  };
}

/** The view once all its members are known to have it: from then on they are the voters. */
export function committed(view: View): View {
  const base = view.members.map(idOf);
  return view.isMajority && !isSameBase(view.bases, base) ? { ...view, bases: [base] } : view;
}

/** Adds a new node, or a new life that ends the former one. Null when all node numbers are taken. */
export function withMember(view: View, newcomer: Omit<Member, "number">, maker: number): View | null {
  const before = [...view.members, ...view.lost].find(({ name }) => name === newcomer.name);
  const number = before?.number ?? freeNumber([...view.members, ...view.lost], view.lastNumber);
  if (number === null) return null;
  const without = withoutProven(view, before ? [idOf(before)] : []);
  const members = [...without.members, { ...newcomer, number }];
  return { ...next(view, { ...without, members }, maker), lastNumber: before ? view.lastNumber : number };
}

/** Moves members that cannot be reached to the lost ones. */
export function withoutLost(view: View, ids: ReadonlySet<string>, maker: number): View {
  const gone = view.members.filter((member) => ids.has(idOf(member)));
  const members = view.members.filter((member) => !ids.has(idOf(member)));
  return next(view, { members, lost: [...view.lost, ...gone], bases: view.bases }, maker);
}

/** Removes members that are proved dead. */
export function withoutDead(view: View, ids: readonly string[], maker: number): View {
  return next(view, withoutProven(view, ids), maker);
}

/** Merges two parts. The leading one keeps its node numbers and its votes. */
export function merged(leading: View, other: View, maker: number): View {
  const members = [...leading.members];
  const lastNumber = Math.max(leading.lastNumber, other.lastNumber);
  for (const member of other.members) {
    if (members.some((known) => idOf(known) === idOf(member))) continue;
    const newer = members.find(({ name, life }) => name === member.name && life > member.life);
    if (newer) continue;
    const older = members.findIndex(({ name }) => name === member.name);
    if (older >= 0) members.splice(older, 1);
    const isTaken = members.some(({ number }) => number === member.number);
    const number = isTaken
      ? freeNumber([...members, ...leading.lost, ...other.members], lastNumber)
      : member.number;
    if (number !== null) members.push({ ...member, number });
  }
  const names = new Set(members.map(({ name }) => name));
  const lost = uniqueById([...leading.lost, ...other.lost]).filter(({ name }) => !names.has(name));
  const bases = leading.isMajority ? leading.bases : [...leading.bases, ...other.bases];
  const later = leading.version >= other.version ? leading : other;
  return { ...next(later, { members, lost, bases }, maker, leading), lastNumber };
}

/** Which of two parts leads: the one with the majority, then the later one, then the one with the lower first member. */
export function leads(view: View, other: View): boolean {
  if (view.isMajority !== other.isMajority) return view.isMajority;
  if (view.version !== other.version) return view.version > other.version;
  return idOf(view.members[0]!) <= idOf(other.members[0]!);
}

const number = upTo(NODES_MAX - 1);
const anyText: Shape = (value) => typeof value === "string";
const members = list(record({ number, name: anyText, life: whole, address: anyText }), NODES_MAX);
const viewShape = record({
  ...{ version: upTo(VERSION_MAX), maker: number, members, lost: members, bases: list(list(anyText)) },
  ...{ isMajority: flag, lastNumber: number },
});

/** True for a well-formed view; a peer of another version may send anything. */
export function isView(value: unknown): value is View {
  if (!viewShape(value)) return false;
  const { version, members, bases } = value as View;
  return version > 0 && members.length > 0 && bases.length > 0 && isRising(members);
}

type Body = Pick<View, "members" | "lost" | "bases">;

/** `from`: the view whose members may already count as voters. */
function next(before: View, { members, lost, bases }: Body, maker: number, from: View = before): View {
  const ids = from.members.map(idOf);
  const voters = from.isMajority && !isSameBase(bases, ids) ? [...bases, ids] : bases;
  const alive = new Set([...members, ...lost].map(idOf));
  // Members that are proved dead do not vote.
  const present = new Set(members.map(idOf));
  const living = voters
    .map((base) => {
      const left = base.filter((id) => alive.has(id));
      // Without the majority, a dead member may have voted elsewhere, with members that are not here.
      return from.isMajority || left.every((id) => present.has(id)) ? left : base;
    })
    .filter((base) => base.length > 0);
  return {
    version: before.version + 1,
    maker,
    members: [...members].sort((a, b) => a.number - b.number),
    lost: [...lost].sort((a, b) => a.number - b.number),
    bases: living,
    isMajority: living.every((base) => hasMajority(present, base)),
    lastNumber: before.lastNumber,
  };
}

function hasMajority(present: ReadonlySet<string>, base: readonly string[]): boolean {
  const votes = base.filter((id) => present.has(id)).length;
  return 2 * votes > base.length || (2 * votes === base.length && present.has(base[0]!));
}

function withoutProven(view: View, ids: readonly string[]): Body {
  const isLeft = (member: Member) => !ids.includes(idOf(member));
  return { members: view.members.filter(isLeft), lost: view.lost.filter(isLeft), bases: view.bases };
}

function isSameBase(bases: View["bases"], base: readonly string[]): boolean {
  return bases.length === 1 && bases[0]!.length === base.length && base.every((id) => bases[0]!.includes(id));
}

function freeNumber(taken: readonly Member[], lastNumber: number): number | null {
  for (let step = 1; step <= NODES_MAX; step++) {
    const number = (lastNumber + step) % NODES_MAX;
    if (!taken.some((member) => member.number === number)) return number;
  }
  return null;
}

function uniqueById(members: readonly Member[]): Member[] {
  return [...new Map(members.map((member) => [idOf(member), member])).values()];
}

function isRising(members: readonly Member[]): boolean {
  return members.every(({ number }, index) => index === 0 || number > members[index - 1]!.number);
}
