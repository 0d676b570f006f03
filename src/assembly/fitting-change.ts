/**
 * How much of a stored change can be used. It may have been written by an earlier version, a later one, or by hand, so it
 * passes the same checks as a new one. If it does not fit as a whole, each of its settings is tried by itself, so that a
 * page that no longer works does not open a room that was paused.
 */
import { isRecord } from "../config/salvage.ts";
import type { RoomSettings } from "../config/schema.ts";

/** The most settings of one change that are tried by themselves, and how deeply nested; real changes have a few. */
const SETTINGS_MAX = 200;
const DEPTH_MAX = 8;

export type Mapping = Readonly<Record<string, unknown>>;

/** Returns the room with the change, or why it cannot be made. */
export type TryChange = (change: Mapping) => Tried;
export type Tried =
  | { readonly ok: true; readonly room: RoomSettings }
  | { readonly ok: false; readonly reason: string };

/** A setting of a change that cannot be used. */
export interface Unused {
  /** Its place in the room; empty: the whole change. */
  readonly path: readonly string[];
  readonly reason: string;
}

export interface Fitting {
  readonly room: RoomSettings;
  /** The part of the change that is in `room`. */
  readonly used: Mapping;
  readonly unused: readonly Unused[];
}

interface Leaf {
  readonly path: readonly string[];
  readonly value: unknown;
}

/** The room with as much of the change as fits. */
export function fitChange(room: RoomSettings, change: Mapping, tryChange: TryChange): Fitting {
  const whole = tryChange(change);
  if (whole.ok) return { room: whole.room, used: change, unused: [] };
  const leaves = leavesOf(change);
  if (leaves.length > SETTINGS_MAX) return { room, used: {}, unused: [{ path: [], reason: whole.reason }] };
  return fitOneByOne(room, leaves, tryChange);
}

/** Some settings fit only together with later ones, so they are tried until no more can be added. */
function fitOneByOne(room: RoomSettings, leaves: readonly Leaf[], tryChange: TryChange): Fitting {
  let best = { room, used: {} as Mapping };
  let left = leaves;
  for (let isGrowing = true; isGrowing; ) {
    const still = left.filter((leaf) => {
      const used = withLeaf(best.used, leaf);
      const tried = tryChange(used);
      if (tried.ok) best = { room: tried.room, used };
      return !tried.ok;
    });
    isGrowing = still.length < left.length && still.length > 0;
    left = still;
  }
  const unused = left.map((leaf) => ({ path: leaf.path, reason: reasonOf(best.used, leaf, tryChange) }));
  return { ...best, unused };
}

function reasonOf(used: Mapping, leaf: Leaf, tryChange: TryChange): string {
  const tried = tryChange(withLeaf(used, leaf));
  return tried.ok ? "" : tried.reason;
}

/** Two changes as one: mappings are merged, everything else is replaced. */
export function changeOnTop(before: Mapping, change: Mapping): Mapping {
  return leavesOf(change).reduce(withLeaf, before);
}

/** True if `change` sets the setting at `path`, or one above or below it. */
export function isAbout(change: Mapping, path: readonly string[]): boolean {
  return leavesOf(change).some((leaf) =>
    path.every((part, index) => index >= leaf.path.length || part === leaf.path[index]),
  );
}

/** The part of a change at these paths. */
export function partOf(change: Mapping, paths: readonly (readonly string[])[]): Mapping {
  const isWanted = ({ path }: Leaf) =>
    paths.some((wanted) => wanted.every((part, index) => part === path[index]));
  return leavesOf(change)
    .filter(isWanted)
    .reduce(withLeaf, {} as Mapping);
}

/** The single settings in a change; beyond `DEPTH_MAX` a mapping counts as one value. */
function leavesOf(change: Mapping): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (value: unknown, path: readonly string[]): void => {
    const inner = isRecord(value) && path.length < DEPTH_MAX ? Object.entries(value) : [];
    if (inner.length === 0 && path.length > 0) leaves.push({ path, value });
    for (const [key, next] of inner) walk(next, [...path, key]);
  };
  walk(change, []);
  return leaves;
}

function withLeaf(mapping: Mapping, { path, value }: Leaf): Mapping {
  const [key, ...rest] = path;
  const inner = Object.hasOwn(mapping, key!) ? mapping[key!] : undefined;
  const known = isRecord(inner) ? inner : {};
  // An empty mapping does not change an existing one.
  const last = isRecord(value) && Object.keys(value).length === 0 ? known : value;
  const next = rest.length === 0 ? last : withLeaf(known, { path: rest, value });
  // Not by assigning: a key from outside may be `__proto__`.
  return Object.fromEntries([...Object.entries(mapping).filter(([name]) => name !== key), [key, next]]);
}
