/**
 * A node whose visitors come again after the same short time, however long the line is: Koopmans' "ticket refresh time". Ours are
 * told by the server when to come, and rarely when they are far back. Only that number in its answers differs from a real node.
 */
import type { JoinAnswer, TicketAnswer } from "../../core/engine.ts";
import type { Ticket } from "../../core/ticket.ts";
import { ClusterNode, type IdentifiedNewcomer } from "../../engines/cluster/node.ts";
import type { MakeNode } from "../tunnel/sim-node.ts";

/** Makes nodes whose visitors refresh after this long. */
export function refreshingNode(refreshMs: number): MakeNode {
  return (settings, dice, now) => {
    const node = new RefreshingNode(settings, dice, now);
    node.refreshMs = refreshMs;
    return node;
  };
}

class RefreshingNode extends ClusterNode {
  refreshMs = 0;

  override join(
    room: string,
    visitor: IdentifiedNewcomer,
    now: number,
    answer: (answer: JoinAnswer) => void,
  ): void {
    super.join(room, visitor, now, (given) => answer(this.#soon(given)));
  }

  override checkIn(ticket: Ticket, dice: number, now: number): TicketAnswer {
    return this.#soon(super.checkIn(ticket, dice, now));
  }

  override enter(ticket: Ticket, dice: number, now: number, answer: (answer: TicketAnswer) => void): void {
    super.enter(ticket, dice, now, (given) => answer(this.#soon(given)));
  }

  #soon<Answer extends JoinAnswer | TicketAnswer>(answer: Answer): Answer {
    return answer.kind === "waiting" ? { ...answer, nextCheckInMs: this.refreshMs } : answer;
  }
}
