/** An engine that asks everyone to come back at once, so that it answers every check-in itself. */
import type { Eventually, TicketAnswer } from "../../src/core/engine.ts";
import type { Ticket } from "../../src/core/ticket.ts";
import { MemoryEngine } from "../../src/engines/memory/memory-engine.ts";

export class EagerEngine extends MemoryEngine {
  override checkIn(ticket: Ticket): Eventually<TicketAnswer> {
    const answer = super.checkIn(ticket);
    if ("kind" in answer && answer.kind === "waiting")
      (answer as { nextCheckInMs: number }).nextCheckInMs = 0;
    return answer;
  }
}
