/** What one node knows of a room, for the board and the operator's counts: everything, as of a moment ago. */
import { NO_TOTALS, type Totals } from "../../core/engine.ts";
import type { RoomFigures } from "../../core/room-view.ts";
import type { RoomBooks } from "./room-books.ts";

export function figuresOf(books: RoomBooks, now: number): RoomFigures {
  const { name, door, lines, pace, draws } = books;
  return {
    name,
    now,
    roomRules: door.rules,
    rules: books.rulesAt(now),
    phase: door.phase(now),
    waiting: lines.size,
    admitted: books.turns,
    onSite: books.onSite,
    lapsed: books.lapsed,
    isActive: door.isActive,
    noShows: door.noShows,
    remarks: door.remarks,
    totals: totalsOfAll(books),
    pace,
    waitingIn: (lane) => lines.waitingIn(lane),
    sequenceAt: (lane, rank) => lines.at(lane, rank),
    highestAdmitted: (lane) => books.admittedKeys.get(lane) ?? 0,
    admittedIn: (lane) => books.admittedInLane.get(lane) ?? 0,
    recent: () => books.recent,
    announce: (event) => draws.announce(event),
  };
}

function totalsOfAll({ totals }: RoomBooks): Totals {
  const sum: { -readonly [Key in keyof Totals]: number } = { ...NO_TOTALS };
  for (const one of totals.values())
    for (const key of Object.keys(sum) as (keyof Totals)[]) sum[key] += one[key];
  return sum;
}
