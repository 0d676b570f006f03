/**
 * A shared budget: rooms in front of one origin share its capacity, and a crowd in one does not close the others.
 *
 * Slots guaranteed to a room are never given to another, used or not. The rest is shared by max-min fairness: free slots are
 * poured out like water, first to the room that holds the fewest, until it is level with the next, then to both, and so on.
 * A room that holds more than the others waits while any of them wants a slot, and as its visitors leave the levels become
 * even; nobody is sent away. When the last slots do not go round, the room that has waited longest for a turn goes first;
 * otherwise a budget with fewer slots than rooms would starve some.
 *
 * All rooms may act on their answers at once: together the answers never exceed what is free. Guarantees that add up to more
 * than the budget are poured out in the same way.
 */
export interface Budget {
  /** For all rooms together. */
  readonly totalActiveUsers: number;
  readonly rooms: readonly BudgetRoom[];
}

export interface BudgetRoom {
  /** On the site, or admitted and not yet entered. */
  readonly used: number;
  /** How many of its waiting visitors its own limits would let in now. 0 for a paused room, which would only block slots. */
  readonly wanted: number;
  /** Slots that are reserved for this room. */
  readonly guaranteed: number;
  /** When it last admitted anybody; 0: never. */
  readonly lastTurnAt: number;
}

/** A room as a vessel: how high it is filled, and how many more slots it can take. */
interface Vessel {
  readonly level: number;
  readonly space: number;
  readonly lastTurnAt: number;
}

/** How many of the visitors it wants to admit the room at `index` may admit now. Takes rooms × log(slots) steps. */
export function freeInBudget({ totalActiveUsers, rooms }: Budget, index: number): number {
  let used = 0;
  let taken = 0;
  for (const room of rooms) {
    used += room.used;
    taken += Math.max(room.used, room.guaranteed);
  }
  const ofItsOwn = pour(totalActiveUsers - used, rooms.map(guaranteedVessel), index);
  return ofItsOwn + pour(totalActiveUsers - taken, rooms.map(sharedVessel), index);
}

function guaranteedVessel({ used, wanted, guaranteed, lastTurnAt }: BudgetRoom): Vessel {
  return { level: used, space: Math.min(wanted, Math.max(0, guaranteed - used)), lastTurnAt };
}

function sharedVessel({ used, wanted, guaranteed, lastTurnAt }: BudgetRoom): Vessel {
  const unused = Math.max(0, guaranteed - used);
  return { level: Math.max(0, used - guaranteed), space: Math.max(0, wanted - unused), lastTurnAt };
}

/** What the vessel at `index` gets when `slots` are poured out, the lowest first. */
function pour(slots: number, vessels: readonly Vessel[], index: number): number {
  const own = vessels[index]!;
  if (slots < 1) return 0;
  const surface = surfaceOf(slots, vessels);
  if (surface === null) return own.space;
  let left = Math.floor(slots) - pouredIntoAll(vessels, surface);
  for (const [i, other] of vessels.entries()) {
    const isBefore = other.lastTurnAt === own.lastTurnAt ? i < index : other.lastTurnAt < own.lastTurnAt;
    if (isBefore && canRise(other, surface)) left--;
  }
  return pouredInto(own, surface) + (left > 0 && canRise(own, surface) ? 1 : 0);
}

/** How high `slots` fill the vessels, but for a few left over; null when there are enough for every space. */
function surfaceOf(slots: number, vessels: readonly Vessel[]): number | null {
  let low = 0;
  let high = 0;
  for (const { level, space } of vessels) high = Math.max(high, level + space);
  if (pouredIntoAll(vessels, high) <= slots) return null;
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (pouredIntoAll(vessels, middle) <= slots) low = middle;
    else high = middle;
  }
  return low;
}

function pouredIntoAll(vessels: readonly Vessel[], surface: number): number {
  let poured = 0;
  for (const vessel of vessels) poured += pouredInto(vessel, surface);
  return poured;
}

function pouredInto({ level, space }: Vessel, surface: number): number {
  return Math.max(0, Math.min(space, surface - level));
}

function canRise({ level, space }: Vessel, surface: number): boolean {
  return level <= surface && surface < level + space;
}
