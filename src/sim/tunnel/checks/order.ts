/**
 * First come, first served, as one number: the Kendall tau distance between the order of joining and that of admission,
 * and how far anybody was from their rightful place at the most. The order of joining is that in which nodes were asked,
 * by the one true clock; the admission of a place is the first word that any node gave of its turn.
 *
 * Counted are those who heard of their place and were never away. A few pairs say nothing, so the bound holds from so
 * many visitors on.
 */
import { type Turn, unfairness } from "../../../core/fairness.ts";
import type { Answered, Check, Notice } from "../notice.ts";

/** With fewer, one swapped pair would already be too many. */
export const COUNTED_MIN = 200;

interface Place {
  readonly joinedAt: number;
  /** null: straight through, with no number. */
  readonly sequence: number | null;
  rank: number | null;
  isCounted: boolean;
}

export interface OrderFigures {
  readonly counted: number;
  readonly tau: number;
  readonly displacement: number;
}

export class Order implements Check {
  readonly name = "order";
  readonly #tauMax: number | null;
  readonly #places = new Map<string, Place>();
  readonly #bySequence = new Map<number, Place>();
  /** Turns that were told of before the answer to the join was. */
  readonly #early = new Map<number, number>();
  #ranks = 0;

  /** null: it is measured, and nothing is promised. */
  constructor({ tauMax }: { tauMax: number | null }) {
    this.#tauMax = tauMax;
  }

  see(notice: Notice): string | null {
    if (notice.kind === "answered" && notice.request === "join") this.#join(notice);
    else if (notice.kind === "turns") for (const sequence of notice.sequences) this.#turn(sequence);
    else if (notice.kind === "told") this.#count(notice.id, notice.isSteady);
    else if (notice.kind === "away") this.#count(notice.id, false);
    else if (notice.kind === "ended") return this.#judge();
    return null;
  }

  figures(): OrderFigures {
    const turns = this.#turns();
    return { counted: turns.length, tau: unfairness(turns), displacement: displacementOf(turns) };
  }

  #join({ id, askedAt, answer }: Answered): void {
    if (answer.kind === "refused") return;
    const sequence = answer.kind === "waiting" ? answer.ticket.sequence : null;
    const early = sequence === null ? this.#ranks++ : this.#early.get(sequence);
    const place: Place = { joinedAt: askedAt, sequence, rank: early ?? null, isCounted: false };
    this.#places.set(id, place);
    if (sequence !== null) this.#bySequence.set(sequence, place);
  }

  #turn(sequence: number): void {
    const place = this.#bySequence.get(sequence);
    if (place) place.rank ??= this.#ranks++;
    else if (!this.#early.has(sequence)) this.#early.set(sequence, this.#ranks++);
  }

  #count(id: string, isCounted: boolean): void {
    const place = this.#places.get(id);
    if (place) place.isCounted = isCounted;
  }

  #judge(): string | null {
    const { counted, tau, displacement } = this.figures();
    if (this.#tauMax === null || counted < COUNTED_MIN || tau <= this.#tauMax) return null;
    const farthest = `somebody was ${displacement} places from theirs`;
    return `the order of admission is ${tau.toFixed(5)} from that of joining (at most ${this.#tauMax.toFixed(5)}); ${farthest}`;
  }

  #turns(): Turn[] {
    return [...this.#places.values()]
      .filter(({ isCounted, rank }) => isCounted && rank !== null)
      .map(({ joinedAt, rank }) => ({ joined: joinedAt, admitted: rank! }));
  }
}

/** How many places anybody was from where they would have been. */
function displacementOf(turns: readonly Turn[]): number {
  const joined = [...turns].sort((a, b) => a.joined - b.joined || a.admitted - b.admitted);
  const admitted = [...turns].sort((a, b) => a.admitted - b.admitted);
  const ranks = new Map(admitted.map((turn, rank) => [turn, rank]));
  return joined.reduce((most, turn, rank) => Math.max(most, Math.abs(ranks.get(turn)! - rank)), 0);
}
