/**
 * Nobody loses their place: a ticket that was never used and never given up is not refused, nobody gets another's place, and the
 * number ahead never rises above the one in the ticket, except after a missed turn. (Tickets outlive any run, so none expires.) A
 * visitor who is there when told, and uses their turn, misses none, and nobody without a turn forfeits a place for missed turns.
 */
import type { AnsweredNotice, Check, Notice } from "../notice.ts";

export class PlaceKept implements Check {
  readonly name = "place kept";
  /** Used, or given up. */
  readonly #spent = new Set<string>();
  /** Told of their turn: they may be about to use it. */
  #called = new Set<string>();
  readonly #steady = new Set<string>();
  /** The numbers in the line that each had, and those that got a turn. */
  readonly #numbers = new Map<string, Set<number>>();
  readonly #turned = new Set<number>();
  #isSplit = false;

  see(notice: Notice): string | null {
    if (notice.kind === "leaving") this.#spent.add(notice.id);
    if (notice.kind === "told" && notice.isSteady) this.#steady.add(notice.id);
    if (notice.kind === "away") this.#steady.delete(notice.id);
    if (notice.kind === "turns") for (const sequence of notice.sequences) this.#turned.add(sequence);
    if (notice.kind === "stopped" || notice.kind === "split") this.#lose();
    if (notice.kind === "split") this.#isSplit = notice.isSplit;
    return notice.kind === "answered" ? this.#answer(notice) : null;
  }

  /** An answer may have died with its node or in a cut, so a visitor with a turn may have been admitted without hearing of it. */
  #lose(): void {
    for (const id of this.#called) this.#spent.add(id);
    this.#called = new Set();
  }

  #answer(notice: AnsweredNotice): string | null {
    const { id, visitor, request, answer, aheadShown } = notice;
    const given = idIn(answer);
    if (given !== null && given !== id)
      return `visitor ${visitor} (${id}) was answered "${answer.kind}" with what is another's (${given})`;
    if (answer.kind === "entered") this.#spent.add(id);
    // A visitor who must wait despite a turn may have been admitted by an owner whose answer came too late.
    if (answer.kind === "waiting" && request === "enter" && this.#called.has(id)) this.#spent.add(id);
    if (answer.kind === "admitted") (this.#isSplit ? this.#spent : this.#called).add(id);
    if (answer.kind === "waiting") this.#note(id, answer.ticket.sequence);
    const isSetBack = answer.kind === "waiting" && answer.ticket.missedTurns > notice.missedTurns;
    const isMore =
      answer.kind === "waiting" && (answer.ahead ?? 0) > (aheadShown ?? Number.POSITIVE_INFINITY);
    if (isMore && !isSetBack)
      return `visitor ${visitor} (${id}) was shown ${aheadShown} ahead, and then ${answer.ahead}`;
    if (isSetBack && !this.#hadTurn(id))
      return `visitor ${visitor} (${id}) was set back for a missed turn, and had none`;
    if (request === "join" || this.#spent.has(id)) return null;
    if (answer.kind === "expired") return `the ticket of visitor ${visitor} (${id}) has run out`;
    if (answer.kind === "refused" && answer.reason === "turnsMissed" && !this.#steady.has(id))
      return this.#hadTurn(id) ? null : `visitor ${visitor} (${id}) forfeited their place, and had no turn`;
    if (answer.kind === "refused" && answer.reason !== "unknownRoom")
      return `visitor ${visitor} (${id}) never used their ticket, and was refused: ${answer.reason}`;
    return null;
  }

  #note(id: string, sequence: number): void {
    const numbers = this.#numbers.get(id) ?? new Set<number>();
    this.#numbers.set(id, numbers.add(sequence));
  }

  #hadTurn(id: string): boolean {
    for (const sequence of this.#numbers.get(id) ?? []) if (this.#turned.has(sequence)) return true;
    return false;
  }
}

function idIn(answer: AnsweredNotice["answer"]): string | null {
  if (answer.kind === "waiting" || answer.kind === "admitted") return answer.ticket.id;
  return answer.kind === "entered" ? answer.pass.id : null;
}
