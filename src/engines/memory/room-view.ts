/** What a room in memory knows of itself, for the board and the operator's counts. */
import type { RoomFigures } from "../../core/room-view.ts";
import type { RoomBooks } from "./room-books.ts";

/** The books read at an instant. */
export function figuresOf(books: RoomBooks, now: number): RoomFigures {
  const { name, door, lines, crowd, lapsed, pace, totals, draws } = books;
  return {
    name,
    now,
    roomRules: door.rules,
    rules: books.rulesAt(now),
    phase: door.phase(now),
    waiting: crowd.waiting,
    admitted: crowd.admitted,
    looseTurns: books.turns.loose,
    onSite: crowd.onSite,
    lapsed,
    isActive: door.isActive,
    noShows: door.noShows,
    remarks: door.remarks,
    totals,
    pace,
    waitingIn: (lane) => lines.waitingIn(lane),
    sequenceAt: (lane, rank) => lines.at(lane, rank),
    highestAdmitted: (lane) => books.admittedSequences.get(lane) ?? 0,
    admittedIn: (lane) => books.letIn(lane),
    recent: () => books.recent,
    announce: (event) => draws.announce(event),
  };
}
