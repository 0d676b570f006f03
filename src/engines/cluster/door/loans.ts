/** How a room's books use lending (lending.ts): when this node needs slots, what it can spare, and what it gets. */
import type { Newcomer } from "../../../core/engine.ts";
import { originOf, type Ticket } from "../../../core/ticket.ts";
import { ADMITTED, isFirm } from "../visitors/place.ts";
import { currentTicket, mayResume, welcomeTo } from "../visitors/room-answers.ts";
import type { RoomBooks } from "../visitors/room-books.ts";
import type { Loan } from "./lending.ts";

/** True when only a missing slot or missing leave on this node keeps a newcomer out. */
export function isShortOfSlots(books: RoomBooks, newcomer: Newcomer, now: number): boolean {
  return isOnlyShort(books, () => welcomeTo(books, newcomer, now) === "through");
}

/** The same for a visitor with a loose turn. */
export function isShortForTurn(books: RoomBooks, ticket: Ticket, now: number): boolean {
  const place = books.places.get(originOf(currentTicket(books, ticket)));
  if (place?.claim.state !== ADMITTED || isFirm(place)) return false;
  return isOnlyShort(books, () => books.door.mayEnter(books.crowd, false, now));
}

/** The same for a visitor whose visit may begin again. */
export function isShortForResuming(books: RoomBooks, id: string, now: number): boolean {
  return books.resumes.mayTry(id, now) && isOnlyShort(books, () => mayResume(books, now));
}

/** True when a visitor could not enter now, and could with one more slot and leave for one. */
function isOnlyShort(books: RoomBooks, isRoom: () => boolean): boolean {
  if (isRoom()) return false;
  const { held } = books;
  books.held = books.used + 1;
  const wouldBe = books.flow.ifThereWereLeave(isRoom);
  books.held = held;
  return wouldBe;
}

/** Gives half of what this node can spare in a room. */
export function lend(books: RoomBooks | undefined, now: number): Loan {
  if (!books) return { slots: 0, leave: 0 };
  const { newUsersPerMinute, privilegedOnly } = books.rulesAt(now);
  if (books.lines.size > 0 && !privilegedOnly) return { slots: 0, leave: 0 };
  const { isLimited } = books;
  const isPaced = newUsersPerMinute !== null;
  const { spare, flow } = books;
  const room = Math.min(
    isLimited ? spare : Number.POSITIVE_INFINITY,
    isPaced ? flow.leave : Number.POSITIVE_INFINITY,
  );
  const given = Number.isFinite(room) ? Math.ceil(Math.max(0, room) / 2) : 0;
  const loan = { slots: isLimited ? given : 0, leave: isPaced ? given : 0 };
  books.held -= loan.slots;
  flow.leave -= loan.leave;
  return loan;
}

/** Adds what another node could spare. */
export function borrow(books: RoomBooks | undefined, { slots, leave }: Loan, now: number): void {
  if (!books) return;
  books.held += slots;
  if (leave > 0) books.flow.receive(leave, now);
}
