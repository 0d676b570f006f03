/** What a room in memory knows of itself, for the board and the operator's counts. */
import { expectedAhead, type RoomFigures } from "../../core/room-view.ts";
import type { DoorRules } from "../../core/rules.ts";
import type { LaneLines } from "./lane-lines.ts";
import type { RoomBooks } from "./room-books.ts";

/** How many are expected to be let in before the one with this sequence. */
export function aheadOf(lines: LaneLines, rules: DoorRules, lane: number, sequence: number): number {
  // Whoever is picked at random has on the whole half of the others before them.
  if (rules.queueingMethod === "random") return lines.size >> 1;
  const ahead = lines.ahead(lane, sequence);
  if (rules.lanes.named.length === 0) return ahead;
  return expectedAhead(rules, (other) => lines.waitingIn(other), { lane, ahead });
}

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
