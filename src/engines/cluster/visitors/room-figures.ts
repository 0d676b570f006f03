/** What one node knows of a room, for the board and the operator's counts: everything, as of a moment ago. */
import type { RoomFigures } from "../../../core/room-view.ts";
import type { RoomBooks } from "./room-books.ts";

export function figuresOf(books: RoomBooks, now: number): RoomFigures {
  const { name, door, lines, pace, draws, tallies } = books;
  return {
    name,
    now,
    roomRules: door.rules,
    rules: books.rulesAt(now),
    phase: door.phase(now),
    waiting: lines.size,
    admitted: books.turns,
    looseTurns: books.looseTurns,
    onSite: books.onSite,
    lapsed: books.lapsed,
    isActive: door.isActive,
    noShows: door.noShows,
    remarks: door.remarks,
    totals: tallies.totals(),
    pace,
    waitingIn: (lane) => lines.waitingIn(lane),
    sequenceAt: (lane, rank) => lines.at(lane, rank),
    highestAdmitted: (lane) => tallies.highestAdmitted(lane),
    admittedIn: (lane) => tallies.admittedIn(lane),
    recent: () => tallies.recent,
    announce: (event) => draws.announce(event),
  };
}
