/**
 * A view: who belongs to the cluster, as all of them agree. Each change makes a new one with a higher version; the tree
 * and the first root follow from it alone (tree.ts), so nobody has to be told about edges.
 *
 * **Lost** are members that could not be reached when the view was made. They may be dead, or cut off and going on by
 * themselves, so their slots stay theirs until there is proof of their end: a new life under the same name, a proper
 * goodbye, an operator's word, or a time after which a part that was cut off stops by itself.
 *
 * **Majority.** After a cut at most one part may act for those it lost. Who votes are the members of the last view that all
 * its members are known to have had (`bases[0]`), and, as long as that is not known of them, those of every later view that
 * may have been in force (the rest of `bases`): a part has the majority when it has more than half of each, or
 * exactly half with the first of them. So a cluster can lose its members one after the other down to the last, and
 * never splits into two that both think they are it (dynamic voting, Jajodia and Mutchler 1990).
 */
import { type Shape, shape } from "../wire/shapes.ts";

const { flag, list, record, upTo, whole } = shape;

export interface Member {
  /** 0 to 63; in every order key this member gives out. */
  readonly slot: number;
  readonly name: string;
  /** Rises with every start. */
  readonly life: number;
  /** Where peers reach it. */
  readonly address: string;
}

export interface View {
  readonly version: number;
  /** Slot of the member who made it. */
  readonly maker: number;
  /** By slot. */
  readonly members: readonly Member[];
  readonly lost: readonly Member[];
  /** Ids, by slot. */
  readonly bases: readonly (readonly string[])[];
  readonly isMajority: boolean;
  /** The slot last given out: the next newcomer gets the one after it, so that a slot is not soon another's. */
  readonly lastSlot: number;
}

export const SLOTS_MAX = 64;
/** Far more changes than any cluster sees; numbers made from versions stay whole. */
const VERSION_MAX = 2 ** 40;

/** A member's name in this life, the same everywhere. */
export function idOf({ name, life }: Pick<Member, "name" | "life">): string {
  return `${name}#${life}`;
}

/** True where a node has nobody beside it, neither there nor lost: everything is its own. */
export function isWhole({ members, lost }: View): boolean {
  return members.length === 1 && lost.length === 0;
}

/** One number for a view, higher for a later one, different for different ones of the same version. */
export function viewNumber({ version, maker }: Pick<View, "version" | "maker">): number {
  return version * SLOTS_MAX + maker;
}

/** A cluster of one. */
export function foundingView(founder: Omit<Member, "slot">): View {
  const member = { ...founder, slot: 0 };
  return {
    version: 1,
    maker: 0,
    members: [member],
    lost: [],
    bases: [[idOf(member)]],
    isMajority: true,
    lastSlot: 0,
  };
}

/** The view once all its members are known to have it: from then on they are who votes. */
export function committed(view: View): View {
  const base = view.members.map(idOf);
  return view.isMajority && !isSameBase(view.bases, base) ? { ...view, bases: [base] } : view;
}

/** Someone new, or a new life of someone: then the old one is over. Null when all slots are taken. */
export function withMember(view: View, newcomer: Omit<Member, "slot">, maker: number): View | null {
  const before = [...view.members, ...view.lost].find(({ name }) => name === newcomer.name);
  const slot = before?.slot ?? freeSlot([...view.members, ...view.lost], view.lastSlot);
  if (slot === null) return null;
  const without = withoutProven(view, before ? [idOf(before)] : []);
  const members = [...without.members, { ...newcomer, slot }];
  return { ...next(view, { ...without, members }, maker), lastSlot: before ? view.lastSlot : slot };
}

/** Without those who cannot be reached. */
export function withoutLost(view: View, ids: ReadonlySet<string>, maker: number): View {
  const gone = view.members.filter((member) => ids.has(idOf(member)));
  const members = view.members.filter((member) => !ids.has(idOf(member)));
  return next(view, { members, lost: [...view.lost, ...gone], bases: view.bases }, maker);
}

/** Without those of whose end there is proof. */
export function withoutDead(view: View, ids: readonly string[], maker: number): View {
  return next(view, withoutProven(view, ids), maker);
}

/** Two parts that have met again. The one that leads keeps its slots and its say. */
export function merged(leading: View, other: View, maker: number): View {
  const members = [...leading.members];
  const lastSlot = Math.max(leading.lastSlot, other.lastSlot);
  for (const member of other.members) {
    if (members.some((known) => idOf(known) === idOf(member))) continue;
    const newer = members.find(({ name, life }) => name === member.name && life > member.life);
    if (newer) continue;
    const older = members.findIndex(({ name }) => name === member.name);
    if (older >= 0) members.splice(older, 1);
    const isTaken = members.some(({ slot }) => slot === member.slot);
    const slot = isTaken ? freeSlot([...members, ...leading.lost, ...other.members], lastSlot) : member.slot;
    if (slot !== null) members.push({ ...member, slot });
  }
  const names = new Set(members.map(({ name }) => name));
  const lost = uniqueById([...leading.lost, ...other.lost]).filter(({ name }) => !names.has(name));
  const bases = leading.isMajority ? leading.bases : [...leading.bases, ...other.bases];
  const later = leading.version >= other.version ? leading : other;
  return { ...next(later, { members, lost, bases }, maker, leading), lastSlot };
}

/** Which of two parts makes them one: the one that may act for the other, the later one, or the one with the first member. */
export function leads(view: View, other: View): boolean {
  if (view.isMajority !== other.isMajority) return view.isMajority;
  if (view.version !== other.version) return view.version > other.version;
  return idOf(view.members[0]!) <= idOf(other.members[0]!);
}

const slot = upTo(SLOTS_MAX - 1);
const anyText: Shape = (value) => typeof value === "string";
const members = list(record({ slot, name: anyText, life: whole, address: anyText }), SLOTS_MAX);
const viewShape = record({
  ...{ version: upTo(VERSION_MAX), maker: slot, members, lost: members, bases: list(list(anyText)) },
  ...{ isMajority: flag, lastSlot: slot },
});

/** True for something that can be a view; a peer of another version may send anything. */
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
  // Those of whose end there is proof do not vote.
  const present = new Set(members.map(idOf));
  const living = voters
    .map((base) => {
      const left = base.filter((id) => alive.has(id));
      // Without the majority, one who is dead may have voted elsewhere, with those who are not here.
      return from.isMajority || left.every((id) => present.has(id)) ? left : base;
    })
    .filter((base) => base.length > 0);
  return {
    version: before.version + 1,
    maker,
    members: [...members].sort((a, b) => a.slot - b.slot),
    lost: [...lost].sort((a, b) => a.slot - b.slot),
    bases: living,
    isMajority: living.every((base) => hasMajority(present, base)),
    lastSlot: before.lastSlot,
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

/** The first free one after the slot last given out. */
function freeSlot(taken: readonly Member[], lastSlot: number): number | null {
  for (let step = 1; step <= SLOTS_MAX; step++) {
    const slot = (lastSlot + step) % SLOTS_MAX;
    if (!taken.some((member) => member.slot === slot)) return slot;
  }
  return null;
}

function uniqueById(members: readonly Member[]): Member[] {
  return [...new Map(members.map((member) => [idOf(member), member])).values()];
}

/** By slot, each with one of its own. */
function isRising(members: readonly Member[]): boolean {
  return members.every(({ slot }, index) => index === 0 || slot > members[index - 1]!.slot);
}
