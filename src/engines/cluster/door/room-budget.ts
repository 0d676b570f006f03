/** What a budget leaves to one of the rooms that share it. A lone node asks for itself, the root for all nodes. */
import { type BudgetRoom, freeInBudget } from "../../../core/budget.ts";
import type { RoomBooks } from "../visitors/room-books.ts";

/** How the rooms of a budget stand. */
export interface BudgetDemand {
  readonly usedBy: (room: string) => number;
  /** How many more slots it could use; only asked of the other rooms. */
  readonly wantedBy: (room: string) => number;
}

/** Slots that the other rooms of its budget leave to a room that would take them all. */
export function leftByBudget(
  room: string,
  rooms: ReadonlyMap<string, RoomBooks>,
  { usedBy, wantedBy }: BudgetDemand,
): number {
  const budget = rooms.get(room)?.door.rules.budget;
  if (!budget) return Number.POSITIVE_INFINITY;
  const { totalActiveUsers } = budget;
  const names: string[] = [];
  const sharing: BudgetRoom[] = [];
  for (const [name, { door, lastTurnAt }] of rooms) {
    if (door.rules.budget?.name !== budget.name) continue;
    const wanted = name === room ? totalActiveUsers : wantedBy(name);
    names.push(name);
    sharing.push({ used: usedBy(name), wanted, guaranteed: door.rules.budget.guaranteed, lastTurnAt });
  }
  return freeInBudget({ totalActiveUsers, rooms: sharing }, names.indexOf(room));
}

/** How many a room would admit now without the budget. */
export function unbudgeted({ crowd, door }: RoomBooks, now: number): number {
  const free = {
    ...{ waiting: crowd.waiting, admitted: crowd.admitted, onSite: crowd.onSite },
    budgetFree: Number.POSITIVE_INFINITY,
    waitingIn: (lane: number) => crowd.waitingIn(lane),
    turnAges: (at: number) => crowd.turnAges(at),
    isHeldBack: () => false,
  };
  return door.open(free, now).admit;
}
