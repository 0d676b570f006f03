/**
 * A room's rules as Redis is given them: every phase of the schedule with its end, so that the functions there need only
 * look at the time. Settings that are null are left out, which is what nil is in Lua.
 */
import { seedHash } from "../../core/draw.ts";
import type { DoorRules, EventRules, RoomRules } from "../../core/rules.ts";
import { type Phase, phaseAt } from "../../core/schedule.ts";

/** The keys of a room: all begin with `room`, and have the same hash tag as its budget's. */
export interface RoomKeys {
  readonly room: string;
  /** Where the rooms of its budget are listed; empty without a budget. */
  readonly budget: string;
}

/** Rooms that share a budget are asked about each other in one step, so they are in one hash slot. */
export function keysOf(prefix: string, name: string, { budget }: RoomRules): RoomKeys {
  if (budget === null) return { room: `${prefix}:{${name}}:${name}`, budget: "" };
  const tag = `${prefix}:{budget/${budget.name}}`;
  return { room: `${tag}:${name}`, budget: `${tag}:rooms` };
}

/** The key that a room's calls name: the exact line's, or for a relaxed one the key of all but its shards. */
export function mainKeyOf(prefix: string, name: string, rules: RoomRules): string {
  return rules.relaxed ? `${prefix}:{${name}/main}:${name}` : keysOf(prefix, name, rules).room;
}

/** The key of a shard of a relaxed line, in a hash slot of its own. It differs by how many shards there are. */
export function shardKeyOf(prefix: string, name: string, shard: { index: number; of: number }): string {
  return `${prefix}:{${name}/${shard.index}.${shard.of}}:${name}`;
}

/** Which part of a relaxed line a key is for: the main part, or one of `shards` shards. */
export type LinePart = { readonly isMain: true } | { readonly shards: number };

/** The orders, as JSON. */
export function ordersOf(rules: RoomRules, keys: RoomKeys, part?: LinePart): string {
  const phases = phasesOf(rules);
  const known = [...new Set(phases.map((phase) => phase.rules))];
  const { budget, events } = rules;
  return JSON.stringify({
    rules: known.map((one) => doorRules(one, budget !== null)),
    phases: phases.map((phase) => ({
      ...(phase.until < Number.POSITIVE_INFINITY && { until: phase.until }),
      rules: 1 + known.indexOf(phase.rules),
      ...(phase.event && { event: 1 + events.indexOf(phase.event) }),
      isPrequeue: phase.isPrequeue,
      ...(phase.opensAt !== null && { opensAt: phase.opensAt }),
    })),
    events: events.map(eventOrders),
    ...(budget && !part && { budget: { ...budget, key: keys.budget } }),
    ...part,
  });
}

function phasesOf(rules: RoomRules): Phase[] {
  const phases = [phaseAt(rules, Number.NEGATIVE_INFINITY)];
  for (let last = phases[0]!; last.until < Number.POSITIVE_INFINITY; last = phases.at(-1)!)
    phases.push(phaseAt(rules, last.until));
  return phases;
}

/**
 * Everything but words for people goes over as it is, so a new setting cannot be forgotten here. Of standby and the
 * adaptive loop the functions need only know that they are on.
 */
function doorRules(rules: DoorRules, isBudgeted: boolean): object {
  const { relaxed: _r, budget: _b, events: _e, ...door } = rules as RoomRules;
  const { show, message: _m, standby, adaptive, fillNoShows, ...asTheyAre } = door;
  return withoutNulls({
    ...asTheyAre,
    standby: standby && true,
    adaptive: adaptive && true,
    isWaitHidden: show.wait ? null : true,
    // Rooms that share a capacity could not each tell what turns on top of it the others have given.
    fillNoShows: fillNoShows && !isBudgeted,
  });
}

function eventOrders({ rules: _, seed, prequeueAt, ...event }: EventRules): object {
  const draw = event.isShuffled ? { seed, seedHash: seedHash(seed) } : {};
  return { ...event, prequeueAt: prequeueAt ?? event.startAt, ...draw };
}

/** null is a value of its own in Lua, and not nil. */
function withoutNulls(values: object): object {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
}
